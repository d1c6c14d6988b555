// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strings"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// Pools: how many events they really give, to whom, and from which memory.

// The cache sizes of ODP's cases: the default, the least (none) and the most.
const (
	cacheDefault = 0
	cacheMin     = -1
	cacheMax     = buffer.MaxCache
)

func init() {
	for i, c := range []struct {
		size int
		what string
	}{{cacheDefault, "the default cache"}, {cacheMin, "no cache"}, {cacheMax, "the largest cache"}} {
		id := func(first int) string { return fmt.Sprintf("POOL-%02d", first+i) }
		register("POOL",
			Case{id(19), "With " + c.what + " a worker can hold half of the buffers of a pool.", nil, func(e *Env) { poolHalf(e, kindBuffer, c.size) }},
			Case{id(22), "With " + c.what + " one thread can hold all vectors of a pool, each empty.", nil, func(e *Env) { poolAll(e, kindVector, 500, c.size, 0) }},
			Case{id(25), "With " + c.what + " all vectors of a pool come back with events of several kinds in them.", nil, func(e *Env) { poolEventVectors(e, c.size) }},
			Case{id(28), "With " + c.what + " one thread can hold all packets of a pool.", nil, func(e *Env) { poolAll(e, kindPacket, 500, c.size, 400) }},
			Case{id(32), "With " + c.what + " a worker can hold half of the time-outs of a pool.", nil, func(e *Env) { poolHalf(e, kindTimeout, c.size) }},
		)
	}
	register("POOL",
		Case{"POOL-31", "A pool with further lengths gives the packets of each of them.", nil, poolSub},
		Case{"POOL-35", "The info of a packet pool has the number and the lengths that were asked for.", nil, poolInfoPacket},
		Case{"POOL-36", "All data of all packets lies in the address range that the info names.", nil, poolDataRange},
		Case{"POOL-37", "A large buffer pool gives all of its buffers to one thread.", nil, func(e *Env) { poolMax(e, kindBuffer, 10) }},
		Case{"POOL-38", "A large packet pool without headroom gives all of its packets to one thread.", nil, func(e *Env) { poolMax(e, kindPacket, 10) }},
		Case{"POOL-39", "A large pool of vectors gives all of them to one thread.", nil, func(e *Env) { poolMax(e, kindVector, 1) }},
		Case{"POOL-40", "All vectors of a large pool can hold an event each at the same time.", nil, poolMaxEventVectors},
		Case{"POOL-41", "A large time-out pool gives all of its time-outs to one thread.", nil, func(e *Env) { poolMax(e, kindTimeout, 8) }},
		Case{"POOL-42", "The first segment of a packet holds at least the bytes that were asked for.", nil, poolSegLen},
		Case{"POOL-43", "A pool that one thread made can be used by all workers at once.", nil, poolAllWorkers},
		Case{"POOL-44", "As many pools of one packet as the process allows have an index each and give exactly one packet.", nil, func(e *Env) { poolIndex(e, 0) }},
		Case{"POOL-45", "As many pools with user areas as the process allows exist beside other memory of the instance.", nil, poolMaxPools},
	)
}

func poolHalf(e *Env, k kind, cache int) {
	w := e.worker()
	cfg := k.config(1000)
	cfg.Cache = cache
	p := e.pool(cfg)
	i := e.Ops.Info(p)
	switch {
	case cache == cacheMin:
		e.Check(i.CacheSize == 0, "a cache of %d, none was asked for", i.CacheSize)
	case i.CacheSize < cache:
		e.Check(strings.Contains(strings.Join(i.Notes, " "), "cache"), "the cache is %d instead of %d, and no note says why", i.CacheSize, cache)
	}
	for round := range 3 {
		var ev []*odp.Event
		for n := range 500 {
			x := e.alloc(p, w, 1)
			e.Must(x != nil, "round %d: allocation %d of 500 failed, the pool has 1000", round, n)
			ev = append(ev, x)
		}
		e.distinct(ev)
		e.free(w, ev...)
	}
	e.Check(p.Out() == 0 && p.Available() == 1000, "%d out, %d available after all were freed", p.Out(), p.Available())
	e.closePool(p)
}

func poolAll(e *Env, k kind, num, cache, length int) {
	w := e.worker()
	cfg := k.config(num)
	cfg.Cache = cache
	p := e.pool(cfg)
	for _, by := range []*odp.Worker{w, nil} {
		ev := e.allocAll(p, by, length, num)
		e.Must(len(ev) == num, "worker %d: %d events of a pool of %d", by.ID(), len(ev), num)
		e.distinct(ev)
		for _, x := range ev {
			e.Check(x.Valid() && x.Type() == k.typ && e.Ops.PoolOf(x) == p, "an event that is not valid, of type %v", x.Type())
			switch k.typ {
			case packets:
				e.Check(x.Packet().Len() == length, "a packet of %d bytes, want %d", x.Packet().Len(), length)
			case vectors:
				e.Check(x.Vector().Len() == 0 && x.Vector().Cap() == cfg.Size, "a vector with %d of %d entries", x.Vector().Len(), x.Vector().Cap())
			}
		}
		e.free(by, ev...)
		p.Flush(w) // the next one is another thread: what the worker caches is not its
	}
	e.closePool(p)
}

func poolEventVectors(e *Env, cache int) {
	w := e.worker()
	const num = 64
	bufs, tmos := e.pool(kindBuffer.config(num)), e.pool(kindTimeout.config(num))
	cfg := kindVector.config(num)
	cfg.Cache = cache
	p := e.pool(cfg)
	ev := e.allocAll(p, w, 0, num)
	e.Must(len(ev) == num, "%d vectors of a pool of %d", len(ev), num)
	for _, x := range ev {
		b, t := e.alloc(bufs, nil, 0), e.alloc(tmos, nil, 0)
		e.Must(b != nil && t != nil, "no events for the vectors")
		v := x.Vector()
		e.Check(v.Len() == 0 && v.Append(b, t) == 2 && v.Len() == 2, "the vector has %d events, want 2", v.Len())
	}
	e.free(w, ev...)
	e.Check(bufs.Out() == 0 && tmos.Out() == 0 && p.Out() == 0, "%d buffers, %d time-outs, %d vectors did not come back", bufs.Out(), tmos.Out(), p.Out())
	e.closePool(p)
}

func poolSub(e *Env) {
	const num, base = 100, 200
	cfg := odp.PoolConfig{Num: num, Size: base}
	for i := range buffer.MaxSub {
		cfg.Sub = append(cfg.Sub, buffer.SubConfig{Num: num, Len: base + (i+1)*100})
	}
	p := e.pool(cfg)
	take := func(length int) {
		e.Helper()
		var ev []*odp.Event
		for i := range num {
			x := e.alloc(p, nil, length)
			e.Must(x != nil, "length %d: allocation %d of %d failed", length, i, num)
			e.Must(x.Packet().Len() == length, "a packet of %d bytes, want %d", x.Packet().Len(), length)
			ev = append(ev, x)
		}
		e.free(nil, ev...)
	}
	take(base)
	for _, s := range cfg.Sub {
		take(s.Len)
	}
	var all []*odp.Event // and all lengths at the same time
	for i := range num {
		for _, length := range append([]int{base}, subLens(cfg)...) {
			x := e.alloc(p, nil, length)
			e.Must(x != nil, "packet %d of length %d beside those of all other lengths failed", i, length)
			all = append(all, x)
		}
	}
	e.free(nil, all...)
	e.closePool(p)
	for _, bad := range [][]buffer.SubConfig{{{Num: 1, Len: base}}, {{Num: 0, Len: 300}}, {{Num: 1, Len: 300}, {Num: 1, Len: 300}}, make([]buffer.SubConfig, buffer.MaxSub+1)} {
		_, err := e.Ops.NewPool(e.Instance(), odp.PoolConfig{Num: num, Size: base, Sub: bad})
		e.Check(err != nil, "the further lengths %v were accepted", bad)
	}
}

func subLens(cfg odp.PoolConfig) (l []int) {
	for _, s := range cfg.Sub {
		l = append(l, s.Len)
	}
	return l
}

func poolInfoPacket(e *Env) {
	p := e.pool(odp.PoolConfig{Name: "conf-info", Num: 123, Size: 400, MaxLen: 4000, Headroom: 64})
	c := e.Ops.Info(p).Config
	e.Check(c.Name == "conf-info" && c.Type == packets && c.Num == 123 && c.Size == 400, "info says %q, type %v, %d x %d", c.Name, c.Type, c.Num, c.Size)
	e.Check(c.MaxLen >= 4000 && c.Headroom >= 64, "longest packet %d, headroom %d; asked were 4000, 64", c.MaxLen, c.Headroom)
	e.Check(p.Num() >= c.Num, "the pool has %d packets of %d", p.Num(), c.Num)
}

func poolDataRange(e *Env) {
	const num, length = 250, 1000
	p := e.pool(odp.PoolConfig{Num: num, Size: 256, MaxLen: length})
	i := e.Ops.Info(p)
	e.Must(i.MaxDataAddr-i.MinDataAddr+1 >= num*256, "the range has %d bytes, the data at least %d", i.MaxDataAddr-i.MinDataAddr+1, num*256)
	ev := e.allocAll(p, nil, length, num)
	ev = append(ev, e.allocAll(p, nil, 1, num)...) // and what is too little for a long one
	e.Must(p.Available() == 0, "%d events are left", p.Available())
	for _, x := range ev {
		n := 0
		for off := 0; off < x.Packet().Len(); {
			b := x.Packet().Offset(off)
			e.Must(len(b) > 0, "no data at offset %d", off)
			first, last := addr(b), addr(b)+uintptr(len(b))-1
			e.Check(first >= i.MinDataAddr && last <= i.MaxDataAddr, "data at %#x to %#x, outside of %#x to %#x", first, last, i.MinDataAddr, i.MaxDataAddr)
			off += len(b)
			n++
		}
		e.Check(n == x.Packet().NumSegs(), "%d pieces, %d segments", n, x.Packet().NumSegs())
	}
	e.free(nil, ev...)
}

// poolMax: upstream takes the platform's greatest number; here only memory limits it,
// so the number is what a test may take.
func poolMax(e *Env, k kind, size int) {
	num := 1 << 17
	if e.Short() {
		num = 1 << 14
	}
	p := e.pool(odp.PoolConfig{Type: k.typ, Num: num, Size: size, MaxLen: 10, Headroom: -1, Cache: -1})
	ev := make([]*odp.Event, num+1)
	n := 0
	for n < num {
		m := e.allocMulti(p, nil, ev[n:min(n+64, num)], size)
		e.Must(m > 0, "%d events of %d", n, num)
		n += m
	}
	e.Check(e.alloc(p, nil, size) == nil, "an event more than the pool has")
	e.distinct(ev[:n])
	for _, x := range ev[:n] {
		if !x.Valid() {
			e.Fatalf("an event that is not valid")
		}
	}
	e.free(nil, ev[:n]...)
	e.closePool(p)
}

func poolMaxEventVectors(e *Env) {
	const num = 1 << 12
	p, bufs := e.pool(odp.PoolConfig{Type: vectors, Num: num, Size: 2}), e.pool(odp.PoolConfig{Type: buffers, Num: num, Size: 8})
	ev := e.allocAll(p, nil, 0, num)
	e.Must(len(ev) == num, "%d vectors of %d", len(ev), num)
	for _, x := range ev {
		x.Vector().Append(e.alloc(bufs, nil, 0))
	}
	e.Check(bufs.Available() == 0, "%d buffers are not in a vector", bufs.Available())
	e.free(nil, ev...)
	e.Check(bufs.Out() == 0, "%d buffers did not come back with their vectors", bufs.Out())
	e.closePool(p)
}

func poolSegLen(e *Env) {
	p := e.pool(odp.PoolConfig{Num: 10 * 40, Size: 42, MaxLen: 1500})
	var ev []*odp.Event
	for i := range 10 {
		x := e.alloc(p, nil, 1500)
		e.Must(x != nil && x.Packet().Len() == 1500, "packet %d of 10", i)
		e.Check(x.Packet().SegLen() >= 42, "the first segment holds %d bytes, want at least 42", x.Packet().SegLen())
		e.sane(x.Packet())
		ev = append(ev, x)
	}
	e.free(nil, ev...)
}

func poolAllWorkers(e *Env) {
	in := e.Open(odp.Config{Workers: 4})
	const num, each = 4096, 1000
	p, err := e.Ops.NewPool(in, odp.PoolConfig{Type: buffers, Num: num, Size: 64, Need: num / 2})
	e.NoError(err, "NewPool")
	e.Workers(in, func(w *odp.Worker) error {
		var bufs [16]*odp.Buffer
		for done := 0; done < each && w.Running(); {
			n := e.Ops.AllocBuffers(p, w, bufs[:])
			if n == 0 {
				return fmt.Errorf("worker %d: no buffer after %d: the pool has %d for 64 in use", w.ID(), done, num)
			}
			for _, b := range bufs[:n] {
				fill(&b.Event, byte(w.ID()))
			}
			for _, b := range bufs[:n] {
				if !filled(&b.Event, byte(w.ID())) {
					return fmt.Errorf("worker %d: somebody else wrote into its buffer", w.ID())
				}
			}
			for _, b := range bufs[:n] {
				e.free(w, &b.Event)
			}
			done += n
		}
		return nil
	})
	e.Check(p.Out() == 0, "%d buffers did not come back", p.Out())
}

// poolIndex makes all pools that the process can still have.
func poolIndex(e *Env, area int) {
	used := map[int]bool{}
	buffer.Pools(func(p *odp.Pool) { used[p.Index()] = true })
	want := buffer.MaxPools - len(used)
	var all []*odp.Pool
	var ev []*odp.Event
	for {
		p, err := e.Ops.NewPool(e.Instance(), odp.PoolConfig{Num: 1, Size: 64, UserArea: area})
		if err != nil {
			e.Check(strings.Contains(err.Error(), fmt.Sprint(buffer.MaxPools)), "the error of one too many, %v, does not name the limit", err)
			break
		}
		all = append(all, p)
		e.Must(len(all) <= want, "more than %d pools", buffer.MaxPools)
		e.Check(p.Index() > 0 && p.Index() <= buffer.MaxPools && !used[p.Index()], "index %d is out of range or used", p.Index())
		used[p.Index()] = true
		x := e.alloc(p, nil, 20)
		e.Must(x != nil && e.Ops.PoolOf(x) == p, "pool %d has no packet", p.Index())
		e.Check(e.alloc(p, nil, 20) == nil, "pool %d has a second packet", p.Index())
		ev = append(ev, x)
	}
	e.Check(len(all) == want, "%d pools beside the %d that were there; the limit is %d", len(all), buffer.MaxPools-want, buffer.MaxPools)
	for round := range 2 {
		e.free(nil, ev...) // each to its own pool
		for i, p := range all {
			ev[i] = e.alloc(p, nil, 20)
			e.Must(ev[i] != nil, "round %d: pool %d did not get its packet back", round, p.Index())
			e.Check(area == 0 || len(e.Ops.UserArea(ev[i])) == area, "user area of %d bytes, want %d", len(e.Ops.UserArea(ev[i])), area)
		}
	}
	e.free(nil, ev...)
	for _, p := range all {
		e.closePool(p)
	}
}

func poolMaxPools(e *Env) {
	q, err := e.Instance().NewQueue(odp.QueueConfig{Name: "conf-beside", Size: 1024})
	e.NoError(err, "NewQueue")
	poolIndex(e, 32)
	e.Check(q.Len() == 0, "the queue has %d events", q.Len())
}
