// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/schedule"
)

// The scheduler: configuration, waiting, priorities, sizes, numbers of queues.

func init() {
	register("SCHED",
		Case{"SCHED-01", "The zero value of each field of the scheduler's configuration is its documented default.", nil, schedDefaults},
		Case{"SCHED-02", "The limits of the scheduler are stated, consistent and enforced with an error that names them.", nil, schedLimits},
		Case{"SCHED-03", "A call without wait returns at once, and one with a wait never before its time.", nil, schedWaitTime},
		Case{"SCHED-04", "Priorities are a range with a default inside, and nothing outside is accepted.", nil, schedPriorities},
		Case{"SCHED-05", "One event goes through a queue of each kind, its context ends by Release, and the queue can be closed.", nil, schedOne},
		Case{"SCHED-06", "Events come by every way of waiting, one at a time and in bursts.", nil, schedWays},
		Case{"SCHED-07", "A queue accepts as many events as it was made for, and all come out.", nil, schedSize},
		Case{"SCHED-08", "After a pause the events of the highest priority come first, for each kind and for a mix of them.", nil, schedPriorityOrder},
		Case{"SCHED-09", "Events of full queues that go back to where they came from always find room.", nil, schedFull},
		Case{"SCHED-10", "An event travels through as many parallel queues as there can be.", nil, func(e *Env) { schedMaxQueues(e, odp.Parallel) }},
		Case{"SCHED-11", "An event travels through as many atomic queues as there can be.", nil, func(e *Env) { schedMaxQueues(e, odp.Atomic) }},
		Case{"SCHED-12", "An event travels through as many ordered queues as there can be.", nil, func(e *Env) { schedMaxQueues(e, odp.Ordered) }},
		Case{"SCHED-13", "A queue that ignores order gets all events of an ordered queue, and nobody waits for a turn.", nil, schedIgnoreOrder},
		Case{"SCHED-21", "A paused worker is given only what it was given in advance; Resume brings exactly the rest.", nil, schedPause},
		Case{"SCHED-22", "Enqueue works while paused, before and after what was given in advance is used up.", nil, schedPauseEnqueue},
		Case{"SCHED-27", "Events keep their flow ids in queues of each kind, and none of a flow is lost.", nil, schedFlows},
		Case{"SCHED-47", "Everything about queues without events can be printed.", nil, schedPrint},
	)
}

func schedDefaults(e *Env) {
	for range 2 {
		in := e.Open(odp.Config{})
		got := in.Scheduler().Config()
		want := odp.SchedulerConfig{Idle: odp.IdleAdaptive, MaxQueues: 1024, Spin: 50 * time.Microsecond, Stash: 32, Hold: 16}
		e.Check(got == want, "the defaults are %+v, documented are %+v", got, want)
		for _, name := range []string{"all", "worker", "control"} {
			g := e.Ops.Sched.Group(in, name)
			e.Check(g != nil && g.Members() == 0, "group %q: %v", name, g)
		}
	}
}

func schedLimits(e *Env) {
	e.Check(schedule.MaxGroups > 3, "%d groups, three are predefined", schedule.MaxGroups)
	e.Check(schedule.Priorities > 0 && schedule.MaxLocks >= 2, "%d priorities, %d ordered locks", schedule.Priorities, schedule.MaxLocks)
	const most = 5
	in := e.Open(odp.Config{Scheduler: odp.SchedulerConfig{MaxQueues: most}})
	for range most {
		e.sched(in, odp.SchedQueueConfig{Size: 8})
	}
	_, err := e.Ops.Sched.NewQueue(in, odp.SchedQueueConfig{})
	e.Check(err != nil, "a queue more than the configuration allows")
	_, err = e.Ops.Sched.NewQueue(in, odp.SchedQueueConfig{Sync: odp.Ordered, Locks: schedule.MaxLocks + 1})
	e.Check(err != nil, "more ordered locks than the limit")
	_, err = odp.Open(e.Context(), odp.Config{Scheduler: odp.SchedulerConfig{MaxQueues: schedule.MaxQueues + 1}})
	e.Check(err != nil, "more queues configured than the limit")
}

func schedWaitTime(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	e.sched(in, odp.SchedQueueConfig{})
	var ev [1]*odp.Event
	t := odp.Now()
	n, _, err := e.Ops.Sched.Schedule(in, w, ev[:], 0)
	e.Check(n == 0 && err == nil, "an empty queue gives %d events, %v", n, err)
	e.Check(odp.Now()-t < int64(2*time.Second), "a call without wait took %v", time.Duration(odp.Now()-t))
	wait := 100 * time.Millisecond
	if e.Short() {
		wait = 20 * time.Millisecond
	}
	for range 5 {
		t := odp.Now()
		n, _, err := e.Ops.Sched.Schedule(in, w, ev[:], wait)
		took := time.Duration(odp.Now() - t)
		e.Check(n == 0 && err == nil, "an empty queue gives %d events, %v", n, err)
		e.Check(took >= wait, "a wait of %v took %v: it may not end before", wait, took)
		e.Check(took < max(10*wait, 2*time.Second), "a wait of %v took %v", wait, took)
	}
}

func schedPriorities(e *Env) {
	in := e.Instance()
	lo, def, hi := schedule.Lowest.Level(), schedule.Default.Level(), schedule.Highest.Level()
	e.Check(lo <= def && def <= hi && schedule.Priorities == hi-lo+1, "levels %d to %d, default %d, number %d", lo, hi, def, schedule.Priorities)
	e.Check(odp.Priority{}.Level() == def, "the zero Priority is level %d, the default %d", odp.Priority{}.Level(), def)
	for l := lo; l <= hi; l++ {
		q := e.sched(in, odp.SchedQueueConfig{Priority: odp.PriorityLevel(l), Size: 8})
		e.Check(q.Priority().Level() == l, "level %d was made of %d", q.Priority().Level(), l)
	}
	for _, l := range []int{lo - 1, hi + 1} {
		q, err := e.Ops.Sched.NewQueue(in, odp.SchedQueueConfig{Priority: odp.PriorityLevel(l)})
		e.Check(err != nil && q == nil, "a queue of level %d was made", l)
	}
}

func schedOne(e *Env) {
	in := e.Instance()
	w, other := e.Control(in, odp.KindWorker), e.Control(in, odp.KindWorker)
	p := e.numbers(in, 8)
	for _, y := range allSyncs {
		q, err := e.Ops.Sched.NewQueue(in, odp.SchedQueueConfig{Sync: y})
		e.NoError(err, "%v", y)
		sent := e.take(p, w, 100, 1)
		e.put(q, w, sent...)
		x, from := e.next(in, w)
		e.Check(x == sent[0] && number(x) == 100, "%v: another event came, number %d", y, number(x))
		e.Check(from == q, "%v: the event is said to come from another queue", y)
		e.give(w, x)
		e.Ops.Sched.Release(in, w)
		e.none(in, w, "%v: after the only one", y)

		if y == odp.Atomic { // what Release is for
			e.put(q, w, e.take(p, w, 0, 2)...)
			x, _ := e.next(in, w)
			e.none(in, other, "the atomic queue is held by another worker")
			e.Ops.Sched.Release(in, w)
			e.isSequence(e.drain(in, other), 1, 1, "another worker, after Release")
			e.give(w, x)
		}
		e.Check(e.Ops.Sched.CloseQueue(q) == nil, "%v: the empty queue is not closed", y)
		kept := e.take(p, w, 1, 1)
		n, err := e.Ops.Sched.Enqueue(q, w, kept)
		e.Check(n == 0 && err != nil, "%v: a closed queue took an event", y)
		e.give(w, kept[n:]...)
	}
}

func schedWays(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	const num = 50
	p := e.numbers(in, num)
	for _, y := range allSyncs {
		q := e.sched(in, odp.SchedQueueConfig{Sync: y})
		for _, way := range []struct {
			wait  time.Duration
			burst int
		}{{-1, 1}, {-1, 4}, {time.Second, 3}, {0, 1}, {0, 4}} {
			e.put(q, w, e.take(p, w, 0, num)...)
			var got []uint64
			ev := make([]*odp.Event, way.burst)
			for end := e.deadline(); len(got) < num; {
				n, from, err := e.Ops.Sched.Schedule(in, w, ev, way.wait)
				e.NoError(err, "Schedule")
				e.Must(n > 0 || way.wait == 0 && odp.Now() < end, "%v: wait %v: nothing came after %d of %d events", y, way.wait, len(got), num)
				e.Must(n == 0 || from == q, "%v: another queue is named", y)
				got = append(got, numbersOf(ev[:n])...)
				e.give(w, ev[:n]...)
			}
			e.isSet(got, num, "%v: wait %v, %d at a time", y, way.wait, way.burst)
		}
	}
}

func schedSize(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	for _, num := range []int{1, 50} {
		p := e.numbers(in, num+1)
		for _, y := range allSyncs {
			q := e.sched(in, odp.SchedQueueConfig{Sync: y, Size: num})
			e.Check(e.Ops.Sched.Info(q).Size >= num, "%v: size %d, asked were %d", y, e.Ops.Sched.Info(q).Size, num)
			for i := range num {
				e.put(q, w, e.take(p, w, i, 1)...)
			}
			if q.Size() == num {
				more := e.take(p, w, num, 1)
				n, err := e.Ops.Sched.Enqueue(q, w, more)
				e.Check(n == 0 && err == nil, "%v: a full queue of %d took %d more, %v", y, num, n, err)
				e.give(w, more[n:]...)
			}
			e.isSet(e.drain(in, w), num, "%v: a queue of %d", y, num)
		}
	}
}

func schedPriorityOrder(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	const per = 4
	p := e.numbers(in, per*schedule.Priorities)
	for round := range len(allSyncs) + 1 {
		qs := make([]*odp.SchedQueue, schedule.Priorities)
		for l := range qs {
			y := allSyncs[(round+l)%3] // the last round is the mix
			if round < len(allSyncs) {
				y = allSyncs[round]
			}
			qs[l] = e.sched(in, odp.SchedQueueConfig{Sync: y, Priority: odp.PriorityLevel(l)})
		}
		e.Ops.Sched.Pause(in, w)
		for i := range qs {
			l := (i*3 + 2) % len(qs) // neither rising nor falling
			e.put(qs[l], w, e.take(p, w, l, per)...)
		}
		e.none(in, w, "the worker is paused")
		e.Ops.Sched.Resume(in, w)
		was, count := schedule.Priorities, make([]int, schedule.Priorities)
		for range per * len(qs) {
			x, q := e.next(in, w)
			l := q.Priority().Level()
			e.Check(l <= was, "round %d: level %d after level %d", round, l, was)
			was = l
			count[l]++
			e.give(w, x)
		}
		for l, n := range count {
			e.Check(n == per, "round %d: %d events of level %d, want %d", round, n, l, per)
		}
		e.none(in, w, "after all")
	}
}

func schedFull(e *Env) {
	const queues = 8
	size := e.rounds(1000)
	for _, y := range allSyncs {
		in := e.Open(odp.Config{Workers: 4})
		p := e.numbers(in, queues*size)
		for i := range queues {
			q := e.sched(in, odp.SchedQueueConfig{Sync: y, Size: size})
			e.put(q, nil, e.take(p, nil, i*size, size)...)
		}
		e.each(in, 1, queues*size, func(w *odp.Worker, q *odp.SchedQueue, ev []*odp.Event) error {
			if err := e.enqueueAll(q, w, ev...); err != nil {
				return fmt.Errorf("%v: back to its queue: %w", y, err)
			}
			return nil
		})
		e.isSet(e.drain(in, e.Control(in, odp.KindWorker)), queues*size, "%v: at the end", y)
	}
}

func schedMaxQueues(e *Env, y odp.Sync) {
	most := 1024
	if e.Short() {
		most = 200
	}
	in := e.Open(odp.Config{Scheduler: odp.SchedulerConfig{MaxQueues: most}})
	w := e.Control(in, odp.KindWorker)
	p := e.numbers(in, 1)
	qs := make([]*odp.SchedQueue, most)
	for i := range qs {
		qs[i] = e.sched(in, odp.SchedQueueConfig{Sync: y, Size: 8})
	}
	x := e.take(p, w, 7, 1)[0]
	for range 4 {
		for i, q := range qs {
			e.put(q, w, x)
			got, from := e.next(in, w)
			e.Must(got == x && from == q, "queue %d of %d: another event, or from another queue", i, most)
		}
	}
	e.Ops.Sched.Release(in, w)
	e.give(w, x)
}

func schedIgnoreOrder(e *Env) {
	in := e.Open(odp.Config{Workers: 4})
	num := e.rounds(1000)
	p := e.numbers(in, num+2)
	q := e.sched(in, odp.SchedQueueConfig{Sync: odp.Ordered})
	out := e.plain(in, odp.QueueConfig{IgnoreOrder: true})
	for i := range num {
		e.put(q, nil, e.take(p, nil, i, 1)...)
	}
	e.each(in, 2, num, func(w *odp.Worker, q *odp.SchedQueue, ev []*odp.Event) error {
		dither(number(ev[0]))
		return e.enqueueAll(out, w, ev...)
	})
	e.isSet(e.empties(out, nil), num, "the queue that ignores order")

	// The younger of two contexts puts its event in while the older one lasts.
	a, b := e.Control(in, odp.KindWorker), e.Control(in, odp.KindWorker)
	q = e.sched(in, odp.SchedQueueConfig{Sync: odp.Ordered, Locks: 1}) // locks: a does not keep the second event
	e.put(q, a, e.take(p, a, 0, 2)...)
	x, _ := e.next(in, a)
	y, _ := e.next(in, b)
	var done atomic.Bool
	go func() { // b is used by this goroutine alone until done
		if err := e.enqueueAll(out, b, y); err != nil {
			e.Errorf("the younger context: %v", err)
		}
		done.Store(true)
	}()
	e.Await("enqueue of the younger context", done.Load)
	e.put(out, a, x)
	e.isSet(e.empties(out, nil), 2, "the queue that ignores order, two contexts")
	e.Ops.Sched.Release(in, a)
	e.Ops.Sched.Release(in, b)
}

func schedPause(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	const num = 1000
	p := e.numbers(in, num)
	for _, y := range allSyncs {
		q := e.sched(in, odp.SchedQueueConfig{Sync: y})
		e.put(q, w, e.take(p, w, 0, num)...)
		var got []uint64
		for range 10 {
			x, _ := e.next(in, w)
			got = append(got, number(x))
			e.give(w, x)
		}
		e.Ops.Sched.Pause(in, w)
		waiting := q.Len()
		given := e.drain(in, w)
		e.Check(len(given) <= 32, "%v: %d events came while paused", y, len(given))
		e.Check(q.Len() == waiting && len(got)+len(given)+waiting == num, "%v: %d+%d events came, %d waited and %d wait", y, len(got), len(given), waiting, q.Len())
		e.Ops.Sched.Resume(in, w)
		rest := e.drain(in, w)
		e.isSequence(append(append(got, given...), rest...), 0, num, "%v: all together", y)
	}
}

func schedPauseEnqueue(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	const num = 1000
	p := e.numbers(in, num)
	for _, y := range allSyncs {
		for _, loopFirst := range []bool{false, true} {
			q := e.sched(in, odp.SchedQueueConfig{Sync: y})
			e.put(q, w, e.take(p, w, 0, num)...)
			x, _ := e.next(in, w)
			e.Ops.Sched.Pause(in, w)
			if !loopFirst {
				e.put(q, w, x)
			}
			var one [1]*odp.Event
			for i := 0; ; i++ {
				n, _, err := e.Ops.Sched.Schedule(in, w, one[:], 0)
				e.NoError(err, "Schedule")
				if n == 0 {
					break
				}
				e.Must(i < 32, "%v: event %d came while paused", y, i)
				e.put(q, w, one[:n]...)
			}
			if loopFirst {
				e.put(q, w, x)
			}
			e.Ops.Sched.Resume(in, w)
			e.isSet(e.drain(in, w), num, "%v, loop first: %v", y, loopFirst)
		}
	}
}

func schedFlows(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	const flows, num = 16, 200
	p, err := in.NewPool(odp.PoolConfig{Num: num, Size: 64, Need: num})
	e.NoError(err, "NewPool")
	for _, y := range allSyncs {
		q := e.sched(in, odp.SchedQueueConfig{Sync: y})
		ev := make([]*odp.Event, num)
		e.Must(p.AllocPackets(w, odp.PacketsOf(ev), 16) == num, "the pool has no %d packets", num)
		var want, got [flows]int
		for i, x := range ev {
			e.Check(x.Flow() == 0, "flow %d by default", x.Flow())
			x.SetUserWord(uint64(i))
			f := i * i % flows
			x.SetFlow(uint32(f))
			want[f]++
		}
		e.put(q, w, ev...)
		for range num {
			x, _ := e.next(in, w)
			f := int(x.Flow())
			i := int(x.UserWord())
			e.Must(f == i*i%flows, "%v: event %d has flow %d", y, i, f)
			got[f]++
			e.give(w, x)
		}
		e.Check(got == want, "%v: events by flow %v, want %v", y, got, want)
		e.none(in, w, "after all")
	}
}

func schedPrint(e *Env) {
	in := e.Instance()
	g, err := e.Ops.Sched.NewGroup(in, "conf-print")
	e.NoError(err, "NewGroup")
	for i, y := range allSyncs {
		e.sched(in, odp.SchedQueueConfig{Name: fmt.Sprint("conf-print-", i), Sync: y, Group: g})
	}
	e.plain(in, odp.QueueConfig{Name: "conf-print-plain"})
	s := in.Snapshot()
	seen := 0
	for _, q := range s.Queues {
		e.Check(q.Len == 0, "queue %q has %d events", q.Name, q.Len)
		if len(q.Name) > 10 && q.Name[:10] == "conf-print" {
			seen++
		}
	}
	e.Check(seen == 4, "%d of 4 queues are in the Snapshot", seen)
	e.Check(in.Scheduler().Stats().Events == 0, "events are counted: %+v", in.Scheduler().Stats())
}
