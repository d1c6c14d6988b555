// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"errors"
	"fmt"

	"github.com/odp-go/godp/queue"
)

// control is a goroutine that joined as a control thread (or as an own worker).
type control struct {
	name    string
	managed bool  // started by Go
	goid    int64 // its goroutine
	leaving bool  // gives its identity back
}

// Control gives the calling goroutine an identity of the given kind until Leave:
// with one it has pool caches of its own, may call Schedule, and belongs to the
// scheduler group of its kind. KindWorker is for programs that bring their own
// worker goroutines instead of Run. The goroutine must watch Running as a worker
// does; it is neither locked to a thread nor pinned. Close and Shutdown, called by the
// same goroutine, give the identity back.
func (in *Instance) Control(kind Kind) (*Worker, error) {
	return in.join(kind, "joined", false, goid())
}

func (in *Instance) join(kind Kind, name string, managed bool, id int64) (*Worker, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.checkOpen("Control"); err != nil {
		return nil, err
	}
	w, err := in.set.Join(kind)
	if err != nil {
		return nil, fmt.Errorf("odp: Control: %w", err)
	}
	in.controls[w] = &control{name: name, managed: managed, goid: id}
	return w, nil
}

// Leave ends the identity that Control gave: contexts and caches are given back.
// The goroutine that uses w calls it.
func (in *Instance) Leave(w *Worker) error {
	in.mu.Lock()
	c := in.controls[w]
	switch {
	case c == nil && in.state.Load() != stateOpen:
		in.mu.Unlock()
		return nil // Close gave it back, for its own goroutine
	case c == nil || c.managed || c.leaving:
		in.mu.Unlock()
		return fmt.Errorf("odp: Leave: worker %d has not joined by Control, or has left", w.ID())
	}
	c.leaving = true
	in.mu.Unlock()
	err := in.retire(w)
	in.forget(w)
	return err
}

// Go starts f on a goroutine of its own as a control thread. f should return
// soon after Running answers false; Shutdown and Close wait for it. An error of f
// is logged, and returned by Shutdown and Close. A panic is an error too, and under
// StopAll it stops the workers: Run returns it.
func (in *Instance) Go(name string, f func(w *Worker) error) error {
	w, err := in.join(KindControl, name, true, 0)
	if err != nil {
		return err
	}
	go func() {
		var err error
		defer func() { in.controlEnded(w, name, err) }() // also after a Goexit in f
		in.guard(w, func() error {
			in.mu.Lock()
			in.controls[w].goid = goid()
			in.mu.Unlock()
			err := f(w)
			if (w.Stopping() || in.state.Load() != stateOpen) && (errors.Is(err, queue.ErrStopped) || errors.Is(err, queue.ErrClosed)) {
				return nil
			}
			return err
		}, &err)
	}()
	return nil
}

// caller returns the identity of the calling goroutine in this instance, nil if it
// has none.
func (in *Instance) caller() *Worker {
	id := goid()
	in.mu.Lock()
	r := in.active
	for w, c := range in.controls {
		if c.goid == id && id != 0 && !c.leaving {
			in.mu.Unlock()
			return w
		}
	}
	in.mu.Unlock()
	if r == nil {
		return nil
	}
	return r.caller(id)
}

// forget takes w off the list of control threads, after it gave its identity back.
func (in *Instance) forget(w *Worker) {
	in.mu.Lock()
	delete(in.controls, w)
	in.mu.Unlock()
	in.closeSet()
}

func (in *Instance) controlEnded(w *Worker, name string, err error) {
	defer in.forget(w)
	if err == nil {
		return
	}
	err = fmt.Errorf("control thread %q (worker %d): %w", name, w.ID(), err)
	in.lastError.Store(err)
	in.mu.Lock()
	in.controlE = append(in.controlE, err)
	r := in.active
	in.mu.Unlock()
	in.log.Error("control thread failed", "name", name, "error", err)
	var pe *PanicError
	if r != nil && in.cfg.OnPanic == StopAll && errors.As(err, &pe) {
		r.fail(err)
	}
}
