// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want []string
	}{
		{Config{Workers: -1}, []string{"Config.Workers -1", "1 to 256"}},
		{Config{Workers: 257}, []string{"Config.Workers 257"}},
		{Config{Workers: 4, MaxWorkers: 3}, []string{"Config.MaxWorkers 3", "Workers (4) to 256"}},
		{Config{MaxWorkers: 1000}, []string{"Config.MaxWorkers 1000"}},
		{Config{Nice: 40}, []string{"Config.Nice 40", "-20 to 19"}},
		{Config{Pin: 9}, []string{"Config.Pin 9"}},
		{Config{OnPanic: 9}, []string{"Config.OnPanic 9"}},
		{Config{RestartLimit: -1}, []string{"Config.RestartLimit -1"}},
		{Config{RestartWindow: -1}, []string{"Config.RestartWindow -1ns"}},
		{Config{StopTimeout: -1}, []string{"Config.StopTimeout -1ns"}},
		{Config{CPUs: MaskOf(1023)}, []string{"Config.CPUs 1023", "may not run", "taskset"}},
	} {
		in, err := Open(t.Context(), c.cfg)
		if in != nil {
			in.Close()
			t.Errorf("%+v was accepted", c.cfg)
		}
		wantError(t, err, append(c.want, "odp: Open")...)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with an ended context: %v", err)
	}
}

func TestConfigDefaults(t *testing.T) {
	for _, c := range []struct {
		usable  int
		cpus    CPUMask
		cfg     Config
		workers int
	}{
		{1, MaskOf(0), Config{}, 1}, {2, MaskRange(0, 1), Config{}, 1}, {8, MaskRange(0, 7), Config{}, 7},
		{3, MaskRange(0, 7), Config{}, 2},                      // quota of 3 CPUs
		{8, MaskRange(0, 7), Config{CPUs: MaskRange(4, 7)}, 4}, // chosen CPUs are all for workers
		{2, MaskRange(0, 7), Config{CPUs: MaskRange(4, 7)}, 2}, // but not beyond the quota
		{8, MaskRange(0, 7), Config{Workers: 20}, 20},          // more workers than CPUs
		{1000, MaskRange(0, 999), Config{}, 256},               // the largest set
	} {
		cfg := c.cfg
		if err := cfg.fill(c.cpus, c.usable); err != nil || cfg.Workers != c.workers {
			t.Errorf("%d usable of %s: %d workers, %v; want %d", c.usable, c.cpus.List(), cfg.Workers, err, c.workers)
		}
		if cfg.MaxWorkers < cfg.Workers || cfg.StopTimeout == 0 || cfg.Log == nil || cfg.Name == "" {
			t.Errorf("defaults are missing: %+v", cfg)
		}
	}
}

// Every worker runs once, with its own id, on its own locked thread.
func TestRunWorkers(t *testing.T) {
	for n := 1; n <= 8; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			in := open(t, Config{Workers: n})
			for range 2 { // Run may be called again
				var mu sync.Mutex
				var ids ThreadMask
				b := NewBarrier(n)
				err := in.Run(t.Context(), func(w *Worker) error {
					mu.Lock()
					ids.Set(w.ID())
					mu.Unlock()
					if err := b.Wait(w); err != nil {
						return err
					}
					if w.Kind() != KindWorker || !w.Running() {
						return fmt.Errorf("kind %v running %v", w.Kind(), w.Running())
					}
					if m := in.Workers(); m.Count() != n {
						return fmt.Errorf("worker mask %s while %d run", m, n)
					}
					return b.Wait(w)
				})
				if err != nil {
					t.Fatal(err)
				}
				if ids != MaskRange(0, n-1) {
					t.Errorf("ids %s, want 0-%d", ids.List(), n-1)
				}
				if m := in.Workers().Or(in.Controls()); !m.IsZero() {
					t.Errorf("after Run ids %s are taken", m.List())
				}
			}
		})
	}
}

func TestRunStopsByContext(t *testing.T) {
	in := open(t, Config{Workers: 4})
	ctx, cancel := context.WithCancel(t.Context())
	var started atomic.Int32
	done := make(chan error, 1)
	go func() {
		done <- in.Run(ctx, func(w *Worker) error {
			if started.Add(1) == 4 {
				cancel()
			}
			for w.Running() {
				runtime.Gosched()
			}
			return ctx.Err() // counts as orderly
		})
	}()
	if err := within(t, done); err != nil {
		t.Fatalf("Run: %v, want nil after an orderly stop", err)
	}
	if err := in.Run(ctx, func(*Worker) error { return errors.New("must not run") }); err != nil {
		t.Fatalf("Run with an ended context: %v", err)
	}
}

func TestRunError(t *testing.T) {
	in := open(t, Config{Workers: 4})
	cause := errors.New("bad thing")
	done := make(chan error, 1)
	go func() {
		done <- in.Run(t.Context(), func(w *Worker) error {
			if w.ID() == 2 {
				return cause
			}
			for w.Running() {
				runtime.Gosched()
			}
			return fmt.Errorf("schedule: %w", ErrStopped)
		})
	}()
	err := within(t, done)
	if !errors.Is(err, cause) || errors.Is(err, ErrStopped) {
		t.Fatalf("Run: %v; want only the cause", err)
	}
	wantError(t, err, "worker 2", "bad thing")
}

// A worker that returns nil leaves the others running; ErrStopped from a worker
// that was not asked to stop is an error.
func TestRunEarlyReturn(t *testing.T) {
	in := open(t, Config{Workers: 3})
	var left atomic.Int32
	err := in.Run(t.Context(), func(w *Worker) error {
		if w.ID() < 2 {
			left.Add(1)
			return nil
		}
		for left.Load() < 2 {
			runtime.Gosched()
		}
		if !w.Running() {
			t.Error("asked to stop by another's return")
		}
		return ErrStopped
	})
	if !errors.Is(err, ErrStopped) {
		t.Fatalf("Run: %v", err)
	}
}

func TestRunTwiceAtOnce(t *testing.T) {
	in := open(t, Config{Workers: 1})
	err := in.Run(t.Context(), func(w *Worker) error {
		wantError(t, in.Run(context.Background(), func(*Worker) error { return nil }), "runs already")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRunGoexit(t *testing.T) {
	in := open(t, Config{Workers: 2})
	err := in.Run(t.Context(), func(w *Worker) error {
		if w.ID() == 1 {
			runtime.Goexit()
		}
		for w.Running() {
			runtime.Gosched()
		}
		return nil
	})
	if !errors.Is(err, errGoexit) {
		t.Fatalf("Run: %v, want %v", err, errGoexit)
	}
}

func TestPanicStop(t *testing.T) {
	in := open(t, Config{Workers: 4})
	done := make(chan error, 1)
	go func() {
		done <- in.Run(t.Context(), func(w *Worker) error {
			if w.ID() == 1 {
				panickingFunction()
			}
			for w.Running() {
				runtime.Gosched()
			}
			return nil
		})
	}()
	err := within(t, done)
	var pe *PanicError
	if !errors.As(err, &pe) || pe.Worker != 1 || pe.Value != "boom" {
		t.Fatalf("Run: %v", err)
	}
	wantError(t, err, "worker 1", "panic: boom", "panickingFunction")
	if n := in.panics.Load(); n != 1 {
		t.Errorf("%d panics counted", n)
	}
	// the instance is as new
	if err := in.Run(t.Context(), func(*Worker) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

//go:noinline
func panickingFunction() { panic("boom") }

func TestPanicWithError(t *testing.T) {
	in := open(t, Config{Workers: 1})
	cause := errors.New("cause")
	if err := in.Run(t.Context(), func(*Worker) error { panic(cause) }); !errors.Is(err, cause) {
		t.Fatal(err)
	}
	var nilPtr *int
	err := in.Run(t.Context(), func(*Worker) error { *nilPtr = 1; return nil })
	var re runtime.Error
	if !errors.As(err, &re) {
		t.Fatal(err)
	}
}

// A fault on mapped memory is a panic with the address, not the end of the process.
func TestPanicOnFault(t *testing.T) {
	p := unmappedAddress(t)
	in := open(t, Config{Workers: 1})
	err := in.Run(t.Context(), func(*Worker) error { *(*byte)(p) = 1; return nil })
	var pe *PanicError
	if !errors.As(err, &pe) {
		t.Fatal(err)
	}
	wantError(t, err, fmt.Sprintf("address %#x", uintptr(p)))
}

func TestRestart(t *testing.T) {
	in := open(t, Config{Workers: 4, OnPanic: RestartWorker, RestartLimit: 100})
	var tries [4]atomic.Int32
	b := NewBarrier(4)
	err := in.Run(t.Context(), func(w *Worker) error {
		if tries[w.ID()].Add(1) <= 5 {
			panic(fmt.Sprint("try ", tries[w.ID()].Load()))
		}
		return b.Wait(w)
	})
	if err != nil {
		t.Fatal(err)
	}
	if in.restarted.Load() != 20 || in.panics.Load() != 20 {
		t.Errorf("%d restarts and %d panics, want 20", in.restarted.Load(), in.panics.Load())
	}
}

func TestRestartLimit(t *testing.T) {
	in := open(t, Config{Workers: 3, OnPanic: RestartWorker, RestartLimit: 2, RestartWindow: time.Hour})
	var tries atomic.Int32
	err := in.Run(t.Context(), func(w *Worker) error {
		if w.ID() == 0 {
			tries.Add(1)
			panic("again")
		}
		for w.Running() {
			runtime.Gosched()
		}
		return nil
	})
	wantError(t, err, "worker 0", "panic: again", "2 restarts within 1h0m0s")
	if tries.Load() != 3 {
		t.Errorf("%d tries, want 3", tries.Load())
	}
}

func TestRestartWindow(t *testing.T) {
	r := restarts{limit: 2, window: time.Second}
	t0 := time.Unix(1000, 0)
	for i, c := range []struct {
		at   time.Duration
		want bool
	}{
		{0, true}, {100 * time.Millisecond, true}, {900 * time.Millisecond, false}, {time.Second, true},
		{1050 * time.Millisecond, false}, {1100 * time.Millisecond, true}, {time.Hour, true},
	} {
		if got := r.allow(t0.Add(c.at)); got != c.want {
			t.Errorf("%d: at %v: %v, want %v", i, c.at, got, c.want)
		}
	}
}

// errors do not restart, even under RestartWorker.
func TestNoRestartOnError(t *testing.T) {
	in := open(t, Config{Workers: 1, OnPanic: RestartWorker})
	n := 0
	if err := in.Run(t.Context(), func(*Worker) error { n++; return errors.New("no") }); err == nil || n != 1 {
		t.Errorf("%d tries, %v", n, err)
	}
}

// What a worker holds is let go in the stated order, before its id is free, also
// when one step panics itself.
func TestReleasers(t *testing.T) {
	in := open(t, Config{Workers: 1})
	var order []string
	in.releasers = []releaser{
		{"locks", func(w *Worker) { order = append(order, fmt.Sprint("locks ", w.ID())) }},
		{"bad", func(w *Worker) { panic("in release") }},
		{"contexts", func(w *Worker) {
			order = append(order, "contexts")
			if !in.Workers().Has(w.ID()) {
				t.Error("the id is free already")
			}
		}},
	}
	defer func() { in.releasers = nil }()
	err := in.Run(t.Context(), func(*Worker) error { panic("first") })
	wantError(t, err, "panic: first", "release of bad", "panic: in release")
	if got := fmt.Sprint(order); got != "[locks 0 contexts]" {
		t.Error(got)
	}
}

// The pool of goroutines is never more than its capacity, and no thread is used twice.
func TestThreadsEnd(t *testing.T) {
	in := open(t, Config{Workers: 2})
	for range 20 {
		if err := in.Run(t.Context(), func(*Worker) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(liveness)
	for in.ants.Running() != 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines of the pool are left", in.ants.Running())
		}
		time.Sleep(time.Millisecond)
	}
}

// Where the system can't pin, workers run all the same, and it is said; under
// Strict it is an error.
func TestUnpinned(t *testing.T) {
	in := open(t, Config{Workers: 2})
	err := in.Run(t.Context(), func(w *Worker) error {
		return in.place(w, MaskBits-1) // a CPU that there is not
	})
	if err != nil {
		t.Fatal(err)
	}
	if s := in.Snapshot(); len(s.Notes) == 0 {
		t.Error("no note about it")
	}
	for _, cfg := range []Config{{Workers: 1, Strict: true}, {Workers: 1, Pin: PinForce}} {
		in := open(t, cfg)
		err := in.Run(t.Context(), func(w *Worker) error { return in.place(w, MaskBits-1) })
		if cfg.Pin == PinForce && err == nil && !portableBuild {
			continue // it was pinned by Run already
		}
		wantError(t, err, "worker 0", "place")
	}
}

// A nil context or function is an error that says so, and no panic.
func TestNilArguments(t *testing.T) {
	var none context.Context
	if _, err := Open(none, Config{}); err == nil || !strings.Contains(err.Error(), "context is nil") {
		t.Errorf("Open: %v", err)
	}
	in := open(t, Config{Workers: 1})
	if _, err := in.OpenPort(none, "loop:0", PortConfig{}); err == nil || !strings.Contains(err.Error(), "context is nil") {
		t.Errorf("OpenPort: %v", err)
	}
	if err := in.Run(none, func(*Worker) error { return nil }); err == nil || !strings.Contains(err.Error(), "context is nil") {
		t.Errorf("Run: %v", err)
	}
	if err := in.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "function is nil") {
		t.Errorf("Run: %v", err)
	}
	if err := in.Shutdown(none); err == nil || !strings.Contains(err.Error(), "context is nil") {
		t.Errorf("Shutdown: %v", err)
	}
}

// A worker that has left is told so, and does not wait for ever.
func TestScheduleAfterLeave(t *testing.T) {
	in := open(t, Config{Workers: 1})
	var gone *Worker
	if err := in.Run(t.Context(), func(w *Worker) error { gone = w; in.Stop(); return nil }); err != nil {
		t.Fatal(err)
	}
	var ev [4]*Event
	done := make(chan error)
	go func() {
		_, _, err := in.Schedule(gone, ev[:], -1)
		done <- err
	}()
	if err := within(t, done); err == nil || gone.Running() {
		t.Errorf("Schedule of a worker that has left: %v, Running %v", err, gone.Running())
	}
}
