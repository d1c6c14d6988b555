// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/pack"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/worker"
)

// lane is a worker's own way back into a parallel queue: a ring of bare ids with one
// producer, its owner, and any number of consumers, who read and then advance taken by
// compare-and-swap. What a worker was given by the queue and enqueues to it again takes it, so
// that it costs no locked instruction and moves no line, and the worker most often gets it again.
// What comes new into the queue takes the queue's ring, and leaves it first in, first out; what goes
// round in a parallel queue has no order to keep.
//
// A lane has no token. Its owner lists it when it puts something in, and takes it from the
// list when it finds it empty: the only one who could fill it is the owner. Others look
// at the list and take from the lanes.
//
//	line       written by   read by
//	base, q    newLane      all
//	pos, seen  owner        owner; busy: close
//	w          owner        consumers   what is published
//	taken      consumers    owner, when it finds no room
type lane struct {
	base unsafe.Pointer
	mask uint64
	q    *Queue
	mem  []uint32
	_    relax.Pad

	// the owner's
	pos    uint64 // next position
	seen   uint64 // a past value of taken
	listed bool
	busy   relax.Uint32 // 1 while the owner is inside (partner: closeLanes)
	_      relax.Pad

	w     relax.Uint64 // partner: take
	_     relax.Pad
	taken relax.Uint64 // partner: put
	_     relax.Pad
}

// laneMax is how many events a lane holds at most; the rest goes to the queue's ring.
const laneMax = 256

func newLane(q *Queue) *lane {
	n := min(laneMax, 1<<bits.Len(uint(q.cfg.Size-1)))
	l := &lane{mask: uint64(n - 1), q: q, mem: make([]uint32, n)}
	l.base = unsafe.Pointer(&l.mem[0])
	return l
}

func (l *lane) at(pos uint64) unsafe.Pointer { return unsafe.Add(l.base, uintptr(pos&l.mask)<<2) }

// len counts the events. For others than the owner the answer is of the past.
func (l *lane) len() int {
	t := l.taken.LoadAcq()
	return max(0, int(l.w.LoadAcq()-t))
}

// put appends events from the front and returns how many fitted. The owner.
func (l *lane) put(ev []*buffer.Event) int {
	pos, n := l.pos, uint64(len(ev))
	if free := l.mask + 1 - (pos - l.seen); free < n {
		l.seen = l.taken.LoadAcq() // partner: take has copied what lies before
		n = min(n, l.mask+1-(pos-l.seen))
		if n == 0 {
			return 0
		}
	}
	if n == 1 {
		(*relax.Uint32)(l.at(pos)).StoreRel(eventID(ev[0]))
	} else {
		k := min(n, l.mask+1-pos&l.mask)
		putRun(l.at(pos), ev[:k])
		putRun(l.base, ev[k:n])
	}
	l.pos = pos + n
	l.w.StoreRel(pos + n)
	return int(n)
}

// putOne is put of one event in the common case: the lane is listed and has room, nobody
// is about to sleep. The owner.
func (l *lane) putOne(e *buffer.Event) bool {
	pos := l.pos
	if !l.listed || pos-l.seen > l.mask || l.q.s.idle.LoadAcq() != 0 {
		return false
	}
	l.busy.StoreRel(1)
	if l.q.shutLanes.LoadAcq() != 0 {
		l.busy.StoreRel(0)
		return false
	}
	(*relax.Uint32)(l.at(pos)).StoreRel(eventID(e))
	l.pos = pos + 1
	l.w.StoreRel(pos + 1)
	l.busy.StoreRel(0)
	return true
}

func putRun(p unsafe.Pointer, ev []*buffer.Event) {
	if pack.Wide && len(ev) >= pack.Min {
		pack.PutIDs(p, unsafe.Pointer(unsafe.SliceData(ev)), len(ev), arenaBase)
		return
	}
	for i, e := range ev {
		(*relax.Uint32)(unsafe.Add(p, i<<2)).StoreRel(eventID(e))
	}
}

func takeRun(ev []*buffer.Event, p unsafe.Pointer) {
	if pack.Wide && len(ev) >= pack.Min {
		pack.TakeIDs(unsafe.Pointer(unsafe.SliceData(ev)), p, len(ev), arenaBase)
		return
	}
	for i := range ev {
		setEvent(&ev[i], (*relax.Uint32)(unsafe.Add(p, i<<2)).LoadAcq())
	}
}

// eventID is the id of an event (buffer.Event.ID, with the base at hand).
func eventID(e *buffer.Event) uint32 { return uint32((uintptr(unsafe.Pointer(e)) - arenaBase) >> 6) }

// take moves up to len(ev) events to ev and up to the queue's stash size in all, so that
// the next calls find some. Any worker; its stash is empty. What is copied is valid when the
// compare-and-swap succeeds: the owner overwrites a slot only after taken has passed it, and
// positions have 64 bits.
func (l *lane) take(p *state, ev []*buffer.Event) int {
	for {
		t := l.taken.LoadAcq()
		have := l.w.LoadAcq() - t // partner: put
		if have == 0 || int64(have) < 0 {
			return 0
		}
		n := min(uint64(len(ev)), have)
		more := 0
		if n == uint64(len(ev)) {
			if more = min(int(l.q.stash.LoadAcq()), int(have)) - int(n); more > 0 {
				more = l.q.part(more, int(have), int(n))
			}
		}
		k := min(n, l.mask+1-t&l.mask)
		takeRun(ev[:k], l.at(t))
		takeRun(ev[k:n], l.base)
		if more > 0 {
			for i := range p.stash[:more] {
				p.stash[i] = (*relax.Uint32)(l.at(t + n + uint64(i))).LoadAcq()
			}
		} else {
			more = 0
		}
		if l.taken.CAS(t, t+n+uint64(more)) {
			p.head, p.n = 0, more
			l.q.took(p, int(n)+more)
			return int(n)
		}
	}
}

// laneList is the lanes of one worker that may have events of one level: a ring that the
// owner writes, and others look through.
type laneList struct {
	slots      atomic.Pointer[[]atomic.Pointer[lane]]
	_          relax.Pad
	head, tail relax.Uint64 // the owner's
	_          relax.Pad
}

// push appends a lane. The owner.
func (ls *laneList) push(l *lane) {
	h, t := ls.head.LoadAcq(), ls.tail.LoadAcq()
	slots := ls.slots.Load()
	if slots == nil || t-h >= uint64(len(*slots)) {
		slots = ls.grow(slots, h, t)
	}
	(*slots)[t&uint64(len(*slots)-1)].Store(l)
	ls.tail.StoreRel(t + 1)
}

func (ls *laneList) grow(old *[]atomic.Pointer[lane], h, t uint64) *[]atomic.Pointer[lane] {
	n := 16
	if old != nil {
		n = 2 * len(*old)
	}
	slots := make([]atomic.Pointer[lane], n)
	for i := h; i != t; i++ {
		slots[i&uint64(n-1)].Store((*old)[i&uint64(len(*old)-1)].Load())
	}
	ls.slots.Store(&slots)
	return &slots
}

// prune takes empty lanes from the front of the list. The owner.
func (ls *laneList) prune() {
	h, t := ls.head.LoadAcq(), ls.tail.LoadAcq()
	for slots := ls.slots.Load(); h != t; h++ {
		l := (*slots)[h&uint64(len(*slots)-1)].Load()
		if l.taken.LoadAcq() != l.pos {
			break
		}
		l.listed = false
	}
	ls.head.StoreRel(h)
}

// takeOwn takes from the worker's own lanes, each in turn.
func (ls *laneList) takeOwn(p *state, ev []*buffer.Event) (int, *Queue) {
	h, t := ls.head.LoadAcq(), ls.tail.LoadAcq()
	for h != t {
		slots := *ls.slots.Load()
		l := slots[h&uint64(len(slots)-1)].Load()
		if n := l.take(p, ev); n > 0 {
			if t-h > 1 { // first to the end, then from the front: others see it all the time
				ls.push(l)
				ls.head.StoreRel(h + 1)
			}
			return n, l.q
		}
		if l.taken.LoadAcq() == l.pos {
			l.listed = false
			h++
			ls.head.StoreRel(h)
		}
	}
	return 0, nil
}

// takeOther takes from the lanes of another worker.
func (ls *laneList) takeOther(p *state, ev []*buffer.Event) (int, *Queue) {
	h, t := ls.head.LoadAcq(), ls.tail.LoadAcq()
	if h == t {
		return 0, nil
	}
	slots := *ls.slots.Load() // partner: push, which stores it before tail
	for i := range t - h {
		l := slots[(h+(i+uint64(p.tick))%(t-h))&uint64(len(slots)-1)].Load()
		if l == nil {
			continue
		}
		if n := l.take(p, ev); n > 0 {
			return n, l.q
		}
	}
	return 0, nil
}

// visible reports whether one of the lanes has events.
func (ls *laneList) visible() bool {
	h, t := ls.head.LoadAcq(), ls.tail.LoadAcq()
	if h == t {
		return false
	}
	slots := *ls.slots.Load()
	for ; h != t; h++ {
		if l := slots[h&uint64(len(slots)-1)].Load(); l != nil && l.len() > 0 {
			return true
		}
	}
	return false
}

// enqueueLane is Enqueue of events that the worker got from this queue.
func (q *Queue) enqueueLane(w *worker.Worker, p *state, ev []*buffer.Event) (int, error) {
	l := q.lanes[p.id].Load()
	if l == nil {
		l = newLane(q)
		q.lanes[p.id].Store(l)
	}
	l.busy.StoreRel(1) // partner: closeLanes, which waits until this store has been seen
	if q.shutLanes.LoadAcq() != 0 {
		l.busy.StoreRel(0)
		return q.enqueueRing(w, ev)
	}
	pos := l.pos
	n := l.put(ev)
	p.loop -= n
	if !l.listed && n != 0 {
		l.list(p)
	} else if q.s.idle.LoadAcq() != 0 {
		l.rouse(pos)
	}
	l.busy.StoreRel(0)
	if n < len(ev) {
		m, err := q.enqueueRing(w, ev[n:])
		if n > 0 {
			err = nil
		}
		return n + m, err
	}
	return n, nil
}

// list makes a lane one that consumers see. The owner.
//
// As in giveBack no barrier lies between the stores and the read of idle: who sleeps was
// counted there long before it looked for the last time.
func (l *lane) list(p *state) {
	q := l.q
	ls := &q.level.lanes[p.id]
	ls.prune()
	l.listed = true
	ls.push(l)
	p.mark(q)
	if q.s.idle.LoadAcq() != 0 {
		l.rouse(l.taken.LoadAcq())
	}
}

// rouse wakes a sleeper when the lane had nothing before pos; otherwise whoever left
// something there, or was woken for it, is awake. The exchange is a full barrier; partner: the
// sleeper's StoreSeq of state.sleep.
func (l *lane) rouse(pos uint64) {
	l.w.StoreSeq(l.pos)
	if t := l.taken.LoadAcq(); int64(t-pos) >= 0 && t != l.pos {
		l.q.s.wake(l.q.gbit)
	}
}

// leftSome wakes another worker for what a consumer left in a lane.
func (l *lane) leftSome() {
	if l.q.s.idle.LoadAcq() != 0 && l.len() > 0 {
		l.q.s.wake(l.q.gbit)
	}
}

// settleLanes is how long a store may wait to be seen by others, many times over.
const settleLanes = time.Millisecond

// closeLanes makes workers use the ring instead of their lanes, and reports whether all lanes
// are empty then. openLanes takes it back. The control plane, under Scheduler.mu.
func (q *Queue) closeLanes() error {
	used := false
	for i := range q.lanes {
		used = used || q.lanes[i].Load() != nil
	}
	q.shutLanes.StoreSeq(1) // partner: putOne, enqueueLane
	if !used && q.s.unused() {
		return nil
	}
	time.Sleep(settleLanes)
	for i := range q.lanes {
		l := q.lanes[i].Load()
		if l == nil {
			continue
		}
		for t := time.Now(); l.busy.LoadAcq() != 0; time.Sleep(settleLanes) {
			if time.Since(t) > time.Second {
				return fmt.Errorf("%w: close queue %q: worker %d has been inside Enqueue for a second", ErrConfig, q.name, i)
			}
		}
	}
	for i := range q.lanes {
		if l := q.lanes[i].Load(); l != nil && l.len() > 0 {
			return fmt.Errorf("%w: close queue %q: %d events are left: schedule them first", ErrConfig, q.name, q.Len())
		}
	}
	return nil
}

func (q *Queue) openLanes() {
	if q.feed.src == nil && q.feed.poll == nil {
		q.shutLanes.StoreSeq(0)
	}
}
