// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"runtime"
	"sync/atomic"
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

// each runs f on all workers of the instance for every burst that they are given,
// until f has seen total events or something went wrong. f passes the events on or
// frees them.
func (e *Env) each(in *odp.Instance, burst, total int, f func(w *odp.Worker, q *odp.SchedQueue, ev []*odp.Event) error) {
	e.Helper()
	var left atomic.Int64
	left.Store(int64(total))
	end := e.deadline()
	e.Workers(in, func(w *odp.Worker) error {
		ev := make([]*odp.Event, burst)
		for left.Load() > 0 {
			n, q, err := e.Ops.Sched.Schedule(in, w, ev, time.Millisecond)
			if err != nil {
				return err
			}
			if n == 0 {
				if odp.Now() > end {
					return fmt.Errorf("worker %d: nothing comes, and %d of %d events are missing", w.ID(), left.Load(), total)
				}
				continue
			}
			if err := f(w, q, ev[:n]); err != nil {
				return err
			}
			left.Add(-int64(n))
		}
		return nil
	})
}

// dither delays some events a little, so that threads overtake each other.
func dither(v uint64) {
	switch v % 13 {
	case 3:
		runtime.Gosched()
	case 7:
		for t := odp.Now() + 20_000; odp.Now() < t; {
		}
	case 11:
		time.Sleep(20 * time.Microsecond)
	}
}
