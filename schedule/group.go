// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math/bits"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/worker"
)

// Group decides which workers get the events of a queue. Its methods may be
// called by any goroutine, and take effect at the next Schedule of each worker; events
// that a worker has in its stash are still its own.
type Group struct {
	s          *Scheduler
	name       string
	idx        int
	predefined bool
	closed     bool
	queues     int
	members    relax.Uint32
}

// All is the group that every worker and control thread belongs to.
func (s *Scheduler) All() *Group { return s.groups[0] }

// Worker is the group of those who joined as worker.KindWorker.
func (s *Scheduler) Worker() *Group { return s.groups[1] }

// Control is the group of those who joined as worker.KindControl.
func (s *Scheduler) Control() *Group { return s.groups[2] }

// NewGroup makes a group without members. Its name is for Group and for reports,
// and need not be unique.
func (s *Scheduler) NewGroup(name string) (*Group, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, g := range s.groups {
		if g == nil {
			g = &Group{s: s, name: name, idx: i}
			s.groups[i] = g
			return g, nil
		}
	}
	return nil, fmt.Errorf("%w: group %q: all %d groups are in use: close one", ErrConfig, name, MaxGroups)
}

// Group finds a group by name, nil if there is none.
func (s *Scheduler) Group(name string) *Group {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.groups {
		if g != nil && g.name == name {
			return g
		}
	}
	return nil
}

// Name returns the group's name.
func (g *Group) Name() string { return g.name }

// Join makes w a member. The predefined groups are joined by themselves.
func (g *Group) Join(w *worker.Worker) error { return g.change(w, true) }

// Leave ends the membership of w. Events that w was given stay with it.
func (g *Group) Leave(w *worker.Worker) error { return g.change(w, false) }

func (g *Group) change(w *worker.Worker, in bool) error {
	s := g.s
	s.mu.Lock()
	defer s.mu.Unlock()
	op := "leave"
	if in {
		op = "join"
	}
	switch {
	case g.predefined:
		return fmt.Errorf("%w: group %q: %s: members of predefined groups follow from their kind", ErrConfig, g.name, op)
	case g.closed:
		return fmt.Errorf("%w: group %q: %s: the group was closed", ErrConfig, g.name, op)
	case w == nil:
		return fmt.Errorf("%w: group %q: %s: no worker", ErrConfig, g.name, op)
	}
	p := s.attachLocked(w)
	if p == nil {
		return fmt.Errorf("%w: group %q: %s: worker %d belongs to another set", ErrConfig, g.name, op, w.ID())
	}
	bit, mask := uint64(1)<<g.idx, p.groups.LoadAcq()
	if in {
		s.setGroups(p, mask|bit)
	} else {
		s.setGroups(p, mask&^bit)
	}
	s.epoch.Add(1)
	if in {
		w.Wake()
	} else {
		s.wakeAll(bit)
	}
	return nil
}

// setGroups changes a worker's memberships. s.mu is held.
func (s *Scheduler) setGroups(p *state, mask uint64) {
	was := p.groups.LoadAcq()
	for m := was ^ mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		d := uint32(1)
		if mask>>i&1 == 0 {
			d = ^uint32(0)
		}
		s.groups[i].members.Add(d)
	}
	p.groups.StoreSeq(mask)
}

// Has reports whether w is a member.
func (g *Group) Has(w *worker.Worker) bool {
	s := g.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if w == nil || g.closed {
		return false
	}
	p := s.attachLocked(w)
	return p != nil && p.groups.LoadAcq()>>g.idx&1 != 0
}

// Members returns the number of members.
func (g *Group) Members() int { return int(g.members.LoadAcq()) }

// Close removes a group. Its queues must have been closed; its members leave it.
func (g *Group) Close() error {
	s := g.s
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case g.predefined:
		return fmt.Errorf("%w: close group %q: it is predefined", ErrConfig, g.name)
	case g.closed:
		return fmt.Errorf("%w: close group %q: closed before", ErrConfig, g.name)
	case g.queues != 0:
		return fmt.Errorf("%w: close group %q: it has %d queues: close them first", ErrConfig, g.name, g.queues)
	}
	for _, p := range *s.all.Load() {
		s.setGroups(p, p.groups.LoadAcq()&^(1<<g.idx))
	}
	g.closed = true
	s.groups[g.idx] = nil
	s.epoch.Add(1)
	return nil
}
