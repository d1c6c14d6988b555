// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"time"

	"github.com/odp-go/godp/odp"
)

// What the cases of the SCHED suite share.

// sched makes a scheduled queue, which is empty again, and closed, when the case ends.
func (e *Env) sched(in *odp.Instance, cfg odp.SchedQueueConfig) *odp.SchedQueue {
	e.Helper()
	q, err := e.Ops.Sched.NewQueue(in, cfg)
	e.NoError(err, "scheduled queue %+v", cfg)
	e.Cleanup(func() {
		if err := e.Ops.Sched.CloseQueue(q); err != nil && !e.Failed() {
			e.Errorf("Close: %v", err)
		}
	})
	return q
}

// quiet is how long nothing must come for the scheduler to count as empty.
const quiet = 5 * time.Millisecond

// drain schedules until nothing comes and returns the numbers of what came; the
// events are freed, and no context is left.
func (e *Env) drain(in *odp.Instance, w *odp.Worker) (v []uint64) {
	e.Helper()
	var ev [8]*odp.Event
	for {
		n, _, err := e.Ops.Sched.Schedule(in, w, ev[:], quiet)
		e.NoError(err, "Schedule")
		if n == 0 {
			return v
		}
		v = append(v, numbersOf(ev[:n])...)
		e.give(w, ev[:n]...)
	}
}

// next schedules one event, which must come; q is the queue that it comes from.
func (e *Env) next(in *odp.Instance, w *odp.Worker) (x *odp.Event, q *odp.SchedQueue) {
	e.Helper()
	var ev [1]*odp.Event
	n, q, err := e.Ops.Sched.Schedule(in, w, ev[:], e.patience())
	e.NoError(err, "Schedule")
	e.Must(n == 1 && ev[0] != nil, "no event within %v", e.patience())
	return ev[0], q
}

// none asserts that there is nothing for w.
func (e *Env) none(in *odp.Instance, w *odp.Worker, format string, args ...any) {
	e.Helper()
	if v := e.drain(in, w); len(v) != 0 {
		e.Errorf("%d events (%v) came: "+format, append([]any{len(v), v}, args...)...)
	}
}
