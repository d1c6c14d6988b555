// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/pack"
	"github.com/odp-go/godp/internal/relax"
)

// SPSC is a ring for one producer and one consumer at a time. It uses no
// read-modify-write. Len and Cap may be called from anywhere.
//
//	line        written by   read by
//	base, mask  New          both
//	head, seen  producer     producer              private: its next position, the last tail it saw
//	w           producer     consumer, Len         published position, one store a burst
//	tail, seen  consumer     consumer              private
//	r           consumer     producer, Len         published position
//
// Private and published words are on lines of their own: the owner's private
// line never leaves its core.
type SPSC struct {
	base  unsafe.Pointer // of slots[0]
	mask  uint64
	slots []uint32
	_     relax.Pad
	prod  side
	_     relax.Pad
	w     relax.Uint64 // LoadAcq in avail pairs with StoreRel in Enqueue
	_     relax.Pad
	cons  side
	_     relax.Pad
	r     relax.Uint64 // LoadAcq in room pairs with StoreRel in Dequeue
	_     relax.Pad
}

// side is what one side of an SPSC ring keeps for itself.
type side struct {
	pos  uint64 // own next position, free-running
	seen uint64 // the opposite position when it was last read
}

// NewSPSC makes a ring that holds at least n ids (Size says how many). It panics
// when Size refuses n.
func NewSPSC(n int) *SPSC { return newSPSCAt(n, 0) }

// newSPSCAt starts the free-running positions at pos.
func newSPSCAt(n int, pos uint64) *SPSC {
	c := mustSize(n)
	s := words[uint32](c)
	r := &SPSC{base: unsafe.Pointer(unsafe.SliceData(s)), mask: uint64(c) - 1, slots: s}
	r.prod, r.cons = side{pos, pos}, side{pos, pos}
	r.w.StoreRel(pos)
	r.r.StoreRel(pos)
	return r
}

// Cap returns how many ids the ring holds.
func (r *SPSC) Cap() int { return int(r.mask) + 1 }

// Len returns how many ids are in the ring. Any goroutine may call it; for
// others than the two sides the answer is of the past.
func (r *SPSC) Len() int {
	tail := r.r.LoadAcq()
	n := r.w.LoadAcq() - tail
	return int(min(n, r.mask+1)) // tail may have moved on meanwhile
}

// Total returns how many ids were ever enqueued and dequeued, as of the last
// bursts. Any goroutine may call it.
func (r *SPSC) Total() (in, out uint64) { out = r.r.LoadAcq(); return r.w.LoadAcq(), out }

// room returns how many of n ids fit now, n <= Cap.
func (r *SPSC) room(n uint64) uint64 {
	p := &r.prod
	free := r.mask + 1 - (p.pos - p.seen)
	if free < n {
		p.seen = r.r.LoadAcq()
		free = r.mask + 1 - (p.pos - p.seen)
	}
	return min(free, n)
}

// avail returns how many of n ids are there now.
func (r *SPSC) avail(n uint64) uint64 {
	c := &r.cons
	have := c.seen - c.pos
	if have < n {
		c.seen = r.w.LoadAcq()
		have = c.seen - c.pos
	}
	return min(have, n)
}

// want returns the length of a burst, cut to the capacity.
func (r *SPSC) want(n int) uint64 { return min(uint64(n), r.mask+1) }

func slot(base unsafe.Pointer, i uint64) *uint32 {
	return (*uint32)(unsafe.Add(base, uintptr(i)<<2))
}

// Enqueue appends ids from the front and returns how many fitted. The producer calls it.
func (r *SPSC) Enqueue(ids []uint32) int {
	n := r.room(r.want(len(ids)))
	if n == 0 {
		return 0
	}
	r.put(ids[:n])
	return int(n)
}

// EnqueueAll appends all ids, or none and returns false. The producer calls it.
func (r *SPSC) EnqueueAll(ids []uint32) bool {
	if len(ids) > r.Cap() || r.room(uint64(len(ids))) < uint64(len(ids)) {
		return false
	}
	r.put(ids)
	return true
}

func (r *SPSC) put(ids []uint32) {
	pos := r.prod.pos
	if len(ids) < unroll {
		base, mask := r.base, r.mask
		for _, id := range ids {
			*slot(base, pos&mask) = id
			pos++
		}
	} else {
		k := copy(r.slots[pos&r.mask:], ids)
		copy(r.slots, ids[k:])
	}
	r.publish(uint64(len(ids)))
}

func (r *SPSC) publish(n uint64) {
	r.prod.pos += n
	r.w.StoreRel(r.prod.pos)
}

// Dequeue fills ids from the front and returns how many were there. The consumer calls it.
func (r *SPSC) Dequeue(ids []uint32) int {
	n := r.avail(r.want(len(ids)))
	if n == 0 {
		return 0
	}
	r.take(ids[:n])
	return int(n)
}

// DequeueAll fills all of ids, or none and returns false. The consumer calls it.
func (r *SPSC) DequeueAll(ids []uint32) bool {
	if len(ids) > r.Cap() || r.avail(uint64(len(ids))) < uint64(len(ids)) {
		return false
	}
	r.take(ids)
	return true
}

func (r *SPSC) take(ids []uint32) {
	pos := r.cons.pos
	if len(ids) < unroll {
		base, mask := r.base, r.mask
		for i := range ids {
			ids[i] = *slot(base, pos&mask)
			pos++
		}
	} else {
		k := copy(ids, r.slots[pos&r.mask:])
		copy(ids[k:], r.slots)
	}
	r.release(uint64(len(ids)))
}

func (r *SPSC) release(n uint64) {
	r.cons.pos += n
	r.r.StoreRel(r.cons.pos)
}

// TryEnqueue is EnqueueEvents of one event in the common case, and is inlined; false:
// the producer must look how far the consumer is, by EnqueueEvents.
func (r *SPSC) TryEnqueue(e *buffer.Event) bool {
	pos := r.prod.pos
	if pos-r.prod.seen > r.mask {
		return false
	}
	*slot(r.base, pos&r.mask) = e.ID()
	r.prod.pos = pos + 1
	r.w.StoreRel(pos + 1)
	return true
}

// TryDequeue is DequeueEvents of one event in the common case; false: the consumer must
// look how far the producer is, by DequeueEvents.
func (r *SPSC) TryDequeue(e **buffer.Event) bool {
	pos := r.cons.pos
	if r.cons.seen == pos {
		return false
	}
	setEvent(e, *slot(r.base, pos&r.mask))
	r.cons.pos = pos + 1
	r.r.StoreRel(pos + 1)
	return true
}

// EnqueueEvents is Enqueue of the events' ids.
func (r *SPSC) EnqueueEvents(ev []*buffer.Event) int {
	n := r.room(r.want(len(ev)))
	if n == 0 {
		return 0
	}
	ev = ev[:n]
	pos, base, mask := r.prod.pos, r.base, r.mask
	if n < 4 {
		for _, e := range ev {
			*slot(base, pos&mask) = e.ID()
			pos++
		}
	} else {
		k := min(n, mask+1-pos&mask)
		putEvents(slot(base, pos&mask), ev[:k])
		putEvents(slot(base, 0), ev[k:])
	}
	r.publish(n)
	return int(n)
}

func putEvents(s *uint32, ev []*buffer.Event) {
	if pack.Wide && len(ev) >= pack.Min {
		pack.PutIDs(unsafe.Pointer(s), unsafe.Pointer(unsafe.SliceData(ev)), len(ev), arenaBase)
		return
	}
	p := unsafe.Pointer(s)
	for len(ev) >= 4 {
		a, b, c, d := ev[0], ev[1], ev[2], ev[3]
		*(*[4]uint32)(p) = [4]uint32{a.ID(), b.ID(), c.ID(), d.ID()}
		if ev = ev[4:]; len(ev) == 0 {
			return
		}
		p = unsafe.Add(p, 16)
	}
	for i, e := range ev {
		*slot(p, uint64(i)) = e.ID()
	}
}

// DequeueEvents is Dequeue into events.
func (r *SPSC) DequeueEvents(ev []*buffer.Event) int {
	n := r.avail(r.want(len(ev)))
	if n == 0 {
		return 0
	}
	ev = ev[:n]
	pos, base, mask := r.cons.pos, r.base, r.mask
	if n < 4 {
		for i := range ev {
			setEvent(&ev[i], *slot(base, pos&mask))
			pos++
		}
	} else {
		k := min(n, mask+1-pos&mask)
		takeEvents(slot(base, pos&mask), ev[:k])
		takeEvents(slot(base, 0), ev[k:])
	}
	r.release(n)
	return int(n)
}

func takeEvents(s *uint32, ev []*buffer.Event) {
	if pack.Wide && len(ev) >= pack.Min {
		pack.TakeIDs(unsafe.Pointer(unsafe.SliceData(ev)), unsafe.Pointer(s), len(ev), arenaBase)
		return
	}
	p := unsafe.Pointer(s)
	for len(ev) >= 4 {
		setEvent(&ev[0], *slot(p, 0))
		setEvent(&ev[1], *slot(p, 1))
		setEvent(&ev[2], *slot(p, 2))
		setEvent(&ev[3], *slot(p, 3))
		if ev = ev[4:]; len(ev) == 0 {
			return
		}
		p = unsafe.Add(p, 16)
	}
	for i := range ev {
		setEvent(&ev[i], *slot(p, uint64(i)))
	}
}
