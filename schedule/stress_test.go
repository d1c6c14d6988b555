// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// TestStopUnderLoad: events go round and round; the workers are told to stop; each
// leaves its main loop where it is. They end soon, and no event is lost.
func TestStopUnderLoad(t *testing.T) {
	const workers, queues, events = 4, 9, 40
	for _, burst := range []int{1, 16} {
		for _, idle := range []Idle{Adaptive, Busy} {
			r := newRig(t, workers+1, queues*events, Config{Idle: idle})
			var qs []*Queue
			for i := range queues {
				q := r.queue(QueueConfig{Sync: kinds[i%3], Priority: Level(i % 4), Size: queues * events})
				r.fill(nil, q, i*events, (i+1)*events)
				qs = append(qs, q)
			}
			var rounds atomic.Int64
			wait := r.workers(workers, func(w *worker.Worker) {
				rnd := rand.New(rand.NewPCG(uint64(w.ID()), 4))
				ev := make([]*buffer.Event, burst)
				for w.Running() {
					n, _, err := r.s.Schedule(w, ev, -1)
					if err != nil {
						return
					}
					send(w, qs[rnd.IntN(queues)], ev[:n])
					rounds.Add(1)
				}
			})
			eventually(t, "the load runs", func() bool { return rounds.Load() > 5000 })
			start := time.Now()
			r.set.Stop()
			wait()
			if d := time.Since(start); d > 2*time.Second {
				t.Errorf("stopping took %v", d)
			}
			w := r.join()
			seen := map[uint64]bool{}
			for _, v := range r.drain(w) {
				seen[v] = true
			}
			if len(seen) != queues*events {
				t.Errorf("burst %d: %d of %d events are left", burst, len(seen), queues*events)
			}
			for _, q := range qs {
				if err := q.Close(); err != nil {
					t.Error(err)
				}
			}
			r.leave(w)
		}
	}
}

// TestWakeIsNeverLost: single events with pauses in which workers go to sleep, sent
// from the control plane and from a worker, one group each.
func TestWakeIsNeverLost(t *testing.T) {
	n := 1000
	switch {
	case *heavy:
		n = 10000
	case testing.Short():
		n = 400
	}
	for _, y := range kinds {
		const workers = 3
		r := newRig(t, workers+1, 16, Config{Spin: time.Microsecond})
		g, _ := r.s.NewGroup("g")
		qs := []*Queue{r.queue(QueueConfig{Sync: y}), r.queue(QueueConfig{Sync: y, Group: g, Priority: Highest})}
		var got atomic.Int64
		wait := r.workers(workers, func(w *worker.Worker) {
			if w.ID() == 1 {
				if err := g.Join(w); err != nil {
					t.Error(err)
				}
			}
			ev := make([]*buffer.Event, 2)
			for {
				k, _, err := r.s.Schedule(w, ev, -1)
				if err != nil {
					return
				}
				r.free(ev[:k]...)
				got.Add(int64(k))
			}
		})
		producer := r.join()
		rnd := rand.New(rand.NewPCG(5, uint64(y)))
		for i := range n {
			from := producer
			if rnd.IntN(2) == 0 {
				from = nil
			}
			k := 1 + rnd.IntN(3)
			q := qs[rnd.IntN(2)]
			for range k {
				r.fill(from, q, i, i+1)
			}
			for end := time.Now().Add(liveness); r.pool.Available() != 16; runtime.Gosched() {
				if time.Now().After(end) {
					t.Fatalf("%v: %d events of round %d were not served within %v", y, 16-r.pool.Available(), i, liveness)
				}
			}
			for range rnd.IntN(50) {
				runtime.Gosched()
			}
		}
		r.set.Stop()
		wait()
		r.leave(producer)
		if r.s.Stats().Parks == 0 {
			t.Error("nobody ever slept")
		}
	}
}

// TestTokenIsNeverLost: a few events in flight, so that queues become empty and
// ready again all the time, while workers poll without sleep.
func TestTokenIsNeverLost(t *testing.T) {
	n := 200000
	if testing.Short() {
		n = 20000
	}
	each(t, func(t *testing.T, y Sync) {
		const window = 3
		r := newRig(t, 3, window, Config{Idle: Busy})
		qs := []*Queue{r.queue(QueueConfig{Sync: y, Size: window}), r.queue(QueueConfig{Sync: y, Size: window})}
		for i := range window {
			r.fill(nil, qs[i%2], i, i+1)
		}
		var got atomic.Int64
		wait := r.workers(2, func(w *worker.Worker) {
			ev := make([]*buffer.Event, 1)
			for i := 0; w.Running(); i++ {
				k, _, err := r.s.Schedule(w, ev, 10*time.Millisecond)
				if err != nil {
					return
				}
				send(w, qs[i%2], ev[:k])
				if int(got.Add(int64(k))) == n {
					r.set.Stop()
				}
			}
		})
		last := int64(-1)
		for end := time.Now(); got.Load() < int64(n); time.Sleep(time.Millisecond) {
			if g := got.Load(); g != last {
				last, end = g, time.Now().Add(liveness)
			} else if time.Now().After(end) {
				t.Fatalf("nothing moves any more after %d events", g)
			}
		}
		wait()
		w := r.join()
		if v := r.drain(w); len(v) != window {
			t.Errorf("%d of %d events are left", len(v), window)
		}
		r.leave(w)
	})
}

// A long event in one worker leaves the rest of the queue to the sleepers.
func TestSleepersHelp(t *testing.T) {
	r := newRig(t, 3, 64, Config{Spin: time.Microsecond})
	q := r.queue(QueueConfig{})
	var got, slow atomic.Int64
	release := make(chan struct{})
	wait := r.workers(3, func(w *worker.Worker) {
		ev := make([]*buffer.Event, 1)
		for {
			n, _, err := r.s.Schedule(w, ev, -1)
			if err != nil {
				return
			}
			first := val(ev[0]) == 0
			r.free(ev[:n]...)
			if first {
				slow.Add(1)
				<-release
			}
			got.Add(int64(n))
		}
	})
	eventually(t, "all sleep", func() bool { return r.s.Stats().Parks >= 3 })
	for i := range 20 {
		r.fill(nil, q, i, i+1)
		if i == 0 {
			eventually(t, "one is busy", func() bool { return slow.Load() == 1 })
		}
	}
	eventually(t, "the others serve the rest", func() bool { return got.Load() == 19 })
	close(release)
	eventually(t, "all done", func() bool { return got.Load() == 20 })
	r.set.Stop()
	wait()
}

// A worker that panics with events of each kind, inside a source too, gives back
// stash, token, turn and input; the others go on.
func TestPanicReleases(t *testing.T) {
	each(t, func(t *testing.T, y Sync) {
		for _, where := range []string{"handler", "lock", "source"} {
			if where == "lock" && y != Ordered {
				continue
			}
			r := newRig(t, 2, 60, Config{})
			cfg := QueueConfig{Sync: y}
			if where == "lock" {
				cfg.Locks = 1
			}
			q := r.queue(cfg)
			in := &input{r: r, panic: where == "source"}
			if err := q.AttachSource(in); err != nil {
				t.Fatal(err)
			}
			if where != "source" {
				r.fill(nil, q, 0, 50)
			}
			var inHand atomic.Int64
			wait := r.workers(1, func(w *worker.Worker) {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				ev := make([]*buffer.Event, 1)
				n, _, _ := r.s.Schedule(w, ev, -1)
				inHand.Store(int64(n))
				r.free(ev[:n]...)
				if where == "lock" {
					r.s.OrderLock(w, 0)
				}
				panic("handler")
			})
			wait()
			b := r.join()
			if where == "source" {
				in.put(50)
			}
			var got []uint64
			for {
				ev := make([]*buffer.Event, 1)
				n, _, err := r.s.Schedule(b, ev, 0)
				if err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					break
				}
				if where == "lock" {
					r.s.OrderLock(b, 0)
				}
				r.s.OrderWait(b)
				if where == "lock" {
					r.s.OrderUnlock(b, 0)
				}
				got = append(got, val(ev[0]))
				r.free(ev[:n]...)
			}
			if !equal(got, int(inHand.Load()), 50) {
				t.Errorf("%s: the other got %v", where, got)
			}
			detach(t, q, b)
			r.leave(b)
		}
	})
}

// TestChaos: every worker joins and leaves groups, pauses, drains, leaves and comes
// back, while events of all kinds go round. Nothing is lost or doubled.
func TestChaos(t *testing.T) {
	const workers, queues, events = 4, 12, 20
	rounds := 4000
	if testing.Short() {
		rounds = 800
	}
	r := newRig(t, workers+2, queues*events, Config{Spin: 5 * time.Microsecond, MinShare: 10, Hold: 3})
	g, _ := r.s.NewGroup("g")
	var qs []*Queue
	for i := range queues {
		cfg := QueueConfig{Sync: kinds[i%3], Priority: Level(i % Priorities), Size: queues * events}
		if i%4 == 0 {
			cfg.Group = g
		}
		q := r.queue(cfg)
		r.fill(nil, q, i*events, (i+1)*events)
		qs = append(qs, q)
	}
	var wait []func()
	for range workers {
		wait = append(wait, r.workers(1, func(w *worker.Worker) {
			rnd := rand.New(rand.NewPCG(uint64(w.ID()), 6))
			ev := make([]*buffer.Event, 8)
			for i := range rounds {
				n, _, err := r.s.Schedule(w, ev[:1+rnd.IntN(8)], time.Duration(rnd.IntN(2000))*time.Microsecond)
				if err != nil {
					t.Error(err)
				}
				send(w, qs[rnd.IntN(queues)], ev[:n])
				switch rnd.IntN(40) {
				case 0:
					err = g.Join(w)
				case 1:
					err = g.Leave(w)
				case 2:
					r.s.Drain(w)
				case 3:
					r.s.Pause(w)
					r.s.Drain(w)
					r.s.Resume(w)
				case 4:
					r.s.Release(w)
				case 5:
					r.s.Leave(w)
				case 6:
					r.s.OrderWait(w)
				}
				if err != nil {
					t.Error(i, err)
				}
			}
		}))
	}
	for _, f := range wait {
		f()
	}
	w := r.join()
	if err := g.Join(w); err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]int{}
	for _, v := range r.drain(w) {
		seen[v]++
	}
	if len(seen) != queues*events {
		t.Errorf("%d of %d events are left", len(seen), queues*events)
	}
	for v, n := range seen {
		if n != 1 {
			t.Errorf("event %d is there %d times", v, n)
		}
	}
	r.leave(w)
}

func TestNoAllocations(t *testing.T) {
	each(t, func(t *testing.T, y Sync) {
		for _, burst := range []int{1, 32} {
			r := newRig(t, 1, 100, Config{})
			w := r.join()
			q := r.queue(QueueConfig{Sync: y})
			r.fill(w, q, 0, 100)
			ev := make([]*buffer.Event, burst)
			n := testing.AllocsPerRun(1000, func() {
				k, q, _ := r.s.Schedule(w, ev, 0)
				q.Enqueue(w, ev[:k])
			})
			if n != 0 {
				t.Errorf("burst %d: %v allocations per round", burst, n)
			}
			r.drain(w)
			r.leave(w)
		}
	})
}

// TestLanes: workers enqueue to a parallel queue, into their lanes and beyond, and take from
// one another's; close refuses while something is left, and the queue goes on then.
func TestLanes(t *testing.T) {
	const workers, events = 3, 900
	rounds := 20000
	if testing.Short() {
		rounds = 3000
	}
	r := newRig(t, workers+1, events, Config{})
	qs := []*Queue{r.queue(QueueConfig{Size: events}), r.queue(QueueConfig{Size: events, Priority: Highest})}
	r.fill(nil, qs[0], 0, events)
	wait := r.workers(workers, func(w *worker.Worker) {
		rnd := rand.New(rand.NewPCG(uint64(w.ID()), 7))
		ev := make([]*buffer.Event, 40)
		for range rounds {
			n, _, err := r.s.Schedule(w, ev[:1+rnd.IntN(40)], 0)
			if err != nil {
				t.Error(err)
			}
			q := qs[0]
			if rnd.IntN(16) == 0 {
				q = qs[1]
			}
			send(w, q, ev[:n])
		}
	})
	for i := 0; qs[1].Len() == 0 && i < 1000; i++ {
		time.Sleep(10 * time.Microsecond)
	}
	if err := qs[0].Close(); err == nil {
		t.Error("a queue with events in its lanes was closed")
	}
	wait()
	w := r.join()
	if err := qs[0].Close(); err == nil {
		t.Error("a queue with events in its lanes was closed")
	}
	if v := r.drain(w); !same(Parallel, v, 0, events) {
		t.Errorf("%d of %d events are left", len(v), events)
	}
	for _, q := range qs {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
		e := r.event(0)
		if n, err := q.Enqueue(w, []*buffer.Event{e}); n != 0 || !errors.Is(err, queue.ErrClosed) {
			t.Errorf("a closed queue answers %d, %v", n, err)
		}
		r.free(e)
	}
	r.leave(w)
}
