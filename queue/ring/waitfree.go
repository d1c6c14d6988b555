// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
)

// WaitFree is a ring for a known number of producers and consumers in which every
// call ends after a bounded number of its own steps, whatever the others do or don't.
// Every user has a number, and two calls with the same number don't overlap.
//
// A user announces what it wants, helps the next one in turn, and then carries its
// own wish out in steps that anybody may take in its place:
//
//	       producer k                              consumer k
//	1      tells its id and "pending"              tells "pending"
//	2      becomes candidate for the tail          becomes candidate for the head
//	3      is made owner of that position          is made owner of that position
//	4      its id is written to the slot           the slot's id is written to its wish
//	5      its wish is marked as done              the slot is emptied
//	6      the tail is moved on                    the head is moved on
//
// A ring that is full or empty at step 2 ends the wish instead. Who is a candidate of
// the position at the tail (head) can't be told so: until that position has an owner
// the ring can't become full (empty).
//
// It costs about ten read-modify-writes per event: use it where a call must end in time
// even when the system took all other users off their CPUs.
//
// The announcements and the steps are those of A. Kogan and E. Petrank's queue of 2011,
// the slots those of LockFree in place of their list.
//
//	wish    63        34  33  32   31               0
//	        | count of k |  state |  candidate, or id |
//
//	owner   63                9   8           0
//	        | position + 1       |     user     |
//
// A wish is mistaken for another only by a user that slept for exactly 2^30 calls of
// that other, or a multiple.
type WaitFree struct {
	lapSlots
	enqOwner, dqOwner []uint64
	users             []user
	firstUser         unsafe.Pointer // of users: their numbers are small and trusted, so no bounds checks
	_                 relax.Pad
	tail              relax.Uint64
	_                 relax.Pad
	head              relax.Uint64
	_                 relax.Pad
}

// user is what one user announces; written by it (count, id) and by all who help.
type user struct {
	enq, deq relax.Uint64
	id       relax.Uint64 // 63..34: the count of enq, 31..0: the id
	next     int          // whom to help next; its own
	_        [96]byte
}

// MaxUsers is the largest number of users of a WaitFree ring.
const MaxUsers = 512

// The states of a wish.
const (
	ended     uint64 = iota << 32 // there was no room, nothing to take
	pending                       // no candidate yet
	candidate                     // of the position whose low half it carries
	done                          // the id was written, or is carried
	stateMask = done
	countUnit = 1 << 34
)

func countOf(wish uint64) uint64 { return wish >> 34 }
func isPending(wish uint64) bool { return wish&stateMask == pending || wish&stateMask == candidate }

// with returns the wish with another state and lower half.
func with(wish, state, low uint64) uint64 {
	return wish&^(countUnit-1) | state | low&(1<<32-1)
}

// NewWaitFree makes a ring that holds at least n ids (Size says how many) for
// users 0 to users-1. It panics when Size refuses n, or users is not 1 to MaxUsers.
func NewWaitFree(n, users int) *WaitFree { return newWaitFreeAt(n, users, 0) }

func newWaitFreeAt(n, users int, pos uint64) *WaitFree {
	if users < 1 || users > MaxUsers {
		panic(fmt.Errorf("ring: %d users: allowed 1 to %d", users, MaxUsers))
	}
	r := &WaitFree{lapSlots: newLapSlots(n, pos), users: make([]user, users)}
	c := uint32(r.Cap())
	r.firstUser = unsafe.Pointer(unsafe.SliceData(r.users))
	r.enqOwner, r.dqOwner = words[uint64](c), words[uint64](c)
	for p := pos; p < pos+uint64(c); p++ {
		none := owned(p-uint64(c), 0) // a lap ago
		r.enqOwnerAt(p).StoreRel(none)
		r.dqOwnerAt(p).StoreRel(none)
	}
	r.tail.StoreRel(pos)
	r.head.StoreRel(pos)
	return r
}

func owned(pos uint64, user int) uint64 { return (pos+1)<<9 | uint64(user) }

// ownerOf returns the user of an owner word, and how its position relates to pos:
// negative: pos has no owner yet; 0: this is the owner; positive: pos is long past.
func ownerOf(o, pos uint64) (user int, age int64) {
	return int(o & (1<<9 - 1)), int64(o&^(1<<9-1) - (pos+1)<<9)
}

func (r *WaitFree) enqOwnerAt(pos uint64) *relax.Uint64 {
	return word(unsafe.Pointer(unsafe.SliceData(r.enqOwner)), pos&r.mask)
}

func (r *WaitFree) dqOwnerAt(pos uint64) *relax.Uint64 {
	return word(unsafe.Pointer(unsafe.SliceData(r.dqOwner)), pos&r.mask)
}

// Len returns how many ids are in the ring. The answer is of the past.
func (r *WaitFree) Len() int {
	out := r.head.LoadAcq()
	return int(min(max(int64(r.tail.LoadAcq()-out), 0), int64(r.Cap())))
}

// Total returns how many ids were ever enqueued and dequeued. Any goroutine may
// call it.
func (r *WaitFree) Total() (in, out uint64) { out = r.head.LoadAcq(); return r.tail.LoadAcq(), out }

func (r *WaitFree) user(k int) *user {
	return (*user)(unsafe.Add(r.firstUser, uintptr(k)*unsafe.Sizeof(user{})))
}

// helpNext carries out the wishes of one other user; after a round of calls of this
// user everybody was helped.
func (r *WaitFree) helpNext(me int) {
	u := r.user(me)
	k := u.next
	if u.next++; u.next == len(r.users) {
		u.next = 0
	}
	if k == me {
		return
	}
	if w := r.user(k).enq.LoadAcq(); isPending(w) {
		r.helpEnqueue(k, countOf(w))
	}
	if w := r.user(k).deq.LoadAcq(); isPending(w) {
		r.helpDequeue(k, countOf(w))
	}
}

// put appends one id for user me, and reports whether there was room.
func (r *WaitFree) put(me int, id uint32) bool {
	u := r.user(me)
	w := with(u.enq.LoadAcq()+countUnit, pending, 0)
	u.id.StoreRel(with(w, 0, uint64(id)))
	u.enq.StoreSeq(w) // announce, then read the positions; partner: helpNext of the others
	r.helpEnqueue(me, countOf(w))
	t := r.tail.LoadAcq() // leave nothing half done behind: the next wish must not be taken for this one
	if k, age := ownerOf(r.enqOwnerAt(t).LoadAcq(), t); age == 0 && k == me {
		r.finishEnqueue(t)
	}
	return u.enq.LoadAcq()&stateMask == done
}

// helpEnqueue carries out the wish of user k with that count, until it is no longer
// pending.
func (r *WaitFree) helpEnqueue(k int, count uint64) {
	wish := &r.user(k).enq
	for {
		t := r.tail.LoadAcq()
		w := wish.LoadAcq()
		if !isPending(w) || countOf(w) != count {
			return
		}
		owner := r.enqOwnerAt(t)
		o := owner.LoadAcq()
		v := r.at(t).LoadAcq()
		if r.tail.LoadAcq() != t {
			continue // what was read need not belong together
		}
		switch _, age := ownerOf(o, t); {
		case age == 0:
			r.finishEnqueue(t)
		case age > 0:
		case int64(stateOf(v)-r.empty(t)) < 0: // what was written a lap ago is still there
			wish.CAS(w, with(w, ended, 0))
		case w != with(w, candidate, t) && !wish.CAS(w, with(w, candidate, t)):
		case owner.CAS(o, owned(t, k)):
			r.finishEnqueue(t)
		}
	}
}

// finishEnqueue takes the steps from 4 on for the owner of position t, if that is
// the tail.
func (r *WaitFree) finishEnqueue(t uint64) {
	k, age := ownerOf(r.enqOwnerAt(t).LoadAcq(), t)
	if age != 0 {
		return
	}
	u := r.user(k)
	w, id, slot := u.enq.LoadAcq(), u.id.LoadAcq(), r.at(t)
	v := slot.LoadAcq()
	if r.tail.LoadAcq() != t {
		return
	}
	// the tail was t all the time, so the wish is that of the owner
	if w == with(w, candidate, t) {
		if v == r.empty(t) {
			slot.CAS(v, r.full(t)|id&(1<<32-1))
		}
		u.enq.CAS(w, with(w, done, 0))
	}
	r.tail.CAS(t, t+1)
}

// get takes one id for user me, and reports whether there was one.
func (r *WaitFree) get(me int) (uint32, bool) {
	u := r.user(me)
	w := with(u.deq.LoadAcq()+countUnit, pending, 0)
	u.deq.StoreSeq(w) // announce, then read the positions; partner: helpNext of the others
	r.helpDequeue(me, countOf(w))
	h := r.head.LoadAcq()
	if k, age := ownerOf(r.dqOwnerAt(h).LoadAcq(), h); age == 0 && k == me {
		r.finishDequeue(h)
	}
	w = u.deq.LoadAcq()
	return uint32(w), w&stateMask == done
}

// helpDequeue carries out the wish of user k with that count, until it is no longer
// pending.
func (r *WaitFree) helpDequeue(k int, count uint64) {
	wish := &r.user(k).deq
	for {
		h := r.head.LoadAcq()
		w := wish.LoadAcq()
		if !isPending(w) || countOf(w) != count {
			return
		}
		owner := r.dqOwnerAt(h)
		o := owner.LoadAcq()
		v := r.at(h).LoadAcq()
		if r.head.LoadAcq() != h {
			continue
		}
		switch _, age := ownerOf(o, h); {
		case age == 0:
			r.finishDequeue(h)
		case age > 0:
		case int64(stateOf(v)-r.full(h)) < 0: // nothing was written yet
			wish.CAS(w, with(w, ended, 0))
		case w != with(w, candidate, h) && !wish.CAS(w, with(w, candidate, h)):
		case owner.CAS(o, owned(h, k)):
			r.finishDequeue(h)
		}
	}
}

// finishDequeue takes the steps from 4 on for the owner of position h, if that is
// the head.
func (r *WaitFree) finishDequeue(h uint64) {
	k, age := ownerOf(r.dqOwnerAt(h).LoadAcq(), h)
	if age != 0 {
		return
	}
	u, slot := r.user(k), r.at(h)
	w, v := u.deq.LoadAcq(), slot.LoadAcq()
	if r.head.LoadAcq() != h {
		return
	}
	if stateOf(v) == r.full(h) {
		if w == with(w, candidate, h) {
			u.deq.CAS(w, with(w, done, v))
		}
		slot.CAS(v, r.empty(h+r.mask+1))
	}
	r.head.CAS(h, h+1)
}

// Enqueue appends ids from the front for user me, and returns how many fitted.
func (r *WaitFree) Enqueue(me int, ids []uint32) int {
	r.helpNext(me)
	for i, id := range ids {
		if !r.put(me, id) {
			return i
		}
	}
	return len(ids)
}

// Dequeue fills ids from the front for user me, and returns how many were there.
func (r *WaitFree) Dequeue(me int, ids []uint32) int {
	r.helpNext(me)
	for i := range ids {
		id, ok := r.get(me)
		if !ok {
			return i
		}
		ids[i] = id
	}
	return len(ids)
}

// EnqueueEvents is Enqueue of the events' ids.
func (r *WaitFree) EnqueueEvents(me int, ev []*buffer.Event) int {
	r.helpNext(me)
	for i, e := range ev {
		if !r.put(me, e.ID()) {
			return i
		}
	}
	return len(ev)
}

// DequeueEvents is Dequeue into events.
func (r *WaitFree) DequeueEvents(me int, ev []*buffer.Event) int {
	r.helpNext(me)
	for i := range ev {
		id, ok := r.get(me)
		if !ok {
			return i
		}
		setEvent(&ev[i], id)
	}
	return len(ev)
}
