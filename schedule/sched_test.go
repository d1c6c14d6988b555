// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// The behaviours that ODP's validation suite for the scheduler asserts.

func each(t *testing.T, f func(t *testing.T, y Sync)) {
	for _, y := range kinds {
		t.Run(y.String(), func(t *testing.T) { f(t, y) })
	}
}

func TestOneEvent(t *testing.T) {
	each(t, func(t *testing.T, y Sync) {
		r := newRig(t, 1, 4, Config{})
		w := r.join()
		q := r.queue(QueueConfig{Name: "q", Sync: y, Context: "ctx"})
		r.fill(w, q, 7, 8)
		if q.Len() != 1 {
			t.Errorf("Len is %d after one Enqueue", q.Len())
		}
		v, from := r.get(w, 4)
		if !equal(v, 7, 8) || from != q || from.Context() != "ctx" {
			t.Errorf("Schedule gave %v from %v", v, from)
		}
		if v := r.drain(w); v != nil {
			t.Errorf("then also %v", v)
		}
		if err := q.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if n, err := q.Enqueue(w, []*buffer.Event{nil}); n != 0 || !errors.Is(err, queue.ErrClosed) {
			t.Errorf("Enqueue after Close: %d, %v", n, err)
		}
		if err := q.Close(); !errors.Is(err, queue.ErrClosed) {
			t.Errorf("second Close: %v", err)
		}
		r.leave(w)
	})
}

func TestWait(t *testing.T) {
	for _, idle := range []Idle{Adaptive, Busy} {
		r := newRig(t, 1, 4, Config{Idle: idle})
		w := r.join()
		r.queue(QueueConfig{})
		start := time.Now()
		n, _, err := r.s.Schedule(w, make([]*buffer.Event, 1), 20*time.Millisecond)
		if d := time.Since(start); n != 0 || err != nil || d < 20*time.Millisecond {
			t.Errorf("Schedule with 20 ms gave %d, %v after %v", n, err, d)
		}
		r.leave(w)
	}
}

func TestFIFO(t *testing.T) {
	each(t, func(t *testing.T, y Sync) {
		for _, burst := range []int{1, 3, 32, 40} {
			r := newRig(t, 1, 151, Config{})
			w := r.join()
			q := r.queue(QueueConfig{Sync: y})
			r.fill(w, q, 0, 151)
			var got []uint64
			for len(got) < 151 {
				v, from := r.get(w, burst)
				if v == nil || from != q {
					t.Fatalf("burst %d: after %d events Schedule gave %v from %v", burst, len(got), v, from)
				}
				got = append(got, v...)
			}
			if !equal(got, 0, 151) {
				t.Errorf("burst %d: wrong order: %v", burst, got)
			}
			if st := r.s.Stats(); st.Events != 151 || st.Bursts < 4 || st.Bursts > 151 {
				t.Errorf("burst %d: %+v", burst, st)
			}
			r.leave(w)
		}
	})
}

func TestQueueSize(t *testing.T) {
	each(t, func(t *testing.T, y Sync) {
		for _, size := range []int{1, 2, 3, 32, 50} {
			r := newRig(t, 1, size+4, Config{})
			w := r.join()
			q := r.queue(QueueConfig{Sync: y, Size: size})
			for round := range 3 {
				ev := make([]*buffer.Event, size+4)
				for i := range ev {
					ev[i] = r.event(uint64(i))
				}
				n, err := q.Enqueue(w, ev)
				if n != size || err != nil || q.Len() != size {
					t.Fatalf("round %d: size %d accepted %d, %v; Len %d", round, size, n, err, q.Len())
				}
				if n, err := q.Enqueue(w, ev[size:]); n != 0 || err != nil {
					t.Errorf("full queue accepted %d, %v", n, err)
				}
				r.free(ev[size:]...)
				if v := r.drain(w); !equal(v, 0, size) {
					t.Errorf("round %d: size %d gave %v", round, size, v)
				}
			}
			if n, err := q.Enqueue(w, nil); n != 0 || err != nil {
				t.Errorf("Enqueue of nothing: %d, %v", n, err)
			}
			r.leave(w)
		}
	})
}

func TestPriority(t *testing.T) {
	for _, mix := range [][]Sync{{Parallel}, {Atomic}, {Ordered}, kinds} {
		for _, burst := range []int{1, 2, 8} {
			r := newRig(t, 2, 4*Priorities, Config{})
			w, helper := r.join(), r.join()
			for p := range Priorities { // the lowest first
				q := r.queue(QueueConfig{Sync: mix[p%len(mix)], Priority: Level(p)})
				from := []*worker.Worker{nil, w, helper}[p%3] // tokens in three different rings
				r.fill(from, q, 10*p, 10*p+4)
			}
			last, count := uint64(100), 0
			for _, v := range r.drain(w) {
				if v/10 > last/10 {
					t.Errorf("burst %d: %d after %d", burst, v, last)
				}
				last = v
				count++
			}
			if count != 4*Priorities {
				t.Errorf("burst %d: %d events", burst, count)
			}
			r.leave(w)
			r.leave(helper)
		}
	}
}

// A higher priority that arrives wins over the next refill of a queue that is held.
func TestPriorityBeforeRefill(t *testing.T) {
	each(t, func(t *testing.T, y Sync) {
		r := newRig(t, 1, 200, Config{})
		w := r.join()
		low := r.queue(QueueConfig{Sync: y, Priority: Default})
		high := r.queue(QueueConfig{Sync: y, Priority: Highest})
		r.fill(w, low, 0, 100)
		if v, q := r.get(w, 32); len(v) != 32 || q != low {
			t.Fatalf("%d events from %q", len(v), q.Name())
		}
		r.fill(nil, high, 200, 201)
		if v, q := r.get(w, 32); q != high {
			t.Errorf("with a higher priority ready Schedule gave %v", v)
		}
		if v := r.drain(w); !equal(v, 32, 100) {
			t.Errorf("then %v", v)
		}
		r.leave(w)
	})
}

func TestManyQueues(t *testing.T) {
	each(t, func(t *testing.T, y Sync) {
		const n = 300
		r := newRig(t, 1, 1, Config{MaxQueues: n})
		w := r.join()
		qs := make([]*Queue, n)
		for i := range qs {
			qs[i] = r.queue(QueueConfig{Sync: y, Size: 1, Priority: Level(i % Priorities)})
		}
		if _, err := r.s.NewQueue(QueueConfig{Name: "one"}); err == nil || !strings.Contains(err.Error(), "MaxQueues") {
			t.Errorf("one queue too many: %v", err)
		}
		ev := []*buffer.Event{r.event(5)}
		for i := range 4 * n {
			if k, err := qs[i%n].Enqueue(w, ev); k != 1 || err != nil {
				t.Fatal(k, err)
			}
			k, q, err := r.s.Schedule(w, ev, 0)
			if k != 1 || q != qs[i%n] || err != nil {
				t.Fatalf("step %d: %d from %v, %v", i, k, q, err)
			}
		}
		r.free(ev...)
		r.s.Drain(w)
		for _, q := range qs {
			if err := q.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for range n { // their places are free again
			r.queue(QueueConfig{Sync: y, Size: 1})
		}
		r.leave(w)
	})
}

// A closed queue whose token still lies in a ready ring does not block its place,
// and its token never serves the queue that takes the place.
func TestIndexReuse(t *testing.T) {
	r := newRig(t, 1, 8, Config{MaxQueues: 2})
	w := r.join()
	a := r.queue(QueueConfig{Sync: Atomic, Name: "a"})
	b := r.queue(QueueConfig{Sync: Atomic, Name: "b"})
	r.fill(w, a, 0, 1)
	r.get(w, 1)
	r.s.Release(w) // the token is dropped: a is empty
	r.fill(w, a, 1, 2)
	r.get(w, 1) // held
	r.fill(nil, b, 2, 3)
	if err := b.Close(); err == nil {
		t.Error("Close of a queue with an event succeeded")
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.s.NewQueue(QueueConfig{}); err == nil {
		t.Error("the place of a queue whose token is held was given away")
	}
	r.s.Release(w)
	c := r.queue(QueueConfig{Sync: Parallel, Name: "c"})
	r.fill(nil, c, 3, 4)
	seen := map[*Queue]int{}
	for range 4 {
		if v, q := r.get(w, 1); len(v) == 1 {
			seen[q]++
		}
	}
	if seen[b] != 1 || seen[c] != 1 || len(seen) != 2 {
		t.Errorf("events from %v", seen)
	}
	r.leave(w)
}

func TestPauseResume(t *testing.T) {
	each(t, func(t *testing.T, y Sync) {
		r := newRig(t, 1, 1010, Config{})
		w := r.join()
		q := r.queue(QueueConfig{Sync: y})
		r.fill(w, q, 0, 1000)
		var got []uint64
		for range 10 {
			v, _ := r.get(w, 1)
			got = append(got, v...)
		}
		r.s.Pause(w)
		r.fill(w, q, 1000, 1005)
		for {
			v, _ := r.get(w, 1)
			if v == nil {
				break
			}
			got = append(got, v...)
		}
		if len(got) > 10+stashMax {
			t.Errorf("%d events while paused", len(got)-10)
		}
		r.fill(w, q, 1005, 1010)
		if v, _ := r.get(w, 1); v != nil {
			t.Errorf("paused, and got %v", v)
		}
		if n, _, err := r.s.Schedule(w, make([]*buffer.Event, 1), time.Hour); n != 0 || err != nil {
			t.Errorf("paused Schedule with wait: %d, %v", n, err)
		}
		r.s.Resume(w)
		if got = append(got, r.drain(w)...); !equal(got, 0, 1010) {
			t.Errorf("got %d events: %v", len(got), got)
		}
		r.leave(w)
	})
}

// Drain and Leave give the stash back to the front of the queue.
func TestDrain(t *testing.T) {
	each(t, func(t *testing.T, y Sync) {
		for _, how := range []string{"drain", "leave", "gone", "park"} {
			r := newRig(t, 2, 50, Config{})
			a, b := r.join(), r.join()
			q := r.queue(QueueConfig{Sync: y})
			r.fill(a, q, 0, 50)
			var got []uint64
			for range 3 { // the last ones out of the stash
				v, _ := r.get(a, 1)
				got = append(got, v...)
			}
			switch how {
			case "drain":
				r.s.Drain(a)
			case "leave":
				r.leave(a)
				r.s.Leave(a)
			case "gone": // without a word to the scheduler: its successor cleans up
				a.Leave()
				a = r.join()
			case "park":
				a.Park(0, nil)
			}
			if q.Len() != 47 {
				t.Errorf("%s: Len is %d, want 47", how, q.Len())
			}
			if err := q.Close(); err == nil {
				t.Errorf("%s: a queue with events was closed", how)
			}
			if got = append(got, r.drain(b)...); !equal(got, 0, 50) {
				t.Errorf("%s: %v", how, got)
			}
			if err := q.Close(); err != nil {
				t.Error(err)
			}
			if how != "leave" {
				r.leave(a)
			}
			r.leave(b)
		}
	})
}

func TestRelease(t *testing.T) {
	r := newRig(t, 2, 10, Config{})
	a, b := r.join(), r.join()
	q := r.queue(QueueConfig{Sync: Atomic})
	r.fill(a, q, 0, 4)
	r.get(a, 1)
	if v, _ := r.get(b, 1); v != nil {
		t.Errorf("a second worker got %v of an atomic queue that is held", v)
	}
	r.s.Release(a)
	if v, _ := r.get(b, 1); !equal(v, 1, 2) {
		t.Errorf("after Release: %v", v)
	}
	r.s.Release(b)
	if v, _ := r.get(a, 1); !equal(v, 2, 3) {
		t.Errorf("after the second Release: %v", v)
	}
	r.s.Release(a)
	r.s.Release(a)
	if v := r.drain(b); !equal(v, 3, 4) {
		t.Errorf("at the end: %v", v)
	}
	r.leave(a)
	r.leave(b)
}

// Events fewer than workers are not taken by one into its stash.
func TestShare(t *testing.T) {
	r := newRig(t, 4, 4, Config{})
	q := r.queue(QueueConfig{})
	var ws []*worker.Worker
	for range 4 {
		w := r.join()
		ws = append(ws, w)
		r.get(w, 1) // known to the scheduler from here on
	}
	r.fill(nil, q, 0, 4)
	for i, w := range ws {
		if v, _ := r.get(w, 1); !equal(v, i, i+1) {
			t.Errorf("worker %d got %v", i, v)
		}
	}
	for _, w := range ws {
		r.leave(w)
	}
}

func TestThreshold(t *testing.T) {
	r := newRig(t, 1, 64, Config{Threshold: 10})
	w := r.join()
	a, b := r.queue(QueueConfig{}), r.queue(QueueConfig{Sync: Atomic})
	r.fill(w, a, 0, 5)
	r.fill(nil, b, 5, 9)
	one := []*buffer.Event{r.event(9)}
	if n, err := b.EnqueueNew(w, one); n != 1 || err != nil {
		t.Fatalf("EnqueueNew below the threshold: %d, %v", n, err)
	}
	one[0] = r.event(10)
	for _, who := range []*worker.Worker{w, nil} {
		if n, err := b.EnqueueNew(who, one); n != 0 || err != nil {
			t.Fatalf("EnqueueNew at the threshold: %d, %v", n, err)
		}
	}
	if n, err := a.Enqueue(w, one); n != 1 || err != nil {
		t.Fatalf("a forwarding Enqueue at the threshold: %d, %v", n, err)
	}
	if v := r.drain(w); len(v) != 11 {
		t.Errorf("%d events came out", len(v))
	}
	one[0] = r.event(11)
	if n, err := b.EnqueueNew(w, one); n != 1 || err != nil {
		t.Errorf("EnqueueNew after all came out: %d, %v", n, err)
	}
	r.get(w, 1)
	r.s.Drain(w)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	one[0] = r.event(12)
	if n, err := b.EnqueueNew(w, one); n != 0 || !errors.Is(err, queue.ErrClosed) {
		t.Errorf("EnqueueNew after Close: %d, %v", n, err)
	}
	r.free(one...)
	r.leave(w)
}

// With a minimum share the low priority gets its part of a saturated scheduler,
// without it nothing.
func TestMinShare(t *testing.T) {
	for _, share := range []int{0, 10, 50} {
		r := newRig(t, 1, 96, Config{MinShare: share})
		w := r.join()
		qs := []*Queue{r.queue(QueueConfig{Priority: Highest}), r.queue(QueueConfig{}), r.queue(QueueConfig{Priority: Lowest, Sync: Atomic})}
		for i, q := range qs {
			r.fill(w, q, 32*i, 32*i+32)
		}
		count := map[*Queue]int{}
		ev := make([]*buffer.Event, 32)
		const rounds = 2000
		for range rounds {
			n, q, err := r.s.Schedule(w, ev, 0)
			if n == 0 || err != nil {
				t.Fatal(n, err)
			}
			count[q] += n
			if k, _ := q.Enqueue(w, ev[:n]); k != n {
				t.Fatal("refused")
			}
		}
		low := count[qs[1]] + count[qs[2]]
		got := 100 * low / (low + count[qs[0]])
		if share == 0 && low != 0 || got < share-1 || got > share+5 {
			t.Errorf("share %d: the lower priorities got %d %%: %v", share, got, count)
		}
		if share != 0 && (count[qs[1]] == 0 || count[qs[2]] == 0) {
			t.Errorf("share %d: one priority got nothing: %v", share, count)
		}
		r.drain(w)
		r.leave(w)
	}
}

func TestStopped(t *testing.T) {
	each(t, func(t *testing.T, y Sync) {
		r := newRig(t, 1, 40, Config{})
		w := r.join()
		q := r.queue(QueueConfig{Sync: y})
		r.fill(nil, q, 0, 40)
		w.RequestStop()
		if v := r.drain(w); !equal(v, 0, 40) {
			t.Errorf("a worker that is to stop got %v", v)
		}
		for _, wait := range []time.Duration{0, time.Hour, -1} {
			if n, _, err := r.s.Schedule(w, make([]*buffer.Event, 1), wait); n != 0 || !errors.Is(err, queue.ErrStopped) {
				t.Errorf("wait %v: %d, %v", wait, n, err)
			}
		}
		r.leave(w)
	})
}

// The enqueues of several workers that take turns come out in order.
func TestFIFOManyProducers(t *testing.T) {
	each(t, func(t *testing.T, y Sync) {
		const n, producers = 400, 4
		r := newRig(t, producers+1, n, Config{})
		q := r.queue(QueueConfig{Sync: y})
		var mu sync.Mutex
		next := 0
		wait := r.workers(producers, func(w *worker.Worker) {
			for {
				mu.Lock()
				i := next
				if i < n {
					next++
					r.fill(w, q, i, i+1)
				}
				mu.Unlock()
				if i >= n {
					return
				}
			}
		})
		w := r.join()
		var got []uint64
		for end := time.Now().Add(liveness); len(got) < n && time.Now().Before(end); {
			v, _ := r.get(w, 3)
			got = append(got, v...)
		}
		wait()
		if !equal(got, 0, n) {
			t.Errorf("%d events, or not in order: %v", len(got), got)
		}
		r.leave(w)
	})
}

func TestConfigErrors(t *testing.T) {
	set, err := worker.NewSet(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Config{{Idle: 9}, {MaxQueues: -1}, {MaxQueues: MaxQueues + 1}, {Stash: 33}, {MinShare: 91}, {MinShare: -1}, {Threshold: -1}, {Spin: -1}} {
		if _, err := New(set, c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := New(nil, Config{}); !errors.Is(err, ErrConfig) {
		t.Errorf("no set: %v", err)
	}
	s, err := New(set, Config{})
	if err != nil {
		t.Fatal(err)
	}
	other, _ := New(set, Config{})
	for _, c := range []QueueConfig{{Sync: 3}, {Priority: Level(8)}, {Priority: Level(-1)}, {Group: other.All()}, {Size: -1},
		{Sync: Ordered, Locks: MaxLocks + 1}, {Sync: Ordered, Locks: -1}, {Locks: 1}, {Sync: Atomic, Locks: 1}} {
		if _, err := s.NewQueue(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, _, err := s.Schedule(nil, nil, 0); !errors.Is(err, ErrConfig) {
		t.Errorf("Schedule without a worker: %v", err)
	}
	set2, _ := worker.NewSet(1)
	w, _ := set2.Join(worker.KindWorker)
	if _, _, err := s.Schedule(w, nil, 0); !errors.Is(err, ErrConfig) {
		t.Errorf("Schedule by a worker of another set: %v", err)
	}
	w.Leave()
	for _, s := range []*worker.Set{set, set2} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for i := range Priorities {
		if p := Level(i); p.Level() != i || p.String() != fmt.Sprintf("priority %d", i) {
			t.Errorf("level %d is %v", i, p)
		}
	}
	if (Priority{}).Level() != 3 || Lowest.Level() != 0 || Highest.Level() != 7 || Default.Level() != 3 {
		t.Error("the named priorities are wrong")
	}
}

func TestClose(t *testing.T) {
	r := newRig(t, 1, 1, Config{})
	w := r.join()
	q := r.queue(QueueConfig{})
	if l := r.s.Queues(); len(l) != 1 || l[0] != q {
		t.Errorf("Queues: %v", l)
	}
	if err := r.s.Close(); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "1 queues") {
		t.Errorf("Close with a queue: %v", err)
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
	if l := r.s.Queues(); len(l) != 0 {
		t.Errorf("Queues after Close: %v", l)
	}
	if err := r.s.Close(); err != nil {
		t.Error(err)
	}
	if err := r.s.Close(); !errors.Is(err, ErrConfig) {
		t.Errorf("second Close: %v", err)
	}
	if n, _, err := r.s.Schedule(w, make([]*buffer.Event, 1), 0); n != 0 || err != nil {
		t.Errorf("Schedule after Close: %d, %v", n, err)
	}
	r.leave(w)
}
