// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

// What builds with the invariants tag check: a side that is for one user at a time
// is used by one, and an event is in one place at a time.

// checkedPut is put with these checks. w is nil under mu.
func (q *Queue) checkedPut(w *worker.Worker, ev []*buffer.Event) int {
	if q.cfg.EnqMode == MTUnsafe {
		q.enqOne.Enter("Enqueue of a queue whose EnqMode is MTUnsafe")
		defer q.enqOne.Leave()
	}
	buffer.CheckEnqueue(q.cfg.Name, ev)
	n := q.put(w, ev)
	buffer.CheckDequeue(w, ev[n:])
	if n < len(ev) {
		id := q.set.Max()
		if w != nil {
			id = w.ID()
		}
		q.stats[id].full.bump()
	}
	return n
}

// checkedTake is take with these checks.
func (q *Queue) checkedTake(w *worker.Worker, ev []*buffer.Event) int {
	if q.cfg.DeqMode == MTUnsafe {
		q.deqOne.Enter("Dequeue of a queue whose DeqMode is MTUnsafe")
		defer q.deqOne.Leave()
	}
	n := q.take(w, ev)
	buffer.CheckDequeue(w, ev[:n])
	return n
}
