// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"
)

// ending is the state of Shutdown and Close.
type ending struct {
	once sync.Once
	done chan struct{} // closed when all is closed
	hard chan struct{} // closed when there is no waiting any more
	now  sync.Once     // closes hard
	err  error         // valid after done
}

// ErrLeak is wrapped by what Shutdown and Close return when something was not
// given back: packets, threads, ports.
var ErrLeak = errors.New("leak")

// Shutdown ends the instance orderly: inputs take no more frames, the workers
// drain the scheduler, queues and outputs, then they are stopped and everything is
// closed. Packets still out are waited for until ctx ends; then the rest is
// closed as Close does, and the error names their pools and owners.
//
// It may be called at any time, from any goroutine, more than once; all calls
// return the same result. Called by a worker, or a control thread that Go
// started, it returns nil at once, and goes on when that one returns.
func (in *Instance) Shutdown(ctx context.Context) error {
	if ctx == nil {
		return errNilContext("Shutdown")
	}
	in.end.once.Do(func() { go in.finish(ctx) })
	if in.isInsider() {
		return nil
	}
	select {
	case <-in.end.done:
		return in.end.err
	case <-ctx.Done():
		in.end.now.Do(func() { close(in.end.hard) })
		<-in.end.done
		return in.end.err
	}
}

// Close ends the instance at once: workers are asked to stop, events that are
// left are freed, everything is closed. A worker that does not stop within
// Config.StopTimeout is named in the error and left behind: its later calls
// return ErrClosed. Close makes a Shutdown that is under way immediate. As for
// calls see Shutdown.
func (in *Instance) Close() error {
	in.end.now.Do(func() { close(in.end.hard) })
	return in.Shutdown(context.Background())
}

// Done is closed when the instance has ended.
func (in *Instance) Done() <-chan struct{} { return in.end.done }

// isInsider reports whether the calling goroutine is one that the instance waits
// for at its end. An identity that the caller got by Control is given back here.
func (in *Instance) isInsider() bool {
	id := goid()
	in.mu.Lock()
	r := in.active
	inside := false
	var own []*Worker
	for w, c := range in.controls {
		switch {
		case c.goid != id || c.leaving:
		case c.managed:
			inside = true
		default:
			c.leaving = true
			own = append(own, w)
		}
	}
	in.mu.Unlock()
	for _, w := range own {
		if err := in.retire(w); err != nil {
			in.lastError.Store(err)
		}
		in.forget(w)
	}
	return inside || (r != nil && r.isWorker())
}

// finish runs once, on a goroutine of its own.
func (in *Instance) finish(ctx context.Context) {
	in.mu.Lock()
	in.state.Store(stateClosing) // under the lock: no object is made after this
	in.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	select {
	case <-in.end.hard:
		cancel()
	default:
	}
	go func() { // Close cuts every wait short
		select {
		case <-in.end.hard:
			cancel()
		case <-in.end.done:
		}
	}()
	in.opening.Wait()
	var errs []error
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if ctx.Err() == nil {
		add(in.settle(ctx))
	}
	in.set.Stop() // those that join in the last moment too
	in.Stop()
	bounded, done := context.WithTimeout(context.Background(), in.cfg.StopTimeout)
	left := in.awaitThreads(bounded)
	done()
	add(left)
	add(in.closeObjects(ctx))
	bounded, done = context.WithTimeout(context.Background(), in.cfg.StopTimeout)
	if left == nil {
		add(in.releaseSpawner(bounded))
	} else {
		in.ants.Release()
	}
	done()
	in.mu.Lock()
	errs = append(errs, in.controlE...)
	in.mu.Unlock()
	if before, after := procsRelease(in.cfg.Workers); before != after {
		in.log.Info("GOMAXPROCS lowered: the last instance closed", "from", before, "to", after)
	}
	if err := errors.Join(errs...); err != nil {
		in.end.err = fmt.Errorf("odp: instance %q closed: %w", in.cfg.Name, err)
	}
	in.state.Store(stateClosed)
	in.closeSet()
	cancel()
	close(in.end.done)
}

// closeSet gives the descriptors of the workers back, with the last of them: one
// that was left behind may end long after the instance.
func (in *Instance) closeSet() {
	if in.state.Load() == stateClosed {
		in.set.Close() // refused while a worker has joined: the next one to leave calls again
	}
}

// awaitThreads waits for all workers and control threads; the error names those
// that did not end before ctx.
func (in *Instance) awaitThreads(ctx context.Context) error {
	for {
		in.mu.Lock()
		r := in.active
		var names []string
		for w, c := range in.controls {
			names = append(names, fmt.Sprintf("control thread %q (worker %d)", c.name, w.ID()))
		}
		in.mu.Unlock()
		if r == nil && len(names) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
			continue
		}
		if r != nil {
			for id := range r.running().All() {
				names = append(names, fmt.Sprintf("worker %d", id))
			}
		}
		sort.Strings(names)
		if len(names) == 0 {
			return nil
		}
		return fmt.Errorf("%w: did not stop within %v: %s (a worker's function must return when Running answers false, a joined goroutine must call Leave)",
			ErrLeak, in.cfg.StopTimeout, strings.Join(names, ", "))
	}
}
