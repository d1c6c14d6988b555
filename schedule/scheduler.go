// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/worker"
)

// Scheduler hands the events of its queues to workers. Its methods that take a
// worker are called by that worker's goroutine; the others by any.
type Scheduler struct {
	set    *worker.Set
	cfg    Config
	limit  uint64 // Config.Threshold
	ws     []*state
	ctl    *state   // the control plane's: its ready rings, behind ctlMu
	tab    []*Queue // by index; an entry is written before its first token is pushed
	levels [MaxGroups * Priorities]atomic.Pointer[level]
	sleeps bool
	hunger int64 // how long a worker goes without before it asks others, ns
	_      relax.Pad

	// rarely written, read by all
	epoch relax.Uint32             // counts changes of what follows and of memberships
	use   [Priorities]relax.Uint64 // groups that have queues, by priority
	all   atomic.Pointer[[]*state] // who may have ready queues: workers that ever came, and ctl
	_     relax.Pad
	idle  relax.Uint32 // workers that are about to sleep or asleep (partner: start, giveBack)
	_     relax.Pad

	ctlMu sync.Mutex

	mu     sync.Mutex // control plane
	unhook func()
	groups [MaxGroups]*Group
	queues [MaxGroups * Priorities]int // queues by level
	next   int                         // entries of tab ever used
	made   uint64                      // queues ever made
	gone   []*Queue                    // closed; their index is free when their token is dropped
}

// New makes a scheduler for the workers of set.
func New(set *worker.Set, cfg Config) (*Scheduler, error) {
	if set == nil {
		return nil, fmt.Errorf("%w: New: no worker set", ErrConfig)
	}
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	s := &Scheduler{set: set, cfg: cfg, limit: uint64(cfg.Threshold), sleeps: cfg.Idle == Adaptive, hunger: cfg.hunger()}
	s.tab = make([]*Queue, cfg.MaxQueues)
	s.ws = make([]*state, set.Max())
	for i := range s.ws {
		s.ws[i] = newState(i)
	}
	s.ctl = newState(set.Max())
	s.all.Store(&[]*state{s.ctl})
	for i, name := range []string{"all", "worker", "control"} {
		s.groups[i] = &Group{s: s, name: name, idx: i, predefined: true}
	}
	s.unhook = set.OnFlush(s.flush)
	return s, nil
}

// Close ends the scheduler. Its queues must have been closed; its workers may still
// be there, and get nothing more.
func (s *Scheduler) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unhook == nil {
		return fmt.Errorf("%w: Close: closed before", ErrConfig)
	}
	n := 0
	for _, c := range s.queues {
		n += c
	}
	if n != 0 {
		return fmt.Errorf("%w: Close: %d queues and pollers are left: close them first", ErrConfig, n)
	}
	s.unhook()
	s.unhook = nil
	return nil
}

// flush is called by a worker that parks or leaves elsewhere: no context and no
// stash is held across a sleep.
func (s *Scheduler) flush(w *worker.Worker) {
	p := s.ws[w.ID()]
	if p.w.Load() != w || p.parking {
		return
	}
	switch w.FlushReason() {
	case worker.FlushPark:
		s.giveUp(w, p)
	case worker.FlushLeave:
		s.Leave(w)
	}
}

// Config returns the configuration, with the defaults filled in.
func (s *Scheduler) Config() Config { return s.cfg }

// NewQueue makes a scheduled queue.
func (s *Scheduler) NewQueue(cfg QueueConfig) (*Queue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := cfg.fill(s); err != nil {
		return nil, err
	}
	q := &Queue{s: s, ws: s.ws, name: cfg.Name, cfg: cfg, sync: cfg.Sync, free: cfg.IgnoreOrder}
	q.ring.init(cfg.Size)
	if q.sync == Parallel && s.limit == 0 { // a threshold wants one count
		q.lanes = make([]atomic.Pointer[lane], len(s.ws))
	}
	if q.sync == Ordered {
		q.order = newOrder(cfg.Locks, s.set.Max())
	}
	if err := s.add(q); err != nil {
		return nil, err
	}
	return q, nil
}

// Queues returns the queues that were made and not closed, for viewers; pollers of
// AddPoller are among them, as queues of size 1.
func (s *Scheduler) Queues() []*Queue {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*Queue
	for _, q := range s.tab[:s.next] {
		if q != nil && q.ring.tail.LoadAcq()&shut == 0 {
			list = append(list, q)
		}
	}
	return list
}

// add gives the queue its index and its level. s.mu is held.
func (s *Scheduler) add(q *Queue) error {
	idx, ok := s.takeIndex()
	if !ok {
		return fmt.Errorf("%w: queue %q: all %d queues are in use: raise Config.MaxQueues", ErrConfig, q.name, s.cfg.MaxQueues)
	}
	q.idx, q.prio = uint32(idx), uint8(q.cfg.Priority.Level())
	q.gbit = 1 << q.cfg.Group.idx
	q.stash.StoreRel(uint32(s.stashFor(q)))
	li := q.cfg.Group.idx*Priorities + int(q.prio)
	if s.levels[li].Load() == nil {
		s.levels[li].Store(newLevel(len(s.ws)+1, s.cfg.MaxQueues))
	}
	q.level = s.levels[li].Load()
	s.tab[idx] = q
	s.made++
	q.born = s.made
	s.queues[li]++
	q.cfg.Group.queues++
	if s.queues[li] == 1 {
		s.use[q.prio].StoreSeq(s.use[q.prio].LoadAcq() | q.gbit)
		s.epoch.Add(1)
	}
	return nil
}

func (s *Scheduler) stashFor(q *Queue) int {
	if s.cfg.Stash < 0 || q.cfg.Locks > 0 {
		return 0 // each lock is taken once in a context, so a context must not span several calls
	}
	return s.cfg.Stash >> max(0, defaultLevel-int(q.prio))
}

// takeIndex finds a free entry of the table. The index of a closed queue is free
// when nobody holds its token any more; tokens that lie in ready rings of closed
// queues are dropped here when nothing else is left.
func (s *Scheduler) takeIndex() (int, bool) {
	if s.next < len(s.tab) {
		s.next++
		return s.next - 1, true
	}
	for range 2 {
		for i, q := range s.gone {
			if !q.ring.held() {
				s.gone = append(s.gone[:i], s.gone[i+1:]...)
				return int(q.idx), true
			}
		}
		s.purge()
	}
	return 0, false
}

// purge takes every token once, and pushes those of live queues again.
func (s *Scheduler) purge() {
	var live []*Queue
	for li := range s.levels {
		l := s.levels[li].Load()
		if l == nil {
			continue
		}
		for _, p := range *s.all.Load() {
			for {
				idx, ok := l.pop(p.id)
				if !ok {
					break
				}
				if q := s.tab[idx]; !q.rest() {
					live = append(live, q)
				}
			}
		}
	}
	for _, q := range live {
		s.start(nil, q)
	}
}

// remove takes a closed queue out of the table. s.mu is held.
func (s *Scheduler) remove(q *Queue) {
	li := q.cfg.Group.idx*Priorities + int(q.prio)
	s.queues[li]--
	q.cfg.Group.queues--
	if s.queues[li] == 0 {
		s.use[q.prio].And(^q.gbit)
		s.epoch.Add(1)
	}
	s.gone = append(s.gone, q)
}

// start pushes the token of a queue that needs service again, and wakes a
// sleeper that may take it.
func (s *Scheduler) start(w *worker.Worker, q *Queue) {
	if p := s.of(w); p != nil {
		q.push(p, true)
	} else {
		s.ctlMu.Lock()
		q.push(s.ctl, true)
		s.ctlMu.Unlock()
	}
	if s.idle.LoadAcq() != 0 {
		s.wake(q.gbit)
	}
}

// of returns the state of a worker, nil for the control plane and for a worker
// of another set.
func (s *Scheduler) of(w *worker.Worker) *state {
	if w == nil {
		return nil
	}
	if id := w.ID(); id < len(s.ws) {
		if p := s.ws[id]; p.w.Load() == w {
			return p
		}
	}
	return s.attach(w)
}

// unused reports whether no worker has ever come.
func (s *Scheduler) unused() bool { return len(*s.all.Load()) == 1 }

// attach makes a worker known, at its first call.
func (s *Scheduler) attach(w *worker.Worker) *state {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attachLocked(w)
}

func (s *Scheduler) attachLocked(w *worker.Worker) *state {
	if w.Set() != s.set {
		return nil
	}
	p := s.ws[w.ID()]
	old := p.w.Load()
	if old == w {
		return p
	}
	if old != nil { // it left its set without Leave
		s.giveUp(old, p)
		p.paused = false
		s.setGroups(p, 0)
	}
	p.wake = w.Wake
	p.epoch = s.epoch.LoadAcq() - 1
	p.w.Store(w)
	mask := uint64(1)
	if w.Kind() == worker.KindWorker {
		mask |= 2
	} else {
		mask |= 4
	}
	s.setGroups(p, mask)
	if !p.known {
		p.known = true
		all := append(append([]*state(nil), *s.all.Load()...), p)
		s.all.Store(&all)
	}
	s.epoch.Add(1)
	return p
}

// Leave gives back everything that the worker holds of the scheduler: its stash,
// the token of an atomic queue, its turn in an ordered one, inputs that it watches, its
// memberships. It is the last call of a worker, also after a panic in its main loop, by
// that worker's goroutine. Calling it again does nothing.
func (s *Scheduler) Leave(w *worker.Worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w == nil || w.Set() != s.set {
		return
	}
	p := s.ws[w.ID()]
	if p.w.Load() != w {
		return
	}
	s.giveUp(w, p)
	p.paused = false
	s.setGroups(p, 0)
	p.w.Store(nil)
	s.epoch.Add(1)
}
