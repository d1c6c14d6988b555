// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/bits"
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
)

// events is the ring of a scheduled queue: any number of producers, one consumer
// at a time (who holds the queue's token). It is a multi-producer ring with a
// position in each slot, as queue/ring has it, whose write position shares its word
// with the two facts that must change together with it:
//
//	tail  63                          2       1        0
//	      |  events ever reserved     | closed | in use |
//	slot  63            32 31             0
//	      | position + 1  |      id       |
//
// in use: the queue has a token. The producer that sets it pushes the token. So an
// enqueue is one read-modify-write, and the consumer needs one only to drop the
// token of an empty queue, which fails if something was reserved meanwhile.
//
//	line    written by      read by
//	size    New             all
//	tail    producers       producers; the consumer when it finds no more events
//	head    the consumer    producers that find no room
type events struct {
	slots []relax.Uint64
	mask  uint64
	size  uint64
	_     relax.Pad
	tail  relax.Uint64
	seen  relax.Uint64 // a past head: spares producers the consumer's line
	_     relax.Pad
	head  relax.Uint64
}

const (
	inUse     = 1
	shut      = 2
	posShift  = 2
	posUnit   = 1 << posShift
	slotShift = 32
)

func (r *events) init(size int) {
	n := 1 << bits.Len(uint(size-1))
	r.slots = make([]relax.Uint64, n)
	r.mask, r.size = uint64(n-1), uint64(size)
}

func tag(pos uint64) uint64 { return uint64(uint32(pos)+1) << slotShift }

// put appends events from the front and returns how many fitted. first: the
// queue had no token, the caller pushes it. closed: the queue takes nothing.
func (r *events) put(ev []*buffer.Event) (n int, first, closed bool) {
	var t, pos uint64
	for {
		t = r.tail.LoadAcq()
		if t&shut != 0 {
			return 0, false, true
		}
		pos = t >> posShift
		free := r.size - (pos - r.seen.LoadAcq())
		if free < uint64(len(ev)) {
			h := r.head.LoadAcq() // partner: take has copied what lies before
			free = r.size - (pos - h)
			if int64(free) <= 0 || len(ev) == 0 {
				if t == r.tail.LoadAcq() {
					return 0, false, false
				}
				continue
			}
			r.seen.StoreRel(h)
		}
		n = len(ev)
		if free < uint64(n) {
			n = int(free)
		}
		if n == 0 {
			return 0, false, false
		}
		if r.tail.CAS(t, t+uint64(n)<<posShift|inUse) {
			break
		}
	}
	slots, mask := r.slots, r.mask
	for _, e := range ev[:n] {
		slots[pos&mask].StoreRel(tag(pos) | uint64(e.ID())) // partner: take
		pos++
	}
	return n, t&inUse == 0, false
}

// take moves published events to ev. Only the holder of the token.
func (r *events) take(ev []*buffer.Event) int {
	h := r.head.LoadAcq()
	slots, mask := r.slots, r.mask
	n := len(ev)
	for i := range ev {
		v := slots[h&mask].LoadAcq() // partner: put
		if v&^0xffffffff != tag(h) {
			n = i
			break
		}
		setEvent(&ev[i], uint32(v))
		h++
	}
	if n > 0 {
		r.head.StoreRel(h)
	}
	return n
}

// takeIDs is take of the bare ids.
func (r *events) takeIDs(ids []uint32) int {
	h := r.head.LoadAcq()
	slots, mask := r.slots, r.mask
	n := len(ids)
	for i := range ids {
		v := slots[h&mask].LoadAcq()
		if v&^0xffffffff != tag(h) {
			n = i
			break
		}
		ids[i] = uint32(v)
		h++
	}
	if n > 0 {
		r.head.StoreRel(h)
	}
	return n
}

// ready reports whether the next event is published. Only the holder.
func (r *events) ready() bool {
	h := r.head.LoadAcq()
	return r.slots[h&r.mask].LoadAcq()&^0xffffffff == tag(h)
}

// empty reports whether nothing was even reserved. Only the holder.
func (r *events) empty() bool { return r.tail.LoadAcq()>>posShift == r.head.LoadAcq() }

// drop gives up the token of an empty ring; false: something was reserved. It is
// a full barrier when it succeeds. Only the holder, who holds it no more then.
func (r *events) drop() bool {
	t := r.tail.LoadAcq()
	return t>>posShift == r.head.LoadAcq() && r.tail.CAS(t, t&^inUse)
}

// claim takes the token of a queue that has none; false: somebody has it.
func (r *events) claim() bool {
	for {
		t := r.tail.LoadAcq()
		if t&inUse != 0 {
			return false
		}
		if r.tail.CAS(t, t|inUse) {
			return true
		}
	}
}

// held reports whether somebody has the token.
func (r *events) held() bool { return r.tail.LoadAcq()&inUse != 0 }

// close refuses further events if the ring is empty.
func (r *events) close() bool {
	for {
		t := r.tail.LoadAcq()
		if t>>posShift != r.head.LoadAcq() {
			return false
		}
		if r.tail.CAS(t, t|shut) {
			return true
		}
	}
}

// len counts the events, reserved ones included. Any goroutine.
func (r *events) len() int {
	h := r.head.LoadAcq()
	return max(0, int(r.tail.LoadAcq()>>posShift-h))
}

// setEvent writes the event of id to *p without a write barrier: events live in
// the arena, which the collector neither marks nor frees.
func setEvent(p **buffer.Event, id uint32) {
	*(*uintptr)(unsafe.Pointer(p)) = uintptr(unsafe.Pointer(buffer.FromID(id)))
}
