// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/schedule"
	"github.com/odp-go/godp/worker"
	"pgregory.net/rapid"
)

// TestModel runs random sequences of calls, by one goroutine in the role of several
// workers, against a model that knows no tokens: a list of events per queue, and who holds
// what. Every event must be the one that the model says, from a queue that no other is
// preferred to; nothing may come only when the model has nothing either; and a context
// whose turn it is in the model enqueues, and takes its ordered locks, without waiting.
// It sees the package from outside: what is documented, however it is done.
// A failure names the seed that repeats it (-rapid.seed).
func TestModel(t *testing.T) {
	base := newKit(t, 256)
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(base, rt)
		defer m.tidy()
		for range rapid.IntRange(1, 120).Draw(rt, "steps") {
			m.step()
		}
		m.end()
	})
}

const modelWorkers = 3

// modelQueue is a queue of the model. What a parallel one has is a set; its order is nobody's
// business.
type modelQueue struct {
	q          *schedule.Queue
	back, ring []uint64 // ring has all of a parallel queue
	stashed    int      // Parallel: of these, in the workers' stashes
	held       *modelWorker
	tickets    []*ticket // Ordered: contexts since the oldest that has not ended
}

func (q *modelQueue) is(y schedule.Sync) bool { return q.q.Sync() == y }
func (q *modelQueue) waiting() int            { return len(q.back) + len(q.ring) - q.stashed }

// ticket is an ordered context.
type ticket struct {
	ended    bool
	unlocked uint32 // locks taken and left
}

type modelWorker struct {
	w               *worker.Worker
	stash           []uint64
	count           int         // events in the stash of a parallel queue
	q               *modelQueue // of the stash and the context
	ctx             bool
	turn            *ticket
	paused, stopped bool
	groups          uint64
}

func (w *modelWorker) left() int { return len(w.stash) + w.count }

// inTurn: no older context of its queue is open.
func (w *modelWorker) inTurn() bool {
	return !w.ctx || w.turn == nil || w.q.tickets[0] == w.turn
}

type model struct {
	*kit
	rt     *rapid.T
	set    *worker.Set
	s      *schedule.Scheduler
	qs     []*modelQueue
	ws     []*modelWorker
	groups []*schedule.Group
	next   uint64
	out    map[*buffer.Event]bool // allocated
}

func (m *model) event(v uint64) *buffer.Event {
	e := m.kit.event(v)
	m.out[e] = true
	return e
}

func (m *model) free(ev ...*buffer.Event) {
	for _, e := range ev {
		if !m.out[e] {
			m.rt.Fatal("an event came twice")
		}
		delete(m.out, e)
		m.kit.free(e)
	}
}

// tidy is for a run that failed: the next one wants the events.
func (m *model) tidy() {
	for e := range m.out {
		m.kit.free(e)
	}
	m.set.Workers(func(w *worker.Worker) { w.Leave() })
	if err := m.set.Close(); err != nil && !m.rt.Failed() {
		m.rt.Error(err)
	}
}

func newModel(base *kit, rt *rapid.T) *model {
	m := &model{kit: base, rt: rt, out: map[*buffer.Event]bool{}}
	var err error
	m.set, err = worker.NewSet(modelWorkers)
	m.check(err)
	m.s, err = schedule.New(m.set, schedule.Config{
		Stash: rapid.SampledFrom([]int{-1, 3, 32}).Draw(rt, "stash"),
		Hold:  rapid.SampledFrom([]int{-1, 2, 16}).Draw(rt, "hold"),
	})
	m.check(err)
	m.groups = []*schedule.Group{m.s.All()}
	for range 2 {
		g, err := m.s.NewGroup("own")
		m.check(err)
		m.groups = append(m.groups, g)
	}
	for i := range rapid.IntRange(1, 5).Draw(rt, "queues") {
		c := schedule.QueueConfig{
			Name:        fmt.Sprint(i),
			Sync:        rapid.SampledFrom(syncs).Draw(rt, "sync"),
			Priority:    schedule.Level(rapid.IntRange(0, 7).Draw(rt, "priority")),
			Group:       rapid.SampledFrom(m.groups).Draw(rt, "group"),
			Size:        rapid.IntRange(1, 40).Draw(rt, "size"),
			IgnoreOrder: rapid.IntRange(0, 3).Draw(rt, "ignore order") == 0,
		}
		if c.Sync == schedule.Ordered {
			c.Locks = rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(rt, "locks")
		}
		q, err := m.s.NewQueue(c)
		m.check(err)
		m.qs = append(m.qs, &modelQueue{q: q})
	}
	for range modelWorkers {
		m.ws = append(m.ws, &modelWorker{w: m.join(), groups: 1})
	}
	return m
}

func (m *model) join() *worker.Worker {
	w, err := m.set.Join(worker.KindWorker)
	m.check(err)
	return w
}

func (m *model) step() {
	w := rapid.SampledFrom(m.ws).Draw(m.rt, "worker")
	q := rapid.SampledFrom(m.qs).Draw(m.rt, "queue")
	m.room(w)
	switch op := rapid.IntRange(0, 18).Draw(m.rt, "op"); op {
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
		if rapid.Bool().Draw(m.rt, "join again") {
			w.w.Leave()
			w.w, w.stopped = m.join(), false
		}
	case 11:
		m.lock(w)
	case 12:
		w.w.RequestStop()
		w.stopped = true
	default:
		m.schedule(w, rapid.OneOf(rapid.IntRange(1, 3), rapid.IntRange(1, 40)).Draw(m.rt, "burst"))
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

// room ends the oldest context of w's queue when very many later ones have ended: the
// scheduler remembers a limited number, and makes the next one wait.
func (m *model) room(w *modelWorker) {
	if !w.ctx || w.turn == nil || len(w.q.tickets) < 50 {
		return
	}
	for _, o := range m.ws {
		if o.ctx && o.turn == w.q.tickets[0] {
			m.s.Drain(o.w)
			m.giveUp(o)
			return
		}
	}
}

func (m *model) enqueue(w *modelWorker, q *modelQueue, k int) {
	from := w.w
	if !w.inTurn() && !m.ignores(q) { // it would wait for its turn
		from = nil
	}
	k = min(k, m.pool.Available())
	ev := make([]*buffer.Event, k)
	for i := range ev {
		ev[i] = m.event(m.next + uint64(i))
	}
	n, err := q.q.Enqueue(from, ev)
	m.check(err)
	have := len(q.ring) - q.stashed
	if want := min(k, q.q.Size()-have); n != want && !q.is(schedule.Parallel) || n > k || n < k && q.waiting()+n < q.q.Size() {
		m.rt.Fatalf("queue %s with %d of %d events accepted %d of %d", q.q.Name(), have, q.q.Size(), n, k)
	}
	for i := range n {
		q.ring = append(q.ring, m.next+uint64(i))
	}
	m.next += uint64(k)
	m.free(ev[n:]...)
}

// ignores reports whether the queue lets events in out of turn.
func (m *model) ignores(q *modelQueue) bool { return q.q.Info().IgnoreOrder }

// lock takes and leaves an ordered lock, if the model says that there is no wait.
func (m *model) lock(w *modelWorker) {
	if !w.ctx || w.turn == nil || w.q.q.Locks() == 0 {
		return
	}
	i := rapid.IntRange(0, w.q.q.Locks()-1).Draw(m.rt, "lock")
	for _, t := range w.q.tickets {
		if t == w.turn {
			break
		}
		if t.unlocked>>i&1 == 0 {
			return
		}
	}
	if w.turn.unlocked>>i&1 != 0 {
		return
	}
	w.turn.unlocked |= 1 << i
	m.s.OrderLock(w.w, i)
	m.s.OrderUnlock(w.w, i)
}

// release is the end of the context of the events in hand.
func (m *model) release(w *modelWorker) {
	if !w.ctx || len(w.stash) > 0 && w.q.is(schedule.Ordered) {
		return
	}
	m.putBack(w)
	if w.q.held == w {
		w.q.held = nil
	}
	if w.turn != nil {
		w.turn.ended = true
		for len(w.q.tickets) > 0 && w.q.tickets[0].ended {
			w.q.tickets = w.q.tickets[1:]
		}
	}
	w.ctx, w.turn = false, nil
}

func (m *model) putBack(w *modelWorker) {
	if w.left() == 0 {
		return
	}
	w.q.back = append(w.stash, w.q.back...)
	w.q.stashed -= w.count
	w.stash, w.count = nil, 0
}

func (m *model) giveUp(w *modelWorker) {
	m.putBack(w)
	m.release(w)
}

// may reports whether w can be given events of q.
func (m *model) may(w *modelWorker, q *modelQueue) bool {
	return !w.paused && q.waiting() > 0 && w.groups>>slices.Index(m.groups, q.q.Group())&1 != 0 && (q.held == nil || q.held == w)
}

func (m *model) schedule(w *modelWorker, burst int) {
	ev := make([]*buffer.Event, burst)
	n, from, err := m.s.Schedule(w.w, ev, 0)
	if errors.Is(err, queue.ErrStopped) != (w.stopped && n == 0) || err != nil && !errors.Is(err, queue.ErrStopped) {
		m.rt.Fatalf("%d events and %v, told to stop: %v", n, err, w.stopped)
	}
	var got []uint64
	for _, e := range ev[:n] {
		got = append(got, val(e))
	}
	m.free(ev[:n]...)
	if left := w.left(); left > 0 {
		if n != min(burst, left) || from != w.q.q {
			m.rt.Fatalf("worker %d got %v, its stash has %d events of queue %s", w.w.ID(), got, left, w.q.q.Name())
		}
		if w.q.is(schedule.Parallel) {
			w.count -= n
			w.q.stashed -= n
			m.remove(w.q, got)
			return
		}
		if !slices.Equal(got, w.stash[:n]) {
			m.rt.Fatalf("worker %d got %v, its stash begins with %v", w.w.ID(), got, w.stash[:n])
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
	q := m.qs[slices.IndexFunc(m.qs, func(q *modelQueue) bool { return q.q == from })]
	if !m.may(w, q) {
		m.rt.Fatalf("worker %d got %v of queue %s, which it may not", w.w.ID(), got, q.q.Name())
	}
	for _, o := range m.qs {
		if m.may(w, o) && o.q.Priority().Level() > q.q.Priority().Level() {
			m.rt.Fatalf("worker %d got %v of queue %s (%v), queue %s (%v) has events", w.w.ID(), got, q.q.Name(), q.q.Priority(), o.q.Name(), o.q.Priority())
		}
	}
	taken := q.waiting() - q.q.Len() // the rest of it is in the stash
	if limit := max(n, m.s.Config().Stash); taken < n || taken > limit {
		m.rt.Fatalf("%d events were taken to return %d, allowed %d", taken, n, limit)
	}
	w.q = q
	if q.is(schedule.Parallel) {
		w.count = taken - n
		q.stashed += w.count
		m.remove(q, got)
		return
	}
	m.take(w, q, got, taken)
}

// take moves the next events of an atomic or ordered queue to the worker.
func (m *model) take(w *modelWorker, q *modelQueue, got []uint64, taken int) {
	all := append(slices.Clone(q.back), q.ring...)[:taken]
	if k := min(taken, len(q.back)); k > 0 {
		q.back = q.back[k:]
		taken -= k
	}
	q.ring = q.ring[taken:]
	if !slices.Equal(got, all[:len(got)]) {
		m.rt.Fatalf("worker %d got %v of queue %s, which begins with %v", w.w.ID(), got, q.q.Name(), all)
	}
	w.stash, w.ctx = all[len(got):], true
	if q.is(schedule.Atomic) {
		q.held = w
	} else {
		w.turn = &ticket{}
		q.tickets = append(q.tickets, w.turn)
	}
}

// remove takes events out of a parallel queue's set.
func (m *model) remove(q *modelQueue, got []uint64) {
	for _, v := range got {
		i := slices.Index(q.ring, v)
		if i < 0 {
			m.rt.Fatalf("event %d of queue %s: the model has %v", v, q.q.Name(), q.ring)
		}
		q.ring = slices.Delete(q.ring, i, i+1)
	}
}

// end drains what is left: all of it must come.
func (m *model) end() {
	left := 0
	for _, w := range m.ws {
		m.giveUp(w)
		m.s.Leave(w.w)
		w.w.Leave()
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
	m.s.Leave(w)
	w.Leave()
	m.check(m.s.Close())
}
