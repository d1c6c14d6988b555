// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/bits"
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/internal/pack"
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
	base unsafe.Pointer // of the slots
	mask uint64
	size uint64 // events it holds; the slots are the next power of two
	mem  []relax.Uint64
	_    relax.Pad
	tail relax.Uint64
	seen relax.Uint64 // a past head: spares producers the consumer's line
	_    relax.Pad
	head relax.Uint64
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
	r.mem = make([]relax.Uint64, n)
	r.base, r.mask, r.size = unsafe.Pointer(&r.mem[0]), uint64(n-1), uint64(size)
}

// slot is the slot of index i, which is at most mask.
func slot(base unsafe.Pointer, i uint64) *relax.Uint64 {
	return (*relax.Uint64)(unsafe.Add(base, uintptr(i)<<3))
}

// tag is the position part of a slot; that of the next position is oneTag more.
func tag(pos uint64) uint64 { return (pos + 1) << slotShift }

const oneTag = 1 << slotShift

// arenaBase is where the ids count from. The loops below keep it in a register.
var arenaBase = uintptr(arena.Ptr(0))

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
	want, base, first := tag(pos), arenaBase, t&inUse == 0
	for left := ev[:n]; len(left) > 0; {
		i := pos & r.mask
		run := left[:min(uint64(len(left)), r.mask+1-i)]
		if pack.Wide && len(run) >= pack.Min {
			pack.PutTagged(unsafe.Pointer(slot(r.base, i)), unsafe.Pointer(unsafe.SliceData(run)), len(run), base, want)
			want += uint64(len(run)) << slotShift
		} else {
			for _, e := range run {
				slot(r.base, i).StoreOnce(want | uint64((uintptr(unsafe.Pointer(e))-base)>>6)) // partner: take
				want += oneTag
				i++
			}
		}
		pos += uint64(len(run))
		left = left[len(run):]
	}
	return n, first, false
}

// putOne is put of one event by a worker, when there is room and a token: an addition,
// which costs half of a compare-and-swap. margin is how many may add at a time: so many
// slots are left, since what was added can't be taken back without a trace. ok is false when
// put is to be called.
func (r *events) putOne(e *buffer.Event, margin uint64) (ok, first bool) {
	t := r.tail.LoadAcq()
	if t&(inUse|shut) != inUse || int64(r.size-margin-(t>>posShift-r.seen.LoadAcq())) <= 0 {
		return false, false
	}
	t = r.tail.Add(posUnit) - posUnit
	if t&shut != 0 {
		r.takeBack()
		return false, false
	}
	pos := t >> posShift
	slot(r.base, pos&r.mask).StoreRel(tag(pos) | uint64(eventID(e))) // partner: take
	if t&inUse == 0 {
		first = r.claim() // the token was dropped meanwhile
	}
	return true, first
}

// takeBack undoes the reservation of one slot in a closed ring, where nobody looks for it.
//
//go:noinline
func (r *events) takeBack() { r.tail.Add(^uint64(posUnit - 1)) }

// take moves published events to ev. Only the holder of the token.
//
// The events are written without a write barrier: they live in the arena, which the
// collector neither marks nor frees.
func (r *events) take(ev []*buffer.Event) (n int) {
	h := r.head.LoadAcq()
	want, base := tag(h), arenaBase
	for n < len(ev) {
		i := h & r.mask
		run := ev[n:][:min(uint64(len(ev)-n), r.mask+1-i)]
		if pack.Wide && len(run) >= pack.Min {
			k := pack.TakeTagged(unsafe.Pointer(unsafe.SliceData(run)), unsafe.Pointer(slot(r.base, i)), len(run), base, want)
			n += k
			h += uint64(k)
			if k < len(run) {
				break
			}
			want += uint64(k) << slotShift
			continue
		}
		for k := range run {
			id := slot(r.base, i).LoadAcq() ^ want // partner: put
			if id >= oneTag {
				n += k
				h += uint64(k)
				goto end
			}
			*(*uintptr)(unsafe.Pointer(&run[k])) = base + uintptr(id)<<6
			want += oneTag
			i++
		}
		n += len(run)
		h += uint64(len(run))
	}
end:
	if n > 0 {
		r.head.StoreRel(h) // partner: put
	}
	return n
}

// takeIDs is take of the bare ids.
func (r *events) takeIDs(ids []uint32) (n int) {
	h := r.head.LoadAcq()
	want := tag(h)
	for n < len(ids) {
		i := h & r.mask
		run := ids[n:][:min(uint64(len(ids)-n), r.mask+1-i)]
		if pack.Wide && len(run) >= pack.Min {
			k := pack.TakeTaggedIDs(unsafe.Pointer(unsafe.SliceData(run)), unsafe.Pointer(slot(r.base, i)), len(run), want)
			n += k
			h += uint64(k)
			if k < len(run) {
				break
			}
			want += uint64(k) << slotShift
			continue
		}
		for k := range run {
			id := slot(r.base, i).LoadAcq() ^ want
			if id >= oneTag {
				n += k
				h += uint64(k)
				goto end
			}
			run[k] = uint32(id)
			want += oneTag
			i++
		}
		n += len(run)
		h += uint64(len(run))
	}
end:
	if n > 0 {
		r.head.StoreRel(h)
	}
	return n
}

// ready reports whether the next event is published. Only the holder.
func (r *events) ready() bool {
	h := r.head.LoadAcq()
	return slot(r.base, h&r.mask).LoadAcq()^tag(h) < oneTag
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
//
//go:noinline
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

// setEvent writes the event of id to *p without a write barrier, as take does.
func setEvent(p **buffer.Event, id uint32) {
	*(*uintptr)(unsafe.Pointer(p)) = arenaBase + uintptr(id)<<6
}
