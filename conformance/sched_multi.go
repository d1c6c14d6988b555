// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/schedule"
)

// The scheduler: many queues of all priorities, one and several threads. Every
// event comes once; an atomic queue keeps its order; an ordered one passes it on to a
// plain queue, and its locks are entered in it.

type multi struct {
	sync           odp.Sync
	queues, levels int
	threads, burst int
	print          bool
}

func init() {
	base := []struct {
		what                    string
		queues, levels, threads int
	}{
		{"one queue, one thread", 1, 1, 1},
		{"many queues, one thread", 16, 1, 1},
		{"many queues of all priorities, one thread", 16, schedule.Priorities, 1},
		{"many queues of all priorities, several threads", 16, schedule.Priorities, 4},
	}
	for i, b := range base {
		for k, y := range allSyncs {
			for _, burst := range []int{1, 4} {
				id, size := 48+3*i+k, "one event at a time"
				if burst > 1 {
					id, size = id+13, "bursts"
				}
				register("SCHED", Case{fmt.Sprintf("SCHED-%d", id), fmt.Sprintf("All is received once and in its order: %s (%v), %s.", b.what, y, size), nil,
					func(e *Env) { multi{y, b.queues, b.levels, b.threads, burst, false}.run(e) }})
			}
		}
	}
	register("SCHED", Case{"SCHED-74", "Printing disturbs nobody who enqueues and schedules.", nil,
		func(e *Env) { multi{odp.Atomic, 16, schedule.Priorities, 4, 1, true}.run(e) }})
}

// multiQueue is the context of a queue of this file.
type multiQueue struct {
	plain *odp.Queue
	next  uint64 // Atomic: no lock but the context
	locks [2]uint64
	seen  []atomic.Bool
}

func (m multi) run(e *Env) {
	per := 100
	if e.Short() {
		m.queues, per = min(m.queues, 4), 30
	}
	in := e.Open(odp.Config{Workers: m.threads})
	total := m.queues * m.levels * per
	p, copies := e.numbers(in, total), e.numbers(in, total)
	var all []*multiQueue
	var qs []*odp.SchedQueue
	for l := range m.levels {
		prio := odp.Priority{}
		if m.levels > 1 {
			prio = odp.PriorityLevel(l)
		}
		for range m.queues {
			c := &multiQueue{seen: make([]atomic.Bool, per)}
			cfg := odp.SchedQueueConfig{Name: fmt.Sprint("conf-", len(all)), Sync: m.sync, Priority: prio, Size: per, Context: c}
			if m.sync == odp.Ordered {
				cfg.Locks = len(c.locks)
				c.plain = e.plain(in, odp.QueueConfig{Size: per})
			}
			all, qs = append(all, c), append(qs, e.sched(in, cfg))
		}
	}
	if m.print {
		e.NoError(in.Go("print", func(w *odp.Worker) error {
			for w.Running() {
				if s := in.Snapshot(); len(s.Queues) > len(qs) {
					return fmt.Errorf("the Snapshot has %d queues, there are %d", len(s.Queues), len(qs))
				}
				if err := odp.Wait(w, 100*time.Microsecond); err != nil {
					return err
				}
			}
			return nil
		}), "Go")
	}
	for i, q := range qs {
		ev := e.take(p, nil, 0, per)
		for len(ev) > 0 {
			n := min(m.burst, len(ev))
			e.put(q, nil, ev[:n]...)
			ev = ev[n:]
		}
		e.Check(q.Len() == per, "queue %d has %d events, want %d", i, q.Len(), per)
	}
	e.each(in, m.burst, total, func(w *odp.Worker, q *odp.SchedQueue, ev []*odp.Event) error {
		c := q.Context().(*multiQueue)
		if m.threads > 1 {
			dither(number(ev[0]))
		}
		for _, x := range ev {
			if v := number(x); v >= uint64(per) || c.seen[v].Swap(true) {
				return fmt.Errorf("event %d of queue %s came twice or was never sent", v, q.Name())
			}
			if m.sync == odp.Atomic {
				if number(x) != c.next {
					return fmt.Errorf("event %d of atomic queue %s came, want %d", number(x), q.Name(), c.next)
				}
				c.next++
			}
		}
		if m.sync == odp.Ordered {
			if err := m.pass(e, in, w, c, ev, copies); err != nil {
				return fmt.Errorf("queue %s: %w", q.Name(), err)
			}
		}
		e.give(w, ev...)
		return nil
	})
	for i, c := range all {
		if m.sync == odp.Ordered {
			e.isSequence(e.empties(c.plain, nil), 0, per, "the plain queue of ordered queue %d", i)
		}
	}
	e.none(in, e.Control(in, odp.KindWorker), "after all")
}

// pass is what a worker does with the events of an ordered queue.
func (m multi) pass(e *Env, in *odp.Instance, w *odp.Worker, c *multiQueue, ev []*odp.Event, copies *odp.Pool) error {
	var twins [4]*odp.Event
	for i, x := range ev {
		b := copies.AllocBuffer(w)
		if b == nil {
			return fmt.Errorf("no buffer for a copy")
		}
		twins[i] = &b.Event
		setNumber(twins[i], number(x))
	}
	for i := range c.locks {
		e.Ops.Sched.OrderLock(in, w, i)
		want := c.locks[i]
		c.locks[i] += uint64(len(ev))
		e.Ops.Sched.OrderUnlock(in, w, i)
		if number(ev[0]) != want {
			return fmt.Errorf("event %d has entered ordered lock %d, want %d", number(ev[0]), i, want)
		}
	}
	return e.enqueueAll(c.plain, w, twins[:len(ev)]...) // last: it waits for its turn
}
