// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/worker"
)

// kit is a set with joined workers that the test plays one after the other.
func kit(t testing.TB, n int) (*worker.Set, []*worker.Worker) {
	t.Helper()
	set, err := worker.NewSet(n)
	if err != nil {
		t.Fatal(err)
	}
	ws := make([]*worker.Worker, n)
	for i := range ws {
		if ws[i], err = set.Join(worker.KindWorker); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, w := range ws {
			w.Leave()
		}
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	return set, ws
}

func mustNew(t testing.TB, set *worker.Set, cfg Config) *Queue {
	t.Helper()
	q, err := New(set, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	return q
}

// events returns n events that are only carried, never touched.
func events(n int) []*buffer.Event {
	ev := make([]*buffer.Event, n)
	for i := range ev {
		ev[i] = buffer.FromID(uint32(i + 1))
	}
	return ev
}

func ids(ev []*buffer.Event) []uint32 {
	out := make([]uint32, len(ev))
	for i, e := range ev {
		out[i] = e.ID()
	}
	return out
}

func TestConfig(t *testing.T) {
	set, _ := kit(t, 1)
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Name: "a", EnqMode: Disabled, DeqMode: Disabled}, "both Disabled"},
		{Config{Name: "a", EnqMode: 3}, "EnqMode 3: allowed MT, MTUnsafe, Disabled"},
		{Config{Name: "a", DeqMode: 9}, "DeqMode 9: allowed"},
		{Config{Name: "a", Size: -1}, "Size -1: allowed 1 to 268435456, or 0 for 4096"},
		{Config{Name: "a", Size: MaxSize + 1}, "Size 268435457"},
		{Config{Name: "a", Size: 64, Threshold: 65}, "Threshold 65: allowed 0 (off) to the size, 64"},
		{Config{Name: "a", Threshold: -1}, "Threshold -1"},
		{Config{Name: "a", NonBlocking: 3}, "NonBlocking 3: allowed"},
	} {
		q, err := New(set, c.cfg)
		if err == nil || q != nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), `queue "a": `) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
	if _, err := New(nil, Config{}); err == nil || !strings.Contains(err.Error(), "worker set") {
		t.Errorf("nil set: %v", err)
	}
	if Lookup(set, "a") != nil {
		t.Error("a refused queue is found")
	}
	for _, p := range []struct {
		c       Config
		p, most Progress
		kind    kind
	}{
		{Config{}, Blocking, Blocking, mpmc}, {Config{}, LockFree, Blocking, lockFree}, {Config{}, WaitFree, Blocking, waitFree},
		{Config{DeqMode: MTUnsafe}, Blocking, Blocking, mpsc}, {Config{DeqMode: MTUnsafe}, LockFree, Blocking, lockFree},
		{Config{EnqMode: MTUnsafe}, LockFree, LockFree, spmc}, {Config{EnqMode: MTUnsafe}, WaitFree, LockFree, waitFree},
		{Config{EnqMode: MTUnsafe, DeqMode: MTUnsafe}, WaitFree, WaitFree, spsc}, {Config{EnqMode: Disabled, DeqMode: MT}, LockFree, LockFree, spmc},
	} {
		p.c.NonBlocking = p.p
		if q := mustNew(t, set, p.c); q.kind != p.kind || MaxProgress(p.c.EnqMode, p.c.DeqMode) != p.most || q.Info().NonBlocking != p.p {
			t.Errorf("%+v: kind %d, want %d", p.c, q.kind, p.kind)
		}
	}
}

func TestInfo(t *testing.T) {
	set, _ := kit(t, 1)
	q := mustNew(t, set, Config{})
	if got, want := q.Info(), (Config{Size: DefaultSize}); got != want {
		t.Errorf("default: %+v, want %+v", got, want)
	}
	q = mustNew(t, set, Config{Name: "out", Size: 100, EnqMode: MTUnsafe, DeqMode: Disabled, NonBlocking: WaitFree, IgnoreOrder: true, Threshold: 7, Context: "mine"})
	if got, want := q.Info(), (Config{Name: "out", Size: 128, EnqMode: MTUnsafe, DeqMode: Disabled, NonBlocking: WaitFree, IgnoreOrder: true, Threshold: 7, Context: "mine"}); got != want {
		t.Errorf("info: %+v, want %+v", got, want)
	}
	if q.Name() != "out" || q.Cap() != 128 || q.Context() != "mine" {
		t.Errorf("%q %d %v", q.Name(), q.Cap(), q.Context())
	}
	if q.SetContext(42); q.Context() != 42 || q.Info().Context != 42 {
		t.Errorf("context %v", q.Context())
	}
	for _, s := range []fmt.Stringer{MT, MTUnsafe, Disabled, Mode(7), Blocking, LockFree, WaitFree, Progress(8)} {
		if s.String() == "" {
			t.Error("no name")
		}
	}
}

func TestLookup(t *testing.T) {
	set, _ := kit(t, 1)
	other, _ := kit(t, 1)
	long := strings.Repeat("long", 100)
	a, _ := New(set, Config{Name: "same"})
	b, _ := New(set, Config{Name: "same"})
	l := mustNew(t, set, Config{Name: long})
	mustNew(t, set, Config{})
	if Lookup(set, "same") != a || Lookup(set, long) != l || Lookup(set, "") != nil || Lookup(other, "same") != nil {
		t.Error("wrong queue found")
	}
	for _, q := range []*Queue{a, a, b} {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
		if q == a && Lookup(set, "same") != b {
			t.Error("the second queue of the name is not found")
		}
	}
	if Lookup(set, "same") != nil {
		t.Error("a closed queue is found")
	}
	// many at a time, each found
	var qs []*Queue
	for i := range 1024 {
		q, err := New(set, Config{Name: fmt.Sprintf("queue-%025d", i), Size: 1})
		if err != nil {
			t.Fatal(err)
		}
		qs = append(qs, q)
	}
	for i, q := range qs {
		if Lookup(set, fmt.Sprintf("queue-%025d", i)) != q {
			t.Fatalf("queue %d is not found", i)
		}
	}
	for _, q := range qs {
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if l.Close(); names.sets[set] != nil {
		t.Errorf("names are kept after the last close: %v", names.sets[set])
	}
}

// TestBurst fills and empties queues of every mode with every burst length: first in
// first out, the declared size fits, Len never runs backwards.
func TestBurst(t *testing.T) {
	set, ws := kit(t, 1)
	for _, w := range []*worker.Worker{ws[0], nil} {
		for i := range 12 {
			enq, deq, progress := []Mode{MT, MTUnsafe}[i&1], []Mode{MT, MTUnsafe}[i>>1&1], Progress(i>>2)
			{
				const size = 256
				q := mustNew(t, set, Config{Size: size, EnqMode: enq, DeqMode: deq, NonBlocking: progress})
				out := make([]*buffer.Event, size+1)
				if n, err := q.Dequeue(w, out); n != 0 || err != nil || q.Len() != 0 {
					t.Fatalf("%v %v: an empty queue gave %d, %v", enq, deq, n, err)
				}
				for _, burst := range []int{1, 3, 32, size / 4, size} {
					in := events(size)
					for i := 0; i < size; i += burst {
						if n, err := q.Enqueue(w, in[i:min(i+burst, size)]); n != min(burst, size-i) || err != nil {
							t.Fatalf("%v %v: at %d: %d, %v", enq, deq, i, n, err)
						}
						if q.Len() != min(i+burst, size) {
							t.Fatalf("%v %v: Len %d after %d", enq, deq, q.Len(), i+burst)
						}
					}
					if n, err := q.Enqueue(w, in[:2]); n != 0 || err != nil {
						t.Fatalf("%v %v: a full queue took %d, %v", enq, deq, n, err)
					}
					got := 0
					for {
						n, err := q.Dequeue(w, out[got:min(got+burst, len(out))])
						if err != nil {
							t.Fatal(err)
						}
						if got += n; n == 0 {
							break
						}
						if q.Len() != size-got {
							t.Fatalf("Len %d, want %d", q.Len(), size-got)
						}
					}
					if !slices.Equal(ids(out[:got]), ids(in)) {
						t.Fatalf("%v %v: burst %d: order lost", enq, deq, burst)
					}
				}
				if s, want := q.Stats(), (Stats{Enqueued: 5 * size, Dequeued: 5 * size, Full: 5}); s != want {
					t.Fatalf("stats %+v, want %+v", s, want)
				}
				// partial
				in := events(size)
				if n, _ := q.Enqueue(w, in[:size-3]); n != size-3 {
					t.Fatal(n)
				}
				if n, err := q.Enqueue(w, in[:10]); n != 3 || err != nil {
					t.Fatalf("partial: %d, %v", n, err)
				}
				if n, _ := q.Dequeue(w, out); n != size || out[size-1].ID() != 3 {
					t.Fatalf("partial: %d", n)
				}
			}
		}
	}
}

func TestDisabled(t *testing.T) {
	set, ws := kit(t, 1)
	for _, w := range []*worker.Worker{ws[0], nil} {
		in := mustNew(t, set, Config{DeqMode: Disabled})
		ev := events(3)
		if n, err := in.Enqueue(w, ev); n != 3 || err != nil {
			t.Fatal(n, err)
		}
		if n, err := in.Dequeue(w, ev); n != 0 || err != ErrDisabled {
			t.Fatalf("Dequeue: %d, %v", n, err)
		}
		if n := in.take(nil, ev); n != 3 { // so that it can be closed
			t.Fatal(n)
		}
		out := mustNew(t, set, Config{EnqMode: Disabled, Threshold: 4})
		if n, err := out.Enqueue(w, ev); n != 0 || err != ErrDisabled {
			t.Fatalf("Enqueue: %d, %v", n, err)
		}
		if n, err := out.EnqueueNew(w, ev); n != 0 || err != ErrDisabled {
			t.Fatalf("EnqueueNew: %d, %v", n, err)
		}
		if n, err := out.Dequeue(w, ev); n != 0 || err != nil {
			t.Fatalf("Dequeue: %d, %v", n, err)
		}
	}
}

func TestEnqueueNew(t *testing.T) {
	set, ws := kit(t, 1)
	for _, w := range []*worker.Worker{ws[0], nil} {
		off := mustNew(t, set, Config{Size: 16})
		if n, err := off.EnqueueNew(w, events(20)); n != 16 || err != nil {
			t.Fatalf("without a threshold: %d, %v", n, err)
		}
		q := mustNew(t, set, Config{Size: 16, Threshold: 10})
		for _, step := range []struct{ offer, want int }{{4, 4}, {4, 4}, {4, 2}, {4, 0}} {
			if n, err := q.EnqueueNew(w, events(step.offer)); n != step.want || err != nil {
				t.Fatalf("offered %d at %d: %d, %v", step.offer, q.Len(), n, err)
			}
		}
		if n, err := q.Enqueue(w, events(5)); n != 5 || err != nil {
			t.Fatalf("a forwarding enqueue was held back: %d, %v", n, err)
		}
		if n, err := q.EnqueueNew(w, events(1)); n != 0 || err != nil || q.Len() != 15 {
			t.Fatalf("above the threshold: %d, %v", n, err)
		}
		out := make([]*buffer.Event, 16)
		if n, _ := q.Dequeue(w, out[:6]); n != 6 {
			t.Fatal(n)
		}
		if n, err := q.EnqueueNew(w, events(3)); n != 1 || err != nil {
			t.Fatalf("after a dequeue: %d, %v", n, err)
		}
		if s := q.Stats(); s.Refused != 4 || s.Full != 0 {
			t.Fatalf("stats %+v", s)
		}
		q.Dequeue(w, out)
		off.Dequeue(w, out)
	}
}

// TestOrder: an enqueue by a worker that is not in turn waits, unless the queue ignores order.
func TestOrder(t *testing.T) {
	set, ws := kit(t, 2)
	w := ws[1]
	q, free := mustNew(t, set, Config{}), mustNew(t, set, Config{IgnoreOrder: true})
	var serving relax.Uint32
	w.Turn = worker.Turn{Serving: &serving, Ticket: 1}
	done := make(chan struct{})
	go func() {
		free.Enqueue(w, events(1))
		q.Enqueue(w, events(1))
		close(done)
	}()
	for deadline := time.Now().Add(30 * time.Second); free.Len() == 0; {
		if time.Now().After(deadline) {
			t.Fatal("the queue that ignores order waited for the turn")
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond) // gives a wrong Enqueue the time to be seen
	if q.Len() != 0 {
		t.Error("enqueued out of turn")
	}
	serving.StoreSeq(1)
	<-done
	if q.Len() != 1 || !w.Turn.InTurn {
		t.Error("not enqueued in turn")
	}
	w.Turn = worker.Turn{}
	out := make([]*buffer.Event, 4)
	q.Dequeue(w, out)
	free.Dequeue(w, out)
}

func TestClose(t *testing.T) {
	set, ws := kit(t, 1)
	for _, w := range []*worker.Worker{ws[0], nil} {
		q, _ := New(set, Config{Name: "box", Size: 8, Threshold: 8})
		q.Enqueue(w, events(5))
		if err := q.Close(); err == nil || err.Error() != `queue "box": close: 5 events are in it: dequeue them, or Drain` {
			t.Fatalf("close of a full queue: %v", err)
		}
		if n, err := q.Enqueue(w, events(1)); n != 1 || err != nil {
			t.Fatalf("the queue is not open after a refused close: %d, %v", n, err)
		}
		out := make([]*buffer.Event, 8)
		if n, err := q.Dequeue(w, out); n != 6 || err != nil {
			t.Fatal(n, err)
		}
		for range 2 {
			if err := q.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := q.Enqueue(w, events(1)); n != 0 || !errors.Is(err, ErrClosed) {
			t.Errorf("Enqueue: %d, %v", n, err)
		}
		if n, err := q.EnqueueNew(w, events(1)); n != 0 || !errors.Is(err, ErrClosed) {
			t.Errorf("EnqueueNew: %d, %v", n, err)
		}
		if n, err := q.Dequeue(w, out); n != 0 || !errors.Is(err, ErrClosed) {
			t.Errorf("Dequeue: %d, %v", n, err)
		}
		if q.Len() != 0 || Lookup(set, "box") != nil {
			t.Error("closed queue has a length or a name")
		}
	}
}

// TestDrain: the events go back to their pool.
func TestDrain(t *testing.T) {
	set, ws := kit(t, 1)
	p, err := buffer.NewPool(set, buffer.PoolConfig{Name: "p", Type: buffer.TypeBuffer, Size: 64, Num: 256})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []*worker.Worker{ws[0], nil} {
		for _, c := range []Config{{}, {EnqMode: MTUnsafe, DeqMode: MTUnsafe}, {DeqMode: Disabled}} {
			q, _ := New(set, c)
			b := make([]*buffer.Buffer, 100)
			if n := p.AllocBuffers(w, b); n != len(b) {
				t.Fatal(n)
			}
			for _, b := range b {
				q.Enqueue(w, []*buffer.Event{&b.Event})
			}
			ctx, cancel := context.WithCancel(context.Background())
			if w == nil { // the worker of the set is at work and passes no quiescent point
				cancel()
				if n, err := q.Drain(ctx, nil); n != 0 || !errors.Is(err, context.Canceled) {
					t.Fatalf("drain beside a worker at work: %d, %v", n, err)
				}
				stop := make(chan struct{})
				go func() {
					for {
						select {
						case <-stop:
							return
						default:
							ws[0].Quiesce()
						}
					}
				}()
				defer func() { stop <- struct{}{} }()
			}
			if n, err := q.Drain(context.Background(), w); n != 100 || err != nil {
				t.Fatalf("drain: %d, %v", n, err)
			}
			if n, err := q.Drain(context.Background(), w); n != 0 || err != nil {
				t.Fatalf("second drain: %d, %v", n, err)
			}
			if err := q.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := q.Enqueue(w, nil); err != ErrClosed {
				t.Fatal(err)
			}
			cancel()
			if p.Out() != 0 {
				t.Fatalf("%d buffers are out", p.Out())
			}
			if w == nil {
				break // one goroutine plays the worker
			}
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestNoAllocs(t *testing.T) {
	set, ws := kit(t, 1)
	for _, enq := range []Mode{MT, MTUnsafe} {
		for _, deq := range []Mode{MT, MTUnsafe} {
			q := mustNew(t, set, Config{Size: 64, EnqMode: enq, DeqMode: deq, Threshold: 60})
			ev := events(32)
			for _, w := range []*worker.Worker{ws[0], nil} {
				if n := testing.AllocsPerRun(100, func() {
					q.Enqueue(w, ev)
					q.EnqueueNew(w, ev)
					q.Dequeue(w, ev)
					q.Dequeue(w, ev)
					q.Len()
					q.Stats()
				}); n != 0 {
					t.Errorf("%v %v: %v allocations", enq, deq, n)
				}
			}
		}
	}
}
