// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// PanicError is what a panic in a worker or control thread becomes: errors.As
// finds it in what Run returns.
type PanicError struct {
	Worker int    // id
	CPU    int    // -1 = not pinned
	Value  any    // what panic was called with
	Stack  []byte // of the goroutine, at the panic
}

// Error describes the panic and ends with the stack.
func (e *PanicError) Error() string {
	at := ""
	var f interface{ Addr() uintptr } // a fault on memory: runtime.Error has the address
	if errors.As(e.Unwrap(), &f) {
		at = fmt.Sprintf(" (address %#x)", f.Addr())
	}
	return fmt.Sprintf("panic: %v%s\n%s", e.Value, at, e.Stack)
}

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error { err, _ := e.Value.(error); return err }

func newPanicError(w *Worker, value any) *PanicError {
	return &PanicError{Worker: w.ID(), CPU: w.CPU(), Value: value, Stack: debug.Stack()}
}

// restarts limits how often workers are started again: at most limit times
// within any window.
type restarts struct {
	limit  int
	window time.Duration
	times  []time.Time // of the last restarts, oldest first; at most limit
}

// allow reports whether one more restart may happen at now, and counts it.
func (r *restarts) allow(now time.Time) bool {
	for len(r.times) > 0 && now.Sub(r.times[0]) >= r.window {
		r.times = r.times[1:]
	}
	if len(r.times) >= r.limit {
		return false
	}
	r.times = append(r.times, now)
	return true
}

// AsPanic returns the panic that err, from Run, was made of.
func AsPanic(err error) (pe *PanicError, ok bool) {
	ok = errors.As(err, &pe)
	return pe, ok
}
