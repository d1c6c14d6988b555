// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"sync/atomic"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// Plain queues of each kind: bursts, order, length, threads.

// queueKind is what a case of this file is run with.
type queueKind struct {
	enq, deq queue.Mode
	progress queue.Progress
}

func (k queueKind) String() string { return fmt.Sprintf("%v/%v %v", k.enq, k.deq, k.progress) }

func (k queueKind) config(size int) odp.QueueConfig {
	return odp.QueueConfig{EnqMode: k.enq, DeqMode: k.deq, NonBlocking: k.progress, Size: size}
}

func init() {
	four := [4][2]queue.Mode{{queue.MT, queue.MT}, {queue.MTUnsafe, queue.MT}, {queue.MT, queue.MTUnsafe}, {queue.MTUnsafe, queue.MTUnsafe}}
	sides := [4]string{"any number of producers and consumers", "one producer", "one consumer", "one producer and one consumer"}
	for i, m := range four {
		for progress := queue.Blocking; progress <= queue.WaitFree; progress++ {
			k := queueKind{m[0], m[1], progress}
			register("QUEUE", Case{fmt.Sprintf("QUEUE-%02d", 6+4*int(progress)+i),
				fmt.Sprintf("A queue for %s (%v) gives bursts of every size back in order.", sides[i], progress), nil, func(e *Env) { queueBurst(e, k) }})
		}
		for progress := queue.Blocking; progress <= queue.LockFree; progress++ {
			k := queueKind{m[0], m[1], progress}
			register("QUEUE", Case{fmt.Sprintf("QUEUE-%02d", 18+4*int(progress)+i),
				fmt.Sprintf("Two threads pass events round through two queues for %s (%v), in order and without loss.", sides[i], progress), nil, func(e *Env) { queuePair(e, k) }})
		}
	}
	mt := queueKind{enq: queue.MT, deq: queue.MT}
	lf := queueKind{queue.MT, queue.MT, queue.LockFree}
	register("QUEUE",
		Case{"QUEUE-32", "All workers take from and give to one queue, and no event is lost.", nil, func(e *Env) { queueAll(e, mt) }},
		Case{"QUEUE-33", "All workers take from and give to one lock-free queue, and no event is lost.", nil, func(e *Env) { queueAll(e, lf) }},
		Case{"QUEUE-34", "The length of a queue follows what is put in and taken out.", nil, func(e *Env) { queueLen(e, mt) }},
		Case{"QUEUE-35", "The length of a lock-free queue follows what is put in and taken out.", nil,
			func(e *Env) { queueLen(e, queueKind{queue.MT, queue.MT, queue.LockFree}) }},
		Case{"QUEUE-36", "The length of a wait-free queue follows what is put in and taken out.", nil,
			func(e *Env) { queueLen(e, queueKind{queue.MT, queue.MT, queue.WaitFree}) }},
	)
}

func queueBurst(e *Env, k queueKind) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	const most = 1024
	p := e.numbers(in, most+32)
	q := e.plain(in, k.config(most))
	one := make([]*odp.Event, 1)
	n, err := e.Ops.Queue.Dequeue(q, w, one)
	e.Check(n == 0 && err == nil && e.Ops.Queue.Len(q) == 0, "an empty queue gives %d events, %v, length %d", n, err, e.Ops.Queue.Len(q))
	e.put(q, w, e.take(p, w, 0, 1)...)
	e.isSequence(e.empties(q, w), 0, 1, "a single event")

	for _, num := range []int{most / 4, most} {
		for _, burst := range []int{1, 7, 32} { // 7 meets the end of the ring in the middle of a burst
			ev := e.take(p, w, 0, num)
			for done, was := 0, 0; done < num; {
				b := ev[done:min(done+burst, num)]
				e.put(q, w, b...)
				done += len(b)
				l := e.Ops.Queue.Len(q)
				e.Must(l >= was && l <= done, "%d events are in, the length went from %d to %d", done, was, l)
				was = l
			}
			if num == most && q.Cap() == most {
				extra := e.take(p, w, num, 1)
				n, err := e.Ops.Queue.Enqueue(q, w, extra)
				e.Check(n == 0 && err == nil, "a full queue took %d more: %v", n, err)
				e.give(w, extra[n:]...)
			}
			got := make([]*odp.Event, burst)
			for i, was := 0, num; i < num; {
				n, err := e.Ops.Queue.Dequeue(q, w, got)
				e.NoError(err, "Dequeue")
				e.Must(n > 0, "%d of %d events came back", i, num)
				for j, x := range got[:n] {
					e.Must(number(x) == uint64(i+j) && x == ev[i+j], "bursts of %d: event %d is number %d", burst, i+j, number(x))
				}
				e.give(w, got[:n]...)
				i += n
				l := e.Ops.Queue.Len(q)
				e.Must(l <= was && l <= num-i, "%d events are left, the length went from %d to %d", num-i, was, l)
				was = l
			}
		}
	}
}

func queuePair(e *Env, k queueKind) {
	in := e.Open(odp.Config{Workers: 2})
	const burst = 8
	p := e.numbers(in, 2*burst)
	qs := [2]*odp.Queue{e.plain(in, k.config(2*burst)), e.plain(in, k.config(2*burst))}
	for _, q := range qs {
		e.put(q, nil, e.take(p, nil, 0, burst)...)
	}
	rounds := int64(e.rounds(10000))
	var done [2]atomic.Int64
	var ids atomic.Int32
	e.Workers(in, func(w *odp.Worker) error {
		me := ids.Add(1) - 1
		from, to := qs[me], qs[1-me]
		var ev [burst]*odp.Event
		var spin worker.Spin
		for end, next := e.deadline(), uint64(0); done[0].Load() < rounds || done[1].Load() < rounds; {
			if !w.Running() {
				return nil
			}
			n, err := e.Ops.Queue.Dequeue(from, w, ev[:1+next%burst])
			if err != nil {
				return err
			}
			if n == 0 {
				if odp.Now() > end {
					return fmt.Errorf("%v: thread %d gets nothing after %d events", k, me, done[me].Load())
				}
				spin.Wait()
				continue
			}
			spin.Reset()
			for _, x := range ev[:n] {
				if number(x) != next {
					return fmt.Errorf("%v: thread %d: number %d after %d events, want %d", k, me, number(x), done[me].Load(), next)
				}
				next = (next + 1) % burst
			}
			if err := e.enqueueAll(to, w, ev[:n]...); err != nil {
				return err
			}
			done[me].Add(int64(n))
		}
		return nil
	})
	got := append(e.empties(qs[0], nil), e.empties(qs[1], nil)...)
	e.Check(len(got) == 2*burst, "%v: %d events of %d are left", k, len(got), 2*burst)
}

func queueAll(e *Env, k queueKind) {
	const workers, per = 4, 1024
	in := e.Open(odp.Config{Workers: workers})
	num := 100
	p := e.numbers(in, num)
	q := e.plain(in, k.config(128))
	e.put(q, nil, e.take(p, nil, 0, num)...)
	var ops, moved atomic.Int64
	e.Workers(in, func(w *odp.Worker) error {
		var ev [8]*odp.Event
		for end := e.deadline(); ops.Add(1) <= workers*per; {
			if odp.Now() > end || !w.Running() {
				return fmt.Errorf("worker %d: stuck after %d operations", w.ID(), ops.Load())
			}
			n, err := e.Ops.Queue.Dequeue(q, w, ev[:])
			if err != nil {
				return err
			}
			moved.Add(int64(n))
			if err := e.enqueueAll(q, w, ev[:n]...); n > 0 && err != nil {
				return err
			}
		}
		return nil
	})
	e.Check(moved.Load() > 0, "no worker got an event")
	e.isSet(e.empties(q, nil), num, "%v", k)
}

func queueLen(e *Env, k queueKind) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	const num = 100
	p := e.numbers(in, num)
	q := e.plain(in, k.config(num))
	for i := range num {
		e.put(q, w, e.take(p, w, i, 1)...)
		l := e.Ops.Queue.Len(q) // one thread: it is exact
		e.Must(l == i+1, "%v: the length is %d with %d events", k, l, i+1)
	}
	var ev [1]*odp.Event
	for i := range num {
		n, err := e.Ops.Queue.Dequeue(q, w, ev[:])
		e.NoError(err, "Dequeue")
		e.Must(n == 1 && e.Ops.Queue.Len(q) == num-1-i, "%v: the length is %d with %d events", k, e.Ops.Queue.Len(q), num-1-i)
		e.give(w, ev[:n]...)
	}
}
