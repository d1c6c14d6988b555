// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

// Close ends the queue: every later call answers ErrClosed. The queue must be
// empty and no worker may be in the middle of a call on it (the application has
// taken it out of use, and waited for worker.Set.Grace); a queue with events
// stays open, and the error says how many. Closing again does nothing.
func (q *Queue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	wasEnq, wasDeq := q.enq.LoadAcq(), q.deq.LoadAcq()
	if wasEnq == closed && wasDeq == closed {
		return nil
	}
	// store, then decide on the ring's positions; partner: none, see above
	q.enq.StoreSeq(closed)
	if n := q.Len(); n != 0 {
		q.enq.StoreSeq(wasEnq)
		return fmt.Errorf("queue %q: close: %d events are in it: dequeue them, or Drain", q.cfg.Name, n)
	}
	q.deq.StoreSeq(closed)
	unregister(q)
	return nil
}

// Drain closes the queue whatever is in it: it shuts the queue, waits until no
// worker is in the middle of a call on it, and frees the events. It returns how
// many there were. w is the caller's worker, nil for a goroutine that is no worker.
// When ctx ends first the queue is shut but not drained, and Drain may be called
// again.
func (q *Queue) Drain(ctx context.Context, w *worker.Worker) (int, error) {
	q.mu.Lock()
	q.enq.StoreSeq(closed)
	q.deq.StoreSeq(closed)
	unregister(q)
	q.mu.Unlock()
	var err error
	if w != nil {
		err = w.Grace(ctx)
	} else {
		err = q.set.Grace(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("queue %q: drain: %w", q.cfg.Name, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var ev [32]*buffer.Event
	total := 0
	for {
		n := q.take(nil, ev[:])
		if n == 0 {
			return total, nil
		}
		buffer.CheckDequeue(w, ev[:n])
		buffer.FreeEvents(w, ev[:n])
		total += n
	}
}
