// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"sync/atomic"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/invariants"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/worker"
)

// stashMax is the largest stash, in events.
const stashMax = 32

// The kinds of context a worker can hold.
type ctxKind uint8

const (
	ctxNone    ctxKind = iota // parallel, or nothing
	ctxAtomic                 // it holds the token of state.q
	ctxOrdered                // worker.Turn is its place in the order of state.q
)

// state is what the scheduler keeps for a worker. What others poll lies on lines
// that the owner rarely writes.
type state struct {
	// groups with a ready queue in the owner's ring, by priority. Written by the owner when a ring gets
	// its first token and when he finds it empty; read by who may take a token.
	sum [Priorities]relax.Uint64
	_   [64]byte

	w      atomic.Pointer[worker.Worker]
	groups relax.Uint64 // memberships; written under Scheduler.mu
	id     int
	known  bool // in Scheduler.all
	wake   func()
	_      relax.Pad

	sleep relax.Uint32 // 1 from before the last look for work until awake; a waker takes it back to 0
	_     relax.Pad

	beg relax.Uint32 // a worker without work asks for some (partner: handOver); written by others
	_   relax.Pad

	// the owner's
	n, head  int    // stash: events left, the next one
	q        *Queue // of the stash and the context
	loop     int    // events handed out last and not enqueued to q since
	ctx      ctxKind
	paused   bool
	parking  bool // it sleeps in Schedule
	idling   bool // counted in Scheduler.idle
	again    bool // the last pass met events that were not published yet
	moved    bool // the last pass met a poller that moved some
	locked   uint32
	used     uint32
	hold     int   // refills from the atomic queue in hand
	since    int64 // when it was taken, or when the worker became idle
	tick     uint32
	looked   int64 // when it looked at others' rings first
	credit   int
	turn     int   // of the priorities that get a minimum share
	miss     int   // passes without result, one after the other
	naps     int   // sleeps, one after the other
	hunger   int64 // since when passes have no result, 0 = the last had one
	epoch    uint32
	prios    uint8              // priorities in use in the groups of this worker
	use      [Priorities]uint64 // groups of this worker that have queues, by priority
	others   []*state
	serving  *Queue   // its token is in hand inside a pass
	deferred []*Queue // tokens that go back at the end of the level
	armed    []*Queue // inputs that it sleeps on
	fds      []int
	stash    [stashMax]uint32
	_        relax.Pad

	one invariants.Exclusive // a worker is used by one goroutine

	in, out relax.Uint64 // events put in and taken out, when there is a threshold
	stats   counters
	_       relax.Pad
}

func newState(id int) *state { return &state{id: id} }

// unstash moves events of the stash to the caller.
func (p *state) unstash(ev []*buffer.Event) int {
	n := min(len(ev), p.n)
	ids := p.stash[p.head : p.head+n]
	for i, id := range ids {
		setEvent(&ev[i], id)
	}
	p.head += n
	p.n -= n
	return n
}

// refresh looks up what is in use for this worker after something changed.
func (s *Scheduler) refresh(p *state) {
	p.epoch = s.epoch.LoadAcq()
	mine := p.groups.LoadAcq()
	p.prios = 0
	for i := range p.use {
		p.use[i] = s.use[i].LoadAcq() & mine
		if p.use[i] != 0 {
			p.prios |= 1 << i
		}
	}
	p.others = p.others[:0]
	for _, o := range *s.all.Load() {
		if o != p {
			p.others = append(p.others, o)
		}
	}
	if cap(p.deferred) < s.cfg.MaxQueues {
		p.deferred = make([]*Queue, 0, s.cfg.MaxQueues)
		p.armed = make([]*Queue, 0, s.cfg.MaxQueues)
		p.fds = make([]int, 0, 64)
	}
}

// count notes n events put into queues, for the threshold.
func (s *Scheduler) count(w *worker.Worker, n int) {
	if p := s.of(w); p != nil {
		p.in.StoreRel(p.in.LoadAcq() + uint64(n))
		return
	}
	s.ctl.in.Add(uint64(n))
}

// full reports whether as many events wait as the threshold allows.
func (s *Scheduler) full() bool {
	var out, in uint64
	all := *s.all.Load()
	for _, p := range all {
		out += p.out.LoadAcq()
	}
	for _, p := range all {
		in += p.in.LoadAcq()
	}
	return int64(in-out) >= int64(s.limit)
}

// counters of one worker: written by it, read by Stats.
type counters struct {
	events, bursts, steals, polls, empty, parks, wakes relax.Uint64
}

func bump(c *relax.Uint64, n int) { c.StoreRel(c.LoadAcq() + uint64(n)) }

func (c *counters) add(n int) {
	bump(&c.events, n)
	bump(&c.bursts, 1)
}

// Stats are the sums of the counters of all workers, monotonic.
type Stats struct {
	Events uint64 // handed out, or taken into a stash
	Bursts uint64 // in so many visits to queues and inputs
	Steals uint64 // tokens taken from another worker
	Polls  uint64 // polls of inputs
	Empty  uint64 // of them without an event
	Parks  uint64 // sleeps
	Wakes  uint64 // wake-ups of other workers
}

// Stats sums the counters. Any goroutine.
func (s *Scheduler) Stats() (t Stats) {
	for _, p := range *s.all.Load() {
		c := &p.stats
		t.Events += c.events.LoadAcq()
		t.Bursts += c.bursts.LoadAcq()
		t.Steals += c.steals.LoadAcq()
		t.Polls += c.polls.LoadAcq()
		t.Empty += c.empty.LoadAcq()
		t.Parks += c.parks.LoadAcq()
		t.Wakes += c.wakes.LoadAcq()
	}
	return t
}
