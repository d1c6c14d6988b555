// SPDX-License-Identifier: Apache-2.0

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
	reqGrace                    // somebody waits for a quiescent point
)

// String names the kind.
func (k Kind) String() string {
	if k == KindControl {
		return "control"
	}
	return "worker"
}

// Worker is one worker goroutine's identity in a Set. It is owned by that
// goroutine; the methods that others may call say so. Where a nil Worker is allowed
// (everywhere but in methods of the main loop) it means the control plane.
type Worker struct {
	id   int
	kind Kind
	set  *Set

	// Turn is the order context that the scheduler gave this worker. Every
	// enqueue and send awaits it (AwaitTurn) before it takes any lock.
	Turn Turn

	cpu    relax.Uint32 // CPU it is pinned to + 1, 0 = not pinned; written by the owner, read by reports
	parker *parker      // of the id's slot
	reason FlushReason  // why flushers run

	_ relax.Pad
	// written by the owner, read by Grace: counts answered requests in steps of 2; the low bit is set
	// while parked and after leaving
	grace relax.Uint64
	_     relax.Pad
	// written by others, read by the owner at each quiescent point
	requests relax.Uint32
	_        relax.Pad
}

// ID returns the dense id, 0 <= id < Set.Max(). Objects keep per-worker state
// in arrays indexed by it. A nil Worker answers -1.
func (w *Worker) ID() int {
	if w == nil {
		return -1
	}
	return w.id
}

// Kind returns what the worker joined as; nil is KindControl.
func (w *Worker) Kind() Kind {
	if w == nil {
		return KindControl
	}
	return w.kind
}

// CPU returns the CPU that the worker is pinned to, -1 when it is not pinned.
func (w *Worker) CPU() int {
	if w == nil {
		return -1
	}
	return int(w.cpu.LoadAcq()) - 1
}

// SetCPU records the CPU that the worker's thread was pinned to by other means
// than Pin. Only the owner may call it.
func (w *Worker) SetCPU(cpu int) { w.cpu.StoreRel(uint32(cpu + 1)) }

// Set returns the set that the worker belongs to; nil has none.
func (w *Worker) Set() *Set {
	if w == nil {
		return nil
	}
	return w.set
}

// Running is the condition of a worker's main loop: false once the instance
// or this worker was asked to stop. It is a quiescent point: the caller holds no
// pointer into a device, table or queue that it got before the call. Only the
// owner may call it.
func (w *Worker) Running() bool {
	w.Quiesce()
	return w.requests.LoadAcq()&reqStop == 0
}

// Quiesce marks a quiescent point and serves what others asked of this worker: a
// flush of its caches, an answer to Grace. It costs one load when nobody asked.
// Schedule, Running and Park call it. Only the owner may call it; it does nothing for
// a nil Worker.
func (w *Worker) Quiesce() {
	if w != nil && w.requests.LoadAcq()&(reqFlush|reqGrace) != 0 {
		w.serve()
	}
}

func (w *Worker) serve() {
	if w.requests.LoadAcq()&reqFlush != 0 {
		w.Flush()
	}
	// Both are full barriers: whatever the worker reads from here on was read after the answer, so it sees
	// what Grace's caller took away (partner: Set.grace).
	if w.requests.And(^reqGrace)&reqGrace != 0 {
		w.grace.Add(2)
	}
}

// Stopping reports whether Running would answer false; it is no quiescent point.
// Any goroutine may call it.
func (w *Worker) Stopping() bool { return w.requests.LoadAcq()&reqStop != 0 }

// RequestStop makes Running answer false and wakes the worker. Any goroutine may
// call it, also after the worker left.
func (w *Worker) RequestStop() { w.requests.Or(reqStop); w.Wake() }
