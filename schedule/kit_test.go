// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

var heavy = flag.Bool("heavy", false, "many more rounds of the tests of order and of wake-ups")

// liveness is how long a test waits for something that must happen.
const liveness = 20 * time.Second

// rig is a scheduler with its set and a pool.
type rig struct {
	t    testing.TB
	set  *worker.Set
	s    *Scheduler
	pool *buffer.Pool
}

func newRig(t testing.TB, workers, events int, cfg Config) *rig {
	t.Helper()
	set, err := worker.NewSet(workers)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, set: set}
	if r.pool, err = buffer.NewPool(set, buffer.PoolConfig{Name: "test", Num: events, Size: 64, Cache: -1}); err != nil {
		t.Fatal(err)
	}
	if r.s, err = New(set, cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n := r.pool.Available(); n != r.pool.Num() && !t.Failed() {
			t.Errorf("%d of %d events did not come back", r.pool.Num()-n, r.pool.Num())
		}
		if err := r.pool.Close(); err != nil && !t.Failed() {
			t.Error(err)
		}
		if err := r.set.Close(); err != nil && !t.Failed() {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) queue(cfg QueueConfig) *Queue {
	r.t.Helper()
	q, err := r.s.NewQueue(cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	return q
}

func (r *rig) join() *worker.Worker {
	r.t.Helper()
	w, err := r.set.Join(worker.KindWorker)
	if err != nil {
		r.t.Fatal(err)
	}
	return w
}

func (r *rig) leave(w *worker.Worker) { r.s.Leave(w); w.Leave() }

// event makes an event that carries a number.
func (r *rig) event(v uint64) *buffer.Event {
	r.t.Helper()
	var k [1]*buffer.Packet
	if r.pool.AllocPackets(nil, k[:], 16) != 1 {
		r.t.Fatal("the pool is empty")
	}
	setVal(&k[0].Event, v)
	return &k[0].Event
}

func (r *rig) free(ev ...*buffer.Event) { r.pool.FreePackets(nil, buffer.PacketsOf(ev)) }

func setVal(e *buffer.Event, v uint64) { binary.LittleEndian.PutUint64(e.Packet().Data(), v) }
func val(e *buffer.Event) uint64       { return binary.LittleEndian.Uint64(e.Packet().Data()) }

// fill enqueues events numbered from ... to-1.
func (r *rig) fill(w *worker.Worker, q queue.Dest, from, to int) {
	r.t.Helper()
	for i := from; i < to; i++ {
		if n, err := q.Enqueue(w, []*buffer.Event{r.event(uint64(i))}); n != 1 || err != nil {
			r.t.Fatalf("Enqueue of event %d: %d, %v", i, n, err)
		}
	}
}

// get schedules without waiting and returns the numbers; the events are freed.
func (r *rig) get(w *worker.Worker, burst int) (v []uint64, q *Queue) {
	r.t.Helper()
	ev := make([]*buffer.Event, burst)
	n, q, err := r.s.Schedule(w, ev, 0)
	if err != nil && !errors.Is(err, queue.ErrStopped) {
		r.t.Fatal(err)
	}
	for _, e := range ev[:n] {
		v = append(v, val(e))
	}
	r.free(ev[:n]...)
	return v, q
}

// drain schedules until there is nothing and frees what comes.
func (r *rig) drain(w *worker.Worker) (v []uint64) {
	r.t.Helper()
	for {
		g, _ := r.get(w, 8)
		if g == nil {
			return v
		}
		v = append(v, g...)
	}
}

// workers runs f on n workers and waits for them; one that hangs fails the test.
func (r *rig) workers(n int, f func(w *worker.Worker)) (wait func()) {
	r.t.Helper()
	var wg sync.WaitGroup
	ws := make([]*worker.Worker, n)
	for i := range ws { // all of them before the first may leave: an id is free again then
		ws[i] = r.join()
	}
	for _, w := range ws {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer r.leave(w)
			f(w)
		}()
	}
	return func() {
		r.t.Helper()
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }()
		within(r.t, done, "the workers did not end")
	}
}

func within(t testing.TB, done <-chan struct{}, what string, args ...any) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(liveness):
		t.Fatalf("within %v: %s", liveness, fmt.Sprintf(what, args...))
	}
}

// eventually waits for a condition that must come true.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(liveness); !f(); {
		if time.Now().After(end) {
			t.Fatalf("within %v: %s", liveness, what)
		}
		time.Sleep(100 * time.Microsecond)
	}
}

func equal(a []uint64, from, to int) bool {
	if len(a) != to-from {
		return false
	}
	for i, v := range a {
		if v != uint64(from+i) {
			return false
		}
	}
	return true
}

// same is equal for a queue of kind y: a parallel one has no order.
func same(y Sync, a []uint64, from, to int) bool {
	if y == Parallel {
		a = slices.Sorted(slices.Values(a))
	}
	return equal(a, from, to)
}

var kinds = []Sync{Parallel, Atomic, Ordered}
