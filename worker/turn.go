// SPDX-License-Identifier: Apache-2.0

package worker

import "github.com/odp-go/godp/internal/relax"

// Turn is a place in the order of an ordered queue (the ticket of ODP's
// ordered context). Serving is nil when the worker holds no ordered context.
// Serving is advanced to Ticket+1 by whoever holds Ticket, when he releases it.
type Turn struct {
	Serving *relax.Uint32 // the queue's "now serving" word
	Ticket  uint32        // this worker's ticket
	InTurn  bool          // Serving was seen equal to Ticket: it stays so until release
}

// AwaitTurn returns when every older context of the ordered queue that the
// worker holds a context of was released; at once when it holds none, or w is nil.
// Enqueue and send call it before any lock, unless the destination ignores order.
func (w *Worker) AwaitTurn() {
	if w == nil || w.Turn.Serving == nil || w.Turn.InTurn {
		return
	}
	w.awaitTurn()
}

func (w *Worker) awaitTurn() {
	var s Spin
	for w.Turn.Serving.LoadAcq() != w.Turn.Ticket {
		s.Wait()
	}
	w.Turn.InTurn = true
}
