// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
)

// MPSC is a ring for any number of producers and one consumer at a time: the
// consumer uses no read-modify-write.
//
//	line    written by   read by
//	slots   New          all
//	prod    producers    producers, Len    reserved position, last reader position seen
//	tail    consumer     consumer          private: its next position
//	r       consumer     producers that find no room, Len
type MPSC struct {
	slots
	_    relax.Pad
	prod producers
	_    relax.Pad
	tail uint64
	_    relax.Pad
	r    relax.Uint64
	_    relax.Pad
}

// NewMPSC makes a ring that holds at least n ids (Size says how many). It panics
// when Size refuses n.
func NewMPSC(n int) *MPSC { return newMPSCAt(n, 0) }

func newMPSCAt(n int, pos uint64) *MPSC {
	r := &MPSC{slots: newSlots(n, pos), tail: pos}
	r.prod.w.StoreRel(pos)
	r.prod.seen.StoreRel(pos)
	r.r.StoreRel(pos)
	return r
}

// Len returns how many ids are in the ring, reserved but unpublished ones
// included. Any goroutine may call it; the answer is of the past.
func (r *MPSC) Len() int {
	tail := r.r.LoadAcq()
	return r.length(tail, r.prod.w.LoadAcq())
}

// Total returns how many ids were ever enqueued (reserved ones included) and
// dequeued. Any goroutine may call it.
func (r *MPSC) Total() (in, out uint64) { out = r.r.LoadAcq(); return r.prod.w.LoadAcq(), out }

// Enqueue appends ids from the front and returns how many fitted. Any goroutine.
func (r *MPSC) Enqueue(ids []uint32) int {
	if len(ids) == 0 {
		return 0
	}
	pos, n := r.prod.reserve(&r.slots, &r.r, len(ids), false)
	r.write(pos, ids[:n])
	return n
}

// EnqueueAll appends all ids, or none and returns false. Any goroutine.
func (r *MPSC) EnqueueAll(ids []uint32) bool {
	if len(ids) == 0 {
		return true
	}
	pos, n := r.prod.reserve(&r.slots, &r.r, len(ids), true)
	r.write(pos, ids[:n])
	return n != 0
}

// Dequeue fills ids from the front and returns how many were there. The consumer calls it.
func (r *MPSC) Dequeue(ids []uint32) int {
	n := r.read(r.tail, ids)
	r.release(n)
	return n
}

// DequeueAll fills all of ids, or consumes none and returns false. The consumer calls it.
func (r *MPSC) DequeueAll(ids []uint32) bool {
	if r.read(r.tail, ids) < len(ids) {
		return false
	}
	r.release(len(ids))
	return true
}

// release gives n slots back to the producers; pairs with the LoadAcq in reserve.
func (r *MPSC) release(n int) {
	if n != 0 {
		r.tail += uint64(n)
		r.r.StoreRel(r.tail)
	}
}

// EnqueueEvents is Enqueue of the events' ids.
func (r *MPSC) EnqueueEvents(ev []*buffer.Event) int {
	if len(ev) == 0 {
		return 0
	}
	pos, n := r.prod.reserve(&r.slots, &r.r, len(ev), false)
	r.writeEvents(pos, ev[:n])
	return n
}

// DequeueEvents is Dequeue into events.
func (r *MPSC) DequeueEvents(ev []*buffer.Event) int {
	n := r.readEvents(r.tail, ev)
	r.release(n)
	return n
}
