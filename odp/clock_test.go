// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"errors"
	"testing"
	"time"
)

// A wait is never shorter than asked for, whoever waits, and time does not go back.
func TestWait(t *testing.T) {
	in := open(t, Config{Workers: 2})
	waits := func(w *Worker) error {
		last := Now()
		for _, d := range []time.Duration{-1, 0, 1, 10 * time.Microsecond, 300 * time.Microsecond, 3 * time.Millisecond} {
			start := time.Now()
			if err := Wait(w, d); err != nil {
				return err
			}
			if got := time.Since(start); got < d {
				t.Errorf("waited %v, asked for %v", got, d)
			}
			if n := Now(); n < last {
				t.Errorf("the time went from %d to %d", last, n)
			} else {
				last = n
			}
		}
		return nil
	}
	if err := waits(nil); err != nil {
		t.Fatal(err)
	}
	if err := in.Run(t.Context(), waits); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(Startup()) - time.Duration(Now()); d < -time.Second || d > time.Second {
		t.Errorf("Startup and Now are %v apart", d)
	}
}

// A wait ends when the worker is asked to stop, also a wake-up for nothing does not end it.
func TestWaitStops(t *testing.T) {
	in := open(t, Config{Workers: 2})
	done := make(chan error, 1)
	go func() {
		done <- in.Run(t.Context(), func(w *Worker) error {
			if w.ID() == 1 {
				time.Sleep(2 * time.Millisecond)
				in.set.Workers((*Worker).Wake)
				time.Sleep(2 * time.Millisecond)
				return errors.New("ends the others")
			}
			err := Wait(w, time.Hour)
			if !errors.Is(err, ErrStopped) || !w.Stopping() {
				t.Errorf("Wait: %v", err)
			}
			return err
		})
	}()
	wantError(t, within(t, done), "ends the others")
}

// What is not there, and bad joins.
func TestControl(t *testing.T) {
	in := open(t, Config{Workers: 1, MaxWorkers: 2})
	w, err := in.Control(KindControl)
	if err != nil {
		t.Fatal(err)
	}
	if w.ID() != 0 || w.Kind() != KindControl || in.Controls() != MaskOf(0) || !in.Workers().IsZero() {
		t.Errorf("worker %d, controls %s, workers %s", w.ID(), in.Controls(), in.Workers())
	}
	// ids go on where the control thread's is
	if err := in.Run(t.Context(), func(w *Worker) error {
		if w.ID() != 1 || in.Workers() != MaskOf(1) || in.Controls() != MaskOf(0) {
			t.Errorf("worker %d", w.ID())
		}
		_, err := in.Control(KindWorker)
		wantError(t, err, "ids are taken", "MaxWorkers")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := in.Leave(w); err != nil {
		t.Fatal(err)
	}
	if err := in.Leave(w); err == nil {
		t.Error("it left twice")
	}
	// Run can't have more ids than there are
	a, _ := in.Control(KindControl)
	b, _ := in.Control(KindWorker)
	wantError(t, in.Run(t.Context(), func(*Worker) error { return nil }), "odp: Run", "ids are taken")
	in.Leave(a)
	in.Leave(b)
}

// Errors and panics of control threads come out at the end; a panic stops the
// workers under StopAll.
func TestGo(t *testing.T) {
	in, err := Open(t.Context(), Config{Workers: 1, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	fail := make(chan struct{})
	for name, f := range map[string]func(w *Worker) error{
		"fine":   func(w *Worker) error { return Wait(w, time.Hour) },
		"failed": func(w *Worker) error { return errors.New("no disk") },
		"broken": func(w *Worker) error { <-fail; panic("bug") },
	} {
		if err := in.Go(name, f); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() {
		done <- in.Run(t.Context(), func(w *Worker) error {
			close(fail)
			return Wait(w, time.Hour)
		})
	}()
	wantError(t, within(t, done), `control thread "broken"`, "panic: bug")
	err = in.Close()
	wantError(t, err, `control thread "failed"`, "no disk", `control thread "broken"`, "panic: bug")
	if s := in.Snapshot(); s.Panics != 1 {
		t.Errorf("%d panics", s.Panics)
	}
	wantError(t, in.Go("late", func(*Worker) error { return nil }), "closed")
}

// The instance gives back an identity that its closer has got by Control.
func TestCloseByJoined(t *testing.T) {
	in, err := Open(t.Context(), Config{Workers: 1, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	w, err := in.Control(KindControl)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := in.Leave(w); err != nil {
		t.Errorf("Leave after Close: %v", err)
	}
}
