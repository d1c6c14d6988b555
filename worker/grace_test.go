// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// graceReturns starts a Grace; the channel gets its answer.
func graceReturns(ctx context.Context, s *Set) <-chan error {
	c := make(chan error, 1)
	go func() { c <- s.Grace(ctx) }()
	return c
}

func wantGrace(t *testing.T, c <-chan error) {
	t.Helper()
	select {
	case err := <-c:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(liveness):
		t.Fatal("Grace does not return")
	}
}

// asked waits until a Grace waits for w.
func asked(t *testing.T, w *Worker) {
	t.Helper()
	for end := time.Now().Add(liveness); w.requests.LoadAcq()&reqGrace == 0; time.Sleep(20 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatal("Grace does not ask the worker")
		}
	}
}

func stillWaits(t *testing.T, c <-chan error) {
	t.Helper()
	select {
	case err := <-c:
		t.Fatal("Grace returned before a quiescent point:", err)
	case <-time.After(3 * time.Millisecond):
	}
}

func TestGraceOfNobody(t *testing.T) { wantGrace(t, graceReturns(t.Context(), newSet(t, 4))) }

func TestGraceWaitsForQuiescentPoint(t *testing.T) {
	points := map[string]func(*Worker){
		"Quiesce": (*Worker).Quiesce,
		"Running": func(w *Worker) { w.Running() },
		"Park":    func(w *Worker) { w.Park(0, nil) },
		"Leave":   (*Worker).Leave,
		"Grace": func(w *Worker) {
			if err := w.Grace(context.Background()); err != nil {
				t.Error(err)
			}
		},
	}
	for name, point := range points {
		t.Run(name, func(t *testing.T) {
			s := newSet(t, 2)
			w := join(t, s)
			defer w.Leave()
			w.Quiesce() // one from before the call does not count
			c := graceReturns(t.Context(), s)
			asked(t, w)
			stillWaits(t, c)
			point(w)
			wantGrace(t, c)
		})
	}
}

func TestGraceNamesTheWorker(t *testing.T) {
	s := newSet(t, 2)
	w := join(t, s)
	defer w.Leave()
	ctl, err := s.Join(KindControl)
	if err != nil {
		t.Fatal(err)
	}
	defer ctl.Leave()
	ctx, cancel := context.WithCancel(t.Context())
	c := graceReturns(ctx, s)
	asked(t, w)
	w.Quiesce()
	asked(t, ctl)
	cancel()
	err = <-c
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "worker 1 (control)") {
		t.Errorf("error %v names not worker 1 (control) and the cause", err)
	}
	ctl.Quiesce() // serves the request that nobody waits for any more
	c = graceReturns(t.Context(), s)
	asked(t, w)
	w.Quiesce()
	asked(t, ctl)
	stillWaits(t, c)
	ctl.Quiesce()
	wantGrace(t, c)
}

func TestGraceSkipsParked(t *testing.T) {
	s := newSet(t, 1)
	w := join(t, s)
	var wg sync.WaitGroup
	wg.Go(func() { w.Park(-1, nil) })
	asleepNow(t, w)
	wantGrace(t, graceReturns(t.Context(), s))
	w.Wake()
	wg.Wait()
	// awake again: it must be waited for
	c := graceReturns(t.Context(), s)
	asked(t, w)
	stillWaits(t, c)
	w.Leave()
	wantGrace(t, c)
}

func TestGraceIgnoresWhoJoinsMeanwhile(t *testing.T) {
	s := newSet(t, 2)
	w := join(t, s)
	c := graceReturns(t.Context(), s)
	asked(t, w)
	w.Leave()
	w2 := join(t, s) // the same id
	defer w2.Leave()
	wantGrace(t, c)
}

// The use that Grace exists for: a pointer is replaced, and what it pointed to is
// spoiled after a grace, while workers use it between quiescent points, park, leave and
// join.
func TestGraceProtectsWhatWorkersUse(t *testing.T) {
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	type thing struct{ ok atomic.Bool }
	fresh := func() *thing { x := new(thing); x.ok.Store(true); return x }
	var cur atomic.Pointer[thing]
	cur.Store(fresh())
	s := newSet(t, 4)
	var bad atomic.Int64
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), liveness)
	defer cancel()
	for i := range 3 {
		wg.Go(func() {
			for !s.Stopped() {
				w, err := s.Join(KindWorker)
				if err != nil {
					t.Error(err)
					return
				}
				for n := 0; n < 50 && w.Running(); n++ {
					x := cur.Load()
					for range 20 {
						if !x.ok.Load() {
							bad.Add(1)
						}
					}
					if n%10 == i {
						w.Park(5*time.Microsecond, nil)
					}
				}
				w.Leave()
			}
		})
	}
	var closers sync.WaitGroup
	for range 2 {
		closers.Go(func() {
			for range rounds {
				old := cur.Swap(fresh())
				if err := s.Grace(ctx); err != nil {
					t.Error(err)
					return
				}
				old.ok.Store(false)
			}
		})
	}
	closers.Wait()
	s.Stop()
	wg.Wait()
	if n := bad.Load(); n != 0 {
		t.Errorf("a worker used %d times what was freed after a grace", n)
	}
}
