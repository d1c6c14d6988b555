// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/invariants"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// Schedule fills ev from the front with the next events for this worker and
// says from which queue they come. All events of one call come from one queue and
// belong to one context; the context of the call before is released first. The
// events are the caller's then.
//
// The queue is the one of the highest priority that has events and is not held
// by another worker, among the queues of the worker's groups. Up to Config.Stash events
// of it are taken at once and handed out by the following calls, so that many events at
// most may come before one of a higher priority that arrived meanwhile; nothing more is
// taken from a queue while a higher priority has something.
//
// wait: 0 does not wait, > 0 waits that long at least, < 0 until there is an event
// or the worker is told to stop. n == 0 with err == nil means that there was none. err
// is queue.ErrStopped when the worker was told to stop and nothing is left for it in
// any queue; inputs are not polled by a worker that was told to stop.
//
// Only the worker itself may call it; it is a quiescent point unless it answers from
// the stash. While paused it answers from the stash only, and does not wait.
func (s *Scheduler) Schedule(w *worker.Worker, ev []*buffer.Event, wait time.Duration) (n int, q *Queue, err error) {
	if id := w.ID(); uint(id) < uint(len(s.ws)) {
		p := s.ws[id]
		if invariants.Enabled {
			p.one.Enter("Schedule with one worker")
			defer func() { buffer.CheckDequeue(w, ev[:n]); p.one.Leave() }()
		}
		if p.n > 0 && p.w.Load() == w {
			if len(ev) == 1 {
				setEvent(&ev[0], p.stash[p.head&(stashMax-1)])
				p.head++
				p.n--
				p.loop = 1
				return 1, p.q, nil
			}
			p.loop = p.unstash(ev)
			return p.loop, p.q, nil
		}
		return s.schedule(w, p, ev, wait)
	}
	return 0, nil, errNoWorker
}

var errNoWorker = fmt.Errorf("%w: Schedule: called without a worker of this set: Join first", ErrConfig)

func (s *Scheduler) schedule(w *worker.Worker, p *state, ev []*buffer.Event, wait time.Duration) (int, *Queue, error) {
	if p.w.Load() != w && s.attach(w) == nil {
		return 0, nil, fmt.Errorf("%w: Schedule: worker %d belongs to another set", ErrConfig, w.ID())
	}
	w.Quiesce()
	p.loop = 0
	if p.epoch != s.epoch.LoadAcq() {
		s.refresh(p)
	}
	if p.ctx == ctxAtomic && len(ev) > 0 && s.mayHold(p) {
		if n := s.refill(w, p, ev); n > 0 {
			p.loop = n
			return n, p.q, nil
		}
	} else if p.ctx != ctxNone {
		if invariants.Enabled {
			p.checkContext(w)
		}
		s.release(w, p)
	}
	if len(ev) == 0 || p.paused {
		return 0, nil, stopErr(w)
	}
	if p.beg.LoadAcq() != 0 { // partner: hungry
		p.handOver()
	}
	n := s.pass(w, p, ev)
	if n == 0 && p.moved {
		n = s.pass(w, p, ev) // a poller may have moved some to where the pass had been
	}
	if n > 0 {
		p.miss, p.hunger, p.loop = 0, 0, n
		return n, p.q, nil
	}
	s.hungry(p)
	if wait == 0 || w.Stopping() {
		if w.Stopping() && !p.again {
			return 0, nil, queue.ErrStopped
		}
		if wait == 0 {
			p.backoff()
			return 0, nil, nil
		}
	}
	return s.await(w, p, ev, wait)
}

func stopErr(w *worker.Worker) error {
	if w.Stopping() {
		return queue.ErrStopped
	}
	return nil
}

// emptyPolls is how many idle inputs of one priority a pass looks at, in the
// worker's own rings and as many in others', before it goes on to what lies below; the
// next pass goes on with the others.
const emptyPolls = 8

// pass looks once at everything that the worker may take, the highest priority first.
func (s *Scheduler) pass(w *worker.Worker, p *state, ev []*buffer.Event) int {
	p.tick++
	p.again, p.moved = false, false
	if s.cfg.MinShare != 0 && p.prios&(p.prios-1) != 0 {
		if p.credit += s.cfg.MinShare; p.credit >= 100 {
			p.credit -= 100
			if n := s.look(w, p, s.lower(p), ev); n > 0 {
				return n
			}
		}
	}
	for m := p.prios; m != 0; {
		prio := bits.Len8(m) - 1
		m &^= 1 << prio
		if n := s.look(w, p, prio, ev); n > 0 {
			return n
		}
	}
	return 0
}

// lower is the next priority that has its minimum share coming.
func (s *Scheduler) lower(p *state) int {
	below := p.prios &^ (1 << (bits.Len8(p.prios) - 1))
	for {
		p.turn = (p.turn + Priorities - 1) % Priorities
		if below>>p.turn&1 != 0 {
			return p.turn
		}
	}
}

// look is the part of pass for one priority: the worker's own ready rings, then
// those of others, now and then the other way round, so that what a worker has made
// ready and does not come to serve is not left behind.
func (s *Scheduler) look(w *worker.Worker, p *state, prio int, ev []*buffer.Event) int {
	groups := p.use[prio]
	var n int
	if p.tick&63 == 0 && p.othersDue() {
		if n = s.steal(w, p, prio, groups, ev); n == 0 {
			n = s.own(w, p, prio, groups, ev)
		}
	} else if n = s.own(w, p, prio, groups, ev); n == 0 {
		n = s.steal(w, p, prio, groups, ev)
	}
	if len(p.deferred) != 0 {
		s.giveDeferred(p)
	}
	return n
}

// othersFirst is how often, at least, a busy worker looks at the rings of others
// before its own. It is not done by number of passes alone: a queue that changes its
// worker costs 20 to 30 line transfers.
const othersFirst = time.Millisecond

func (p *state) othersDue() bool {
	now := nanotime()
	if now-p.looked < int64(othersFirst) {
		return false
	}
	p.looked = now
	return true
}

func (s *Scheduler) own(w *worker.Worker, p *state, prio int, groups uint64, ev []*buffer.Event) int {
	limit := p.polls(w)
	sum := p.sum[prio].LoadAcq()
	for m := rotate(sum&groups, p.tick); m != 0; {
		var g int
		g, m = nextGroup(m, p.tick)
		l := s.levels[g*Priorities+prio].Load()
		ls := &l.lanes[p.id]
		first := p.tick&1 == 0 // lanes and tokens take turns
		if first {
			if n := s.ownLanes(p, ls, ev); n > 0 {
				return n
			}
		}
		for len(p.deferred) < limit {
			idx, ok := l.pop(p.id)
			if !ok {
				break
			}
			if n := s.take(w, p, s.tab[idx], ev); n > 0 {
				return n
			}
		}
		if !first {
			if n := s.ownLanes(p, ls, ev); n > 0 {
				return n
			}
		}
		if l.empty(p.id) && ls.head.LoadAcq() == ls.tail.LoadAcq() {
			p.sum[prio].StoreRel(p.sum[prio].LoadAcq() &^ (1 << g)) // no push comes between: the owner is here
		}
	}
	return 0
}

// ownLanes serves the worker's own lanes of one level.
func (s *Scheduler) ownLanes(p *state, ls *laneList, ev []*buffer.Event) int {
	if ls.head.LoadAcq() == ls.tail.LoadAcq() {
		return 0
	}
	n, q := ls.takeOwn(p, ev)
	if n > 0 {
		p.q = q
		if s.idle.LoadAcq() != 0 {
			q.lanes[p.id].Load().leftSome()
		}
	}
	return n
}

func (s *Scheduler) steal(w *worker.Worker, p *state, prio int, groups uint64, ev []*buffer.Event) int {
	limit := p.polls(w)
	for i := range p.others {
		o := p.others[(uint32(i)+p.tick)%uint32(len(p.others))]
		for m := rotate(o.sum[prio].LoadAcq()&groups, p.tick); m != 0; {
			var g int
			g, m = nextGroup(m, p.tick)
			l := s.levels[g*Priorities+prio].Load()
			if n, q := l.lanes[o.id].takeOther(p, ev); n > 0 {
				bump(&p.stats.steals, 1)
				p.q = q
				q.lanes[o.id].Load().leftSome()
				return n
			}
			for len(p.deferred) < limit && s.mayTake(w, p, o, l) {
				idx, ok := l.pop(o.id)
				if !ok {
					if o == s.ctl {
						s.tidyControl(l, prio, g)
					}
					break
				}
				bump(&p.stats.steals, 1)
				if n := s.take(w, p, s.tab[idx], ev); n > 0 {
					return n
				}
			}
		}
	}
	return 0
}

// rotate and nextGroup walk the set bits of a mask from a place that moves with tick.
func rotate(m uint64, tick uint32) uint64 { return bits.RotateLeft64(m, -int(tick&63)) }

func nextGroup(m uint64, tick uint32) (g int, rest uint64) {
	return (bits.TrailingZeros64(m) + int(tick)) & 63, m & (m - 1)
}

// tidyControl clears the summary bit of the control plane's ring, which has no
// owner that comes by.
func (s *Scheduler) tidyControl(l *level, prio, g int) {
	if s.ctlMu.TryLock() {
		if l.empty(s.ctl.id) {
			s.ctl.sum[prio].StoreRel(s.ctl.sum[prio].LoadAcq() &^ (1 << g))
		}
		s.ctlMu.Unlock()
	}
}

// polls is up to how many deferred tokens a part of a pass goes on. A worker that
// is to stop looks at everything.
func (p *state) polls(w *worker.Worker) int {
	if w.Stopping() {
		return cap(p.deferred)
	}
	return len(p.deferred) + emptyPolls
}

// take serves the queue, whose token the worker has. n > 0: that many events are
// in ev, and the context is the worker's.
func (s *Scheduler) take(w *worker.Worker, p *state, q *Queue, ev []*buffer.Event) int {
	p.serving = q
	n := q.drain(p, ev)
	if n == 0 {
		if n = s.poll(w, p, q, ev); n == 0 {
			s.leaveEmpty(p, q)
			p.serving = nil
			return 0
		}
	}
	p.serving = nil
	p.q, p.hold, p.since = q, 0, 0
	switch q.sync {
	case Atomic:
		p.ctx = ctxAtomic
	case Ordered:
		q.order.ticket(w)
		p.ctx, p.locked, p.used = ctxOrdered, 0, 0
		s.giveBack(p, q)
	default:
		s.giveBack(p, q)
	}
	return n
}

// leaveEmpty gives up the token of a queue that had nothing.
func (s *Scheduler) leaveEmpty(p *state, q *Queue) {
	if q.rest() {
		return
	}
	if q.flags.LoadAcq()&polled == 0 || !q.ring.empty() {
		p.again = true // events are reserved and not written yet, or came this moment
	}
	p.deferred = append(p.deferred, q)
}

// giveDeferred returns the tokens that a level was to meet once only.
func (s *Scheduler) giveDeferred(p *state) {
	for _, q := range p.deferred {
		q.push(p, false)
	}
	p.deferred = p.deferred[:0]
}

// giveBack returns the token of a queue that the worker has taken events from.
//
// The plain store of push is not ordered before the read of idle. A worker counts
// itself there settle before it sleeps, and looks at all rings after that, so the store
// has long been visible when it matters.
func (s *Scheduler) giveBack(p *state, q *Queue) {
	if !q.ring.ready() && q.rest() {
		return
	}
	if s.idle.LoadAcq() == 0 {
		q.push(p, false)
		return
	}
	q.push(p, true)
	s.wake(q.gbit)
}
