// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"io"
	"log/slog"
	"runtime"
	"time"

	"github.com/odp-go/godp/odp"
)

// T is what a case asserts with: a part of testing.TB, and Skip with the reason.
// Fatalf, Skip and Cleanup are for the goroutine of the case; Errorf and Logf for any.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	// Skip ends the case: the platform lacks the capability.
	Skip(c Capability)
	// Cleanup calls f when the case has ended; the last one first.
	Cleanup(f func())
	// Context ends just before the cleanups run, or when the run is cancelled.
	Context() context.Context
	Failed() bool
	// Short reports whether the run is to be quick: fewer rounds, all behaviours.
	Short() bool
}

// Patience is the liveness limit: what takes longer counts as hung.
const Patience = 20 * time.Second

// Env is what a case runs in: its T, the platform, and makers of objects that are
// given back at its end.
type Env struct {
	T
	F    *Factory
	Ops  *ops
	inst *odp.Instance
}

// Open opens an instance, which is shut down at the end of the case; the case
// fails if something was not given back. Two workers unless cfg says otherwise.
func (e *Env) Open(cfg odp.Config) *odp.Instance {
	e.Helper()
	if cfg.Workers == 0 {
		cfg.Workers = 2
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	cfg.Pin = odp.PinOff // a case shares the machine with others
	in, err := e.F.open(e.Context(), cfg)
	if err != nil {
		e.Fatalf("no instance: %v", err)
	}
	e.Cleanup(func() {
		if e.Failed() { // the reason is told, and what is out need not be waited for
			if err := in.Close(); err != nil {
				e.Logf("Close: %v", err)
			}
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if err := in.Shutdown(ctx); err != nil {
			e.Errorf("Shutdown: %v", err)
		}
	})
	return in
}

// Instance returns the instance of the case, which the first call opens.
func (e *Env) Instance() *odp.Instance {
	e.Helper()
	if e.inst == nil {
		e.inst = e.Open(odp.Config{})
	}
	return e.inst
}

// Pool makes a pool of the case's instance.
func (e *Env) Pool(cfg odp.PoolConfig) *odp.Pool {
	e.Helper()
	p, err := e.Instance().NewPool(cfg)
	if err != nil {
		e.Fatalf("no pool: %v", err)
	}
	return p
}

// Control gives the goroutine of the case an identity in the instance until its end.
func (e *Env) Control(in *odp.Instance, kind odp.Kind) *odp.Worker {
	e.Helper()
	w, err := in.Control(kind)
	if err != nil {
		e.Fatalf("no control thread: %v", err)
	}
	e.Cleanup(func() {
		if err := in.Leave(w); err != nil {
			e.Errorf("Leave: %v", err)
		}
	})
	return w
}

// Workers runs f on all workers of the instance and returns when all have
// returned. An error of one is a failure.
func (e *Env) Workers(in *odp.Instance, f func(w *odp.Worker) error) {
	e.Helper()
	wait := e.Start(in, f)
	wait()
}

// Start is Workers in the background; wait waits for their end, and fails the case
// when they do not end within Patience of that call. Stop them with in.Stop.
func (e *Env) Start(in *odp.Instance, f func(w *odp.Worker) error) (wait func()) {
	e.Helper()
	done := make(chan error, 1)
	go func() { done <- in.Run(e.Context(), f) }()
	return func() {
		e.Helper()
		select {
		case err := <-done:
			if err != nil {
				e.Errorf("Run: %v", err)
			}
		case <-time.After(e.patience()):
			b := make([]byte, 1<<20)
			e.Fatalf("the workers did not end within %v\n%s", e.patience(), b[:runtime.Stack(b, true)])
		}
	}
}

// Await waits until f is true and ends the case as failed after Patience.
func (e *Env) Await(what string, f func() bool) {
	e.Helper()
	for end := time.Now().Add(e.patience()); !f(); time.Sleep(200 * time.Microsecond) {
		if time.Now().After(end) {
			e.Fatalf("no %s within %v", what, e.patience())
		}
	}
}

// NoError ends the case if err is not nil.
func (e *Env) NoError(err error, format string, args ...any) {
	e.Helper()
	if err != nil {
		e.Fatalf(format+": %v", append(args, err)...)
	}
}

// Check is a failure, which does not end the case, unless ok.
func (e *Env) Check(ok bool, format string, args ...any) bool {
	e.Helper()
	if !ok {
		e.Errorf(format, args...)
	}
	return ok
}

// Must ends the case as failed unless ok.
func (e *Env) Must(ok bool, format string, args ...any) {
	e.Helper()
	if !ok {
		e.Fatalf(format, args...)
	}
}

// exec runs one case on t, up to its end or its Skip.
func (c Case) exec(f *Factory, t T) {
	for _, need := range c.Needs {
		if !f.Has(need) {
			t.Skip(need)
		}
	}
	e := &Env{T: t, F: f, Ops: f.ops}
	if e.Ops == nil {
		e.Ops = &realOps
	}
	c.run(e)
}
