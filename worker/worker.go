// SPDX-License-Identifier: Apache-2.0

// Package worker holds what every part of the dataplane must know of a worker
// goroutine: its dense id, its grace counter, its turn in an ordered queue, its
// stop flag and its parker. There is no hidden thread-local state: a *Worker is
// passed as the first argument, and a nil *Worker means the control plane (a
// locked path without cache, from any goroutine).
package worker

import (
	"github.com/odp-go/godp/internal/relax"
)

// Kind tells workers from control threads: the scheduler's predefined groups.
type Kind uint8

// The kinds of worker.
const (
	KindWorker Kind = iota
	KindControl
)

// Bits of Worker.requests, set by others, served by the worker at its next
// quiescent point.
const (
	reqFlush uint32 = 1 << iota // give cached events back to their pools
	reqStop                     // Running answers false
)

// Worker is one worker goroutine's identity in a Set. It is owned by that
// goroutine; the methods that others may call say so.
type Worker struct {
	id   int
	kind Kind
	set  *Set

	// Turn is the order context that the scheduler gave this worker. Every
	// enqueue and send awaits it (AwaitTurn) before it takes any lock.
	Turn Turn

	cpu int // CPU it is pinned to, -1 = not pinned

	_ relax.Pad
	// written by the owner, read by Grace
	grace relax.Uint64 // counts quiescent points; the low bit is set while parked
	_     relax.Pad
	// written by others, read by the owner at each quiescent point
	requests relax.Uint32
	_        relax.Pad

	parker parker
}

// ID returns the dense id, 0 <= id < Set.Max(). Objects keep per-worker state
// in arrays indexed by it. A nil Worker answers -1.
func (w *Worker) ID() int {
	if w == nil {
		return -1
	}
	return w.id
}

// Kind returns what the worker joined as.
func (w *Worker) Kind() Kind { return w.kind }

// CPU returns the CPU that the worker is pinned to, -1 when it is not pinned.
func (w *Worker) CPU() int { return w.cpu }

// SetCPU records the CPU that the worker's thread was pinned to.
func (w *Worker) SetCPU(cpu int) { w.cpu = cpu }

// Set returns the set that the worker belongs to.
func (w *Worker) Set() *Set { return w.set }

// Running is the condition of a worker's main loop: false once the instance
// or this worker was asked to stop. It is a quiescent point: the caller holds no
// pointer into a device, table or queue that it got before the call.
func (w *Worker) Running() bool {
	w.Quiesce()
	return w.requests.LoadAcq()&reqStop == 0
}

// Quiesce marks a quiescent point and serves what others asked of this worker.
// Schedule and Running call it.
func (w *Worker) Quiesce() {
	w.grace.StoreRel(w.grace.LoadAcq() + 2)
	if w.requests.LoadAcq()&reqFlush != 0 {
		w.flush()
	}
}

func (w *Worker) flush() {
	w.requests.And(^reqFlush)
	w.set.runFlushers(w)
}

// Stopping reports whether Running would answer false; it is no quiescent point.
// Any goroutine may call it.
func (w *Worker) Stopping() bool { return w.requests.LoadAcq()&reqStop != 0 }

// RequestStop makes Running answer false and wakes the worker. Any goroutine.
func (w *Worker) RequestStop() { w.requests.Or(reqStop); w.Wake() }
