// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/odp"
)

// The scheduler: what each kind of context promises.

func init() {
	register("SCHED",
		Case{"SCHED-24", "Ordered locks are entered and left, one after the other, by one thread.", nil, orderLockOne},
		Case{"SCHED-25", "OrderWait returns when there is no older context.", nil, orderWaitOne},
		Case{"SCHED-26", "OrderWait returns only after the older context has ended.", nil, orderWaitTwo},
		Case{"SCHED-28", "Events that wander between parallel queues are never lost.", nil, func(e *Env) { chaos(e, odp.Parallel) }},
		Case{"SCHED-29", "Events that wander between atomic queues are never lost.", nil, func(e *Env) { chaos(e, odp.Atomic) }},
		Case{"SCHED-30", "Events that wander between ordered queues are never lost.", nil, func(e *Env) { chaos(e, odp.Ordered) }},
		Case{"SCHED-31", "Events that wander between queues of all kinds are never lost.", nil, func(e *Env) { chaos(e, allSyncs...) }},
		Case{"SCHED-32", "The holder of an atomic queue is the only user of a plain queue beside it: the order of both stays.", nil, atomicAndPlain},
		Case{"SCHED-33", "Under an ordered lock the order of a plain queue stays that of the ordered queue.", nil, orderedAndPlain},
		Case{"SCHED-46", "An atomic queue has one holder at a time.", nil, atomicity},
		Case{"SCHED-60", "The context of an atomic queue is a critical section.", nil, func(e *Env) { exclusive(e, 1) }},
		Case{"SCHED-73", "The context of a burst of an atomic queue is a critical section.", nil, func(e *Env) { exclusive(e, 4) }},
	)
	for i, y := range allSyncs {
		for k, burst := range []int{1, 3} {
			size := [...]string{"one at a time", "in bursts"}[k]
			register("SCHED",
				Case{fmt.Sprintf("SCHED-%d", 34+2*i+k), fmt.Sprintf("A single thread gets the events of one queue (%v) in the order in which they went in, %s.", y, size), nil,
					func(e *Env) { fifo(e, y, burst) }},
				Case{fmt.Sprintf("SCHED-%d", 40+2*i+k), fmt.Sprintf("A single thread gets the events of one queue (%v) in the order in which several threads put them in, %s.", y, size), nil,
					func(e *Env) { fifoThreads(e, y, burst) }},
			)
		}
	}
}

func orderLockOne(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	const num = 50
	p := e.numbers(in, num)
	q := e.sched(in, odp.SchedQueueConfig{Sync: odp.Ordered, Locks: 2})
	for _, second := range []bool{false, true} {
		e.put(q, w, e.take(p, w, 0, num)...)
		for i := range num {
			x, _ := e.next(in, w)
			e.Must(number(x) == uint64(i), "event %d came, want %d", number(x), i)
			e.Ops.Sched.OrderLock(in, w, 0)
			e.Ops.Sched.OrderUnlock(in, w, 0)
			if second {
				e.Ops.Sched.OrderLock(in, w, 1)
				e.Ops.Sched.OrderUnlock(in, w, 1)
			}
			e.give(w, x)
		}
		e.none(in, w, "after all")
	}
	e.put(q, w, e.take(p, w, 0, 1)...)
	x, _ := e.next(in, w)
	wrong := func(what string, f func()) {
		defer func() { e.Check(recover() != nil, "%s: not refused", what) }()
		f()
	}
	wrong("a lock that the queue does not have", func() { e.Ops.Sched.OrderLock(in, w, 2) })
	wrong("unlock of what is not held", func() { e.Ops.Sched.OrderUnlock(in, w, 0) })
	e.give(w, x)
	e.Ops.Sched.Release(in, w)
	wrong("a lock without a context", func() { e.Ops.Sched.OrderLock(in, w, 0) })
}

func orderWaitOne(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	p := e.numbers(in, 2)
	q := e.sched(in, odp.SchedQueueConfig{Sync: odp.Ordered})
	e.Ops.Sched.OrderWait(in, w) // without a context it does nothing
	e.put(q, w, e.take(p, w, 0, 2)...)
	for range 2 {
		x, _ := e.next(in, w)
		e.Ops.Sched.OrderWait(in, w)
		e.give(w, x)
	}
	e.Ops.Sched.Release(in, w)
}

func orderWaitTwo(e *Env) {
	in := e.Open(odp.Config{Workers: 1})
	w := e.Control(in, odp.KindWorker)
	p := e.numbers(in, 2)
	q := e.sched(in, odp.SchedQueueConfig{Sync: odp.Ordered, Locks: 1}) // locks: no stash keeps the second event
	e.put(q, w, e.take(p, w, 0, 2)...)
	var held, waiting, released atomic.Bool
	wait := e.Start(in, func(w *odp.Worker) error {
		var one [1]*odp.Event
		n, _, err := e.Ops.Sched.Schedule(in, w, one[:], e.patience())
		if n != 1 {
			return fmt.Errorf("no event for the first thread: %v", err)
		}
		held.Store(true)
		for !waiting.Load() && w.Running() {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(50 * time.Millisecond) // the other one is in OrderWait, or has passed it wrongly
		e.give(w, one[0])
		released.Store(true)
		e.Ops.Sched.Release(in, w)
		return nil
	})
	e.Await("event for the first thread", held.Load)
	x, _ := e.next(in, w)
	waiting.Store(true)
	e.Ops.Sched.OrderWait(in, w)
	e.Check(released.Load(), "OrderWait returned while the older context lasted")
	e.give(w, x)
	e.Ops.Sched.Release(in, w)
	wait()
}

// chaos sends events round over queues; any worker, any order.
func chaos(e *Env, syncs ...odp.Sync) {
	const queues, num, workers = 6, 36, 4
	in := e.Open(odp.Config{Workers: workers})
	p := e.numbers(in, num)
	var qs [queues]*odp.SchedQueue
	for i := range qs {
		qs[i] = e.sched(in, odp.SchedQueueConfig{Sync: syncs[i%len(syncs)], Size: num})
		e.put(qs[i], nil, e.take(p, nil, i*num/queues, num/queues)...)
	}
	var hop atomic.Uint64
	e.each(in, 1, workers*e.rounds(1000), func(w *odp.Worker, q *odp.SchedQueue, ev []*odp.Event) error {
		to := hop.Add(1)
		dither(to)
		return e.enqueueAll(qs[to%queues], w, ev...)
	})
	e.isSet(e.drain(in, e.Control(in, odp.KindWorker)), num, "at the end")
	for i, q := range qs {
		e.Check(q.Len() == 0, "queue %d has %d events", i, q.Len())
	}
}

// isCycle is a failure unless v is 0 to n-1 in order, from anywhere in the circle.
func (e *Env) isCycle(v []uint64, n int, what string) {
	e.Helper()
	if !e.Check(len(v) == n, "%s: %d events, want %d", what, len(v), n) {
		return
	}
	for i := range v {
		if next := v[(i+1)%n]; !e.Check(next == (v[i]+1)%uint64(n), "%s: %d follows %d", what, next, v[i]) {
			return
		}
	}
}

func atomicAndPlain(e *Env) {
	const num, workers = 16, 4
	in := e.Open(odp.Config{Workers: workers})
	p := e.numbers(in, 2*num)
	q := e.sched(in, odp.SchedQueueConfig{Sync: odp.Atomic})
	side := e.plain(in, odp.QueueConfig{Size: num})
	e.put(q, nil, e.take(p, nil, 0, num)...)
	e.put(side, nil, e.take(p, nil, 0, num)...)
	var lap atomic.Uint64
	e.each(in, 1, workers*e.rounds(2500), func(w *odp.Worker, q *odp.SchedQueue, ev []*odp.Event) error {
		var one [1]*odp.Event
		n, err := e.Ops.Queue.Dequeue(side, w, one[:])
		if n != 1 {
			return fmt.Errorf("the plain queue gave nothing to the holder of the atomic one: %v", err)
		}
		dither(lap.Add(1))
		if err := e.enqueueAll(side, w, one[0]); err != nil {
			return err
		}
		return e.enqueueAll(q, w, ev...)
	})
	e.isCycle(e.drain(in, e.Control(in, odp.KindWorker)), num, "the atomic queue")
	e.isCycle(e.empties(side, nil), num, "the plain queue")
}

func orderedAndPlain(e *Env) {
	const num, workers = 16, 4
	in := e.Open(odp.Config{Workers: workers})
	p := e.numbers(in, 2*num)
	q := e.sched(in, odp.SchedQueueConfig{Sync: odp.Ordered, Locks: 1})
	side := e.plain(in, odp.QueueConfig{Size: 2 * num, IgnoreOrder: true}) // the lock alone keeps its order
	e.put(q, nil, e.take(p, nil, 0, num)...)
	e.put(side, nil, e.take(p, nil, 0, num)...)
	var lap atomic.Uint64
	e.each(in, 1, workers*e.rounds(2500), func(w *odp.Worker, q *odp.SchedQueue, ev []*odp.Event) error {
		dither(lap.Add(1))
		var one [1]*odp.Event
		e.Ops.Sched.OrderLock(in, w, 0)
		n, err := e.Ops.Queue.Dequeue(side, w, one[:])
		if n == 1 {
			err = e.enqueueAll(side, w, one[0])
		}
		e.Ops.Sched.OrderUnlock(in, w, 0)
		if n != 1 || err != nil {
			return fmt.Errorf("under the ordered lock the plain queue gave %d events: %v", n, err)
		}
		return e.enqueueAll(q, w, ev...)
	})
	e.isCycle(e.drain(in, e.Control(in, odp.KindWorker)), num, "the ordered queue")
	e.isCycle(e.empties(side, nil), num, "the plain queue")
}

func atomicity(e *Env) {
	const num, workers = 100, 4
	in := e.Open(odp.Config{Workers: workers})
	p := e.numbers(in, num)
	var holder atomic.Uint32
	q := e.sched(in, odp.SchedQueueConfig{Sync: odp.Atomic, Context: &holder})
	e.put(q, nil, e.take(p, nil, 0, num)...)
	e.each(in, 1, workers*e.rounds(500), func(w *odp.Worker, q *odp.SchedQueue, ev []*odp.Event) error {
		h := q.Context().(*atomic.Uint32)
		if !h.CompareAndSwap(0, 1) {
			return fmt.Errorf("worker %d got event %d of a queue that another worker holds", w.ID(), number(ev[0]))
		}
		dither(11) // others come
		if !h.CompareAndSwap(1, 0) {
			return fmt.Errorf("somebody else let go of what worker %d holds", w.ID())
		}
		return e.enqueueAll(q, w, ev...)
	})
	e.isSet(e.drain(in, e.Control(in, odp.KindWorker)), num, "at the end")
}

func exclusive(e *Env, burst int) {
	const workers = 4
	num := e.rounds(5000)
	in := e.Open(odp.Config{Workers: workers})
	p := e.numbers(in, num)
	q := e.sched(in, odp.SchedQueueConfig{Sync: odp.Atomic, Size: num})
	e.put(q, nil, e.take(p, nil, 0, num)...)
	var inside atomic.Int32
	next := uint64(0) // no lock but the context: the race detector looks on
	e.each(in, burst, num, func(w *odp.Worker, q *odp.SchedQueue, ev []*odp.Event) error {
		if inside.Add(1) != 1 {
			return fmt.Errorf("worker %d is inside together with another", w.ID())
		}
		for _, x := range ev {
			if number(x) != next {
				return fmt.Errorf("worker %d got event %d, want %d", w.ID(), number(x), next)
			}
			next++
		}
		if next%8 == 0 {
			dither(11)
		}
		for range 100 {
			odp.Now()
		}
		if inside.Add(-1) != 0 {
			return fmt.Errorf("somebody came to worker %d", w.ID())
		}
		e.give(w, ev...)
		return nil
	})
	e.Check(next == uint64(num), "%d of %d events", next, num)
}

const fifoNum = 151

func fifo(e *Env, y odp.Sync, burst int) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	p := e.numbers(in, fifoNum)
	q := e.sched(in, odp.SchedQueueConfig{Sync: y})
	ev := e.take(p, w, 0, fifoNum)
	for done, k := 0, 1; done < fifoNum; k = k%10 + 1 {
		n := 1
		if burst > 1 {
			n = min(k, fifoNum-done)
		}
		e.put(q, w, ev[done:done+n]...)
		done += n
		e.Check(q.Len() == done, "the length is %d with %d events", q.Len(), done)
	}
	e.isSequence(e.collect(in, w, q, fifoNum, burst), 0, fifoNum, "%v", y)
	e.none(in, w, "after all")
}

func fifoThreads(e *Env, y odp.Sync, burst int) {
	const workers = 4
	in := e.Open(odp.Config{Workers: workers})
	w := e.Control(in, odp.KindWorker)
	p := e.numbers(in, fifoNum)
	q := e.sched(in, odp.SchedQueueConfig{Sync: y})
	ev := e.take(p, w, 0, fifoNum)
	var turn, ids atomic.Int32
	wait := e.Start(in, func(w *odp.Worker) error {
		me := ids.Add(1) - 1
		for end := e.deadline(); w.Running(); {
			t := turn.Load()
			switch {
			case t >= fifoNum:
				return nil
			case odp.Now() > end:
				return fmt.Errorf("producer %d: still at event %d", me, t)
			case t/int32(burst)%workers != me:
				time.Sleep(10 * time.Microsecond)
				continue
			}
			n := min(int32(burst)-t%int32(burst), fifoNum-t)
			if err := e.enqueueAll(q, w, ev[t:t+n]...); err != nil {
				return err
			}
			turn.Store(t + n)
		}
		return nil
	})
	e.isSequence(e.collect(in, w, q, fifoNum, burst), 0, fifoNum, "%v", y)
	wait()
	e.none(in, w, "after all")
}

// collect schedules num events, which must come from q, and frees them.
func (e *Env) collect(in *odp.Instance, w *odp.Worker, q *odp.SchedQueue, num, burst int) (v []uint64) {
	e.Helper()
	ev := make([]*odp.Event, burst)
	for len(v) < num {
		n, from, err := e.Ops.Sched.Schedule(in, w, ev, e.patience())
		e.NoError(err, "Schedule")
		e.Must(n > 0, "%d of %d events came", len(v), num)
		e.Check(from == q, "another queue is named")
		v = append(v, numbersOf(ev[:n])...)
		e.give(w, ev[:n]...)
	}
	return v
}
