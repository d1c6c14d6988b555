// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"strings"
	"sync"
	"testing"

	"github.com/odp-go/godp/internal/relax"
)

func TestSetSizes(t *testing.T) {
	for _, n := range []int{-1, 0, MaxWorkers + 1} {
		if _, err := NewSet(n); err == nil || !strings.Contains(err.Error(), "1 to 256") {
			t.Errorf("NewSet(%d): %v", n, err)
		}
	}
	for _, n := range []int{1, MaxWorkers} {
		if s := newSet(t, n); s.Max() != n {
			t.Errorf("Max() = %d, want %d", s.Max(), n)
		}
	}
}

func TestIdsAreDense(t *testing.T) {
	s := newSet(t, 3)
	a, b, c := join(t, s), join(t, s), join(t, s)
	for i, w := range []*Worker{a, b, c} {
		if w.ID() != i || w.Set() != s || w.Kind() != KindWorker || w.CPU() != -1 {
			t.Errorf("worker %d: id %d, kind %v, cpu %d", i, w.ID(), w.Kind(), w.CPU())
		}
	}
	if _, err := s.Join(KindWorker); err == nil || !strings.Contains(err.Error(), "MaxWorkers") {
		t.Errorf("a fourth of 3: %v", err)
	}
	b.Leave()
	d := join(t, s)
	if d.ID() != 1 {
		t.Errorf("the free id is 1, got %d", d.ID())
	}
	b.Leave() // late: must not take the id from its successor
	n := 0
	s.Workers(func(*Worker) { n++ })
	if n != 3 {
		t.Errorf("%d workers in the set, want 3", n)
	}
	a.Leave()
	c.Leave()
	d.Leave()
}

func TestNilWorker(t *testing.T) {
	var w *Worker
	w.AwaitTurn()
	w.Quiesce()
	if w.ID() != -1 || w.CPU() != -1 || w.Set() != nil || w.Kind() != KindControl {
		t.Error("a nil worker is not the control plane")
	}
}

func TestJoinAfterStop(t *testing.T) {
	s := newSet(t, 2)
	w := join(t, s)
	s.Stop()
	late := join(t, s)
	if w.Running() || late.Running() {
		t.Error("running after Stop")
	}
	w.Leave()
	late.Leave()
	s.Restart()
	w = join(t, s)
	if !w.Running() {
		t.Error("stopped after Restart")
	}
	w.Leave()
}

func TestFlush(t *testing.T) {
	s := newSet(t, 2)
	var got []int
	remove := s.OnFlush(func(w *Worker) { got = append(got, w.ID()) })
	w := join(t, s)
	expect := func(when string, n int) {
		t.Helper()
		if len(got) != n {
			t.Errorf("%s: %d flushes, want %d", when, len(got), n)
		}
		got = nil
	}
	w.Quiesce()
	expect("nobody asked", 0)
	s.RequestFlush()
	s.RequestFlush()
	expect("not at a quiescent point yet", 0)
	w.Running()
	w.Running()
	expect("asked twice", 1)
	s.RequestFlush()
	w.Park(0, nil)
	expect("asked, then parked", 2)
	w.Flush()
	expect("by itself", 1)
	w.Leave()
	expect("left", 1)
	w = join(t, s)
	s.RequestFlush()
	remove()
	remove()
	w.Quiesce()
	w.Leave()
	expect("removed", 0)
}

func TestFlushRequestsFromMany(t *testing.T) {
	s := newSet(t, 1)
	w := join(t, s)
	defer w.Leave()
	n := 0
	defer s.OnFlush(func(*Worker) { n++ })()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 1000 {
				s.RequestFlush()
			}
		})
	}
	for range 1000 {
		w.Quiesce()
	}
	wg.Wait()
	n = 0
	s.RequestFlush()
	w.Quiesce()
	if n == 0 {
		t.Error("a request got lost")
	}
}

// Tickets are served in order, whichever worker comes first.
func TestTurns(t *testing.T) {
	const workers, rounds = 3, 500
	s := newSet(t, workers)
	var serving relax.Uint32
	var order []uint32 // guarded by the turns
	start := ^uint32(0) - rounds
	serving.StoreSeq(start) // wraps around
	within(t, "turns", func() {
		var wg sync.WaitGroup
		for i := range workers {
			wg.Go(func() {
				w := join(t, s)
				defer w.Leave()
				for n := range rounds {
					w.Turn = Turn{Serving: &serving, Ticket: start + uint32(n*workers+i)}
					w.AwaitTurn()
					if !w.Turn.InTurn {
						t.Error("not in turn")
					}
					w.AwaitTurn()
					order = append(order, w.Turn.Ticket)
					serving.StoreRel(w.Turn.Ticket + 1)
					w.Turn = Turn{}
				}
			})
		}
		wg.Wait()
	})
	for i, k := range order {
		if k != start+uint32(i) {
			t.Fatalf("place %d has ticket %d, want %d", i, k, start+uint32(i))
		}
	}
}

func TestSpinEndsInNaps(t *testing.T) {
	if pauses < 8 || pauses > 256 {
		t.Errorf("%d pauses: outside 8 to 256", pauses)
	}
	var s Spin
	for range pauses + yields + 3 {
		s.Wait()
	}
	if s.n != pauses+yields {
		t.Errorf("after %d waits the state is %d: a long wait overflows or never naps", pauses+yields+3, s.n)
	}
	s.Reset()
	if s != (Spin{}) {
		t.Error("Reset does not start over")
	}
}
