// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const liveness = 20 * time.Second // whatever takes longer hangs

func newSet(t testing.TB, n int) *Set {
	t.Helper()
	s, err := NewSet(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func join(t testing.TB, s *Set) *Worker {
	t.Helper()
	w, err := s.Join(KindWorker)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// within fails the test when f does not return.
func within(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(liveness):
		t.Fatalf("%s: hangs", what)
	}
}

// asleepNow waits until w sleeps in the kernel or is about to.
func asleepNow(t testing.TB, w *Worker) {
	t.Helper()
	for end := time.Now().Add(liveness); w.parker.state.LoadAcq() != asleep; time.Sleep(50 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatal("the worker does not go to sleep")
		}
	}
}

func TestWakeBeforePark(t *testing.T) {
	w := join(t, newSet(t, 1))
	defer w.Leave()
	w.Wake()
	w.Wake()
	within(t, "park after wake", func() { w.Park(-1, nil) })
	start := time.Now()
	w.Park(3*time.Millisecond, nil)
	if d := time.Since(start); d < 3*time.Millisecond {
		t.Errorf("two wakes ended two parks: the second took %v of 3ms", d)
	}
}

func TestPrepareParkForgetsOldWakes(t *testing.T) {
	w := join(t, newSet(t, 1))
	defer w.Leave()
	w.Wake()
	w.PreparePark()
	start := time.Now()
	w.Park(3*time.Millisecond, nil)
	if d := time.Since(start); d < 3*time.Millisecond {
		t.Errorf("a wake from before PreparePark ended the park after %v of 3ms", d)
	}
	w.PreparePark()
	w.Wake()
	within(t, "park after a wake after PreparePark", func() { w.Park(-1, nil) })
}

func TestWakeEndsPark(t *testing.T) {
	w := join(t, newSet(t, 1))
	defer w.Leave()
	for range 20 {
		within(t, "park", func() {
			go func() { asleepNow(t, w); w.Wake() }()
			w.Park(-1, nil)
		})
	}
}

func TestRequestStopEndsPark(t *testing.T) {
	s := newSet(t, 2)
	w := join(t, s)
	defer w.Leave()
	if !w.Running() || w.Stopping() {
		t.Fatal("stopped too early")
	}
	within(t, "park", func() {
		go func() { asleepNow(t, w); s.Stop() }()
		w.Park(-1, nil)
	})
	if w.Running() || !w.Stopping() {
		t.Error("still running after Stop")
	}
}

func TestParkTimeouts(t *testing.T) {
	w := join(t, newSet(t, 1))
	defer w.Leave()
	for _, d := range []time.Duration{0, 1, time.Microsecond, 50 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 20 * time.Millisecond} {
		start := time.Now()
		within(t, d.String(), func() { w.Park(d, nil) })
		if got := time.Since(start); got < d {
			t.Errorf("Park(%v) returned after %v", d, got)
		}
	}
}

// A producer adds to a word and wakes; the worker parks without limit when there is
// nothing: one lost wake and it hangs.
func TestNoWakeIsLost(t *testing.T) {
	rounds := 20000
	if testing.Short() {
		rounds = 3000
	}
	s := newSet(t, 1)
	var waiting atomic.Int64
	wp := make(chan *Worker)
	within(t, "ping", func() {
		var wg sync.WaitGroup
		wg.Go(func() {
			w := join(t, s)
			defer w.Leave()
			wp <- w
			for seen := 0; seen < rounds; {
				if n := int(waiting.Swap(0)); n > 0 {
					seen += n
					continue
				}
				if seen%3 == 0 {
					w.PreparePark()
					if waiting.Load() > 0 {
						continue
					}
				}
				w.Park(-1, nil)
			}
		})
		w := <-wp
		for i := range rounds {
			waiting.Add(1)
			w.Wake()
			if i%64 == 0 {
				asleepOrDone(w, &waiting)
			}
		}
		wg.Wait()
	})
}

func asleepOrDone(w *Worker, waiting *atomic.Int64) {
	for waiting.Load() > 0 || w.parker.state.LoadAcq() != asleep {
		time.Sleep(10 * time.Microsecond)
	}
}

// Time-outs and wakes race: each round either of them may end the park.
func TestWakeRacesTimeout(t *testing.T) {
	s := newSet(t, 1)
	var stop atomic.Bool
	var wg sync.WaitGroup
	w := join(t, s)
	defer w.Leave()
	for range 2 {
		wg.Go(func() {
			for !stop.Load() {
				w.Wake()
				time.Sleep(time.Microsecond)
			}
		})
	}
	within(t, "parks", func() {
		for range 2000 {
			w.Park(20*time.Microsecond, nil)
		}
	})
	stop.Store(true)
	wg.Wait()
}

// Workers come and go while others wake, stop and flush all they know of, and the set
// is closed in the end under late wakes. (Under the race detector, and by the
// descriptor check of the package, this finds writes to closed descriptors.)
func TestLeaveRacesWake(t *testing.T) {
	s, err := NewSet(2)
	if err != nil {
		t.Fatal(err)
	}
	var last atomic.Pointer[Worker]
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !stop.Load() {
				if w := last.Load(); w != nil {
					w.Wake()
					w.RequestStop()
				}
				s.RequestFlush()
				s.Workers((*Worker).Wake)
				time.Sleep(time.Microsecond)
			}
		})
	}
	n := 500
	if testing.Short() {
		n = 200
	}
	within(t, "join, park, leave", func() {
		for range n {
			w := join(t, s)
			last.Store(w)
			w.Park(20*time.Microsecond, nil)
			w.Leave()
		}
	})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	last.Load().Wake()
	time.Sleep(time.Millisecond) // wakes after Close
	stop.Store(true)
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Error("second Close:", err)
	}
	if _, err := s.Join(KindWorker); err == nil {
		t.Error("Join after Close answers no error")
	}
}

func TestParkAllocatesNothing(t *testing.T) {
	w := join(t, newSet(t, 1))
	defer w.Leave()
	if n := testing.AllocsPerRun(100, func() { w.Park(time.Microsecond, nil); w.Wake(); w.Park(-1, nil) }); n != 0 {
		t.Errorf("%v allocations per park", n)
	}
}

// A waker may be between its decision and the system call: the descriptor stays
// until it is through.
func TestCloseWaitsForWakers(t *testing.T) {
	s, err := NewSet(1)
	if err != nil {
		t.Fatal(err)
	}
	w := join(t, s)
	w.parker.inflight.Add(1)
	w.Leave()
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		t.Fatal("closed under a waker: ", err)
	case <-time.After(5 * time.Millisecond):
	}
	w.parker.inflight.Add(^uint32(0))
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(liveness):
		t.Fatal("Close hangs")
	}
}
