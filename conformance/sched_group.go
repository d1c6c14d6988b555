// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"sync/atomic"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/schedule"
)

// The scheduler: groups.

// What a scheduler may have beyond godp's.
const (
	CapGroupCount      Capability = "a configured number of scheduler groups"
	CapPriorityRange   Capability = "a configured range of priorities"
	CapGroupPriorities Capability = "scheduler groups with priorities of their own"
	CapNoPredefined    Capability = "instances without the predefined groups"
)

func init() {
	register("SCHED",
		Case{"SCHED-14", "Workers and control threads are members of the predefined groups of their kind.", nil, groupPredefined},
		Case{"SCHED-15", "A member of a group gets the events of its queues; nothing comes when queue and group are closed.", nil,
			func(e *Env) { groupOwn(e, []odp.Priority{{}}) }},
		Case{"SCHED-16", "A new group has no member, no queue and no restriction.", nil, groupNew},
		Case{"SCHED-17", "A member of a group gets the events of its queues of every priority.", nil,
			func(e *Env) { groupOwn(e, []odp.Priority{schedule.Lowest, schedule.Default, schedule.Highest}) }},
		Case{"SCHED-18", "A group may have a long name, and is found by it.", nil, groupLongName},
		Case{"SCHED-19", "As many groups as there can be exist together, each with a queue that delivers.", nil, groupMost},
		Case{"SCHED-20", "A worker gets the events of the groups that it has joined, and of no other.", nil, groupSwitch},
		Case{"SCHED-23", "Workers with a group each get exactly the events of their own queue.", nil, groupPrivate},
	)
	for id, c := range map[string]struct {
		what  string
		lacks Capability
	}{
		"SCHED-75": {"No more groups can be made than were configured.", CapGroupCount},
		"SCHED-76": {"The range of priorities is the configured one.", CapPriorityRange},
		"SCHED-77": {"A group has exactly the priorities that it was made with.", CapGroupPriorities},
		"SCHED-78": {"Groups of one's own deliver in an instance without the predefined ones.", CapNoPredefined},
	} {
		register("SCHED", Case{id, c.what, []Capability{c.lacks}, func(e *Env) { e.Skip(c.lacks) }})
	}
}

func groupPredefined(e *Env) {
	in := e.Instance()
	s := in.Scheduler()
	c, w := e.Control(in, odp.KindControl), e.Control(in, odp.KindWorker)
	has := e.Ops.Sched.Has
	e.Check(has(s.All(), c) && has(s.Control(), c) && !has(s.Worker(), c), "control thread: all %v, control %v, worker %v", has(s.All(), c), has(s.Control(), c), has(s.Worker(), c))
	e.Check(has(s.All(), w) && !has(s.Control(), w) && has(s.Worker(), w), "worker: all %v, control %v, worker %v", has(s.All(), w), has(s.Control(), w), has(s.Worker(), w))
	e.Check(s.All().Members() == 2 && s.Control().Members() == 1 && s.Worker().Members() == 1, "members: %d, %d, %d; want 2, 1, 1", s.All().Members(), s.Control().Members(), s.Worker().Members())
	p := e.numbers(in, 4)
	for _, t := range []struct {
		g       *odp.Group
		in, out *odp.Worker
	}{{s.Control(), c, w}, {s.Worker(), w, c}} {
		e.Check(e.Ops.Sched.Group(in, t.g.Name()) == t.g, "group %q is not found by its name", t.g.Name())
		q := e.sched(in, odp.SchedQueueConfig{Group: t.g})
		e.put(q, nil, e.take(p, nil, 0, 1)...)
		e.none(in, t.out, "it is no member of group %q", t.g.Name())
		e.isSequence(e.drain(in, t.in), 0, 1, "group %q", t.g.Name())
		e.Check(e.Ops.Sched.Join(t.g, t.out) != nil, "a predefined group could be joined")
		e.Check(e.Ops.Sched.CloseGroup(t.g) != nil, "a predefined group could be closed")
	}
}

func groupOwn(e *Env, prios []odp.Priority) {
	in := e.Instance()
	w, other := e.Control(in, odp.KindWorker), e.Control(in, odp.KindWorker)
	p := e.numbers(in, 8)
	g, err := e.Ops.Sched.NewGroup(in, "conf-own")
	e.NoError(err, "NewGroup")
	e.NoError(e.Ops.Sched.Join(g, w), "Join")
	for _, prio := range prios {
		q, err := e.Ops.Sched.NewQueue(in, odp.SchedQueueConfig{Sync: odp.Atomic, Group: g, Priority: prio})
		e.NoError(err, "NewQueue")
		sent := e.take(p, w, 9, 1)
		e.put(q, w, sent...)
		e.none(in, other, "it is no member of the group")
		x, from := e.next(in, w)
		e.Check(x == sent[0] && from == q, "another event, or from another queue")
		e.give(w, x)
		e.Check(e.Ops.Sched.CloseGroup(g) != nil, "a group with a queue could be closed")
		e.Ops.Sched.Release(in, w)
		e.NoError(e.Ops.Sched.CloseQueue(q), "CloseQueue")
	}
	e.NoError(e.Ops.Sched.CloseGroup(g), "CloseGroup")
	e.none(in, w, "queue and group are closed")
}

func groupNew(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	g, err := e.Ops.Sched.NewGroup(in, "conf-new")
	e.NoError(err, "NewGroup")
	e.Check(g.Name() == "conf-new" && g.Members() == 0 && !e.Ops.Sched.Has(g, w), "name %q, %d members", g.Name(), g.Members())
	for _, y := range allSyncs {
		for l := range schedule.Priorities {
			q := e.sched(in, odp.SchedQueueConfig{Sync: y, Group: g, Priority: odp.PriorityLevel(l), Size: 8})
			e.Check(q.Group() == g, "the queue is in another group")
		}
	}
}

func groupLongName(e *Env) {
	in := e.Instance()
	g, err := e.Ops.Sched.NewGroup(in, longName)
	e.NoError(err, "a name of %d bytes", len(longName))
	e.Check(e.Ops.Sched.Group(in, longName) == g && g.Name() == longName, "the group is not found by its name")
	e.Check(e.Ops.Sched.Group(in, longName[:31]) == nil, "the group is found by the first 31 bytes of its name")
	e.NoError(e.Ops.Sched.CloseGroup(g), "CloseGroup")
	e.Check(e.Ops.Sched.Group(in, longName) == nil, "the group is found after it was closed")
}

func groupMost(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	const most = schedule.MaxGroups - 3
	p := e.numbers(in, most)
	var gs []*odp.Group
	for i := range most {
		g, err := e.Ops.Sched.NewGroup(in, fmt.Sprint("conf-", i))
		e.NoError(err, "group %d of %d", i, most)
		e.NoError(e.Ops.Sched.Join(g, w), "Join")
		q := e.sched(in, odp.SchedQueueConfig{Group: g, Size: 8})
		e.put(q, w, e.take(p, w, i, 1)...)
		gs = append(gs, g)
	}
	_, err := e.Ops.Sched.NewGroup(in, "one more")
	e.Check(err != nil, "more than %d groups", schedule.MaxGroups)
	e.isSet(e.drain(in, w), most, "all groups")
	for i, g := range gs {
		e.Check(e.Ops.Sched.Group(in, fmt.Sprint("conf-", i)) == g, "group %d is not found by its name", i)
	}
}

func groupSwitch(e *Env) {
	in := e.Instance()
	w := e.Control(in, odp.KindWorker)
	ops := &e.Ops.Sched
	names := [2]string{"conf-0", "conf-1"}
	e.Check(ops.Group(in, names[0]) == nil, "there is a group before it is made")
	var gs [2]*odp.Group
	for i, name := range names {
		var err error
		gs[i], err = ops.NewGroup(in, name)
		e.NoError(err, "NewGroup")
		e.Check(ops.Group(in, name) == gs[i] && gs[i].Members() == 0, "the group is not found, or has members")
	}
	g := gs[0]
	e.NoError(ops.Join(g, w), "Join")
	e.Check(ops.Has(g, w) && g.Members() == 1, "no member after Join")
	e.NoError(ops.Leave(g, w), "Leave")
	e.Check(!ops.Has(g, w) && g.Members() == 0, "still a member after Leave")
	e.Check(ops.Join(g, nil) != nil && ops.Leave(g, nil) != nil, "nobody could join or leave")
	unnamed, err := ops.NewGroup(in, "")
	e.NoError(err, "a group without a name")
	e.NoError(ops.CloseGroup(unnamed), "CloseGroup")
	e.Check(ops.Join(unnamed, w) != nil && ops.Leave(unnamed, w) != nil, "a closed group could be joined or left")

	p := e.numbers(in, 2)
	for _, y := range allSyncs {
		var qs [2]*odp.SchedQueue
		for i := range qs {
			name := fmt.Sprint("conf-20-", i)
			qs[i], err = ops.NewQueue(in, odp.SchedQueueConfig{Name: name, Sync: y, Group: gs[i], Size: 8})
			e.NoError(err, "NewQueue")
			e.Check(ops.Queue(in, name) == qs[i], "the queue is not found")
			e.put(qs[i], w, e.take(p, w, i, 1)...)
		}
		e.none(in, w, "%v: the worker is in no group", y)
		for round := range 10 {
			i := round % 2
			e.NoError(ops.Join(gs[i], w), "Join")
			x, from := e.next(in, w)
			e.Must(from == qs[i] && number(x) == uint64(i), "%v: event %d came to a worker of group %d", y, number(x), i)
			e.NoError(ops.Leave(gs[i], w), "Leave")
			e.put(qs[i], w, x)
			if round > 7 {
				e.none(in, w, "%v: the worker has left the group", y)
			}
		}
		e.NoError(ops.Join(gs[0], w), "Join")
		e.NoError(ops.Join(gs[1], w), "Join")
		e.isSet(e.drain(in, w), 2, "%v: both groups", y)
		for i, q := range qs {
			e.NoError(ops.CloseQueue(q), "CloseQueue")
			e.NoError(ops.Leave(gs[i], w), "Leave")
			e.Check(ops.Queue(in, fmt.Sprint("conf-20-", i)) == nil, "the queue is found after it was closed")
		}
	}
	for i, g := range gs {
		e.NoError(ops.CloseGroup(g), "CloseGroup")
		e.Check(ops.Group(in, names[i]) == nil, "the group is found after it was closed")
	}
}

func groupPrivate(e *Env) {
	const workers, per = 4, 16
	in := e.Open(odp.Config{Workers: workers})
	p := e.numbers(in, workers*per)
	var gs [workers]*odp.Group
	var qs [workers]*odp.SchedQueue
	for i := range workers {
		var err error
		gs[i], err = e.Ops.Sched.NewGroup(in, fmt.Sprint("conf-", i))
		e.NoError(err, "NewGroup")
		qs[i] = e.sched(in, odp.SchedQueueConfig{Group: gs[i], Sync: allSyncs[i%3]})
		e.put(qs[i], nil, e.take(p, nil, i*per, per)...)
	}
	var ids atomic.Int32
	var joined atomic.Int32
	e.Workers(in, func(w *odp.Worker) error {
		me := int(ids.Add(1)) - 1
		if err := e.Ops.Sched.Join(gs[me], w); err != nil {
			return err
		}
		for joined.Add(1); joined.Load() < workers && w.Running(); {
			if err := odp.Wait(w, 100_000); err != nil { // all are there before the first event is taken
				return err
			}
		}
		var one [1]*odp.Event
		for end, n := e.deadline(), 0; n < per+2; n++ { // and nothing more
			wait := e.patience()
			if n >= per {
				wait = quiet
			}
			k, q, err := e.Ops.Sched.Schedule(in, w, one[:], wait)
			switch {
			case err != nil:
				return err
			case k == 0 && n < per:
				return fmt.Errorf("worker %d got %d of %d events", me, n, per)
			case k == 0:
				continue
			case n >= per:
				return fmt.Errorf("worker %d got more than %d events", me, per)
			case q != qs[me] || number(one[0])/per != uint64(me):
				return fmt.Errorf("worker %d got event %d of queue %q", me, number(one[0]), q.Name())
			case odp.Now() > end:
				return fmt.Errorf("worker %d hangs", me)
			}
			e.give(w, one[0])
		}
		return nil
	})
}
