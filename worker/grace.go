// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"fmt"
	"time"
)

// Grace returns when every worker that is not parked has passed a quiescent
// point since the call, or with ctx's error. What was taken away before the call
// (a table entry, a port, a queue) is used by no worker after it, and its memory may
// be freed or reused. Workers that join, leave or park meanwhile need no wait: they
// hold nothing from before. Closing, reuse of table entries, rule sets, group
// changes and trace switches use it; there is no counting per call anywhere.
//
// Any goroutine that is not a worker of the set may call it, several at the same
// time; a worker calls Worker.Grace. A worker that does not come to a quiescent
// point, since it is busy or blocked elsewhere than in Park, is named in the error.
//
// How: each worker is asked by a bit that it reads at every quiescent point
// anyway, and answers with a read-modify-write; so a quiescent point that nobody
// waits for costs one load. The idea is quiescent-state RCU (liburcu's QSBR).
func (s *Set) Grace(ctx context.Context) error { return s.grace(ctx, nil) }

// Grace is Set.Grace for a caller that is a worker of the set itself. It is a
// quiescent point.
func (w *Worker) Grace(ctx context.Context) error {
	w.Quiesce()
	return w.set.grace(ctx, w)
}

func (s *Set) grace(ctx context.Context, self *Worker) error {
	// Full barrier: what the caller took away is visible before any state below is read. Partners: the
	// StoreSeq at both ends of Park, the exchange of the slot in Join, the answer in Quiesce.
	s.epoch.Add(1)
	for i := range s.slots {
		w := s.slots[i].w.Load()
		if w == nil || w == self {
			continue
		}
		start := w.grace.LoadAcq()
		if start&1 != 0 {
			continue
		}
		w.requests.Or(reqGrace)
		for n := 0; w.grace.LoadAcq() == start; n++ {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("worker %d (%v) has not come to a quiescent point (Running, Schedule, Park): %w", i, w.kind, err)
			}
			if self != nil {
				self.Quiesce() // that one may be waiting for us
			}
			time.Sleep(graceNap(n))
		}
	}
	return nil
}

func graceNap(n int) time.Duration { return min(20*time.Microsecond<<min(n/8, 6), time.Millisecond) }
