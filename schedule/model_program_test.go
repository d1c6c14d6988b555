// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/schedule"
	"github.com/odp-go/godp/worker"
	"pgregory.net/rapid"
)

// fate is what becomes of an event.
type fate uint8

const (
	pass fate = iota
	drop
	double
	late // sent after the context was released
)

type plan struct {
	fate  fate
	delay int
	locks uint32
	await bool // OrderWait first
}

// The ways in which the events of a stage come.
const (
	upfront   = iota // before the workers start
	meanwhile        // Enqueue by the control plane while they run
	fresh            // the same with EnqueueNew
	polled           // from a queue.Source
	feeds
)

// stage is a queue of the program; it is the Context of its Queue.
type stage struct {
	q     *schedule.Queue
	next  *stage // nil = the events leave by out
	out   *queue.Queue
	late  *queue.Queue
	plans []plan
	src   uint64
	feed  int
	gaps  []int                       // polled: how many each poll gives
	given int                         // polled: so many came
	seen  []uint64                    // Atomic: in the order of handling; the context is its lock
	locks [schedule.MaxLocks][]uint64 // in the order of entry; the ordered lock is its lock
	p     *program
}

// The kinds of trip.
const (
	tripPause   = iota
	tripGroup   // leave or join
	tripDrain   // give back
	tripLeave   // leave the set and come again
	tripRelease // release what was not sent after
	trips
)

// trip is what a worker does between its calls of Schedule.
type trip struct{ at, kind, arg int }

// program is what drawProgram made: it is replayed by its seed, except for what the
// threads make of it.
type program struct {
	*kit
	rt      *rapid.T
	set     *worker.Set
	s       *schedule.Scheduler
	sources []*stage
	middle  *stage
	groups  []*schedule.Group
	outs    []*queue.Queue
	trips   [][]trip
	bursts  []int
	wait    []int // 0 = Schedule without wait, 1 = a millisecond, 2 = for ever
	stopAt  int64 // events after which all are told to stop; < 0 = at the end
	left    atomic.Int64
	mu      sync.Mutex
	failed  string
}

func value(src uint64, idx, copy int) uint64 { return src<<32 | uint64(idx)<<8 | uint64(copy) }

func (p *program) out(size int) *queue.Queue {
	q, err := queue.New(p.set, queue.Config{Size: size})
	p.check(err)
	p.outs = append(p.outs, q)
	return q
}

func (p *program) check(err error) {
	if err != nil {
		p.rt.Fatal(err)
	}
}

const programWorkers = 3

func drawProgram(base *kit, rt *rapid.T) *program {
	p := &program{kit: base, rt: rt}
	var err error
	p.set, err = worker.NewSet(programWorkers + 1)
	p.check(err)
	p.s, err = schedule.New(p.set, schedule.Config{
		Idle:      rapid.SampledFrom([]schedule.Idle{schedule.Adaptive, schedule.Busy}).Draw(rt, "idle"),
		Spin:      1,
		Stash:     rapid.SampledFrom([]int{-1, 3, 32}).Draw(rt, "stash"),
		Hold:      rapid.SampledFrom([]int{-1, 2, 16}).Draw(rt, "hold"),
		MinShare:  rapid.SampledFrom([]int{0, 0, 30}).Draw(rt, "min share"),
		Threshold: rapid.SampledFrom([]int{0, 0, 4}).Draw(rt, "threshold"),
	})
	p.check(err)
	p.groups = []*schedule.Group{p.s.All()}
	for range 2 {
		g, err := p.s.NewGroup("own")
		p.check(err)
		p.groups = append(p.groups, g)
	}
	after := p.out(512)
	if rapid.Bool().Draw(rt, "two stages") {
		p.middle = p.drawStage(99, after)
		p.middle.out = p.out(512)
	}
	for i := range rapid.IntRange(1, 3).Draw(rt, "sources") {
		st := p.drawStage(uint64(i), after)
		if st.next = p.middle; st.next == nil {
			st.out = p.out(512)
		}
		p.drawPlans(st)
		p.sources = append(p.sources, st)
		p.left.Add(int64(len(st.plans)))
	}
	for range programWorkers {
		p.bursts = append(p.bursts, rapid.IntRange(1, 5).Draw(rt, "burst"))
		p.wait = append(p.wait, rapid.IntRange(0, 2).Draw(rt, "wait"))
		var ts []trip
		for range rapid.IntRange(0, 4).Draw(rt, "trips") {
			ts = append(ts, trip{rapid.IntRange(0, 30).Draw(rt, "at"), rapid.IntRange(0, trips-1).Draw(rt, "trip"), rapid.IntRange(0, 3).Draw(rt, "arg")})
		}
		p.trips = append(p.trips, ts)
	}
	p.stopAt = int64(rapid.IntRange(-20, 60).Draw(rt, "stop"))
	return p
}

func (p *program) drawStage(src uint64, after *queue.Queue) *stage {
	rt, st := p.rt, &stage{src: src, late: after, p: p}
	c := schedule.QueueConfig{
		Name:        fmt.Sprint(src),
		Sync:        rapid.SampledFrom(syncs).Draw(rt, "sync"),
		Priority:    schedule.Level(rapid.IntRange(0, 7).Draw(rt, "priority")),
		Group:       rapid.SampledFrom(p.groups).Draw(rt, "group"),
		Size:        512,
		IgnoreOrder: rapid.IntRange(0, 7).Draw(rt, "ignore order") == 0,
		Context:     st,
	}
	if c.Sync == schedule.Ordered {
		c.Locks = rapid.IntRange(0, 2).Draw(rt, "locks")
	}
	var err error
	st.q, err = p.s.NewQueue(c)
	p.check(err)
	return st
}

func (p *program) drawPlans(st *stage) {
	rt := p.rt
	for range rapid.IntRange(1, 40).Draw(rt, "events") {
		st.plans = append(st.plans, plan{
			fate:  rapid.SampledFrom([]fate{pass, pass, pass, drop, double, late}).Draw(rt, "fate"),
			delay: rapid.IntRange(0, 7).Draw(rt, "delay"),
			locks: uint32(rapid.IntRange(0, 1<<st.q.Locks()-1).Draw(rt, "uses locks")),
			await: rapid.IntRange(0, 7).Draw(rt, "order wait") == 0,
		})
	}
	if st.feed = rapid.IntRange(0, feeds-1).Draw(rt, "feed"); st.feed == polled {
		st.gaps = rapid.SliceOfN(rapid.IntRange(0, 6), 1, 8).Draw(rt, "gaps")
		st.gaps = append(st.gaps, 1)
	}
}

// judge compares what came out with what one thread would have made.
func (p *program) judge() {
	got := map[uint64][]uint64{}
	for _, st := range p.stages() {
		if st.out == nil {
			continue
		}
		for _, v := range p.empty(st.out) {
			got[v>>32] = append(got[v>>32], v)
		}
	}
	lates := map[uint64]bool{}
	for _, v := range p.empty(p.sources[0].late) {
		if lates[v] {
			p.rt.Fatalf("event %x, sent after Release, came twice", v)
		}
		lates[v] = true
	}
	for _, st := range p.sources {
		p.judgeSource(st, got[st.src], lates)
	}
	if len(lates) != 0 {
		p.rt.Fatalf("%d events came after Release that were not sent so", len(lates))
	}
}

func (p *program) judgeSource(st *stage, have []uint64, lates map[uint64]bool) {
	var want, all []uint64
	var locks [schedule.MaxLocks][]uint64
	for i, pl := range st.plans {
		v := value(st.src, i, 0)
		all = append(all, v)
		switch pl.fate {
		case pass:
			want = append(want, v)
		case double:
			want = append(want, v, v+1)
		case late:
			if !lates[v] {
				p.rt.Fatalf("queue %d: event %d, sent after Release, is missing", st.src, i)
			}
			delete(lates, v)
		}
		for k := range st.q.Locks() {
			if pl.locks>>k&1 != 0 {
				locks[k] = append(locks[k], v)
			}
		}
	}
	if !p.keepsOrder(st) {
		slices.Sort(have)
	}
	if !slices.Equal(have, want) {
		p.rt.Fatalf("queue %d (%v): events %x came out, the model has %x", st.src, st.q.Sync(), have, want)
	}
	if st.q.Sync() == schedule.Atomic && !slices.Equal(st.seen, all) {
		p.rt.Fatalf("atomic queue %d was served as %x, want %x", st.src, st.seen, all)
	}
	for k := range st.q.Locks() {
		if !slices.Equal(st.locks[k], locks[k]) {
			p.rt.Fatalf("lock %d of queue %d was entered as %x, want %x", k, st.src, st.locks[k], locks[k])
		}
	}
}

// keepsOrder: what leaves the program from this stage leaves in its order.
func (p *program) keepsOrder(st *stage) bool {
	if st.q.Sync() == schedule.Parallel {
		return false
	}
	if st.next == nil {
		return true
	}
	return st.next.q.Sync() != schedule.Parallel && !(st.q.Sync() == schedule.Ordered && st.next.q.Info().IgnoreOrder)
}

// stages are the sources, and the middle.
func (p *program) stages() []*stage {
	all := slices.Clone(p.sources)
	if p.middle != nil {
		all = append(all, p.middle)
	}
	return all
}

func (p *program) empty(q *queue.Queue) (v []uint64) {
	var ev [32]*buffer.Event
	for {
		n, err := q.Dequeue(nil, ev[:])
		p.check(err)
		if n == 0 {
			return v
		}
		for _, e := range ev[:n] {
			v = append(v, val(e))
		}
		p.free(ev[:n]...)
	}
}
