// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/worker"
)

// order is what an ordered queue needs beyond its ring. A context is a ticket
// taken while holding the token; contexts end in the order of their tickets.
//
// A context that ends before its turn and has nothing left to enqueue does not
// wait for it: it is noted in done, and whoever advances serving passes over it.
// So a slow context delays the enqueues of later ones, never a worker that only
// dropped its events.
//
// What is only read comes first, so that the object that lies before this one in
// memory shares no line with what is written.
type order struct {
	done   []relax.Uint32 // by ticket & mask: ticket + 1 when it ended before its turn
	mask   uint32
	nlocks int
	_      relax.Pad
	next   uint32 // next ticket; the holder of the token
	_      relax.Pad

	serving relax.Uint32 // the oldest context that has not ended
	locks   [MaxLocks]relax.Uint32
	_       relax.Pad
}

func newOrder(locks, workers int) *order {
	n := uint32(64)
	for n < uint32(2*workers) {
		n *= 2
	}
	return &order{done: make([]relax.Uint32, n), mask: n - 1, nlocks: locks}
}

// ticket starts a context. The holder of the queue's token calls it.
func (o *order) ticket(w *worker.Worker) {
	w.Turn = worker.Turn{Serving: &o.serving, Ticket: o.next}
	o.next++
}

// finish ends the worker's context.
func (o *order) finish(w *worker.Worker) {
	t := w.Turn.Ticket
	inTurn := w.Turn.InTurn
	w.Turn = worker.Turn{}
	if inTurn || o.serving.LoadAcq() == t {
		o.skipLocks(t)
		o.serving.StoreSeq(t + 1) // partner: the StoreSeq of done below
		o.advance(t + 1)
		return
	}
	var sp worker.Spin
	for t-o.serving.LoadAcq() > o.mask { // done has no room yet
		sp.Wait()
	}
	o.skipLocks(t)
	o.done[t&o.mask].StoreSeq(t + 1) // partner: the StoreSeq of serving above
	o.advance(t)
}

// advance passes over contexts that have ended already.
func (o *order) advance(t uint32) {
	for o.serving.LoadAcq() == t && o.done[t&o.mask].LoadAcq() == t+1 {
		o.skipLocks(t)
		if !o.serving.CAS(t, t+1) {
			return
		}
		t++
	}
}

// skipLocks passes on the locks that context t did not use and has the turn of.
func (o *order) skipLocks(t uint32) {
	for i := range o.nlocks {
		if o.locks[i].LoadAcq() == t {
			o.locks[i].CAS(t, t+1)
		}
	}
}

// OrderWait returns when the worker's ordered context is the oldest of its queue;
// it stays so until the context is released. It returns at once without such a
// context. The caller holds no ordered lock.
func (s *Scheduler) OrderWait(w *worker.Worker) { w.AwaitTurn() }

// OrderLock enters the critical section i of the ordered queue that the worker's
// events came from: contexts enter it in the order of their queue. A lock can be
// taken once in a context, and two locks are not held at a time by code that takes
// them in different sequence. A lock that a context does not use is passed on when
// it is released. Wrong use is a bug of the program, and panics.
func (s *Scheduler) OrderLock(w *worker.Worker, i int) {
	p, o := s.ordered(w, i, "OrderLock")
	if p.used&(1<<i) != 0 {
		panic(fmt.Sprintf("schedule: OrderLock(%d): taken before in this context: allowed once", i))
	}
	p.used |= 1 << i
	t := w.Turn.Ticket
	var sp worker.Spin
	for o.locks[i].LoadAcq() != t { // partner: OrderUnlock, skipLocks
		sp.Wait()
	}
	p.locked |= 1 << i
}

// OrderUnlock leaves the critical section i.
func (s *Scheduler) OrderUnlock(w *worker.Worker, i int) {
	p, o := s.ordered(w, i, "OrderUnlock")
	if p.locked&(1<<i) == 0 {
		panic(fmt.Sprintf("schedule: OrderUnlock(%d): not held", i))
	}
	p.locked &^= 1 << i
	o.locks[i].StoreRel(w.Turn.Ticket + 1)
}

func (s *Scheduler) ordered(w *worker.Worker, i int, op string) (*state, *order) {
	p := s.of(w)
	if p == nil || p.ctx != ctxOrdered {
		panic(fmt.Sprintf("schedule: %s(%d): the worker holds no event of an ordered queue", op, i))
	}
	o := p.q.order
	if i < 0 || i >= o.nlocks {
		panic(fmt.Sprintf("schedule: %s(%d): queue %q has %d locks", op, i, p.q.name, o.nlocks))
	}
	return p, o
}
