// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"math/bits"
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
)

// LockFree is a ring for any number of producers and consumers in which nobody
// who is suspended, wherever that is, keeps the others from making progress. The other
// rings reserve positions first and write them later, so a writer that sleeps in between
// delays the readers behind it; here an event and its position are one
// compare-and-swap of one slot, and whoever finds head or tail behind moves it on.
// It costs two read-modify-writes per event instead of one per burst: use it where that
// promise is needed. Every method may be called from any goroutine.
//
//	slot    63          33   32   31             0
//	        | lap of pos | full |      id         |   lap = position / capacity
//
//	empty(p)  the event of position p may be written    written by the consumer of p - capacity
//	full(p)   the event of position p                    written by its producer
//
// The lap has 31 bits: a user that sleeps between its load and its compare-and-swap
// would have to miss exactly 2^31 laps, or a multiple, to be misled.
//
// The slot with a lap is the idea of P. Tsigas and Y. Zhang's queue of 2001, with a counter
// in place of their two kinds of null.
type LockFree struct {
	lapSlots
	_    relax.Pad
	tail relax.Uint64 // all positions below are full or were; may lag behind
	_    relax.Pad
	head relax.Uint64 // all positions below are consumed; may lag behind
	_    relax.Pad
}

// lapSlots is the memory of the non-blocking rings.
type lapSlots struct {
	base  unsafe.Pointer
	mask  uint64
	shift uint
	mem   []uint64 // keeps base alive
}

const fullBit = 1 << 32

func newLapSlots(n int, pos uint64) lapSlots {
	c := mustSize(n)
	m := words[uint64](c)
	s := lapSlots{unsafe.Pointer(unsafe.SliceData(m)), uint64(c) - 1, uint(bits.TrailingZeros32(c)), m}
	for p := pos; p < pos+uint64(c); p++ {
		s.at(p).StoreRel(s.empty(p))
	}
	return s
}

// at is the slot of a position.
func (s *lapSlots) at(pos uint64) *relax.Uint64 { return word(s.base, pos&s.mask) }

// empty is the content of the slot of pos before the event of pos is there, full | id
// the content with it.
func (s *lapSlots) empty(pos uint64) uint64 { return pos >> s.shift << 33 }
func (s *lapSlots) full(pos uint64) uint64  { return pos>>s.shift<<33 | fullBit }

// Cap returns how many ids the ring holds.
func (s *lapSlots) Cap() int { return int(s.mask) + 1 }

// stateOf is a slot's content without the id.
func stateOf(v uint64) uint64 { return v &^ (1<<32 - 1) }

// NewLockFree makes a ring that holds at least n ids (Size says how many). It
// panics when Size refuses n.
func NewLockFree(n int) *LockFree { return newLockFreeAt(n, 0) }

func newLockFreeAt(n int, pos uint64) *LockFree {
	r := &LockFree{lapSlots: newLapSlots(n, pos)}
	r.tail.StoreRel(pos)
	r.head.StoreRel(pos)
	return r
}

// Len returns how many ids are in the ring. The answer is of the past.
func (r *LockFree) Len() int {
	out := r.head.LoadAcq()
	return int(min(max(int64(r.tail.LoadAcq()-out), 0), int64(r.Cap())))
}

// Total returns how many ids were ever enqueued and dequeued. Any goroutine may
// call it.
func (r *LockFree) Total() (in, out uint64) { out = r.head.LoadAcq(); return r.tail.LoadAcq(), out }

// advance moves a position word up to pos, unless it is there or further.
func advance(w *relax.Uint64, pos uint64) {
	for {
		v := w.LoadAcq()
		if int64(pos-v) <= 0 || w.CAS(v, pos) {
			return
		}
	}
}

// put writes id to the first free position at or behind pos, below which all are
// written. It returns the position behind it, and false when the ring is full.
func (r *LockFree) put(pos uint64, id uint32) (uint64, bool) {
	for {
		slot := r.at(pos)
		v := slot.LoadAcq()
		switch age := int64(stateOf(v) - r.empty(pos)); {
		case age < 0:
			return pos, false // what was written a lap ago is still there
		case age > 0:
			pos = later(pos+1, r.tail.LoadAcq())
		case slot.CAS(v, r.full(pos)|uint64(id)): // all below are written: this was the end
			return pos + 1, true
		}
	}
}

// get takes the id at the first position at or behind pos that is not consumed; all
// below pos are. It returns the position behind it, and false when the ring is empty.
func (r *LockFree) get(pos uint64) (uint64, uint32, bool) {
	for {
		slot := r.at(pos)
		v := slot.LoadAcq()
		switch age := int64(stateOf(v) - r.full(pos)); {
		case age < 0:
			return pos, 0, false
		case age > 0:
			pos = later(pos+1, r.head.LoadAcq())
		case slot.CAS(v, r.empty(pos+r.mask+1)): // all below are consumed: this was the front
			return pos + 1, uint32(v), true
		}
	}
}

// later returns the later of two positions.
func later(a, b uint64) uint64 {
	if int64(b-a) > 0 {
		return b
	}
	return a
}

// Enqueue appends ids from the front and returns how many fitted.
func (r *LockFree) Enqueue(ids []uint32) int {
	pos, ok := r.tail.LoadAcq(), true
	for i, id := range ids {
		if pos, ok = r.put(pos, id); !ok {
			advance(&r.tail, pos)
			return i
		}
	}
	advance(&r.tail, pos)
	return len(ids)
}

// Dequeue fills ids from the front and returns how many were there.
func (r *LockFree) Dequeue(ids []uint32) int {
	pos, ok := r.head.LoadAcq(), true
	for i := range ids {
		if pos, ids[i], ok = r.get(pos); !ok {
			advance(&r.head, pos)
			return i
		}
	}
	advance(&r.head, pos)
	return len(ids)
}

// EnqueueEvents is Enqueue of the events' ids.
func (r *LockFree) EnqueueEvents(ev []*buffer.Event) int {
	pos, ok := r.tail.LoadAcq(), true
	for i, e := range ev {
		if pos, ok = r.put(pos, e.ID()); !ok {
			advance(&r.tail, pos)
			return i
		}
	}
	advance(&r.tail, pos)
	return len(ev)
}

// DequeueEvents is Dequeue into events.
func (r *LockFree) DequeueEvents(ev []*buffer.Event) int {
	pos, id, ok := r.head.LoadAcq(), uint32(0), true
	for i := range ev {
		if pos, id, ok = r.get(pos); !ok {
			advance(&r.head, pos)
			return i
		}
		setEvent(&ev[i], id)
	}
	advance(&r.head, pos)
	return len(ev)
}
