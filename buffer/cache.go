// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/worker"
)

// cache is what one worker keeps of a pool: an array of events, last in first
// out, moved by copy(). It is the owner's alone: no locked instruction inside.
// The words are kept as integers, since a pointer into the arena needs no write barrier.
//
// Somebody else may take the events only after revoke: he sets limit to 0, waits
// until the owner's stores can be seen, and then until the owner is not inside. From
// then on the owner finds limit 0 and leaves the array alone.
type cache struct {
	_ relax.Pad
	// Written by the owner, read by revoke and Stats: half the number of calls,
	// odd while the owner is inside.
	allocSeq, freeSeq relax.Uint64
	n                 relax.Uint32 // written by the owner: events cached; read by anybody
	limit             relax.Uint32 // written by revoke: most events, 0 = no cache; read by the owner
	ev                []uintptr    // len = most events

	// Written by the owner, read by Stats.
	allocs, allocFails, frees relax.Uint64 // calls that went to the store
	misses                    relax.Uint64 // calls that found the store empty
	flushes                   relax.Uint64 // entries into freeSeq that were no free
	puts, gets                relax.Uint64 // events moved while there is no cache: see tally

	sp spares // the owner's alone
	_  relax.Pad
}

func (c *cache) spares() *spares {
	if c == nil {
		return nil
	}
	return &c.sp
}

// enter marks the owner inside and returns what leave needs.
func enter(seq *relax.Uint64) uint64 {
	s := seq.LoadAcq() | 1
	seq.StoreRel(s)
	return s
}

func leave(seq *relax.Uint64, s uint64) { seq.StoreRel(s + 1) }

func (c *cache) inside() bool { return (c.allocSeq.LoadAcq()|c.freeSeq.LoadAcq())&1 != 0 }

// bump adds 1 to a counter that only the caller writes.
func bump(c *relax.Uint64) { c.StoreRel(c.LoadAcq() + 1) }

// cacheOf returns the worker's entry, nil for the control plane and a worker of
// another set.
func (p *Pool) cacheOf(w *worker.Worker) *cache {
	if w == nil || w.Set() != p.set {
		return nil
	}
	if id := w.ID(); uint(id) < uint(len(p.caches)) {
		return &p.caches[id]
	}
	return nil
}

// get fills dst from the front and returns how many events it got.
func (p *Pool) get(w *worker.Worker, dst []uintptr) int {
	c := p.cacheOf(w)
	if c == nil {
		return p.getShared(dst)
	}
	seq := enter(&c.allocSeq)
	if c.limit.LoadAcq() != 0 {
		if m := int(c.n.LoadAcq()) - len(dst); m >= 0 {
			if len(dst) == 1 {
				dst[0] = c.ev[m]
			} else {
				copy(dst, c.ev[m:])
			}
			c.n.StoreRel(uint32(m))
			leave(&c.allocSeq, seq)
			return len(dst)
		}
	}
	n := p.refill(c, dst)
	leave(&c.allocSeq, seq)
	if n < len(dst) {
		p.missed(c)
	}
	return n
}

// getOne is get for one event: nil when there is none.
func (p *Pool) getOne(w *worker.Worker) unsafe.Pointer {
	if c := p.cacheOf(w); c != nil {
		seq := enter(&c.allocSeq)
		if c.limit.LoadAcq() != 0 {
			if m := c.n.LoadAcq() - 1; uint(m) < uint(len(c.ev)) {
				e := *(*unsafe.Pointer)(unsafe.Pointer(&c.ev[m]))
				c.n.StoreRel(m)
				leave(&c.allocSeq, seq)
				return e
			}
		}
	}
	return p.getOneSlow(w)
}

func (p *Pool) getOneSlow(w *worker.Worker) unsafe.Pointer {
	var one [1]uintptr
	if p.get(w, one[:]) == 0 {
		return nil
	}
	return p.ptr(one[0])
}

// putOne is put for one event.
func (p *Pool) putOne(w *worker.Worker, e unsafe.Pointer) {
	if c := p.cacheOf(w); c != nil {
		seq := enter(&c.freeSeq)
		n := c.n.LoadAcq()
		if n < c.limit.LoadAcq() && uint(n) < uint(len(c.ev)) {
			c.ev[n] = uintptr(e)
			c.n.StoreRel(n + 1)
			leave(&c.freeSeq, seq)
			return
		}
	}
	one := [1]uintptr{uintptr(e)}
	p.put(w, one[:])
}

// refill serves what the array can't: all that it has, then the store. A small
// request brings a whole chunk into the array.
func (p *Pool) refill(c *cache, dst []uintptr) int {
	bump(&c.allocs)
	if c.limit.LoadAcq() == 0 {
		return p.take(c, dst)
	}
	n := copy(dst, c.ev[:c.n.LoadAcq()])
	c.n.StoreRel(0)
	rest := dst[n:]
	if len(rest) >= p.store.per {
		return n + p.take(c, rest)
	}
	m := p.take(c, c.ev[:p.store.per])
	k := min(m, len(rest))
	copy(rest, c.ev[m-k:m])
	c.n.StoreRel(uint32(m - k))
	return n + k
}

// missed counts a request that was not served in full and asks the workers to
// give back what they cache, if they cache anything.
func (p *Pool) missed(c *cache) {
	bump(&c.allocFails)
	for i := range p.caches {
		if o := &p.caches[i]; o != c && o.n.LoadAcq() != 0 {
			bump(&c.misses)
			p.set.RequestFlush()
			return
		}
	}
}

// put takes events back.
func (p *Pool) put(w *worker.Worker, ev []uintptr) {
	c := p.cacheOf(w)
	if c == nil {
		p.putShared(ev)
		return
	}
	seq := enter(&c.freeSeq)
	n := int(c.n.LoadAcq())
	switch {
	case n+len(ev) > int(c.limit.LoadAcq()):
		p.spill(c, ev)
	case len(ev) == 1:
		c.ev[n] = ev[0]
		c.n.StoreRel(uint32(n + 1))
	default:
		copy(c.ev[n:], ev)
		c.n.StoreRel(uint32(n + len(ev)))
	}
	leave(&c.freeSeq, seq)
}

// spill makes room in the array by moving its oldest chunk to the store.
func (p *Pool) spill(c *cache, ev []uintptr) {
	bump(&c.frees)
	limit := int(c.limit.LoadAcq())
	if len(ev) >= limit {
		p.give(c, ev)
		return
	}
	n := int(c.n.LoadAcq())
	for n+len(ev) > limit {
		m := min(n, p.store.per)
		p.give(c, c.ev[:m])
		copy(c.ev, c.ev[m:n])
		n -= m
		c.n.StoreRel(uint32(n))
	}
	copy(c.ev[n:], ev)
	c.n.StoreRel(uint32(n + len(ev)))
}

// flush gives the worker's cached events back: on park, on leave, on request.
func (p *Pool) flush(w *worker.Worker) {
	c := p.cacheOf(w)
	if c == nil || c.n.LoadAcq() == 0 {
		return
	}
	seq := enter(&c.freeSeq)
	bump(&c.flushes)
	if n := c.n.LoadAcq(); n != 0 && c.limit.LoadAcq() != 0 {
		p.give(c, c.ev[:n])
		c.n.StoreRel(0)
	}
	leave(&c.freeSeq, seq)
}

// Flush gives the events that the worker caches back to the pool, so that others
// can have them. Park and Leave do it for every pool.
func (p *Pool) Flush(w *worker.Worker) { p.flush(w) }

// settle is how long revoke waits for the stores of the owners to be seen. A
// store leaves the store buffer within microseconds, at the latest when its thread is
// descheduled.
const settle = time.Millisecond

// revoke ends caching for good and brings all cached events into the store. It
// fails if a worker stays inside a pool call for a second: it died there.
func (p *Pool) revoke() error {
	if p.revoked.Load() {
		return nil
	}
	for i := range p.caches {
		p.caches[i].limit.StoreSeq(0)
	}
	if len(p.caches) != 0 {
		time.Sleep(settle)
	}
	for i := range p.caches {
		c := &p.caches[i]
		for t := time.Now(); c.inside(); time.Sleep(settle) {
			if time.Since(t) > time.Second {
				return fmt.Errorf("%w %q: worker %d has been inside a call of the pool for a second, with %d cached events", ErrPool, p.cfg.Name, i, c.n.LoadAcq())
			}
		}
		if n := c.n.LoadAcq(); n != 0 {
			p.give(nil, c.ev[:n])
			c.n.StoreRel(0)
		}
	}
	p.revoked.Store(true)
	return nil
}

// getShared and putShared are the path without a cache: control plane, Cache -1.
func (p *Pool) getShared(dst []uintptr) int {
	n := p.take(nil, dst)
	p.shared.allocs.Add(1)
	if n < len(dst) {
		p.shared.allocFails.Add(1)
		for i := range p.caches {
			if p.caches[i].n.LoadAcq() != 0 {
				p.shared.misses.Add(1)
				p.set.RequestFlush()
				break
			}
		}
	}
	return n
}

// putShared is put where there is no cache. It stays a call, so that put has no locked
// instruction.
//
//go:noinline
func (p *Pool) putShared(ev []uintptr) {
	p.give(nil, ev)
	p.shared.frees.Add(1)
}

// words views a burst of events as integers, without a copy.
func words[T any](ev []*T) []uintptr {
	return unsafe.Slice((*uintptr)(unsafe.Pointer(unsafe.SliceData(ev))), len(ev))
}
