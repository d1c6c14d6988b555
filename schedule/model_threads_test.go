// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/schedule"
	"github.com/odp-go/godp/worker"
	"pgregory.net/rapid"
)

// TestModelThreads runs random programs on several workers against a sequential model:
// events of queues of every kind and priority, enqueued, or polled from an input, are
// delayed, dropped, doubled, passed on through a second queue, or sent after Release, by
// workers that pause, change their groups, give back what they hold, leave and come again,
// or are stopped in the middle. What comes out must be what one thread would have made of
// it: for each ordered and atomic queue in its order, else as a set. A failure prints the
// seed of the program (-rapid.seed repeats it, the threads' timing aside).
func TestModelThreads(t *testing.T) {
	base := newKit(t, 2048)
	rounds := 1
	if heavy() {
		rounds = 100
	}
	for range rounds {
		rapid.Check(t, func(rt *rapid.T) {
			p := drawProgram(base, rt)
			defer p.tidy()
			p.run()
			p.judge()
		})
	}
}

func (p *program) fail(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed == "" {
		p.failed = fmt.Sprintf(format, args...)
	}
	p.set.Stop()
}

func (p *program) run() {
	total := p.left.Load()
	var wg sync.WaitGroup
	for _, st := range p.sources {
		switch st.feed {
		case upfront:
			p.produce(st, (*schedule.Queue).Enqueue)
		case meanwhile:
			wg.Go(func() { p.produce(st, (*schedule.Queue).Enqueue) })
		case fresh:
			wg.Go(func() { p.produce(st, (*schedule.Queue).EnqueueNew) })
		case polled:
			p.check(st.q.AttachSource(st))
		}
	}
	for i := range p.trips {
		w, err := p.set.Join(worker.KindWorker)
		p.check(err)
		wg.Go(func() { p.worker(w, i) })
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for end := time.Now().Add(alive); p.left.Load() > 0 && (p.stopAt < 0 || total-p.left.Load() < p.stopAt); runtime.Gosched() {
		if time.Now().After(end) {
			p.fail("%d of %d events did not come within %v", p.left.Load(), total, alive)
			break
		}
	}
	p.set.Stop()
	p.rest(done)
	if p.failed != "" {
		p.rt.Fatal(p.failed)
	}
	if n := p.left.Load(); n != 0 {
		p.rt.Fatalf("%d of %d events were never handled", n, total)
	}
}

// rest waits for the workers, and takes as one of them what a stop has left.
func (p *program) rest(done <-chan struct{}) {
	ev := make([]*buffer.Event, 4)
	serve := func(until func() bool) *worker.Worker {
		w, err := p.set.Join(worker.KindWorker)
		p.check(err)
		for _, g := range p.groups[1:] {
			p.check(g.Join(w))
		}
		for end := time.Now().Add(alive); !until(); {
			n, q, err := p.s.Schedule(w, ev, time.Millisecond)
			if n > 0 {
				p.handle(w, q, ev[:n])
				continue
			}
			if err != nil && !errors.Is(err, queue.ErrStopped) {
				p.fail("Schedule: %v", err)
			}
			if time.Now().After(end) {
				p.fail("%d events are left, %d workers are there", p.left.Load(), p.groups[0].Members())
				break
			}
			runtime.Gosched()
		}
		return w
	}
	p.leave(serve(func() bool { // the inputs are not polled: it is told to stop
		select {
		case <-done:
			return true
		default:
			return false
		}
	}))
	p.set.Restart()
	w := serve(func() bool { return p.left.Load() <= 0 })
	defer p.leave(w)
	var err error
	for n := 1; n > 0; { // the middle's
		var q *schedule.Queue
		if n, q, err = p.s.Schedule(w, ev, 0); n > 0 {
			p.handle(w, q, ev[:n])
		}
		p.check(err)
	}
	for _, st := range p.sources {
		if st.feed == polled {
			p.check(st.q.DetachSource(context.Background(), w))
		}
	}
}

// produce enqueues what the stage is to get.
func (p *program) produce(st *stage, enqueue func(*schedule.Queue, *worker.Worker, []*buffer.Event) (int, error)) {
	for i, pl := range st.plans {
		ev := []*buffer.Event{p.event(value(st.src, i, 0))}
		for end := time.Now().Add(alive); ; runtime.Gosched() {
			n, err := enqueue(st.q, nil, ev)
			if err != nil || time.Now().After(end) {
				p.fail("queue %d: event %d was not taken: %v", st.src, i, err)
				p.free(ev...)
				return
			}
			if n == 1 {
				break
			}
		}
		if st.feed != upfront {
			linger(pl.delay ^ i)
		}
	}
}

// Dequeue makes a stage a source of its own queue.
func (st *stage) Dequeue(_ *worker.Worker, ev []*buffer.Event) (int, error) {
	n := min(st.gaps[0], len(ev), len(st.plans)-st.given)
	st.gaps = append(st.gaps[1:], st.gaps[0])
	for i := range ev[:n] {
		ev[i] = st.p.event(value(st.src, st.given, 0))
		st.given++
	}
	return n, nil
}

func (p *program) leave(w *worker.Worker) {
	p.s.Leave(w)
	w.Leave()
}

// runner is a worker of the program.
type runner struct {
	*program
	w    *worker.Worker
	i    int
	ev   []*buffer.Event
	last *schedule.Queue
}

// worker is the main loop of worker i; worker 0 is in all groups, and stays.
func (p *program) worker(w *worker.Worker, i int) {
	r := &runner{program: p, w: w, i: i, ev: make([]*buffer.Event, p.bursts[i])}
	defer func() { p.leave(r.w) }()
	r.enter()
	wait := []time.Duration{0, time.Millisecond, -1}[p.wait[i]]
	for call := 0; ; call++ {
		for _, t := range p.trips[i] {
			if t.at == call && !r.trip(t) {
				return
			}
		}
		n, q, err := p.s.Schedule(r.w, r.ev, wait)
		if err != nil {
			if !errors.Is(err, queue.ErrStopped) || n != 0 {
				p.fail("Schedule: %d, %v", n, err)
			}
			return
		}
		if n > 0 {
			r.last = q
			p.handle(r.w, q, r.ev[:n])
		}
		if wait < 0 {
			for _, t := range p.trips[i] { // it may sleep for ever: the trips are now
				if t.at > call && t.at < call+8 && !r.trip(t) {
					return
				}
			}
			call += 7
		}
	}
}

func (r *runner) enter() {
	for k, g := range r.groups[1:] {
		if r.i == 0 || r.i&(k+1) != 0 {
			if err := g.Join(r.w); err != nil {
				r.fail("Join: %v", err)
			}
		}
	}
}

func (r *runner) ordered() bool { return r.last != nil && r.last.Sync() == schedule.Ordered }

// empty hands on what the worker holds, in order.
func (r *runner) handOn() {
	r.s.Pause(r.w)
	for {
		n, q, err := r.s.Schedule(r.w, r.ev, 0)
		if n == 0 {
			if err != nil && !r.w.Stopping() {
				r.fail("Schedule while paused: %v", err)
			}
			break
		}
		r.handle(r.w, q, r.ev[:n])
	}
	r.s.Resume(r.w)
}

func (r *runner) trip(t trip) bool {
	switch t.kind {
	case tripPause:
		r.handOn()
	case tripGroup:
		if r.i == 0 {
			break
		}
		g := r.groups[1+t.arg&1]
		change := g.Leave
		if t.arg&2 != 0 {
			change = g.Join
		}
		if err := change(r.w); err != nil {
			r.fail("group: %v", err)
		}
	case tripDrain:
		if r.ordered() { // Drain would give its events a new place
			r.handOn()
		}
		r.s.Drain(r.w)
	case tripLeave:
		if r.ordered() {
			r.handOn()
		}
		r.leave(r.w)
		w, err := r.set.Join(worker.KindWorker)
		if err != nil {
			r.fail("Join: %v", err)
			return true
		}
		r.w, r.last = w, nil
		r.enter()
	case tripRelease:
		r.s.Release(r.w)
	}
	return true
}

func linger(class int) {
	switch class & 7 {
	case 1:
		runtime.Gosched()
	case 2:
		for end := time.Now().Add(3 * time.Microsecond); time.Now().Before(end); {
		}
	case 3:
		time.Sleep(20 * time.Microsecond)
	}
}

// handle does with a burst what the plans say.
func (p *program) handle(w *worker.Worker, q *schedule.Queue, ev []*buffer.Event) {
	st := q.Context().(*stage)
	if st == p.middle {
		linger(int(val(ev[0]) >> 8))
		p.send(w, st.out, ev)
		return
	}
	if q.Sync() == schedule.Atomic {
		for _, e := range ev {
			st.seen = append(st.seen, val(e))
		}
	}
	p.enterLocks(w, st, ev)
	var after []*buffer.Event
	for _, e := range ev {
		v := val(e)
		pl := st.plans[v>>8&0xff]
		linger(pl.delay)
		if pl.await {
			p.s.OrderWait(w)
		}
		switch pl.fate {
		case pass:
			p.send(w, st.dest(), []*buffer.Event{e})
		case drop:
			p.free(e)
		case double:
			p.send(w, st.dest(), []*buffer.Event{e, p.event(v + 1)})
		case late:
			after = append(after, e)
		}
	}
	if after != nil {
		p.s.Release(w)
		p.send(w, st.late, after)
	}
	p.left.Add(-int64(len(ev)))
}

// enterLocks takes each ordered lock for the events of the burst that use it.
func (p *program) enterLocks(w *worker.Worker, st *stage, ev []*buffer.Event) {
	for i := range st.q.Locks() {
		var users []uint64
		for _, e := range ev {
			if v := val(e); st.plans[v>>8&0xff].locks>>i&1 != 0 {
				users = append(users, v)
			}
		}
		if users == nil {
			continue
		}
		linger(st.plans[users[0]>>8&0xff].delay ^ i) // who comes later may be here first
		p.s.OrderLock(w, i)
		st.locks[i] = append(st.locks[i], users...)
		p.s.OrderUnlock(w, i)
	}
}

func (st *stage) dest() queue.Dest {
	if st.next != nil {
		return st.next.q
	}
	return st.out
}

func (p *program) send(w *worker.Worker, to queue.Dest, ev []*buffer.Event) {
	if n, err := to.Enqueue(w, ev); n != len(ev) || err != nil {
		p.fail("Enqueue: %d of %d, %v", n, len(ev), err)
		p.free(ev[n:]...)
	}
}

// tidy ends the program; after a failure the events that are left are freed, for the next one.
func (p *program) tidy() {
	w, err := p.set.Join(worker.KindWorker)
	p.check(err)
	for _, g := range p.groups[1:] {
		_ = g.Join(w)
	}
	check := func(err error) {
		if err != nil && !p.rt.Failed() {
			p.rt.Error(err)
		}
	}
	for _, st := range p.stages() {
		if p.rt.Failed() && st.feed == polled {
			_ = st.q.DetachSource(context.Background(), w)
		}
	}
	ev := make([]*buffer.Event, 32)
	for n := 1; n > 0; {
		n, _, _ = p.s.Schedule(w, ev, 0)
		p.free(ev[:n]...)
	}
	p.leave(w)
	for _, st := range p.stages() {
		check(st.q.Close())
	}
	for _, q := range p.outs {
		p.empty(q)
		_ = q.Close()
	}
	for _, g := range p.groups[1:] {
		check(g.Close())
	}
	check(p.s.Close())
	check(p.set.Close())
}
