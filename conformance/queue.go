// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"strings"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/schedule"
)

// Queues: limits, configuration, names.

func init() {
	register("QUEUE",
		Case{"QUEUE-01", "The limits of queues are stated, consistent and enforced with an error that names them.", nil, queueLimits},
		Case{"QUEUE-02", "The zero value of each field of a queue's configuration is its documented default.", nil, queueDefaults},
		Case{"QUEUE-03", "Every combination of modes but one without any user can be made, and a disabled direction answers so.", nil, queueModes},
		Case{"QUEUE-04", "A thousand plain queues with names of their own exist together, and each is found by its name.", nil, queueMany},
		Case{"QUEUE-05", "Queues with and without names, of shared and of own configurations, are made and closed together.", nil, queueMixed},
		Case{"QUEUE-26", "A queue answers with the configuration, the context and the events that it was given.", nil, queueParams},
		Case{"QUEUE-27", "Two plain queues may have the same name; the older is found.", nil, queueSameName},
		Case{"QUEUE-28", "Two scheduled queues may have the same name; the older is found.", nil, queueSameNameSched},
		Case{"QUEUE-29", "A plain queue may have a long name.", nil, queueLongName},
		Case{"QUEUE-30", "A scheduled queue may have a long name.", nil, queueLongNameSched},
		Case{"QUEUE-31", "The info of a plain and of an ordered queue is what was asked for.", nil, queueInfo},
	)
}

var (
	allModes = []queue.Mode{queue.MT, queue.MTUnsafe, queue.Disabled}
	allSyncs = []odp.Sync{odp.Parallel, odp.Atomic, odp.Ordered}
)

func queueLimits(e *Env) {
	in := e.Instance()
	e.Check(queue.DefaultSize > 0 && queue.DefaultSize <= queue.MaxSize, "the default size %d is not within 1 to %d", queue.DefaultSize, queue.MaxSize)
	_, err := e.Ops.Queue.New(in, odp.QueueConfig{Size: queue.MaxSize + 1})
	e.Check(err != nil && strings.Contains(err.Error(), fmt.Sprint(queue.MaxSize)), "one event more than the limit: error %v, want one with %d", err, queue.MaxSize)
	max := in.Scheduler().Config().MaxQueues
	e.Check(max > 0 && max <= schedule.MaxQueues, "%d scheduled queues: want 1 to %d", max, schedule.MaxQueues)
	for _, enq := range allModes[:2] {
		for _, deq := range allModes[:2] {
			for want := queue.Blocking; want <= queue.WaitFree; want++ {
				q, err := e.Ops.Queue.New(in, odp.QueueConfig{EnqMode: enq, DeqMode: deq, NonBlocking: want, Size: 8})
				e.NoError(err, "%v/%v %v", enq, deq, want)
				e.NoError(e.Ops.Queue.Close(q), "Close")
			}
			_, err := e.Ops.Queue.New(in, odp.QueueConfig{EnqMode: enq, DeqMode: deq, NonBlocking: queue.WaitFree + 1, Size: 8})
			e.Check(err != nil && strings.Contains(err.Error(), queue.WaitFree.String()), "%v/%v: a promise beyond the strongest: error %v, want one with %v", enq, deq, err, queue.WaitFree)
		}
	}
}

func queueDefaults(e *Env) {
	in := e.Instance()
	for range 2 {
		c := e.Ops.Queue.Info(e.plain(in, odp.QueueConfig{}))
		e.Check(c.Name == "" && c.Size == queue.DefaultSize && c.Threshold == 0 && c.Context == nil, "name %q, size %d, threshold %d, context %v", c.Name, c.Size, c.Threshold, c.Context)
		e.Check(c.EnqMode == queue.MT && c.DeqMode == queue.MT && c.NonBlocking == queue.Blocking && !c.IgnoreOrder, "modes %v/%v, %v, ignores order: %v", c.EnqMode, c.DeqMode, c.NonBlocking, c.IgnoreOrder)
		s := e.Ops.Sched.Info(e.sched(in, odp.SchedQueueConfig{}))
		e.Check(s.Name == "" && s.Sync == odp.Parallel && s.Priority == schedule.Default && s.Group == in.Scheduler().All(), "scheduled: name %q, %v, %v, group %v", s.Name, s.Sync, s.Priority, s.Group)
		e.Check(s.Locks == 0 && s.Size > 0 && !s.IgnoreOrder && s.Context == nil, "scheduled: %d locks, size %d, ignores order: %v, context %v", s.Locks, s.Size, s.IgnoreOrder, s.Context)
	}
}

func queueModes(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	p := e.numbers(in, 8)
	one := make([]*odp.Event, 1)
	for _, enq := range allModes {
		for _, deq := range allModes {
			q, err := e.Ops.Queue.New(in, odp.QueueConfig{EnqMode: enq, DeqMode: deq, Size: 32})
			if enq == queue.Disabled && deq == queue.Disabled {
				e.Check(err != nil, "a queue that nobody can use was made")
				continue
			}
			e.NoError(err, "%v/%v", enq, deq)
			ev := e.take(p, w, 0, 1)
			n, err := e.Ops.Queue.Enqueue(q, w, ev)
			if enq == queue.Disabled {
				e.Check(n == 0 && errors.Is(err, queue.ErrDisabled), "%v/%v: Enqueue: %d, %v; want ErrDisabled", enq, deq, n, err)
				e.give(w, ev...)
			} else {
				e.Check(n == 1 && err == nil, "%v/%v: Enqueue: %d, %v", enq, deq, n, err)
			}
			n, err = e.Ops.Queue.Dequeue(q, w, one)
			switch {
			case deq == queue.Disabled:
				e.Check(n == 0 && errors.Is(err, queue.ErrDisabled), "%v/%v: Dequeue: %d, %v; want ErrDisabled", enq, deq, n, err)
				_, err := q.Drain(e.Context(), w)
				e.NoError(err, "Drain")
				continue
			case enq != queue.Disabled:
				e.Check(n == 1 && err == nil && one[0] == ev[0], "%v/%v: Dequeue: %d, %v", enq, deq, n, err)
				e.give(w, one[:n]...)
			default:
				e.Check(n == 0 && err == nil, "%v/%v: Dequeue: %d, %v", enq, deq, n, err)
			}
			e.Check(e.Ops.Queue.Close(q) == nil, "%v/%v: Close", enq, deq)
		}
	}
	// A scheduled queue has one mode only: anybody enqueues, the scheduler dequeues.
	for _, y := range allSyncs {
		q := e.sched(in, odp.SchedQueueConfig{Sync: y})
		e.put(q, nil, e.take(p, nil, 0, 1)...)
		e.put(q, w, e.take(p, w, 1, 1)...)
		e.isSequence(e.drain(in, w), 0, 2, "%v", y)
	}
	e.Check(p.Out() == 0, "%d events did not come back", p.Out())
}

func queueMany(e *Env) {
	in := e.Instance()
	const many = 1024
	qs := make([]*odp.Queue, many)
	name := func(i int) string { return fmt.Sprintf("conformance-%019d", i) }
	for i := range qs {
		var err error
		qs[i], err = e.Ops.Queue.New(in, odp.QueueConfig{Name: name(i), Size: 32})
		e.NoError(err, "queue %d of %d", i, many)
	}
	for i, q := range qs {
		e.Must(e.Ops.Queue.Lookup(in, name(i)) == q, "queue %d is not found by its name", i)
	}
	for i, q := range qs {
		e.NoError(e.Ops.Queue.Close(q), "Close of queue %d", i)
		e.Must(e.Ops.Queue.Lookup(in, name(i)) == nil, "queue %d is found after Close", i)
	}
}

func queueMixed(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	p := e.numbers(in, 64)
	shared := odp.QueueConfig{Size: 16}
	for _, named := range []bool{true, false} {
		for _, own := range []bool{true, false} {
			var qs []*odp.Queue
			var ss []*odp.SchedQueue
			for i := range 10 {
				cfg, scfg := shared, odp.SchedQueueConfig{Size: 16}
				if own {
					cfg.Size, scfg.Size, scfg.Sync = 8<<(i%3), 8<<(i%3), allSyncs[i%3]
				}
				if named && i%3 != 2 { // some without a name among them
					cfg.Name, scfg.Name = fmt.Sprint("mixed-", i), fmt.Sprint("mixed-s-", i)
				}
				q, err := e.Ops.Queue.New(in, cfg)
				e.NoError(err, "plain queue %d", i)
				s, err := e.Ops.Sched.NewQueue(in, scfg)
				e.NoError(err, "scheduled queue %d", i)
				qs, ss = append(qs, q), append(ss, s)
			}
			for i, q := range qs { // they are ten different queues
				e.put(q, w, e.take(p, w, i, 1)...)
				e.put(ss[i], w, e.take(p, w, i, 1)...)
			}
			for i, q := range qs {
				e.isSequence(e.empties(q, w), i, 1, "plain queue %d", i)
				e.Check(e.Ops.Queue.Close(q) == nil, "plain queue %d is not closed", i)
			}
			e.isSet(e.drain(in, w), 10, "scheduled queues")
			for i, s := range ss {
				e.Check(e.Ops.Sched.CloseQueue(s) == nil, "scheduled queue %d is not closed", i)
			}
		}
	}
}

func queueParams(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	p := e.numbers(in, 64)
	g, err := e.Ops.Sched.NewGroup(in, "conf-26")
	e.NoError(err, "NewGroup")
	s := e.sched(in, odp.SchedQueueConfig{Name: "conf-26-s", Sync: odp.Ordered, Priority: schedule.Highest, Group: g, Locks: 1})
	e.Check(s.Sync() == odp.Ordered && s.Priority() == schedule.Highest && s.Group() == g && s.Locks() == 1, "%v, %v, group %q, %d locks", s.Sync(), s.Priority(), s.Group().Name(), s.Locks())
	e.Check(e.Ops.Sched.Queue(in, "conf-26-s") == s, "the scheduled queue is not found by its name")
	e.Check(s.Context() == nil, "the context is %v by default", s.Context())
	s.SetContext("mine")
	e.Check(s.Context() == "mine", "the context is %v, was set to mine", s.Context())
	e.plain(in, odp.QueueConfig{}) // without a name

	q := e.plain(in, odp.QueueConfig{Name: "conf-26-p", Context: 26, Size: 64})
	e.Check(e.Ops.Queue.Context(q) == 26, "the context is %v, want 26", e.Ops.Queue.Context(q))
	q.SetContext("other")
	e.Check(e.Ops.Queue.Context(q) == "other", "the context is %v, was set to other", e.Ops.Queue.Context(q))
	var got [8]*odp.Event
	one := e.take(p, w, 0, 1)
	e.put(q, w, one...)
	n, err := e.Ops.Queue.Dequeue(q, w, got[:])
	e.NoError(err, "Dequeue")
	e.Check(n == 1 && got[0] == one[0], "%d events, want the one that was enqueued", n)
	e.give(w, got[:n]...)
	ev := e.take(p, w, 0, 8)
	e.put(q, w, ev...)
	for i := 0; i < 8; i += n {
		n, err = e.Ops.Queue.Dequeue(q, w, got[:])
		e.NoError(err, "Dequeue")
		e.Must(n > 0, "%d of 8 events came", i)
		for k, x := range got[:n] {
			e.Check(x == ev[i+k], "event %d is another than was enqueued", i+k)
		}
		e.give(w, got[:n]...)
	}
}

func queueSameName(e *Env) {
	in := e.Instance()
	const name = "conf-same"
	e.Check(e.Ops.Queue.Lookup(in, name) == nil, "there is a queue before it is made")
	a, err := e.Ops.Queue.New(in, odp.QueueConfig{Name: name})
	e.NoError(err, "the first")
	e.Check(e.Ops.Queue.Lookup(in, name) == a, "the only one is not found")
	b := e.plain(in, odp.QueueConfig{Name: name})
	e.Check(a != b && e.Ops.Queue.Lookup(in, name) == a, "the older is not found")
	e.NoError(e.Ops.Queue.Close(a), "Close")
	e.Check(e.Ops.Queue.Lookup(in, name) == b, "the other is not found after the first was closed")
}

func queueSameNameSched(e *Env) {
	in := e.Instance()
	const name = "conf-same"
	e.Check(e.Ops.Sched.Queue(in, name) == nil, "there is a queue before it is made")
	a, err := e.Ops.Sched.NewQueue(in, odp.SchedQueueConfig{Name: name})
	e.NoError(err, "the first")
	e.Check(e.Ops.Sched.Queue(in, name) == a, "the only one is not found")
	b := e.sched(in, odp.SchedQueueConfig{Name: name})
	e.Check(a != b && e.Ops.Sched.Queue(in, name) == a, "the older is not found")
	e.NoError(e.Ops.Sched.CloseQueue(a), "Close")
	e.Check(e.Ops.Sched.Queue(in, name) == b, "the other is not found after the first was closed")
}

// longName is longer than any name in ODP, whose limit is 31 characters.
var longName = strings.Repeat("long-name-", 25)

func queueLongName(e *Env) {
	in := e.Instance()
	q := e.plain(in, odp.QueueConfig{Name: longName})
	e.Check(e.Ops.Queue.Lookup(in, longName) == q && e.Ops.Queue.Info(q).Name == longName, "a name of %d bytes is not kept", len(longName))
	e.Check(e.Ops.Queue.Lookup(in, longName[:31]) == nil, "the queue is found by the first 31 bytes of its name")
}

func queueLongNameSched(e *Env) {
	in := e.Instance()
	q := e.sched(in, odp.SchedQueueConfig{Name: longName})
	e.Check(e.Ops.Sched.Queue(in, longName) == q && e.Ops.Sched.Info(q).Name == longName, "a name of %d bytes is not kept", len(longName))
	e.Check(e.Ops.Sched.Queue(in, longName[:31]) == nil, "the queue is found by the first 31 bytes of its name")
}

func queueInfo(e *Env) {
	in := e.Instance()
	q := e.plain(in, odp.QueueConfig{Name: "conf-info"})
	want := odp.QueueConfig{Name: "conf-info", Size: queue.DefaultSize}
	got := e.Ops.Queue.Info(q)
	e.Check(got == want, "plain: info %+v, want %+v", got, want)
	own := odp.QueueConfig{Name: "conf-own", Size: 64, EnqMode: queue.MTUnsafe, DeqMode: queue.MTUnsafe, NonBlocking: queue.WaitFree, IgnoreOrder: true, Threshold: 32, Context: "x"}
	got = e.Ops.Queue.Info(e.plain(in, own))
	e.Check(got == own, "plain: info %+v, want %+v", got, own)
	s := odp.SchedQueueConfig{Name: "conf-ordered", Sync: odp.Ordered, Priority: schedule.Lowest, Group: in.Scheduler().Worker(), Locks: 2, Size: 100, IgnoreOrder: true, Context: 5}
	o := e.sched(in, s)
	have := e.Ops.Sched.Info(o)
	e.Check(have == s, "ordered: info %+v, want %+v", have, s)
	e.Check(fmt.Sprint(have.Sync, have.Priority) == "ordered priority 0", "printed as %v %v", have.Sync, have.Priority)
	found := false
	for _, x := range in.Snapshot().Queues { // the print of all queues
		found = found || x.Name == s.Name && x.Kind == "ordered" && x.Size == 100
	}
	e.Check(found, "the ordered queue is not in the Snapshot")
}
