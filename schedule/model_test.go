// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
	"pgregory.net/rapid"
)

// TestModel runs random sequences of calls, by one goroutine in the role of several
// workers, against a model that knows no tokens: a list of events per queue, and who holds
// what. Every event must be the one that the model says, from a queue that no other is
// preferred to; and nothing may come only when the model has nothing either.
func TestModel(t *testing.T) {
	base := newRig(t, 1, 256, Config{})
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(base, rt)
		defer m.tidy()
		for range rapid.IntRange(1, 120).Draw(rt, "steps") {
			m.step()
		}
		m.end()
	})
}

type modelQueue struct {
	q          *Queue
	back, ring []uint64
	held       *modelWorker // atomic
}

func (q *modelQueue) waiting() int { return len(q.back) + len(q.ring) }

type modelWorker struct {
	w      *worker.Worker
	stash  []uint64
	q      *modelQueue // of the stash and the context
	ctx    bool
	paused bool
	groups uint64
}

type model struct {
	*rig
	rt     *rapid.T
	qs     []*modelQueue
	ws     []*modelWorker
	groups []*Group
	next   uint64
	out    map[*buffer.Event]bool // allocated
}

func (m *model) event(v uint64) *buffer.Event {
	e := m.rig.event(v)
	m.out[e] = true
	return e
}

func (m *model) free(ev ...*buffer.Event) {
	for _, e := range ev {
		if !m.out[e] {
			m.rt.Fatal("an event came twice")
		}
		delete(m.out, e)
		m.rig.free(e)
	}
}

// tidy is for a run that failed: the next one wants the events.
func (m *model) tidy() {
	for e := range m.out {
		m.rig.free(e)
	}
	m.set.Workers(func(w *worker.Worker) { w.Leave() })
	if err := m.set.Close(); err != nil && !m.rt.Failed() {
		m.rt.Error(err)
	}
}

func newModel(base *rig, rt *rapid.T) *model {
	cfg := Config{
		Stash: rapid.SampledFrom([]int{-1, 3, 32}).Draw(rt, "stash"),
		Hold:  rapid.SampledFrom([]int{-1, 2, 16}).Draw(rt, "hold"),
	}
	set, err := worker.NewSet(3)
	if err != nil {
		rt.Fatal(err)
	}
	s, err := New(set, cfg)
	if err != nil {
		rt.Fatal(err)
	}
	m := &model{rig: &rig{t: base.t, set: set, s: s, pool: base.pool}, rt: rt, out: map[*buffer.Event]bool{}}
	m.groups = []*Group{m.s.All()}
	for range 2 {
		g, err := m.s.NewGroup("own")
		if err != nil {
			rt.Fatal(err)
		}
		m.groups = append(m.groups, g)
	}
	for i := range rapid.IntRange(1, 5).Draw(rt, "queues") {
		c := QueueConfig{
			Name:     fmt.Sprint(i),
			Sync:     rapid.SampledFrom(kinds).Draw(rt, "sync"),
			Priority: Level(rapid.IntRange(0, 7).Draw(rt, "priority")),
			Group:    rapid.SampledFrom(m.groups).Draw(rt, "group"),
			Size:     rapid.IntRange(1, 40).Draw(rt, "size"),
		}
		m.qs = append(m.qs, &modelQueue{q: m.queue(c)})
	}
	for range 3 {
		m.ws = append(m.ws, &modelWorker{w: m.join(), groups: 1})
	}
	return m
}

func (m *model) step() {
	w := rapid.SampledFrom(m.ws).Draw(m.rt, "worker")
	q := rapid.SampledFrom(m.qs).Draw(m.rt, "queue")
	switch op := rapid.IntRange(0, 15).Draw(m.rt, "op"); op {
	case 0, 1, 2, 3, 4:
		m.enqueue(w, q, rapid.IntRange(1, 20).Draw(m.rt, "events"))
	case 5:
		m.s.Release(w.w)
		m.release(w)
	case 6:
		m.s.Pause(w.w)
		w.paused = true
	case 7:
		m.s.Resume(w.w)
		w.paused = false
	case 8:
		m.s.Drain(w.w)
		m.giveUp(w)
	case 9:
		i := rapid.IntRange(1, 2).Draw(m.rt, "group")
		if rapid.Bool().Draw(m.rt, "join") {
			w.groups |= 1 << i
			m.check(m.groups[i].Join(w.w))
		} else {
			w.groups &^= 1 << i
			m.check(m.groups[i].Leave(w.w))
		}
	case 10:
		m.s.Leave(w.w)
		m.giveUp(w)
		w.groups, w.paused = 1, false
	default:
		m.schedule(w, rapid.IntRange(1, 40).Draw(m.rt, "burst"))
	}
	for _, q := range m.qs {
		if n := q.q.Len(); n != q.waiting() {
			m.rt.Fatalf("queue %s: Len is %d, the model has %d", q.q.Name(), n, q.waiting())
		}
	}
}

func (m *model) check(err error) {
	if err != nil {
		m.rt.Fatal(err)
	}
}

func (m *model) enqueue(w *modelWorker, q *modelQueue, k int) {
	from := w.w
	if w.ctx && w.q.q.Sync() == Ordered { // it might wait for its turn
		from = nil
	}
	k = min(k, m.pool.Available())
	ev := make([]*buffer.Event, k)
	for i := range ev {
		ev[i] = m.event(m.next + uint64(i))
	}
	n, err := q.q.Enqueue(from, ev)
	m.check(err)
	if want := min(k, q.q.Size()-len(q.ring)); n != want {
		m.rt.Fatalf("queue %s with %d of %d events accepted %d of %d", q.q.Name(), len(q.ring), q.q.Size(), n, k)
	}
	for i := range n {
		q.ring = append(q.ring, m.next+uint64(i))
	}
	m.next += uint64(k)
	m.free(ev[n:]...)
}

// end of the context of the events in hand.
func (m *model) release(w *modelWorker) {
	if !w.ctx || len(w.stash) > 0 && w.q.q.Sync() == Ordered {
		return
	}
	if len(w.stash) > 0 {
		w.q.back = append(w.stash, w.q.back...)
		w.stash = nil
	}
	if w.q.held == w {
		w.q.held = nil
	}
	w.ctx = false
}

func (m *model) giveUp(w *modelWorker) {
	if len(w.stash) > 0 {
		w.q.back = append(w.stash, w.q.back...)
		w.stash = nil
	}
	m.release(w)
}

// may reports whether w can be given events of q.
func (m *model) may(w *modelWorker, q *modelQueue) bool {
	return !w.paused && q.waiting() > 0 && w.groups>>slices.Index(m.groups, q.q.Group())&1 != 0 && (q.held == nil || q.held == w)
}

func (m *model) schedule(w *modelWorker, burst int) {
	ev := make([]*buffer.Event, burst)
	n, from, err := m.s.Schedule(w.w, ev, 0)
	m.check(err)
	var got []uint64
	for _, e := range ev[:n] {
		got = append(got, val(e))
	}
	m.free(ev[:n]...)
	if len(w.stash) > 0 {
		if want := w.stash[:min(burst, len(w.stash))]; from != w.q.q || !slices.Equal(got, want) {
			m.rt.Fatalf("worker %d got %v, its stash begins with %v", w.w.ID(), got, want)
		}
		w.stash = w.stash[n:]
		return
	}
	m.release(w)
	if n == 0 {
		for _, q := range m.qs {
			if m.may(w, q) {
				m.rt.Fatalf("worker %d got nothing, queue %s has %d events", w.w.ID(), q.q.Name(), q.waiting())
			}
		}
		return
	}
	i := slices.IndexFunc(m.qs, func(q *modelQueue) bool { return q.q == from })
	q := m.qs[i]
	if !m.may(w, q) {
		m.rt.Fatalf("worker %d got %v of queue %s, which it may not", w.w.ID(), got, q.q.Name())
	}
	for _, o := range m.qs {
		if m.may(w, o) && o.q.Priority().Level() > q.q.Priority().Level() {
			m.rt.Fatalf("worker %d got %v of queue %s (%v), queue %s (%v) has events", w.w.ID(), got, q.q.Name(), q.q.Priority(), o.q.Name(), o.q.Priority())
		}
	}
	taken := q.waiting() - q.q.Len() // the rest of it is in the stash
	if taken < n || taken > max(n, stashMax) {
		m.rt.Fatalf("%d events were taken to return %d", taken, n)
	}
	var all []uint64
	for range taken {
		if len(q.back) > 0 {
			all, q.back = append(all, q.back[0]), q.back[1:]
		} else {
			all, q.ring = append(all, q.ring[0]), q.ring[1:]
		}
	}
	if !slices.Equal(got, all[:n]) {
		m.rt.Fatalf("worker %d got %v of queue %s, which begins with %v", w.w.ID(), got, q.q.Name(), all)
	}
	w.q, w.stash = q, all[n:]
	w.ctx = q.q.Sync() != Parallel
	if q.q.Sync() == Atomic {
		q.held = w
	}
}

// end drains what is left: all of it must come.
func (m *model) end() {
	left := 0
	for _, w := range m.ws {
		m.giveUp(w)
		m.leave(w.w)
	}
	for _, q := range m.qs {
		left += q.waiting()
	}
	w := m.join()
	for _, g := range m.groups[1:] {
		m.check(g.Join(w))
	}
	ev, got := make([]*buffer.Event, 8), 0
	for {
		n, _, err := m.s.Schedule(w, ev, 0)
		m.check(err)
		if n == 0 {
			break
		}
		got += n
		m.free(ev[:n]...)
	}
	if got != left || len(m.out) != 0 {
		m.rt.Fatalf("%d events came at the end and %d never, the model has %d", got, len(m.out), left)
	}
	for _, q := range m.qs {
		m.check(q.q.Close())
	}
	for _, g := range m.groups[1:] {
		m.check(g.Close())
	}
	m.leave(w)
	m.check(m.s.Close())
}
