// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/invariants"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/queue/ring"
	"github.com/odp-go/godp/worker"
)

// sink is a destination of one's own: it awaits the turn, then appends under a lock.
type sink struct {
	mu   sync.Mutex
	got  []uint64
	free func(ev ...*buffer.Event)
	cap  int // accepts at most so many per call, 0 = all
}

func (k *sink) Enqueue(w *worker.Worker, ev []*buffer.Event) (int, error) {
	w.AwaitTurn()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cap != 0 && len(ev) > k.cap {
		ev = ev[:k.cap]
	}
	for _, e := range ev {
		k.got = append(k.got, val(e))
	}
	k.free(ev...)
	return len(ev), nil
}

// plain is a plain queue.
type plain struct{ *ring.MPMC }

func (p plain) Enqueue(w *worker.Worker, ev []*buffer.Event) (int, error) {
	w.AwaitTurn()
	return p.EnqueueEvents(ev), nil
}

// send hands all events over, however often the destination is full.
func send(w *worker.Worker, d queue.Dest, ev []*buffer.Event) {
	for len(ev) > 0 {
		n, _ := d.Enqueue(w, ev)
		if ev = ev[n:]; n == 0 {
			runtime.Gosched()
		}
	}
}

// delay takes a while that differs from call to call.
func delay(rnd *rand.Rand) {
	switch rnd.IntN(20) {
	case 0:
		time.Sleep(time.Duration(rnd.IntN(200)) * time.Microsecond)
	case 1, 2, 3:
		runtime.Gosched()
	}
}

// TestOrder: events of an ordered or atomic queue reach a plain destination, a
// scheduled queue and a destination of one's own in their order, with four workers that
// take different times, drop some events, and take a full destination for an answer.
func TestOrder(t *testing.T) {
	const workers = 4
	n := 3000
	switch {
	case *heavy:
		n = 20000
	case testing.Short():
		n = 700
	}
	for _, y := range []Sync{Atomic, Ordered} {
		for _, dest := range []string{"own", "plain", "scheduled"} {
			for _, burst := range []int{1, 4, 32} {
				t.Run(y.String()+"/"+dest, func(t *testing.T) {
					r := newRig(t, workers+1, n, Config{})
					src := r.queue(QueueConfig{Name: "src", Sync: y, Size: n})
					out := &sink{free: r.free, cap: 5}
					var mid *Queue
					var d queue.Dest = out
					switch dest {
					case "plain":
						p := plain{ring.NewMPMC(64)}
						d = p
						stop := make(chan struct{})
						var wg sync.WaitGroup
						wg.Add(1)
						go func() {
							defer wg.Done()
							ev := make([]*buffer.Event, 16)
							for {
								k := p.DequeueEvents(ev)
								if k > 0 {
									send(nil, out, ev[:k])
									continue
								}
								select {
								case <-stop:
									return
								default:
									runtime.Gosched()
								}
							}
						}()
						defer func() { close(stop); wg.Wait() }()
					case "scheduled":
						mid = r.queue(QueueConfig{Name: "mid", Sync: Ordered, Size: n, Priority: Highest})
						d = mid
					}
					var dropped atomic.Int64
					r.fill(nil, src, 0, n)
					wait := r.workers(workers, func(w *worker.Worker) {
						rnd := rand.New(rand.NewPCG(uint64(w.ID()), 1))
						ev := make([]*buffer.Event, burst)
						for {
							k, q, err := r.s.Schedule(w, ev, -1)
							if err != nil {
								return
							}
							delay(rnd)
							if w.ID() == 0 && rnd.IntN(50) == 0 {
								time.Sleep(300 * time.Microsecond)
							}
							if q == mid {
								send(w, out, ev[:k])
								continue
							}
							keep := ev[:0:burst]
							for _, e := range ev[:k] {
								if val(e)%7 == 3 {
									r.free(e)
									dropped.Add(1)
									continue
								}
								keep = append(keep, e)
							}
							if rnd.IntN(4) == 0 && len(keep) > 1 {
								send(w, d, keep[:1])
								delay(rnd)
								keep = keep[1:]
							}
							send(w, d, keep)
							if burst == 4 {
								r.s.Release(w)
							}
							delay(rnd)
						}
					})
					eventually(t, "all events come out", func() bool {
						out.mu.Lock()
						defer out.mu.Unlock()
						return len(out.got)+int(dropped.Load()) == n
					})
					r.set.Stop()
					wait()
					last := -1
					for _, v := range out.got {
						if int(v) <= last {
							t.Fatalf("burst %d: %d after %d", burst, v, last)
						}
						last = int(v)
					}
				})
			}
		}
	}
}

// The seeded disorder of a parallel queue is seen by the same check.
func TestParallelHasNoOrder(t *testing.T) {
	r := newRig(t, 2, 8, Config{Stash: -1})
	a, b := r.join(), r.join()
	q := r.queue(QueueConfig{})
	out := &sink{free: r.free}
	r.fill(nil, q, 0, 2)
	ea, eb := make([]*buffer.Event, 1), make([]*buffer.Event, 1)
	r.s.Schedule(a, ea, 0)
	r.s.Schedule(b, eb, 0)
	send(b, out, eb)
	send(a, out, ea)
	if len(out.got) != 2 || out.got[0] != 1 {
		t.Errorf("got %v", out.got)
	}
	r.leave(a)
	r.leave(b)
}

func TestOrderIgnore(t *testing.T) {
	r := newRig(t, 2, 8, Config{Stash: -1})
	a, b := r.join(), r.join()
	src := r.queue(QueueConfig{Sync: Ordered})
	dst := r.queue(QueueConfig{IgnoreOrder: true, Priority: Highest})
	r.fill(nil, src, 0, 2)
	ea, eb := make([]*buffer.Event, 1), make([]*buffer.Event, 1)
	r.s.Schedule(a, ea, 0)
	r.s.Schedule(b, eb, 0)
	send(b, dst, eb) // would wait for a for ever
	send(a, dst, ea)
	r.s.Release(a)
	if v, _ := r.get(a, 2); len(v) != 2 || v[0] != 1 {
		t.Errorf("got %v", v)
	}
	r.leave(a)
	r.leave(b)
}

// A worker that drops its events and goes on does not wait for older contexts,
// and those end in order all the same.
func TestReleaseBeforeTurn(t *testing.T) {
	const n = 300 // more than the window of noted contexts
	r := newRig(t, 2, n+1, Config{Stash: -1})
	a, b := r.join(), r.join()
	src := r.queue(QueueConfig{Sync: Ordered, Locks: 2})
	out := &sink{free: r.free}
	r.fill(nil, src, 0, n)
	held := make([]*buffer.Event, 1)
	if k, _, _ := r.s.Schedule(a, held, 0); k != 1 {
		t.Fatal("no event")
	}
	for i := 1; i < 60; i++ {
		if v, _ := r.get(b, 1); !equal(v, i, i+1) {
			t.Fatalf("event %d: %v", i, v)
		}
		r.s.Release(b)
	}
	last := make([]*buffer.Event, 1)
	r.s.Schedule(b, last, 0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.s.OrderLock(b, 1)
		r.s.OrderUnlock(b, 1)
		send(b, out, last)
		r.s.Release(b)
	}()
	select {
	case <-done:
		t.Fatal("a later context passed an older one")
	case <-time.After(5 * time.Millisecond):
	}
	send(a, out, held)
	r.s.Release(a)
	within(t, done, "the turn passes over contexts that have ended")
	if len(out.got) != 2 || out.got[0] != 0 || out.got[1] != 60 {
		t.Errorf("got %v", out.got)
	}
	for i := 61; i < n; i++ {
		r.get([]*worker.Worker{a, b}[i%2], 1)
	}
	r.leave(a)
	r.leave(b)
}

// A lock that an ended context did not use is free for the next one, although the
// oldest context, which has left the lock, goes on.
func TestLockPassesEndedContext(t *testing.T) {
	r := newRig(t, 2, 3, Config{})
	a, b := r.join(), r.join()
	src := r.queue(QueueConfig{Sync: Ordered, Locks: 1})
	r.fill(nil, src, 0, 3)
	r.get(a, 1)
	r.s.OrderLock(a, 0)
	r.s.OrderUnlock(a, 0)
	r.get(b, 1)
	r.get(b, 1) // ends the second context, which took no lock
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.s.OrderLock(b, 0)
		r.s.OrderUnlock(b, 0)
	}()
	within(t, done, "the third context gets the lock")
	r.leave(b)
	r.leave(a)
}

func TestOrderLocks(t *testing.T) {
	n := 5000
	if testing.Short() {
		n = 1000
	}
	const workers = 4
	r := newRig(t, workers, n, Config{})
	src := r.queue(QueueConfig{Sync: Ordered, Locks: 2, Size: n})
	r.fill(nil, src, 0, n)
	var in [2][]uint64
	var count atomic.Int64
	wait := r.workers(workers, func(w *worker.Worker) {
		rnd := rand.New(rand.NewPCG(uint64(w.ID()), 2))
		ev := make([]*buffer.Event, 3)
		for {
			k, _, err := r.s.Schedule(w, ev, -1)
			if err != nil {
				return
			}
			delay(rnd)
			first := val(ev[0])
			for i := range in {
				if first%5 == uint64(i) { // does not use this lock: it is passed on
					continue
				}
				r.s.OrderLock(w, i)
				in[i] = append(in[i], first)
				r.s.OrderUnlock(w, i)
				delay(rnd)
			}
			r.free(ev[:k]...)
			if int(count.Add(int64(k))) == n {
				r.set.Stop()
			}
		}
	})
	wait()
	for i := range in {
		for j := 1; j < len(in[i]); j++ {
			if in[i][j] <= in[i][j-1] {
				t.Fatalf("lock %d: %d entered after %d", i, in[i][j], in[i][j-1])
			}
		}
		if len(in[i]) == 0 {
			t.Errorf("lock %d was never taken", i)
		}
	}
}

func TestOrderWait(t *testing.T) {
	r := newRig(t, 2, 2, Config{Stash: -1})
	a, b := r.join(), r.join()
	r.s.OrderWait(a) // no context: nothing to wait for
	src := r.queue(QueueConfig{Sync: Ordered})
	r.fill(nil, src, 0, 2)
	r.get(a, 1)
	r.s.OrderWait(a)
	r.get(b, 1)
	var released atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.s.OrderWait(b)
		if !released.Load() {
			t.Error("OrderWait returned before the older context was released")
		}
	}()
	time.Sleep(2 * time.Millisecond)
	released.Store(true)
	r.s.Release(a)
	within(t, done, "OrderWait returns")
	r.leave(a)
	r.leave(b)
}

// Wrong use of ordered locks is a bug, and says which.
func TestOrderLockMisuse(t *testing.T) {
	r := newRig(t, 1, 2, Config{})
	w := r.join()
	src := r.queue(QueueConfig{Name: "src", Sync: Ordered, Locks: 1})
	expect := func(what string, f func()) {
		t.Helper()
		defer func() {
			if v, _ := recover().(string); !strings.Contains(v, what) {
				t.Errorf("panic %q, want one about %q", v, what)
			}
		}()
		f()
	}
	expect("holds no event", func() { r.s.OrderLock(w, 0) })
	r.fill(nil, src, 0, 2)
	r.get(w, 1)
	expect("has 1 locks", func() { r.s.OrderLock(w, 1) })
	expect("has 1 locks", func() { r.s.OrderLock(w, -1) })
	expect("not held", func() { r.s.OrderUnlock(w, 0) })
	r.s.OrderLock(w, 0)
	expect("allowed once", func() { r.s.OrderLock(w, 0) })
	if invariants.Enabled {
		r.s.OrderUnlock(w, 0) // to keep it is a failure then, see TestChecksOfContexts
	}
	r.get(w, 1) // the lock that is still held ends with the context
	r.s.OrderLock(w, 0)
	r.s.OrderUnlock(w, 0)
	r.leave(w)
}

// Two workers never have events of one atomic queue at the same time.
func TestAtomicity(t *testing.T) {
	const workers, rounds = 4, 3000
	for _, burst := range []int{1, 8} {
		r := newRig(t, workers, 100, Config{})
		var qs []*Queue
		busy := map[*Queue]*atomic.Int32{}
		for i := range 3 {
			q := r.queue(QueueConfig{Sync: Atomic})
			qs = append(qs, q)
			busy[q] = new(atomic.Int32)
			r.fill(nil, q, i*30, i*30+30)
		}
		var total atomic.Int64
		wait := r.workers(workers, func(w *worker.Worker) {
			rnd := rand.New(rand.NewPCG(uint64(w.ID()), 3))
			ev := make([]*buffer.Event, burst)
			for w.Running() {
				n, q, err := r.s.Schedule(w, ev, -1)
				if err != nil {
					return
				}
				if !busy[q].CompareAndSwap(0, 1) {
					t.Error("two workers in one atomic queue")
				}
				delay(rnd)
				busy[q].Store(0)
				send(w, qs[rnd.IntN(len(qs))], ev[:n])
				if total.Add(int64(n)) > rounds {
					r.set.Stop()
				}
			}
		})
		wait()
		w := r.join()
		r.set.Stop()
		if v := r.drain(w); len(v) != 90 {
			t.Errorf("burst %d: %d of 90 events are left", burst, len(v))
		}
		r.leave(w)
	}
}
