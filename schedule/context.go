// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/invariants"
	"github.com/odp-go/godp/worker"
)

// holdFor limits how long a worker goes on with an atomic queue, and holdFeed how
// often with one that is fed by an input.
const (
	holdFor  = 50 * time.Microsecond
	holdFeed = 4
)

var epochTime = time.Now()

// nanotime is a monotonic clock.
func nanotime() int64 { return int64(time.Since(epochTime)) }

// mayHold reports whether the worker goes on with the atomic queue that it holds,
// instead of giving the token back and looking for another queue.
func (s *Scheduler) mayHold(p *state) bool {
	q := p.q
	p.hold++
	switch {
	case p.hold > s.cfg.Hold, p.paused, p.beg.LoadAcq() != 0, p.use[q.prio]&q.gbit == 0:
		return false
	case q.flags.LoadAcq()&polled != 0 && p.hold > holdFeed:
		return false
	case p.prios>>(q.prio+1) != 0 && s.above(p, int(q.prio)):
		return false
	}
	if p.hold&3 == 0 { // the clock is dear
		now := nanotime()
		if p.since == 0 {
			p.since = now
		} else if now-p.since > int64(holdFor) {
			return false
		}
	}
	return s.cfg.MinShare == 0
}

// above reports whether something is ready at a higher priority.
func (s *Scheduler) above(p *state, prio int) bool {
	for i := prio + 1; i < Priorities; i++ {
		if p.use[i] != 0 && s.visible(p, i) {
			return true
		}
	}
	return false
}

// visible reports whether something is ready at a priority, in any ring that the
// worker may take from.
func (s *Scheduler) visible(p *state, prio int) bool {
	if s.visibleIn(p, p, prio) {
		return true
	}
	for _, o := range p.others {
		if s.visibleIn(p, o, prio) {
			return true
		}
	}
	return false
}

func (s *Scheduler) visibleIn(p, o *state, prio int) bool {
	for m := o.sum[prio].LoadAcq() & p.use[prio]; m != 0; {
		var g int
		g, m = nextGroup(m, 0)
		if l := s.levels[g*Priorities+prio].Load(); !l.empty(o.id) || l.lanes[o.id].visible() {
			return true
		}
	}
	return false
}

// refill takes more events from the atomic queue in hand; 0: the token is given back.
func (s *Scheduler) refill(w *worker.Worker, p *state, ev []*buffer.Event) int {
	q := p.q
	n := q.drain(p, ev)
	if n == 0 {
		n = s.poll(w, p, q, ev)
	}
	if n == 0 {
		p.ctx = ctxNone
		s.giveBack(p, q)
	}
	return n
}

// release ends the context of the events in hand; the stash is empty.
func (s *Scheduler) release(w *worker.Worker, p *state) {
	ctx := p.ctx
	p.ctx = ctxNone
	switch ctx {
	case ctxAtomic:
		s.giveBack(p, p.q)
	case ctxOrdered:
		p.q.order.finish(w)
	}
}

// Release ends the context of the events that the worker got last, before the
// next Schedule does: another worker may be given events of the same atomic queue, or
// the turn in the ordered one passes on, and what the worker enqueues from here on
// has no order. Nothing happens without a context.
//
// Events of an atomic queue that wait in the worker's stash go back to the front of the
// queue. An ordered context lasts until the stash is used up all the same. In both cases
// the queue is no longer stashed: its workers want short contexts.
func (s *Scheduler) Release(w *worker.Worker) {
	p := s.of(w)
	if p == nil || p.ctx == ctxNone {
		return
	}
	if invariants.Enabled {
		p.checkContext(w)
	}
	if p.n > 0 {
		p.q.stash.StoreRel(0)
		if p.ctx == ctxOrdered {
			return
		}
		s.unstashBack(p)
	}
	s.release(w, p)
}

// unstashBack gives the stash back to the front of its queue. Who does not hold
// the queue's token kicks it then.
func (s *Scheduler) unstashBack(p *state) {
	p.q.putBack(p.stash[p.head : p.head+p.n])
	if s.limit != 0 {
		p.in.StoreRel(p.in.LoadAcq() + uint64(p.n))
	}
	p.n = 0
}

// Pause makes Schedule answer only from the worker's stash, until Resume. Who
// pauses calls Schedule until it returns nothing, or Drain; then the worker
// holds nothing of the scheduler.
func (s *Scheduler) Pause(w *worker.Worker) {
	if p := s.of(w); p != nil {
		p.paused, p.loop = true, 0
	}
}

// Resume ends Pause.
func (s *Scheduler) Resume(w *worker.Worker) {
	if p := s.of(w); p != nil {
		p.paused = false
	}
}

// Drain gives back what the worker holds: the events of its stash go to the front
// of their queue, contexts are released. A worker does so before it turns to something
// else for long, or sleeps outside of Schedule. Events of an ordered queue that go back
// get a new place in its order, behind those that other workers have in hand; to keep
// their order use Pause, and Schedule until it returns nothing.
func (s *Scheduler) Drain(w *worker.Worker) {
	if p := s.of(w); p != nil {
		s.giveUp(w, p)
	}
}

// giveUp gives back everything that the worker holds, wherever it was when it
// stopped. It runs on the worker's goroutine, or after that has ended.
func (s *Scheduler) giveUp(w *worker.Worker, p *state) {
	s.unwatch(p)
	if p.serving != nil { // a source or poller has panicked
		s.giveBack(p, p.serving)
		p.serving = nil
	}
	s.giveDeferred(p)
	if p.n > 0 {
		q, atomic := p.q, p.ctx == ctxAtomic
		s.unstashBack(p)
		if !atomic && q.ring.claim() {
			s.giveBack(p, q)
		}
	}
	s.release(w, p)
	p.sleep.StoreSeq(0)
	if p.idling {
		p.idling = false
		s.idle.Add(^uint32(0))
	}
	p.miss = 0
	s.wakeAll(p.groups.LoadAcq()) // whatever this worker was woken for, and what it gave back
}
