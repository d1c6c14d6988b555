// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// Vectors: of packets (PKT-42 to PKT-47), of any events (EVV).

func init() {
	register("PKT",
		Case{"PKT-42", "A live vector is valid, and a closed pool's is not.", nil, vecDebug},
		Case{"PKT-43", "A new vector is empty and of its pool; its table is filled and its length set.", nil, vecBasic},
		Case{"PKT-44", "Freeing a vector leaves its packets to the caller, freeing it as an event frees them; a new one is empty and without flag.", nil, vecAllocFree},
		Case{"PKT-45", "Edits of the table are seen later, and an entry is taken out by compaction.", nil, vecTable},
		Case{"PKT-46", "Every vector has a user area of its own; the user flag is off at first and can be set.", nil, vecUserArea},
		Case{"PKT-47", "Conversions between vector and event are identities.", nil, vecConversion},
	)
	register("EVV",
		Case{"EVV-01", "A vector of mixed events keeps its identity through conversions.", nil, vecConversion},
		Case{"EVV-02", "The user flag of a vector of mixed events is off at first and can be set and cleared.", nil, vecUserArea},
		Case{"EVV-03", "A vector of mixed events and all in it are named as out by their pools.", nil, evvReport},
		Case{"EVV-04", "The table of a vector holds events of all kinds, and each keeps its type.", nil, func(e *Env) { evvTable(e, false) }},
		Case{"EVV-05", "Freeing a vector keeps the events in it.", nil, func(e *Env) { evvTable(e, false) }},
		Case{"EVV-06", "Freeing a vector as an event frees the events in it, each to its own pool.", nil, func(e *Env) { evvTable(e, true) }},
		Case{"EVV-07", "All vectors of a pool are distinct, with tables of their own.", nil, evvDistinct},
	)
}

const vecSize = 8

func (e *Env) vectorPool(num int) *odp.Pool {
	e.Helper()
	return e.pool(odp.PoolConfig{Type: vectors, Num: num, Size: vecSize, UserArea: 8})
}

func (e *Env) newVector(p *odp.Pool) *buffer.Vector {
	e.Helper()
	v := e.Ops.AllocVector(p, nil)
	if v == nil {
		e.Fatalf("no vector")
	}
	e.Check(v.Len() == 0 && len(v.Events()) == 0 && !v.UserFlag(), "a new vector has %d events, user flag %v", v.Len(), v.UserFlag())
	return v
}

func vecDebug(e *Env) {
	p := e.vectorPool(2)
	v := e.newVector(p)
	e.Check(v.Valid() && p.Leaks() != "", "a live vector: valid %v, report %q", v.Valid(), p.Leaks())
	e.free(nil, &v.Event)
	e.closePool(p)
	e.Check(!v.Valid(), "a vector of a closed pool is valid")
}

func vecBasic(e *Env) {
	p, pk := e.vectorPool(2), e.packetPool()
	v := e.newVector(p)
	e.Check(e.Ops.PoolOf(&v.Event) == p && v.Cap() == vecSize && len(v.Table()) == vecSize, "capacity %d, table of %d, want %d", v.Cap(), len(v.Table()), vecSize)
	for i := range vecSize {
		v.Table()[i] = &e.newPacket(pk, 10+i).Event
	}
	e.Check(v.Len() == 0, "filling the table set the length to %d", v.Len())
	v.SetLen(vecSize)
	e.Check(v.Len() == vecSize && v.Valid() && v.Append(v.Table()[0]) == 0, "length %d, or a full vector took one more", v.Len())
	for i, x := range v.Events() {
		e.Check(x.Packet().Len() == 10+i, "entry %d has %d bytes", i, x.Packet().Len())
	}
	e.free(nil, &v.Event)
	e.Check(pk.Out() == 0 && p.Out() == 0, "%d packets, %d vectors out", pk.Out(), p.Out())
}

func vecAllocFree(e *Env) {
	p, pk := e.vectorPool(1), e.packetPool()
	k := e.newPacket(pk, 10)
	for range 2 {
		v := e.newVector(p)
		e.Must(e.Ops.AllocVector(p, nil) == nil, "a second vector of a pool of one")
		v.SetUserFlag(true)
		e.Check(v.UserFlag(), "the user flag is not set")
		v.SetUserFlag(false)
		e.Check(!v.UserFlag(), "the user flag is not cleared")
		v.SetUserFlag(true)
		v.Append(&k.Event)
		v.Free(nil)
		e.Check(pk.Out() == 1, "%d packets out after the vector alone was freed, want 1", pk.Out())
		e.holds(k, count(0, 10), "the packet of a freed vector")
	}
	v := e.newVector(p)
	v.Append(&k.Event)
	e.free(nil, &v.Event)
	e.Check(pk.Out() == 0 && p.Out() == 0, "%d packets, %d vectors out after the event was freed", pk.Out(), p.Out())
}

func vecTable(e *Env) {
	p, pk := e.vectorPool(1), e.packetPool()
	v := e.newVector(p)
	var k [vecSize]*odp.Packet
	for i := range k {
		k[i] = e.newPacket(pk, 1+i)
		v.Append(&k[i].Event)
	}
	t := v.Table()
	t[2], t[5] = t[5], t[2]
	e.Check(v.Table()[2] == &k[5].Event && v.Events()[5] == &k[2].Event, "an edit of the table is not seen")
	e.free(nil, t[3])
	copy(t[3:], t[4:v.Len()])
	v.SetLen(v.Len() - 1)
	want := []int{0, 1, 5, 4, 2, 6, 7}
	e.Must(v.Len() == len(want), "%d events, want %d", v.Len(), len(want))
	for i, x := range v.Events() {
		e.Check(x == &k[want[i]].Event, "entry %d is another packet", i)
	}
	e.free(nil, &v.Event)
	e.Check(pk.Out() == 0, "%d packets out", pk.Out())
}

func vecUserArea(e *Env) {
	p := e.vectorPool(4)
	ev := e.allocAll(p, nil, 0, 4)
	e.Must(len(ev) == 4, "%d vectors of 4", len(ev))
	for i, x := range ev {
		a := e.Ops.UserArea(x)
		e.Must(len(a) == 8, "user area of %d bytes, want 8", len(a))
		a[0] = byte(i)
		e.Check(!x.UserFlag(), "the user flag is on")
		x.SetUserFlag(true)
		e.Check(x.UserFlag() && x.Vector().UserFlag(), "the user flag is not set")
	}
	for i, x := range ev {
		e.Check(e.Ops.UserArea(x)[0] == byte(i), "user area %d was overwritten", i)
		x.SetUserFlag(false)
		e.Check(!x.UserFlag(), "the user flag is not cleared")
	}
	e.free(nil, ev...)
}

func vecConversion(e *Env) {
	p := e.vectorPool(1)
	v := e.newVector(p)
	x := &v.Event
	e.Check(x.Type() == vectors && x.Vector() == v && buffer.FromID(x.ID()).Vector() == v, "type %v, or another vector", x.Type())
	e.free(nil, x)
}

// mixed makes one event of each kind but vectors, and the pools they are of.
func (e *Env) mixed() (ev []*odp.Event, pools []*odp.Pool) {
	e.Helper()
	for _, k := range []kind{kindBuffer, kindPacket, kindTimeout} {
		p := e.pool(k.config(4))
		x := e.alloc(p, nil, 10)
		e.Must(x != nil, "no %s", k.name)
		ev, pools = append(ev, x), append(pools, p)
	}
	return ev, pools
}

func evvReport(e *Env) {
	p := e.vectorPool(1)
	ev, pools := e.mixed()
	v := e.newVector(p)
	v.Append(ev...)
	for _, q := range append(pools, p) {
		e.Check(q.Out() == 1 && q.Leaks() != "", "pool %q: %d out, report %q", q.Name(), q.Out(), q.Leaks())
	}
	e.free(nil, &v.Event)
	for _, q := range append(pools, p) {
		e.Check(q.Out() == 0 && q.Leaks() == "", "pool %q: %d out, report %q", q.Name(), q.Out(), q.Leaks())
	}
}

func evvTable(e *Env, whole bool) {
	p := e.vectorPool(1)
	ev, pools := e.mixed()
	v := e.newVector(p)
	e.Check(v.Append(ev...) == len(ev), "not all events went into the table")
	for i, x := range v.Events() {
		e.Check(x == ev[i] && x.Type() == pools[i].Type(), "entry %d is of type %v, want %v", i, x.Type(), pools[i].Type())
	}
	if whole {
		e.free(nil, &v.Event)
	} else {
		v.Free(nil)
		for i, q := range pools {
			e.Check(q.Out() == 1 && ev[i].Type() == q.Type(), "pool %q: %d out, want 1", q.Name(), q.Out())
		}
		e.free(nil, ev...)
	}
	for _, q := range append(pools, p) {
		e.Check(q.Out() == 0, "pool %q: %d out", q.Name(), q.Out())
	}
}

func evvDistinct(e *Env) {
	p := e.vectorPool(10)
	ev := e.allocAll(p, nil, 0, 10)
	e.Must(len(ev) == 10, "%d vectors of 10", len(ev))
	e.distinct(ev)
	for i, x := range ev {
		t := x.Vector().Table()
		for j := range t {
			t[j] = ev[i]
		}
	}
	for i, x := range ev {
		for j, y := range x.Vector().Table() {
			e.Must(y == ev[i], "entry %d of vector %d was overwritten", j, i)
		}
	}
	e.free(nil, ev...)
}
