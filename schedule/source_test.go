// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// input is a source: what is put in comes out, numbered by the rig. It fails the
// test when two poll it at a time, or one while it is armed.
type input struct {
	r     *rig
	mu    sync.Mutex
	n     int // events to give
	next  uint64
	wake  func()
	err   error
	busy  atomic.Int32
	polls atomic.Int64
	panic bool
}

func (in *input) Dequeue(w *worker.Worker, ev []*buffer.Event) (int, error) {
	if !in.busy.CompareAndSwap(0, 1) {
		in.r.t.Error("an input is polled by two workers, or while it is armed")
	}
	defer in.busy.Store(0)
	in.polls.Add(1)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.panic {
		in.panic = false
		panic("input")
	}
	n := min(in.n, len(ev))
	for i := range ev[:n] {
		ev[i] = in.r.event(in.next)
		in.next++
	}
	in.n -= n
	return n, in.err
}

func (in *input) put(n int) {
	in.mu.Lock()
	in.n += n
	wake := in.wake
	in.wake = nil
	in.mu.Unlock()
	if wake != nil {
		wake()
	}
}

// sleepy is an input on which a worker can sleep.
type sleepy struct {
	input
	due   time.Duration
	armed atomic.Int32
}

func (in *sleepy) Arm(wake func()) (int, time.Duration, bool) {
	if !in.busy.CompareAndSwap(0, 1) {
		in.r.t.Error("an input is armed while it is polled or armed")
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.wake = wake
	in.armed.Add(1)
	return -1, in.due, in.n > 0
}

func (in *sleepy) Disarm() {
	in.mu.Lock()
	in.wake = nil
	in.mu.Unlock()
	in.busy.Store(0)
}

func detach(t testing.TB, q *Queue, w *worker.Worker) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), liveness)
	defer cancel()
	if err := q.DetachSource(ctx, w); err != nil {
		t.Error(err)
	}
}

func TestSource(t *testing.T) {
	each(t, func(t *testing.T, y Sync) {
		r := newRig(t, 1, 100, Config{})
		w := r.join()
		q := r.queue(QueueConfig{Sync: y})
		in := &input{r: r}
		if err := q.AttachSource(in); err != nil {
			t.Fatal(err)
		}
		if q.AttachSource(in) == nil || q.Close() == nil {
			t.Error("a queue with a source was attached again, or closed")
		}
		if v, _ := r.get(w, 4); v != nil || in.polls.Load() == 0 {
			t.Errorf("an idle input gave %v after %d polls", v, in.polls.Load())
		}
		in.put(50)
		var got []uint64
		for len(got) < 50 {
			v, from := r.get(w, 4)
			if len(v) == 0 || len(v) > 4 || from != q {
				t.Fatalf("after %d: %v", len(got), v)
			}
			got = append(got, v...)
		}
		if !equal(got, 0, 50) {
			t.Errorf("got %v", got)
		}
		r.fill(w, q, 1000, 1040) // these come first
		in.put(5)
		if v := r.drain(w); len(v) != 45 || !equal(v[:40], 1000, 1040) || !equal(v[40:], 50, 55) {
			t.Errorf("events of the queue and of its source: %v", v)
		}
		detach(t, q, w)
		in.put(1)
		polls := in.polls.Load()
		if v := r.drain(w); v != nil || in.polls.Load() != polls {
			t.Errorf("a detached source was polled and gave %v", v)
		}
		if err := q.DetachSource(context.Background(), w); err == nil {
			t.Error("detached twice")
		}
		if err := q.AttachSource(in); err != nil {
			t.Error(err)
		}
		if v := r.drain(w); len(v) != 1 {
			t.Errorf("attached again: %v", v)
		}
		detach(t, q, w)
		if err := q.Close(); err != nil {
			t.Error(err)
		}
		if err := q.AttachSource(in); !errors.Is(err, queue.ErrClosed) {
			t.Errorf("attached to a closed queue: %v", err)
		}
		r.leave(w)
	})
}

// A source that answers with an error is not polled again, and what it gave is delivered.
func TestSourceError(t *testing.T) {
	r := newRig(t, 1, 4, Config{})
	w := r.join()
	q := r.queue(QueueConfig{Sync: Atomic})
	in := &input{r: r, n: 2, err: queue.ErrFaulted}
	if err := q.AttachSource(in); err != nil {
		t.Fatal(err)
	}
	if q.SourceErr() != nil {
		t.Error("an error before the first poll")
	}
	if v := r.drain(w); !equal(v, 0, 2) {
		t.Errorf("got %v", v)
	}
	if !errors.Is(q.SourceErr(), queue.ErrFaulted) || in.polls.Load() != 1 {
		t.Errorf("SourceErr %v, %d polls", q.SourceErr(), in.polls.Load())
	}
	detach(t, q, w)
	r.leave(w)
}

// Idle inputs of a high priority neither keep a queue of their own priority nor
// lower ones from being served, and Schedule without wait comes back.
func TestIdleInputs(t *testing.T) {
	for _, prio := range []Priority{Default, Lowest} {
		r := newRig(t, 1, 200, Config{})
		w := r.join()
		var ins []*input
		var qs []*Queue
		for i := range 64 {
			q := r.queue(QueueConfig{Sync: kinds[i%3], Priority: Default})
			in := &input{r: r}
			if err := q.AttachSource(in); err != nil {
				t.Fatal(err)
			}
			ins, qs = append(ins, in), append(qs, q)
		}
		q := r.queue(QueueConfig{Priority: prio})
		r.fill(nil, q, 0, 100)
		calls := 0
		var got []uint64
		for ; len(got) < 100 && calls < 1000; calls++ {
			v, _ := r.get(w, 1)
			got = append(got, v...)
		}
		if !equal(got, 0, 100) {
			t.Errorf("%v: %d events in %d calls", prio, len(got), calls)
		}
		ins[63].put(1) // every input has its turn
		n := 0
		for ; n < 100; n++ {
			if v, _ := r.get(w, 1); v != nil {
				break
			}
		}
		if n == 100 {
			t.Error("an input was not polled in 100 calls")
		}
		r.s.Drain(w)
		for _, q := range qs {
			detach(t, q, w)
		}
		r.leave(w)
	}
}

func TestSourceThreshold(t *testing.T) {
	r := newRig(t, 1, 20, Config{Threshold: 4})
	w := r.join()
	q := r.queue(QueueConfig{Priority: Highest})
	low := r.queue(QueueConfig{Priority: Lowest})
	in := &input{r: r, n: 3}
	if err := q.AttachSource(in); err != nil {
		t.Fatal(err)
	}
	r.fill(w, low, 100, 104)
	if v, from := r.get(w, 1); from != low || in.polls.Load() != 0 {
		t.Errorf("above the threshold: %v after %d polls", v, in.polls.Load())
	}
	if v := r.drain(w); len(v) != 6 {
		t.Errorf("got %v", v)
	}
	detach(t, q, w)
	r.leave(w)
}

// A worker that is to stop takes nothing new in, and leaves the input to the others.
func TestStoppingDoesNotPoll(t *testing.T) {
	r := newRig(t, 2, 8, Config{})
	a, b := r.join(), r.join()
	q := r.queue(QueueConfig{Sync: Ordered})
	in := &input{r: r, n: 4}
	if err := q.AttachSource(in); err != nil {
		t.Fatal(err)
	}
	r.fill(a, q, 100, 102)
	a.RequestStop()
	if v := r.drain(a); !equal(v, 100, 102) || in.polls.Load() != 0 {
		t.Errorf("told to stop: %v, %d polls", v, in.polls.Load())
	}
	if n, _, err := r.s.Schedule(a, make([]*buffer.Event, 1), -1); n != 0 || !errors.Is(err, queue.ErrStopped) {
		t.Errorf("then %d, %v", n, err)
	}
	if v := r.drain(b); !equal(v, 0, 4) {
		t.Errorf("the other got %v", v)
	}
	r.leave(a)
	detach(t, q, b)
	r.leave(b)
}

// spread is a poller that moves its events into several queues.
type spread struct {
	r    *rig
	to   []*Queue
	left int
	next uint64
	err  error
	busy atomic.Int32
}

func (k *spread) Poll(w *worker.Worker) (int, error) {
	if !k.busy.CompareAndSwap(0, 1) {
		k.r.t.Error("a poller is polled by two workers")
	}
	defer k.busy.Store(0)
	n := min(k.left, 8)
	for range n {
		q := k.to[int(k.next)%len(k.to)]
		k.r.fill(w, q, int(k.next), int(k.next)+1)
		k.next++
	}
	k.left -= n
	return n, k.err
}

func TestPoller(t *testing.T) {
	for _, prio := range []Priority{Lowest, Default, Highest} {
		const n = 4000
		r := newRig(t, 4, n, Config{})
		k := &spread{r: r, left: n}
		last := map[*Queue]*atomic.Int64{}
		for range 4 {
			q := r.queue(QueueConfig{Sync: Atomic, Size: n})
			k.to = append(k.to, q)
			last[q] = new(atomic.Int64)
			last[q].Store(-1)
		}
		pl, err := r.s.AddPoller("spread", nil, prio, k)
		if err != nil {
			t.Fatal(err)
		}
		var got atomic.Int64
		wait := r.workers(3, func(w *worker.Worker) {
			ev := make([]*buffer.Event, 7)
			for {
				m, q, err := r.s.Schedule(w, ev, -1)
				if err != nil {
					return
				}
				for _, e := range ev[:m] {
					if v := int64(val(e)); last[q].Swap(v) >= v {
						t.Errorf("%v: %d is out of order", prio, v)
					}
				}
				r.free(ev[:m]...)
				if got.Add(int64(m)) == n {
					r.set.Stop()
				}
			}
		})
		wait()
		if err := pl.Remove(context.Background(), nil); err != nil {
			t.Error(err)
		}
		if _, err := r.s.AddPoller("none", nil, prio, nil); err == nil {
			t.Error("no poller was accepted")
		}
	}
}

// One call without wait finds what a poller has moved to a higher priority.
func TestPollerUpwards(t *testing.T) {
	r := newRig(t, 1, 8, Config{})
	w := r.join()
	q := r.queue(QueueConfig{Priority: Highest})
	pl, err := r.s.AddPoller("up", nil, Lowest, &spread{r: r, to: []*Queue{q}, left: 8})
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := r.get(w, 8); !equal(v, 0, 8) {
		t.Errorf("got %v", v)
	}
	if err := pl.Remove(context.Background(), w); err != nil {
		t.Error(err)
	}
	r.leave(w)
}

// Workers that sleep on inputs are woken by them, by their due time, and by
// events that are enqueued to an input's queue; nobody polls an input meanwhile.
func TestSleepOnInputs(t *testing.T) {
	const workers, rounds = 3, 60
	r := newRig(t, workers, 64, Config{Spin: 20 * time.Microsecond})
	var ins []*sleepy
	var qs []*Queue
	for i := range 4 {
		q := r.queue(QueueConfig{Sync: kinds[i%3], Priority: Level(2 * i)})
		in := &sleepy{input: input{r: r}}
		if i == 3 {
			in.due = 3 * time.Millisecond
		}
		if err := q.AttachSource(in); err != nil {
			t.Fatal(err)
		}
		ins, qs = append(ins, in), append(qs, q)
	}
	bare := &input{r: r} // can't be slept on
	q := r.queue(QueueConfig{})
	if err := q.AttachSource(bare); err != nil {
		t.Fatal(err)
	}
	qs = append(qs, q)
	var got atomic.Int64
	wait := r.workers(workers, func(w *worker.Worker) {
		ev := make([]*buffer.Event, 4)
		for {
			n, _, err := r.s.Schedule(w, ev, -1)
			if err != nil {
				return
			}
			r.free(ev[:n]...)
			got.Add(int64(n))
		}
	})
	want := int64(0)
	for i := range rounds {
		if i%3 == 0 {
			time.Sleep(time.Millisecond) // all asleep
		}
		switch i % 6 {
		case 4:
			bare.put(1)
		case 5:
			r.fill(nil, qs[i%4], 0, 1)
		case 3: // without a wake: its due time finds it
			ins[3].mu.Lock()
			ins[3].n++
			ins[3].mu.Unlock()
		default:
			ins[i%3].put(1)
		}
		want++
		eventually(t, "the event comes out", func() bool { return got.Load() == want })
	}
	if r.s.Stats().Parks == 0 || ins[0].armed.Load() == 0 {
		t.Error("nobody slept on an input")
	}
	for _, q := range qs[1:] {
		detach(t, q, nil) // while workers sleep on them
	}
	ins[0].put(1)
	want++
	eventually(t, "an input is served after others were detached", func() bool { return got.Load() == want })
	r.set.Stop()
	wait()
	detach(t, qs[0], nil)
	for i, in := range ins {
		if in.busy.Load() != 0 {
			t.Errorf("input %d is armed at the end", i)
		}
	}
}

// A busy worker leaves the inputs to a sleeper: it may be busy for long.
func TestWatchIsHandedOver(t *testing.T) {
	r := newRig(t, 2, 8, Config{Spin: 20 * time.Microsecond})
	var ins [2]*sleepy
	var qs [2]*Queue
	for i := range ins {
		ins[i] = &sleepy{input: input{r: r}}
		qs[i] = r.queue(QueueConfig{Sync: Atomic})
		if err := qs[i].AttachSource(ins[i]); err != nil {
			t.Fatal(err)
		}
	}
	var got [2]atomic.Int64
	release := make(chan struct{})
	wait := r.workers(2, func(w *worker.Worker) {
		ev := make([]*buffer.Event, 1)
		for {
			n, q, err := r.s.Schedule(w, ev, -1)
			if err != nil {
				return
			}
			r.free(ev[:n]...)
			if q == qs[0] {
				got[0].Add(1)
				<-release
			} else {
				got[1].Add(1)
			}
		}
	})
	eventually(t, "both sleep", func() bool { return r.s.Stats().Parks >= 2 })
	ins[0].put(1)
	eventually(t, "one worker is busy", func() bool { return got[0].Load() == 1 })
	for i := range 3 {
		time.Sleep(time.Millisecond)
		ins[1].put(1)
		eventually(t, "the other serves the other input", func() bool { return got[1].Load() == int64(i+1) })
	}
	close(release)
	r.set.Stop()
	wait()
	for _, q := range qs {
		detach(t, q, nil)
	}
}

// slowInput gives its first event when another worker has gone to sleep meanwhile.
type slowInput struct {
	sleepy
	wait func()
}

func (in *slowInput) Dequeue(w *worker.Worker, ev []*buffer.Event) (int, error) {
	if in.wait != nil {
		in.wait()
		in.wait = nil
	}
	return in.sleepy.Dequeue(w, ev)
}

// Who gives a token back wakes a worker that went to sleep while it was away.
func TestGiveBackWakes(t *testing.T) {
	r := newRig(t, 2, 4, Config{Spin: time.Microsecond})
	q := r.queue(QueueConfig{})
	in := &slowInput{sleepy: sleepy{input: input{r: r, n: 1}}}
	a := r.join()
	var got atomic.Int64
	var other func()
	in.wait = func() {
		other = r.workers(1, func(w *worker.Worker) {
			ev := make([]*buffer.Event, 1)
			for {
				n, _, err := r.s.Schedule(w, ev, -1)
				if err != nil {
					return
				}
				r.free(ev[:n]...)
				got.Add(int64(n))
			}
		})
		eventually(t, "the other sleeps", func() bool { return r.s.Stats().Parks > 0 })
		time.Sleep(time.Millisecond)
	}
	if err := q.AttachSource(in); err != nil {
		t.Fatal(err)
	}
	if v, _ := r.get(a, 1); !equal(v, 0, 1) { // and is busy with it from here on
		t.Fatalf("got %v", v)
	}
	in.put(1)
	eventually(t, "the other serves the input", func() bool { return got.Load() == 1 })
	r.set.Stop()
	other()
	r.leave(a)
	detach(t, q, nil)
}
