// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// Events of all kinds.

func init() {
	register("EV",
		Case{"EV-01", "An event of each kind is freed as an event, and its pool can be emptied again.", nil, func(e *Env) { evFree(e, 1) }},
		Case{"EV-02", "A burst of events of each kind is freed at once.", nil, func(e *Env) { evFree(e, 32) }},
		Case{"EV-03", "One call frees a burst of buffers, packets, vectors and time-outs, each to its own pool.", nil, evFreeMixed},
		Case{"EV-04", "The leading run of one type in a burst is found.", nil, evRun},
		Case{"EV-05", "Each event of a mixed burst tells its type.", nil, evTypes},
		Case{"EV-06", "The packets of a burst are sorted out, and they and the rest keep their order.", nil, evFilter},
		Case{"EV-07", "Live events are valid; nil, addresses that are no header and events of a closed pool are not.", nil, evValid},
		Case{"EV-08", "An event of each kind has the type of its pool, through every view.", nil, evType},
		Case{"EV-09", "An event of each kind leads to its pool.", nil, evPool},
		Case{"EV-10", "An event of each kind has the user area that its pool was made with, nil if none.", nil, evArea},
		Case{"EV-11", "Packets and vectors have a user flag; buffers and time-outs have none.", nil, evFlag},
		Case{"EV-12", "The ids of all live events are different, and lead back to them.", nil, evIDs},
		Case{"EV-13", "The flow id of an event is 0 at first, and is read as it was set.", nil, evFlow},
		Case{"EV-14", "Every free call takes an event of its kind, alone or in a burst, from worker and control plane.", nil, evFreeVariants},
		Case{"EV-15", "An event of each kind goes through a queue and stays what it is.", nil, evQueue},
	)
}

// everyKind runs f with a pool of each kind and events of it.
func everyKind(e *Env, num int, f func(k kind, p *odp.Pool, ev []*odp.Event)) {
	for _, k := range allKinds {
		p := e.pool(k.config(num))
		ev := e.allocAll(p, nil, 10, num)
		e.Must(len(ev) == num, "%d of %d events of kind %s", len(ev), num, k.name)
		f(k, p, ev)
	}
}

func evFree(e *Env, burst int) {
	everyKind(e, burst, func(k kind, p *odp.Pool, ev []*odp.Event) {
		e.free(nil, ev...)
		e.Check(p.Out() == 0, "%s: %d did not come back", k.name, p.Out())
		again := e.allocAll(p, nil, 10, burst)
		e.Check(len(again) == burst, "%s: %d of %d after the free", k.name, len(again), burst)
		e.free(nil, again...)
		e.closePool(p)
	})
}

func evFreeMixed(e *Env) {
	var all []*odp.Event
	var pools []*odp.Pool
	everyKind(e, 8, func(_ kind, p *odp.Pool, ev []*odp.Event) {
		pools = append(pools, p)
		for i, x := range ev { // interleave the kinds
			at := min(len(all), i*len(pools))
			all = append(all[:at:at], append([]*odp.Event{x}, all[at:]...)...)
		}
	})
	e.distinct(all)
	e.free(nil, all...)
	for _, p := range pools {
		e.Check(p.Out() == 0, "pool %q: %d did not come back", p.Name(), p.Out())
	}
}

func evRun(e *Env) {
	ev, _ := e.mixed() // buffer, packet, time-out
	p := e.pool(kindPacket.config(3))
	more := e.allocAll(p, nil, 1, 3)
	run := append(append([]*odp.Event{}, more...), ev...)
	for at, want := range []int{3, 2, 1, 1, 1, 1} {
		n, typ := buffer.TypeRun(run[at:])
		e.Check(n == want && typ == run[at].Type(), "from %d: %d events of type %v, want %d of %v", at, n, typ, want, run[at].Type())
	}
	n, _ := buffer.TypeRun(nil)
	e.Check(n == 0, "a run of %d in nothing", n)
	e.free(nil, run...)
}

func evTypes(e *Env) {
	ev, pools := e.mixed()
	for i, x := range ev {
		e.Check(x.Type() == pools[i].Type(), "event %d is of type %v, want %v", i, x.Type(), pools[i].Type())
	}
	e.free(nil, ev...)
}

func evFilter(e *Env) {
	var all []*odp.Event
	everyKind(e, 5, func(_ kind, _ *odp.Pool, ev []*odp.Event) { all = append(all, ev...) })
	for i := range all { // a fixed shuffle
		j := i * 7 % len(all)
		all[i], all[j] = all[j], all[i]
	}
	e.distinct(all)
	pkts, rest := make([]*odp.Packet, len(all)), make([]*odp.Event, len(all))
	n := buffer.FilterPackets(all, pkts, rest)
	e.Must(n == 5, "%d packets, want 5", n)
	i, j := 0, 0
	for _, x := range all {
		if x.Type() == packets {
			e.Check(&pkts[i].Event == x, "packet %d is out of order", i)
			i++
		} else {
			e.Check(rest[j] == x, "event %d of the rest is out of order", j)
			j++
		}
	}
	e.free(nil, all...)
}

func evValid(e *Env) {
	e.Check(!(*odp.Event)(nil).Valid(), "nil is valid")
	e.Check(!new(odp.Event).Valid(), "an event in the Go heap is valid")
	everyKind(e, 2, func(k kind, p *odp.Pool, ev []*odp.Event) {
		e.Check(ev[0].Valid() && ev[1].Valid(), "a live %s is not valid", k.name)
		inside := (*odp.Event)(unsafe.Add(unsafe.Pointer(ev[0]), 16))
		e.Check(!inside.Valid(), "%s: an address inside a header is valid", k.name)
		e.free(nil, ev...)
		e.closePool(p)
		e.Check(!ev[0].Valid(), "a %s of a closed pool is valid", k.name)
	})
}

func evType(e *Env) {
	everyKind(e, 2, func(k kind, _ *odp.Pool, ev []*odp.Event) {
		for _, x := range ev {
			typ := x.Type()
			switch k.typ {
			case packets:
				typ = x.Packet().Type()
			case buffers:
				typ = x.Buffer().Type()
			case vectors:
				typ = x.Vector().Type()
			case timeouts:
				typ = x.Timeout().Type()
			}
			e.Check(typ == k.typ && x.Type() == k.typ, "a %s is of type %v", k.name, typ)
		}
		e.free(nil, ev...)
	})
}

func evPool(e *Env) {
	everyKind(e, 2, func(k kind, p *odp.Pool, ev []*odp.Event) {
		for _, x := range ev {
			e.Check(e.Ops.PoolOf(x) == p && x.InPool(p), "a %s is of another pool", k.name)
		}
		e.free(nil, ev...)
	})
}

func evArea(e *Env) {
	for _, k := range allKinds {
		for _, size := range []int{0, 24} {
			cfg := k.config(2)
			cfg.UserArea = size
			x := e.alloc(e.pool(cfg), nil, 1)
			e.Must(x != nil, "no %s", k.name)
			a := e.Ops.UserArea(x)
			e.Check((a == nil) == (size == 0) && len(a) == size, "%s: user area of %d bytes, want %d", k.name, len(a), size)
			e.free(nil, x)
		}
	}
}

func evFlag(e *Env) {
	everyKind(e, 1, func(k kind, _ *odp.Pool, ev []*odp.Event) {
		x := ev[0]
		e.Check(!x.UserFlag(), "a new %s has its user flag on", k.name)
		x.SetUserFlag(true)
		e.Check(x.UserFlag() == (k.typ == packets || k.typ == vectors), "%s: user flag %v after it was set", k.name, x.UserFlag())
		x.SetUserFlag(false)
		e.Check(!x.UserFlag(), "%s: the user flag stays on", k.name)
		e.free(nil, x)
	})
}

func evIDs(e *Env) {
	seen := map[uint32]bool{}
	var all []*odp.Event
	everyKind(e, 50, func(k kind, _ *odp.Pool, ev []*odp.Event) {
		for _, x := range ev {
			e.Check(x.ID() != 0 && !seen[x.ID()] && buffer.FromID(x.ID()) == x, "%s: id %d is 0, another's, or leads elsewhere", k.name, x.ID())
			seen[x.ID()] = true
		}
		all = append(all, ev...)
	})
	e.free(nil, all...)
}

func evFlow(e *Env) {
	everyKind(e, 1, func(k kind, _ *odp.Pool, ev []*odp.Event) {
		x := ev[0]
		e.Check(x.Flow() == 0, "%s: flow id %d at first", k.name, x.Flow())
		x.SetFlow(1234)
		e.Check(x.Flow() == 1234, "%s: flow id %d, want 1234", k.name, x.Flow())
		e.free(nil, x)
	})
}

func evFreeVariants(e *Env) {
	w := e.worker()
	pk, bf := e.pool(kindPacket.config(8)), e.pool(kindBuffer.config(8))
	for _, by := range []*odp.Worker{nil, w} {
		var k [8]*odp.Packet
		var b [8]*odp.Buffer
		e.Must(e.Ops.AllocPackets(pk, by, k[:], 10) == 8 && e.Ops.AllocBuffers(bf, by, b[:]) == 8, "no events")
		buffer.FreeEvent(by, &k[0].Event)
		buffer.FreePacket(by, k[1])
		pk.FreePacket(by, k[2])
		pk.FreePackets(by, k[3:5])
		odp.FreePackets(by, k[5:7])
		e.free(by, &k[7].Event)
		buffer.FreeEvent(by, &b[0].Event)
		bf.FreeBuffer(by, b[1])
		bf.FreeBuffers(by, b[2:4])
		buffer.FreeBuffers(by, b[4:7])
		e.free(by, &b[7].Event)
		e.Check(pk.Out() == 0 && bf.Out() == 0, "worker %d: %d packets, %d buffers out", by.ID(), pk.Out(), bf.Out())
		pk.Flush(w)
		bf.Flush(w)
	}
}

func evQueue(e *Env) {
	q, err := e.Instance().NewQueue(odp.QueueConfig{Name: "conf-events", Size: 64})
	e.NoError(err, "NewQueue")
	everyKind(e, 4, func(k kind, p *odp.Pool, ev []*odp.Event) {
		n, err := q.Enqueue(nil, ev)
		e.Must(n == 4 && err == nil, "%s: %d of 4 were enqueued: %v", k.name, n, err)
		var out [8]*odp.Event
		n, err = q.Dequeue(nil, out[:])
		e.Must(n == 4 && err == nil, "%s: %d of 4 came out: %v", k.name, n, err)
		for i, x := range out[:n] {
			e.Check(x == ev[i] && x.Type() == k.typ && e.Ops.PoolOf(x) == p, "%s: event %d became another", k.name, i)
		}
		e.free(nil, out[:n]...)
	})
}
