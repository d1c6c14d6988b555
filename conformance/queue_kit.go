// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// What the QUEUE and SCHED suites share: numbered events, and queues that are
// closed, and thereby proved empty, at the end of the case.

// patience is how long the case waits for what must happen.
func (e *Env) patience() time.Duration {
	if e.F.patience != 0 {
		return e.F.patience
	}
	return Patience
}

// deadline is a time on the clock of odp.Now after which a loop counts as hung.
func (e *Env) deadline() int64 { return odp.Now() + int64(e.patience()) }

// rounds is n, or a tenth in a quick run.
func (e *Env) rounds(n int) int {
	if e.Short() {
		return max(n/10, 1)
	}
	return n
}

// numbers makes a pool of buffers that carry a number each.
func (e *Env) numbers(in *odp.Instance, num int) *odp.Pool {
	e.Helper()
	p, err := in.NewPool(odp.PoolConfig{Type: buffers, Num: num, Size: 64, Need: num})
	e.NoError(err, "a pool of %d buffers", num)
	return p
}

func setNumber(ev *odp.Event, v uint64) { binary.LittleEndian.PutUint64(ev.Buffer().Data(), v) }
func number(ev *odp.Event) uint64       { return binary.LittleEndian.Uint64(ev.Buffer().Data()) }

// numbersOf returns the numbers of a burst.
func numbersOf(ev []*odp.Event) (v []uint64) {
	for _, x := range ev {
		v = append(v, number(x))
	}
	return v
}

// take allocates n events with the numbers from first on.
func (e *Env) take(p *odp.Pool, w *odp.Worker, first, n int) []*odp.Event {
	e.Helper()
	ev := make([]*odp.Event, n)
	for got := 0; got < n; {
		k := p.AllocBuffers(w, buffer.BuffersOf(ev[got:]))
		e.Must(k > 0, "the pool has %d of %d events", got, n)
		got += k
	}
	for i, x := range ev {
		setNumber(x, uint64(first+i))
	}
	return ev
}

func (e *Env) give(w *odp.Worker, ev ...*odp.Event) { buffer.FreeEvents(w, ev) }

// enqueueAll enqueues all of ev or says what came of it. It may be called by any
// goroutine.
func (e *Env) enqueueAll(q odp.Dest, w *odp.Worker, ev ...*odp.Event) error {
	n, err := 0, error(nil)
	switch q := q.(type) {
	case *odp.Queue:
		n, err = e.Ops.Queue.Enqueue(q, w, ev)
	case *odp.SchedQueue:
		n, err = e.Ops.Sched.Enqueue(q, w, ev)
	}
	if err == nil && n != len(ev) {
		err = fmt.Errorf("%d of %d events fitted", n, len(ev))
	}
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil
}

// put is enqueueAll for the goroutine of the case, which it ends on failure.
func (e *Env) put(q odp.Dest, w *odp.Worker, ev ...*odp.Event) {
	e.Helper()
	e.NoError(e.enqueueAll(q, w, ev...), "%d events", len(ev))
}

// plain makes a plain queue, which is empty again, and closed, when the case ends.
func (e *Env) plain(in *odp.Instance, cfg odp.QueueConfig) *odp.Queue {
	e.Helper()
	q, err := e.Ops.Queue.New(in, cfg)
	e.NoError(err, "plain queue %+v", cfg)
	e.Cleanup(func() {
		if err := e.Ops.Queue.Close(q); err != nil && !e.Failed() {
			e.Errorf("Close: %v", err)
		}
	})
	return q
}

// empties takes everything out of a plain queue and returns the numbers.
func (e *Env) empties(q *odp.Queue, w *odp.Worker) (v []uint64) {
	e.Helper()
	var ev [32]*odp.Event
	for {
		n, err := e.Ops.Queue.Dequeue(q, w, ev[:])
		e.NoError(err, "Dequeue")
		if n == 0 {
			return v
		}
		v = append(v, numbersOf(ev[:n])...)
		e.give(w, ev[:n]...)
	}
}

// isSequence is a failure unless v is first, first+1, ... with n entries.
func (e *Env) isSequence(v []uint64, first, n int, format string, args ...any) {
	e.Helper()
	what := fmt.Sprintf(format, args...)
	if !e.Check(len(v) == n, "%s: %d events, want %d", what, len(v), n) {
		return
	}
	for i, x := range v {
		if !e.Check(x == uint64(first+i), "%s: event %d of %d is number %d, want %d", what, i, n, x, first+i) {
			return
		}
	}
}

// isSet is a failure unless v are the numbers 0 to n-1, each once, in any order.
func (e *Env) isSet(v []uint64, n int, format string, args ...any) {
	e.Helper()
	what := fmt.Sprintf(format, args...)
	e.Check(len(v) == n, "%s: %d events, want %d", what, len(v), n)
	seen := make([]bool, n)
	for _, x := range v {
		if !e.Check(x < uint64(n) && !seen[x], "%s: number %d came twice or was never sent", what, x) {
			return
		}
		seen[x] = true
	}
}
