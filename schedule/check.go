// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"github.com/odp-go/godp/internal/invariants"
	"github.com/odp-go/godp/worker"
)

// checkContext is what builds with the invariants tag check when a context ends by a
// call of its worker: no ordered lock is held (it would be passed on, unlike what the
// holder believes), and the worker's turn is the one that the queue gave it and has not
// passed.
func (p *state) checkContext(w *worker.Worker) {
	if p.ctx != ctxOrdered || p.n > 0 {
		return
	}
	if p.locked != 0 {
		invariants.Failf("the context of ordered queue %q ends while its worker %d holds ordered locks (mask %#x): OrderUnlock first", p.q.name, w.ID(), p.locked)
	}
	o := p.q.order
	if w.Turn.Serving != &o.serving {
		invariants.Failf("worker %d has a context of ordered queue %q and no turn in it: something overwrote Worker.Turn", w.ID(), p.q.name)
	}
	if d := int32(w.Turn.Ticket - o.serving.LoadAcq()); d < 0 {
		invariants.Failf("the turn of worker %d in ordered queue %q has passed by %d contexts", w.ID(), p.q.name, -d)
	}
}
