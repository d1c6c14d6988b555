// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/panjf2000/ants/v2"

	"github.com/odp-go/godp/internal/sys"
)

// The worker goroutines of an instance come from one ants pool: capacity =
// workers, memory allocated up front, no purging. A worker changes its thread
// (locked, pinned, nice), so its goroutine never goes back to the pool: it ends by
// Goexit while locked, which ends the thread too. ants counts the goroutine off in
// its own deferred function, a moment after ours has reported; a worker that is
// started again in that moment meets a full pool and tries again.

var errGoexit = errors.New("the worker's function ended its goroutine (runtime.Goexit)")

func newSpawner(workers int) (*ants.Pool, error) {
	return ants.NewPool(workers, ants.WithPreAlloc(true), ants.WithDisablePurge(true), ants.WithNonblocking(true))
}

// spawn runs f on a goroutine of the pool that is locked to its thread and ends
// with it. done runs last, whatever f does: it gets what f returned, a *PanicError,
// or errGoexit. f has w's identity.
func (in *Instance) spawn(w *Worker, f func() error, done func(error)) error {
	task := func() {
		var err error
		defer func() { done(err) }()
		runtime.LockOSThread()
		in.guard(w, f, &err)
		runtime.Goexit()
	}
	deadline := time.Now().Add(in.cfg.StopTimeout)
	for {
		err := in.ants.Submit(task)
		if !errors.Is(err, ants.ErrPoolOverload) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// guard calls f as w. However f ends, what w holds is let go before guard ends,
// and *err is set: a result would be lost when f ends the goroutine.
func (in *Instance) guard(w *Worker, f func() error, err *error) {
	returned := false
	defer func() {
		if v := recover(); v != nil {
			*err = newPanicError(w, v)
			in.panics.Inc()
		} else if !returned {
			*err = errGoexit
		}
		*err = errors.Join(*err, in.retire(w))
	}()
	debug.SetPanicOnFault(true)
	*err = f()
	returned = true
}

// retire ends w's identity: everything that others could wait for is released
// first. A fault in one step does not keep the others from running.
func (in *Instance) retire(w *Worker) (err error) {
	step := func(what string, f func()) {
		defer func() {
			if v := recover(); v != nil {
				err = errors.Join(err, fmt.Errorf("release of %s: %w", what, newPanicError(w, v)))
			}
		}()
		f()
	}
	for _, r := range in.releasers {
		step(r.what, func() { r.release(w) })
	}
	step("caches", w.Leave)
	return err
}

// releaser lets go of what a worker holds in one part of the instance.
type releaser struct {
	what    string
	release func(*Worker)
}

// place pins the calling goroutine's thread, which is locked, and sets its nice value.
func (in *Instance) place(w *Worker, cpu int) error {
	var errs []error
	if cpu >= 0 {
		errs = append(errs, w.Pin(cpu))
	}
	if in.cfg.Nice != 0 {
		errs = append(errs, sys.SetThreadNice(in.cfg.Nice))
	}
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	if in.cfg.Strict || (in.cfg.Pin == PinForce && w.CPU() < 0) {
		return fmt.Errorf("place: %w", err)
	}
	if errors.Is(err, sys.ErrNotSupported) {
		in.note(fmt.Sprintf("workers run where the kernel puts them: %v", err))
		return nil
	}
	in.note(fmt.Sprintf("worker %d is not placed as asked: %v", w.ID(), err))
	return nil
}

// releaseSpawner ends the pool and waits for its goroutines until ctx ends.
func (in *Instance) releaseSpawner(ctx context.Context) error {
	err := in.ants.ReleaseContext(ctx)
	if errors.Is(err, ants.ErrPoolClosed) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%d worker goroutines still run: %w", in.ants.Running(), err)
	}
	return nil
}

// goid returns the number of the calling goroutine as stack traces print it, 0
// if it can't be read. It only serves to see that Close was called by a worker.
func goid() int64 {
	var b [64]byte
	f := bytes.Fields(b[:runtime.Stack(b[:], false)])
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(string(f[1]), 10, 64)
	return n
}
