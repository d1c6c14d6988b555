// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// Buffers.

func init() {
	const line, large = 64, 65536
	id := func(n int) string { return fmt.Sprintf("BUF-%02d", n) }
	register("BUF",
		Case{id(1), "Every buffer of a pool is valid, of its pool, of the size and alignment that were asked for, and can be written in full.", nil,
			func(e *Env) { bufAlloc(e, 1500, cacheDefault) }},
		Case{id(2), "Large buffers are all there, valid, aligned and can be written in full.", nil, func(e *Env) { bufAlloc(e, large, cacheDefault) }},
		Case{id(3), "Without a cache per worker all buffers of a pool are there, valid and can be written in full.", nil, func(e *Env) { bufAlloc(e, 1500, cacheMin) }},
		Case{id(4), "With the largest cache per worker all buffers of a pool are there, valid and can be written in full.", nil, func(e *Env) { bufAlloc(e, 1500, cacheMax) }},
		Case{id(5), "Bursts of 8 give up to 8 buffers each, and all buffers of the pool in the end.", nil,
			func(e *Env) { bufMulti(e, 1500, cacheDefault) }},
		Case{id(6), "Large buffers come in bursts of up to 8, all of the pool in the end.", nil, func(e *Env) { bufMulti(e, large, cacheDefault) }},
		Case{id(7), "Without a cache buffers come in bursts of up to 8, all of the pool in the end.", nil, func(e *Env) { bufMulti(e, 1500, cacheMin) }},
		Case{id(8), "With the largest cache buffers come in bursts of up to 8, all of the pool in the end.", nil, func(e *Env) { bufMulti(e, 1500, cacheMax) }},
		Case{id(18), "Every buffer has a user area of its own, of the size that was asked for, and no user flag.", nil, bufArea},
	)
	for i, c := range []struct {
		size int
		what string
	}{{cacheDefault, "the default cache"}, {cacheMin, "no cache"}, {cacheMax, "the largest cache"}} {
		register("BUF",
			Case{id(9 + i), "With " + c.what + " a pool of one buffer gives it, nothing more, and again after it was freed.", nil,
				func(e *Env) { bufSingle(e, c.size) }},
			Case{id(12 + i), "With " + c.what + " one free call takes buffers of two pools back to their own.", nil,
				func(e *Env) { bufTwoPools(e, c.size) }},
			Case{id(15 + i), "With " + c.what + " as many pools of one buffer as the process allows work at the same time.", nil,
				func(e *Env) { bufMaxPools(e, c.size) }},
		)
	}
}

// aligned reports whether the memory of a buffer starts at a multiple of align.
func aligned(b []byte, align int) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(b)))%uintptr(align) == 0
}

// checkBuffer asserts what holds for every buffer.
func (e *Env) checkBuffer(p *odp.Pool, x *odp.Event, size, align int) {
	e.Helper()
	b := x.Buffer()
	e.Check(x.Valid(), "a buffer that is not valid")
	e.Check(e.Ops.PoolOf(x) == p && x.InPool(p), "a buffer of another pool")
	e.Check(x.Type() == buffers, "type %v, want that of buffers", x.Type())
	e.Check(&b.Event == x && buffer.BuffersOf([]*odp.Event{x})[0] == b, "a conversion made another event")
	e.Check(buffer.FromID(x.ID()) == x, "the id leads to another event")
	e.Check(b.Size() >= size && len(b.Data()) == b.Size(), "size %d with %d bytes of data, want at least %d", b.Size(), len(b.Data()), size)
	e.Check(aligned(b.Data(), align), "the data is not at a multiple of %d", align)
}

func bufAlloc(e *Env, size, cache int) {
	const num, align = 100, 64
	w := e.worker()
	p := e.pool(odp.PoolConfig{Type: buffers, Num: num, Size: size, Align: align, Cache: cache})
	for _, by := range []*odp.Worker{w, nil} {
		ev := e.allocAll(p, by, 0, num)
		e.Must(len(ev) == num, "worker %d: %d buffers of %d", by.ID(), len(ev), num)
		e.distinct(ev)
		for i, x := range ev {
			e.checkBuffer(p, x, size, align)
			fill(x, byte(i))
		}
		for i, x := range ev { // nobody wrote into another's memory
			e.Must(filled(x, byte(i)), "buffer %d shares memory with another", i)
		}
		e.free(by, ev...)
		p.Flush(w)
	}
	e.Check(p.Out() == 0, "%d buffers are out", p.Out())
	e.closePool(p)
}

func bufMulti(e *Env, size, cache int) {
	const num, align, burst = 100, 64, 8
	w := e.worker()
	p := e.pool(odp.PoolConfig{Type: buffers, Num: num, Size: size, Align: align, Cache: cache})
	for range 2 {
		var all [num + burst]*odp.Event
		n := 0
		for n < num {
			m := e.allocMulti(p, w, all[n:n+burst], 0)
			e.Must(m > 0 && m <= burst, "%d buffers in a burst of %d, %d of %d are out", m, burst, n, num)
			n += m
		}
		e.Must(n == num, "%d buffers of %d", n, num)
		e.Must(e.allocMulti(p, w, all[n:n+burst], 0) == 0, "more buffers than the pool has")
		e.distinct(all[:n])
		bufs := buffer.BuffersOf(all[:n])
		for i, x := range all[:n] {
			e.Check(&bufs[i].Event == x, "entry %d: a conversion made another event", i)
			e.checkBuffer(p, x, size, align)
		}
		e.free(w, all[:n]...)
		e.Check(p.Available() == num, "%d buffers available of %d", p.Available(), num)
	}
	e.closePool(p)
}

func bufSingle(e *Env, cache int) {
	w := e.worker()
	p := e.pool(odp.PoolConfig{Type: buffers, Num: 1, Size: 1500, Cache: cache})
	for round := range 3 {
		x := e.alloc(p, w, 0)
		e.Must(x != nil, "round %d: no buffer", round)
		e.checkBuffer(p, x, 1500, 8)
		e.Must(e.alloc(p, w, 0) == nil && e.alloc(p, nil, 0) == nil, "round %d: a second buffer", round)
		e.Check(x.ID() != 0, "the id is 0, that of no event")
		e.free(w, x)
	}
	e.closePool(p)
}

func bufTwoPools(e *Env, cache int) {
	w := e.worker()
	a := e.pool(odp.PoolConfig{Type: buffers, Num: 1, Size: 64, Cache: cache})
	b := e.pool(odp.PoolConfig{Type: buffers, Num: 1, Size: 64, Cache: cache})
	for range 2 {
		x, y := e.alloc(a, w, 0), e.alloc(b, w, 0)
		e.Must(x != nil && y != nil, "no buffers")
		e.Check(e.Ops.PoolOf(x) == a && e.Ops.PoolOf(y) == b, "a buffer reports another pool")
		e.Must(e.alloc(a, w, 0) == nil && e.alloc(b, w, 0) == nil, "a second buffer")
		e.free(w, x, y)
		e.Check(a.Available() == 1 && b.Available() == 1, "%d and %d buffers came back, want 1 and 1", a.Available(), b.Available())
	}
	e.closePool(a)
	e.closePool(b)
}

func bufMaxPools(e *Env, cache int) {
	w := e.worker()
	used := 0
	buffer.Pools(func(*odp.Pool) { used++ })
	var all []*odp.Pool
	var ev []*odp.Event
	for i := range buffer.MaxPools - used {
		p := e.pool(odp.PoolConfig{Type: buffers, Num: 1, Size: 64, Cache: cache})
		x := e.alloc(p, w, 0)
		e.Must(x != nil, "pool %d has no buffer", i)
		fill(x, byte(i))
		all, ev = append(all, p), append(ev, x)
	}
	e.distinct(ev)
	for i, x := range ev {
		e.Check(filled(x, byte(i)) && e.Ops.PoolOf(x) == all[i], "buffer %d is of another pool or shares memory", i)
	}
	e.free(w, ev...)
	for _, p := range all {
		e.closePool(p)
	}
}

func bufArea(e *Env) {
	const num, size = 10, 1024
	p := e.pool(odp.PoolConfig{Type: buffers, Num: num, Size: 64, UserArea: size})
	ev := e.allocAll(p, nil, 0, num)
	e.Must(len(ev) == num, "%d buffers of %d", len(ev), num)
	seen := map[*byte]bool{}
	for i, x := range ev {
		a := e.Ops.UserArea(x)
		e.Must(len(a) == size, "user area of %d bytes, want %d", len(a), size)
		e.Check(!seen[&a[0]], "two buffers have the same user area")
		seen[&a[0]] = true
		for j := range a {
			a[j] = byte(i)
		}
		x.SetUserFlag(true)
		e.Check(!x.UserFlag(), "a buffer has a user flag")
		fill(x, 0xff)
	}
	for i, x := range ev {
		a := e.Ops.UserArea(x)
		e.Check(a[0] == byte(i) && a[size-1] == byte(i), "user area %d was overwritten", i)
	}
	e.free(nil, ev...)
	e.closePool(p)
}
