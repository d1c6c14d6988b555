// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

func TestPredefinedGroups(t *testing.T) {
	r := newRig(t, 3, 6, Config{})
	s := r.s
	w := r.join()
	c, err := r.set.Join(worker.KindControl)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		g    *Group
		w, c bool
	}{{s.All(), true, true}, {s.Worker(), true, false}, {s.Control(), false, true}} {
		if x.g.Has(w) != x.w || x.g.Has(c) != x.c {
			t.Errorf("group %s has worker %v, control %v", x.g.Name(), x.g.Has(w), x.g.Has(c))
		}
		if x.g.Join(w) == nil || x.g.Leave(w) == nil || x.g.Close() == nil {
			t.Errorf("group %s can be changed", x.g.Name())
		}
		if s.Group(x.g.Name()) != x.g {
			t.Errorf("group %s is not found", x.g.Name())
		}
	}
	qw, qc := r.queue(QueueConfig{Group: s.Worker()}), r.queue(QueueConfig{Group: s.Control()})
	r.fill(c, qw, 0, 3)
	r.fill(w, qc, 3, 6)
	if v := r.drain(w); !equal(v, 0, 3) {
		t.Errorf("the worker got %v", v)
	}
	if v := r.drain(c); !equal(v, 3, 6) {
		t.Errorf("the control thread got %v", v)
	}
	if s.All().Members() != 2 || s.Worker().Members() != 1 {
		t.Errorf("members: %d, %d", s.All().Members(), s.Worker().Members())
	}
	r.leave(w)
	r.leave(c)
	if s.All().Members() != 0 || s.Worker().Members() != 0 {
		t.Errorf("members after leaving: %d, %d", s.All().Members(), s.Worker().Members())
	}
}

func TestMaxGroups(t *testing.T) {
	r := newRig(t, 1, MaxGroups, Config{})
	w := r.join()
	var gs []*Group
	var qs []*Queue
	for i := range MaxGroups - 3 {
		g, err := r.s.NewGroup("own")
		if err != nil {
			t.Fatal(err)
		}
		gs = append(gs, g)
		q := r.queue(QueueConfig{Group: g, Sync: kinds[i%3]})
		qs = append(qs, q)
		r.fill(w, q, i, i+1)
	}
	if _, err := r.s.NewGroup("one too many"); err == nil {
		t.Error("a group too many was made")
	}
	if v := r.drain(w); v != nil {
		t.Errorf("a worker of no group got %v", v)
	}
	for i, g := range gs {
		if err := g.Join(w); err != nil {
			t.Fatal(err)
		}
		if v := r.drain(w); !equal(v, i, i+1) {
			t.Errorf("group %d: %v", i, v)
		}
		if err := g.Close(); err == nil {
			t.Error("a group with a queue was closed")
		}
		if i%2 == 0 {
			if err := g.Leave(w); err != nil {
				t.Fatal(err)
			}
		}
		if err := qs[i].Close(); err != nil {
			t.Error(err)
		}
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		if g.Join(w) == nil || g.Close() == nil || g.Has(w) {
			t.Error("a closed group can be used")
		}
	}
	if _, err := r.s.NewQueue(QueueConfig{Group: gs[0]}); err == nil {
		t.Error("a queue in a closed group was made")
	}
	g, err := r.s.NewGroup("again")
	if err != nil {
		t.Fatal(err)
	}
	if g.Has(w) || g.Members() != 0 {
		t.Error("a new group inherits members")
	}
	r.leave(w)
}

// A worker gets events of the groups of the moment only; the next Schedule sees a change.
func TestJoinLeave(t *testing.T) {
	each(t, func(t *testing.T, y Sync) {
		r := newRig(t, 1, 20, Config{Stash: -1})
		w := r.join()
		var gs [2]*Group
		var qs [2]*Queue
		for i := range gs {
			gs[i], _ = r.s.NewGroup("g")
			qs[i] = r.queue(QueueConfig{Sync: y, Group: gs[i]})
			r.fill(w, qs[i], 10*i, 10*i+10)
		}
		for i := range 10 {
			for k := range gs {
				if err := gs[k].Join(w); err != nil {
					t.Fatal(err)
				}
				if v, q := r.get(w, 1); q != qs[k] || !equal(v, 10*k+i, 10*k+i+1) {
					t.Fatalf("round %d, group %d: %v", i, k, v)
				}
				if err := gs[k].Leave(w); err != nil {
					t.Fatal(err)
				}
				if v, _ := r.get(w, 1); v != nil {
					t.Fatalf("round %d: in no group, and got %v", i, v)
				}
			}
		}
		r.leave(w)
	})
}

// Joining wakes a worker that sleeps, for events that have long been there.
func TestJoinWakes(t *testing.T) {
	r := newRig(t, 2, 1, Config{Spin: time.Microsecond})
	g, _ := r.s.NewGroup("late")
	q := r.queue(QueueConfig{Group: g})
	r.fill(nil, q, 0, 1)
	w := r.join()
	done := make(chan struct{})
	go func() {
		defer close(done)
		ev := make([]*buffer.Event, 1)
		if n, _, err := r.s.Schedule(w, ev, -1); n != 1 || err != nil {
			t.Error(n, err)
		}
		r.free(ev...)
		r.leave(w)
	}()
	eventually(t, "the worker sleeps", func() bool { return r.s.Stats().Parks > 0 })
	if err := g.Join(w); err != nil {
		t.Fatal(err)
	}
	within(t, done, "the worker that joined gets the event")
}

// Each worker of a group of its own gets exactly its events.
func TestPrivateGroups(t *testing.T) {
	const workers, events = 4, 16
	r := newRig(t, workers+1, workers*events, Config{})
	var gs [workers]*Group
	for i := range gs {
		gs[i], _ = r.s.NewGroup("private")
		q := r.queue(QueueConfig{Group: gs[i], Sync: kinds[i%3]})
		r.fill(nil, q, i*events, (i+1)*events)
	}
	wait := r.workers(workers, func(w *worker.Worker) {
		if err := gs[w.ID()].Join(w); err != nil {
			t.Error(err)
		}
		ev := make([]*buffer.Event, 5)
		for got := 0; got < events; {
			n, _, err := r.s.Schedule(w, ev, -1)
			if err != nil {
				t.Error(err)
				return
			}
			for _, e := range ev[:n] {
				if int(val(e))/events != w.ID() {
					t.Errorf("worker %d got event %d", w.ID(), val(e))
				}
			}
			r.free(ev[:n]...)
			got += n
		}
	})
	wait()
}
