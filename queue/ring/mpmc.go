// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
)

// MPMC is a ring for any number of producers and consumers. Every method may be
// called from any goroutine.
//
//	line    written by   read by
//	slots   New          all
//	prod    producers    producers, Len    reserved position, last reader position seen
//	r       consumers    consumers, producers that find no room, Len
type MPMC struct {
	slots
	_    relax.Pad
	prod producers
	_    relax.Pad
	r    relax.Uint64
	_    relax.Pad
}

// NewMPMC makes a ring that holds at least n ids (Size says how many). It panics
// when Size refuses n.
func NewMPMC(n int) *MPMC { return newMPMCAt(n, 0) }

func newMPMCAt(n int, pos uint64) *MPMC {
	r := &MPMC{slots: newSlots(n, pos)}
	r.prod.w.StoreRel(pos)
	r.prod.seen.StoreRel(pos)
	r.r.StoreRel(pos)
	return r
}

// Len returns how many ids are in the ring, reserved but unpublished ones
// included. The answer is of the past.
func (r *MPMC) Len() int {
	tail := r.r.LoadAcq()
	return r.length(tail, r.prod.w.LoadAcq())
}

// Total returns how many ids were ever enqueued (reserved ones included) and
// dequeued. Any goroutine may call it.
func (r *MPMC) Total() (in, out uint64) { out = r.r.LoadAcq(); return r.prod.w.LoadAcq(), out }

// Enqueue appends ids from the front and returns how many fitted.
func (r *MPMC) Enqueue(ids []uint32) int {
	if len(ids) == 0 {
		return 0
	}
	pos, n := r.prod.reserve(&r.slots, &r.r, len(ids), false)
	r.write(pos, ids[:n])
	return n
}

// EnqueueAll appends all ids, or none and returns false.
func (r *MPMC) EnqueueAll(ids []uint32) bool {
	if len(ids) == 0 {
		return true
	}
	pos, n := r.prod.reserve(&r.slots, &r.r, len(ids), true)
	r.write(pos, ids[:n])
	return n != 0
}

// Dequeue fills ids from the front and returns how many were there. Beyond
// the returned number ids may hold rubbish.
func (r *MPMC) Dequeue(ids []uint32) int {
	if len(ids) == 0 {
		return 0
	}
	for {
		pos := r.r.LoadAcq()
		n := r.read(pos, ids)
		if n == 0 {
			if r.r.LoadAcq() == pos {
				return 0
			}
			continue // pos was stale
		}
		// the copies are valid if nobody has advanced past pos since
		if r.r.CAS(pos, pos+uint64(n)) {
			return n
		}
	}
}

// DequeueAll fills all of ids, or consumes none and returns false.
func (r *MPMC) DequeueAll(ids []uint32) bool {
	if len(ids) == 0 {
		return true
	}
	for {
		pos := r.r.LoadAcq()
		if r.read(pos, ids) < len(ids) {
			if r.r.LoadAcq() == pos {
				return false
			}
			continue
		}
		if r.r.CAS(pos, pos+uint64(len(ids))) {
			return true
		}
	}
}

// EnqueueEvent is EnqueueEvents of one event; false: there was no room.
func (r *MPMC) EnqueueEvent(e *buffer.Event) bool {
	for {
		pos := r.prod.w.LoadAcq()
		if pos-r.prod.seen.LoadAcq() > r.mask {
			one := [1]*buffer.Event{e}
			return r.EnqueueEvents(one[:]) == 1
		}
		if r.prod.w.CAS(pos, pos+1) {
			word(r.base, pos&r.mask).StoreRel(tag(pos)<<32 | uint64(e.ID()))
			return true
		}
	}
}

// DequeueEvent is DequeueEvents of one event; false: there was none, and *e may be
// another's.
func (r *MPMC) DequeueEvent(e **buffer.Event) bool {
	for {
		pos := r.r.LoadAcq()
		id := word(r.base, pos&r.mask).LoadAcq() ^ tag(pos)<<32
		if id >= nextTag {
			if r.r.LoadAcq() == pos {
				return false
			}
			continue // pos was stale
		}
		setEvent(e, uint32(id))
		if r.r.CAS(pos, pos+1) { // nobody has taken it since
			return true
		}
	}
}

// EnqueueEvents is Enqueue of the events' ids.
func (r *MPMC) EnqueueEvents(ev []*buffer.Event) int {
	if len(ev) == 0 {
		return 0
	}
	pos, n := r.prod.reserve(&r.slots, &r.r, len(ev), false)
	r.writeEvents(pos, ev[:n])
	return n
}

// DequeueEvents is Dequeue into events. Beyond the returned number ev may hold
// events of others.
func (r *MPMC) DequeueEvents(ev []*buffer.Event) int {
	if len(ev) == 0 {
		return 0
	}
	for {
		pos := r.r.LoadAcq()
		n := r.readEvents(pos, ev)
		if n == 0 {
			if r.r.LoadAcq() == pos {
				return 0
			}
			continue
		}
		if r.r.CAS(pos, pos+uint64(n)) {
			return n
		}
	}
}
