// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"strings"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// Pools: configuration, creation, names, what a pool says of itself.

func init() {
	register("POOL",
		Case{"POOL-01", "The zero value of each field of a configuration is its documented default.", nil, poolDefaults},
		Case{"POOL-02", "A buffer pool without a name can be made and closed.", nil,
			func(e *Env) { poolCreate(e, odp.PoolConfig{Type: buffers, Num: 1000, Size: 1500}) }},
		Case{"POOL-03", "A packet pool without a name can be made and closed.", nil,
			func(e *Env) { poolCreate(e, odp.PoolConfig{Type: packets, Num: 500, Size: 400}) }},
		Case{"POOL-04", "A time-out pool without a name can be made and closed.", nil,
			func(e *Env) { poolCreate(e, odp.PoolConfig{Type: timeouts, Num: 1000}) }},
		Case{"POOL-05", "A pool of vectors for packets can be made and closed.", nil,
			func(e *Env) { poolCreate(e, odp.PoolConfig{Type: vectors, Num: 1000, Size: 32}) }},
		Case{"POOL-06", "A vector's table holds events of several kinds, and its pool can be made and closed.", nil, poolEventVector},
		Case{"POOL-07", "The user areas of buffers are initialised once each, at creation, and keep what was written.", nil,
			func(e *Env) { poolAreaInit(e, kindBuffer) }},
		Case{"POOL-08", "The user areas of packets are initialised once each, at creation, and keep what was written.", nil,
			func(e *Env) { poolAreaInit(e, kindPacket) }},
		Case{"POOL-09", "The user areas of vectors are initialised once each, at creation, and keep what was written.", nil,
			func(e *Env) { poolAreaInit(e, kindVector) }},
		Case{"POOL-10", "The user area of a vector that carried events of several kinds keeps what was written at creation.", nil, poolAreaEventVector},
		Case{"POOL-11", "The user areas of time-outs are initialised once each, at creation, and keep what was written.", nil,
			func(e *Env) { poolAreaInit(e, kindTimeout) }},
		Case{"POOL-12", "A pool is found by its name, and its info has the values that were asked for.", nil, poolLookupInfo},
		Case{"POOL-13", "A name of the greatest length works; a longer one is an error that says so.", nil, poolLongName},
		Case{"POOL-14", "Two buffer pools may have the same name.", nil, func(e *Env) { poolSameName(e, kindBuffer) }},
		Case{"POOL-15", "Two packet pools may have the same name.", nil, func(e *Env) { poolSameName(e, kindPacket) }},
		Case{"POOL-16", "Two time-out pools may have the same name.", nil, func(e *Env) { poolSameName(e, kindTimeout) }},
		Case{"POOL-17", "Two vector pools may have the same name.", nil, func(e *Env) { poolSameName(e, kindVector) }},
		Case{"POOL-18", "Pools of different kinds may have the same name.", nil, poolSameNameMixed},
	)
}

func poolDefaults(e *Env) {
	for _, k := range allKinds {
		p := e.pool(odp.PoolConfig{Type: k.typ, Num: 4096, Size: k.size})
		i := e.Ops.Info(p)
		c := i.Config
		e.Check(c.UserArea == 0 && c.UserAreaInit == nil, "%s: user area %d by default, want none", k.name, c.UserArea)
		e.Check(len(c.Sub) == 0, "%s: %d further lengths by default, want 0", k.name, len(c.Sub))
		e.Check(i.CacheSize >= 0 && i.CacheSize <= buffer.MaxCache, "%s: cache of %d by default, allowed 0 to %d", k.name, i.CacheSize, buffer.MaxCache)
		e.Check(i.Index > 0 && !i.External, "%s: index %d, external %v", k.name, i.Index, i.External)
		x := e.alloc(p, nil, 1)
		e.Must(x != nil, "%s: nothing to allocate", k.name)
		e.Check(e.Ops.UserArea(x) == nil, "%s: there is a user area, none was asked for", k.name)
		e.free(nil, x)
	}
	p := e.pool(odp.PoolConfig{Num: 4})
	c := e.Ops.Info(p).Config
	e.Check(p.Type() == packets, "the type is %v by default, want packets", p.Type())
	e.Check(c.Size == 1856 && c.Headroom == 128 && c.MaxLen == 65536, "size %d, headroom %d, longest packet %d; documented are 1856, 128, 65536", c.Size, c.Headroom, c.MaxLen)
	t := e.pool(odp.PoolConfig{Type: timeouts, Num: 4})
	e.Check(e.Ops.Info(t).Config.Size == 64, "size of a time-out %d; documented is 64", e.Ops.Info(t).Config.Size)
}

func poolCreate(e *Env, cfg odp.PoolConfig) {
	p := e.pool(cfg)
	e.Must(p != nil && p.Type() == cfg.Type && p.Num() == cfg.Num, "a pool of another type or number of events")
	e.Check(p.Name() != "", "the pool has no name for reports")
	e.Check(p.Index() > 0, "index %d: index 0 is that of no pool", p.Index())
	e.closePool(p)
	e.Check(p.Closed(), "the pool is not closed after Close")
	e.Check(e.alloc(p, nil, 1) == nil, "an event came out of a closed pool")
	e.Check(e.Ops.Close(p) != nil, "a second Close is not an error")
}

func poolEventVector(e *Env) {
	p := e.pool(odp.PoolConfig{Type: vectors, Num: 100, Size: 8})
	v := e.Ops.AllocVector(p, nil)
	e.Must(v != nil, "no vector")
	for _, k := range []kind{kindBuffer, kindPacket, kindTimeout} {
		x := e.alloc(e.pool(k.config(4)), nil, 10)
		e.Must(x != nil, "no %s", k.name)
		e.Check(v.Append(x) == 1, "a %s does not go into the table", k.name)
	}
	for i, typ := range []buffer.Type{buffers, packets, timeouts} {
		e.Check(v.Events()[i].Type() == typ, "entry %d is of type %v, want %v", i, v.Events()[i].Type(), typ)
	}
	e.free(nil, &v.Event)
	e.Check(p.Out() == 0, "the vector did not come back")
	e.closePool(p)
}

func poolAreaInit(e *Env, k kind) {
	const num = 10
	cfg := k.config(num)
	cfg.UserArea = 1
	seen := [num]int{}
	cfg.UserAreaInit = func(area []byte, index int) {
		e.Check(len(area) == 1, "a user area of %d bytes, want 1", len(area))
		if e.Check(index >= 0 && index < num, "index %d of %d", index, num) {
			seen[index]++
			area[0] = 0x5a
		}
	}
	p := e.pool(cfg)
	for i, n := range seen {
		e.Check(n == 1, "the function ran %d times for index %d, want once", n, i)
	}
	for round := range 3 {
		ev := e.allocAll(p, nil, 100, num)
		e.Must(len(ev) == num, "round %d: %d of %d events", round, len(ev), num)
		for _, x := range ev {
			a := e.Ops.UserArea(x)
			e.Must(len(a) == 1 && a[0] == 0x5a+byte(round), "round %d: user area % x, want %x", round, a, 0x5a+round)
			a[0]++ // what the owner writes stays over free and allocation
		}
		e.free(nil, ev...)
	}
	e.closePool(p)
}

func poolAreaEventVector(e *Env) {
	cfg := kindVector.config(4)
	cfg.UserArea = 8
	cfg.UserAreaInit = func(area []byte, index int) { copy(area, "pattern!") }
	p := e.pool(cfg)
	for range 5 { // the same vectors again and again
		v := e.Ops.AllocVector(p, nil)
		e.Must(v != nil, "no vector")
		e.Check(string(e.Ops.UserArea(&v.Event)) == "pattern!", "user area %q", e.Ops.UserArea(&v.Event))
		for _, k := range []kind{kindBuffer, kindPacket} {
			x := e.alloc(e.pool(k.config(1)), nil, 10)
			e.Must(x != nil, "no %s", k.name)
			v.Append(x)
		}
		e.free(nil, &v.Event)
	}
	e.closePool(p)
}

func poolLookupInfo(e *Env) {
	const name = "conf-lookup"
	e.Must(e.Ops.Lookup(name) == nil, "there is a pool %q already", name)
	p := e.pool(odp.PoolConfig{Name: name, Type: buffers, Num: 100, Size: 200, Align: 256, UserArea: 12})
	e.Check(e.Ops.Lookup(name) == p, "the pool is not found by its name")
	i := e.Ops.Info(p)
	c := i.Config
	e.Check(c.Name == name && c.Type == buffers, "info says name %q, type %v", c.Name, c.Type)
	e.Check(c.Num >= 100 && c.Size >= 200 && c.Align >= 256 && c.UserArea >= 12, "info says %d x %d bytes, align %d, user area %d; asked were 100 x 200, 256, 12", c.Num, c.Size, c.Align, c.UserArea)
	e.Check(i.Index == p.Index() && i.Memory >= 100*200, "info says index %d of pool %d, %d bytes of memory", i.Index, p.Index(), i.Memory)
	e.Check(strings.Contains(p.String(), name) && strings.Contains(p.String(), "100 events"), "printed, the pool is %q", p.String())
	e.Check(p.Leaks() == "", "a new pool reports leaks: %s", p.Leaks())
	x := e.alloc(p, nil, 0)
	e.Check(strings.Contains(p.Leaks(), name), "the leak report %q does not name the pool", p.Leaks())
	e.Check(e.Ops.Close(p) != nil && !p.Closed(), "a pool with an event out was closed")
	e.free(nil, x)
	e.closePool(p)
	e.Check(e.Ops.Lookup(name) == nil, "a closed pool is found by its name")
}

func poolLongName(e *Env) {
	name := strings.Repeat("n", buffer.MaxName)
	p := e.pool(odp.PoolConfig{Name: name, Type: buffers, Num: 1, Size: 1})
	e.Check(e.Ops.Lookup(name) == p && p.Name() == name && e.Ops.Info(p).Config.Name == name, "the name was changed")
	_, err := e.Ops.NewPool(e.Instance(), odp.PoolConfig{Name: name + "n", Type: buffers, Num: 1, Size: 1})
	e.Check(err != nil && strings.Contains(err.Error(), "31"), "one byte more: error %v does not name the limit", err)
}

func poolSameName(e *Env, k kind) {
	const name = "conf-same"
	cfg := k.config(10)
	cfg.Name = name
	a := e.pool(cfg)
	e.Check(e.Ops.Lookup(name) == a, "the first pool is not found while it is alone")
	b := e.pool(cfg)
	e.Must(a != b && a.Index() != b.Index(), "the second pool is the first")
	found := e.Ops.Lookup(name)
	e.Check(found == a || found == b, "none of the two is found")
	e.closePool(a)
	e.Check(e.Ops.Lookup(name) == b, "the other is not found after one was closed")
	e.closePool(b)
	e.Check(e.Ops.Lookup(name) == nil, "a closed pool is found")
}

func poolSameNameMixed(e *Env) {
	const name = "conf-mixed"
	var all []*odp.Pool
	for _, k := range allKinds {
		cfg := k.config(10)
		cfg.Name = name
		all = append(all, e.pool(cfg))
		e.Check(e.Ops.Lookup(name) != nil, "no pool of this name after %d", len(all))
	}
	for i, p := range all {
		x := e.alloc(p, nil, 1)
		e.Must(x != nil && x.Type() == allKinds[i].typ && e.Ops.PoolOf(x) == p, "pool %d gave an event of another", i)
		e.free(nil, x)
		e.closePool(p)
	}
}

// fill writes a pattern over an event's memory; filled says whether it is still there.
func fill(x *odp.Event, v byte) {
	b := bytesOf(x)
	for i := range b {
		b[i] = v
	}
}

func filled(x *odp.Event, v byte) bool {
	b := bytesOf(x)
	return len(b) == bytes.Count(b, []byte{v})
}
