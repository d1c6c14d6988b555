// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/testkit"
)

// nb is a non-blocking ring as one of its users sees it.
type nb interface {
	enqueue(me int, ids []uint32) int
	dequeue(me int, ids []uint32) int
	enqueueEvents(me int, ev []*buffer.Event) int
	dequeueEvents(me int, ev []*buffer.Event) int
	Len() int
	Total() (in, out uint64)
	Cap() int
}

type lf struct{ *LockFree }

func (r lf) enqueue(_ int, ids []uint32) int             { return r.Enqueue(ids) }
func (r lf) dequeue(_ int, ids []uint32) int             { return r.Dequeue(ids) }
func (r lf) enqueueEvents(_ int, ev []*buffer.Event) int { return r.EnqueueEvents(ev) }
func (r lf) dequeueEvents(_ int, ev []*buffer.Event) int { return r.DequeueEvents(ev) }

type wf struct{ *WaitFree }

func (r wf) enqueue(me int, ids []uint32) int             { return r.Enqueue(me, ids) }
func (r wf) dequeue(me int, ids []uint32) int             { return r.Dequeue(me, ids) }
func (r wf) enqueueEvents(me int, ev []*buffer.Event) int { return r.EnqueueEvents(me, ev) }
func (r wf) dequeueEvents(me int, ev []*buffer.Event) int { return r.DequeueEvents(me, ev) }

const nbUsers = 8

var nonBlocking = map[string]func(n int, pos uint64) nb{
	"LockFree": func(n int, pos uint64) nb { return lf{newLockFreeAt(n, pos)} },
	"WaitFree": func(n int, pos uint64) nb { return wf{newWaitFreeAt(n, nbUsers, pos)} },
}

// The rings against a slice, one user after the other, around all wraps of positions,
// laps and tags.
func TestNonBlockingModel(t *testing.T) {
	for name, at := range nonBlocking {
		for _, size := range []int{1, 2, 8, 64} {
			starts := []uint64{0, 1<<31 - 5, 1<<32 - 5, uint64(size)<<31 - 5, uint64(size)<<32 - 5, 1<<55 - 7, 1<<63 - 3}
			for _, pos := range starts {
				rnd := rand.New(rand.NewPCG(1, pos))
				r := at(size, pos)
				var model []uint32
				next := uint32(1)
				for step := range 300 {
					me, n := rnd.IntN(nbUsers), rnd.IntN(size+3)
					ids, ev := make([]uint32, n), make([]*buffer.Event, n)
					events := rnd.IntN(2) == 0
					if rnd.IntN(2) == 0 {
						for i := range ids {
							ids[i] = next + uint32(i)
							ev[i] = buffer.FromID(ids[i])
						}
						got := 0
						if events {
							got = r.enqueueEvents(me, ev)
						} else {
							got = r.enqueue(me, ids)
						}
						if want := min(n, size-len(model)); got != want {
							t.Fatalf("%s size %d from %d, step %d: %d of %d were accepted beside %d, want %d", name, size, pos, step, got, n, len(model), want)
						}
						model = append(model, ids[:got]...)
						next += uint32(got)
					} else {
						got := 0
						if events {
							if got = r.dequeueEvents(me, ev); got > 0 {
								for i, e := range ev[:got] {
									ids[i] = e.ID()
								}
							}
						} else {
							got = r.dequeue(me, ids)
						}
						if want := min(n, len(model)); got != want || !slices.Equal(ids[:got], model[:got]) {
							t.Fatalf("%s size %d from %d, step %d: got %v, want %v", name, size, pos, step, ids[:got], model[:want])
						}
						model = model[got:]
					}
					in, out := r.Total()
					if r.Len() != len(model) || in-out != uint64(len(model)) {
						t.Fatalf("%s size %d from %d, step %d: Len %d, Total %d-%d, want %d", name, size, pos, step, r.Len(), in, out, len(model))
					}
				}
			}
		}
	}
}

// Nothing lost, nothing doubled, the order of each producer kept, with more threads
// than CPUs, so that users are taken off their CPUs in the middle of their calls.
func TestNonBlockingStress(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(nbUsers))
	per := uint32(20_000)
	if testing.Short() {
		per = 800
	}
	for name, at := range nonBlocking {
		for _, c := range []struct{ p, c int }{{1, 3}, {3, 1}, {4, 4}} {
			for _, size := range []int{2, 64} {
				nbStress(t, fmt.Sprintf("%s %dx%d size %d", name, c.p, c.c, size), at(size, 1<<32-uint64(per)/2), c.p, c.c, per/uint32(c.p))
			}
		}
	}
}

func nbStress(t *testing.T, name string, r nb, producers, consumers int, per uint32) {
	var wg sync.WaitGroup
	seen := make([]atomic.Uint32, producers*int(per))
	var left atomic.Int64
	left.Store(int64(producers) * int64(per))
	for p := range producers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(p)))
			ids := make([]uint32, 9)
			for next := uint32(0); next < per && !t.Failed(); {
				n := min(1+rnd.IntN(len(ids)), int(per-next))
				for i := range ids[:n] {
					ids[i] = uint32(p)<<seqBits | (next + uint32(i) + 1)
				}
				n = r.enqueue(p, ids[:n])
				if next += uint32(n); n == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	for c := range consumers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(2, uint64(c)))
			ids := make([]uint32, 9)
			last := make([]uint32, producers)
			for left.Load() > 0 && !t.Failed() {
				n := r.dequeue(producers+c, ids[:1+rnd.IntN(len(ids))])
				for _, id := range ids[:n] {
					p, seq := id>>seqBits, id&(1<<seqBits-1)
					if int(p) >= producers || seq == 0 || seq > per {
						t.Errorf("%s: id %#x was never enqueued", name, id)
						return
					}
					if seq <= last[p] {
						t.Errorf("%s: producer %d: %d after %d", name, p, seq, last[p])
					}
					last[p] = seq
					if seen[int(p)*int(per)+int(seq-1)].Add(1) != 1 {
						t.Errorf("%s: producer %d: %d came twice", name, p, seq)
					}
				}
				if left.Add(-int64(n)); n == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	wg.Wait()
	if left.Load() != 0 || r.Len() != 0 {
		t.Errorf("%s: %d ids are missing, Len %d", name, left.Load(), r.Len())
	}
}

// nbRounds lets user 1 fill and empty the ring again and again, beside what is in
// it at first; it returns what came out.
func nbRounds(t *testing.T, r nb, first uint32) (out []uint32) {
	t.Helper()
	ids := make([]uint32, r.Cap())
	for range 4 * nbUsers {
		n := r.dequeue(1, ids)
		out = append(out, ids[:n]...)
		for i := range ids {
			ids[i] = first + uint32(i)
		}
		n = r.enqueue(1, ids)
		if n == 0 {
			t.Fatal("an empty ring takes nothing")
		}
		first += uint32(n)
	}
	n := r.dequeue(1, ids)
	return append(out, ids[:n]...)
}

// isRun checks that ids are first, first+1, … without what is in skip.
func isRun(ids []uint32, first uint32, skip ...uint32) bool {
	for _, id := range ids {
		if slices.Contains(skip, id) {
			continue
		}
		if id != first {
			return false
		}
		first++
	}
	return true
}

// A user of a lock-free ring that never comes back, after its slot was changed and
// before the position was moved on.
func TestLockFreeSuspended(t *testing.T) {
	r := newLockFreeAt(4, 1<<33-2)
	pos := r.tail.LoadAcq()
	for i := range uint64(3) { // a burst of three, of which nobody was told
		r.at(pos + i).StoreSeq(r.full(pos+i) | (500 + i))
	}
	out := nbRounds(t, lf{r}, 1000)
	if len(out) < 100 || !slices.Equal(out[:3], []uint32{500, 501, 502}) || !isRun(out[3:], 1000) {
		t.Fatalf("a suspended producer: %d", out)
	}
	r.Enqueue([]uint32{1, 2, 3})
	pos = r.head.LoadAcq()
	for i := range uint64(2) {
		r.at(pos + i).StoreSeq(r.empty(pos + i + 4))
	}
	if out = nbRounds(t, lf{r}, 2000); len(out) < 100 || out[0] != 3 || !isRun(out[1:], 2000) {
		t.Fatalf("a suspended consumer: %d", out)
	}
}

// A producer of a wait-free ring that never comes back, after each of its steps: the
// others carry its wish out, once.
func TestWaitFreeSuspendedProducer(t *testing.T) {
	for step := 1; step <= 5; step++ {
		for _, before := range []int{0, 2} {
			r := newWaitFreeAt(4, nbUsers, 1<<32-3)
			for i := range before {
				r.Enqueue(1, []uint32{uint32(10 + i)})
			}
			u, pos := &r.users[0], r.tail.LoadAcq()
			w := with(u.enq.LoadAcq()+countUnit, pending, 0)
			u.id.StoreSeq(with(w, 0, 7))
			u.enq.StoreSeq(w)
			if step >= 2 {
				u.enq.StoreSeq(with(w, candidate, pos))
			}
			if step >= 3 {
				r.enqOwnerAt(pos).StoreSeq(owned(pos, 0))
			}
			if step >= 4 {
				r.at(pos).StoreSeq(r.full(pos) | 7)
			}
			if step >= 5 {
				u.enq.StoreSeq(with(w, done, 0))
			}
			r.users[1].next = 0 // user 0 is next to be helped: there is room now, and will not always be
			out := nbRounds(t, wf{r}, 1000)
			at := slices.Index(out, 7)
			if at < 0 || slices.Index(out[at+1:], 7) >= 0 || !isRun(out[before:], 1000, 7) {
				t.Fatalf("step %d, %d before: the id came out at %d of %d", step, before, at, out)
			}
			if step >= 3 && at != before {
				t.Errorf("step %d, %d before: an id that had its position came out at %d", step, before, at)
			}
			if s := u.enq.LoadAcq(); s&stateMask != done || countOf(s) != countOf(w) {
				t.Errorf("step %d: the wish is %#x", step, s)
			}
			if n := r.Enqueue(0, []uint32{8}); n != 1 || r.Len() != 1 {
				t.Errorf("step %d: the user's next call: %d, Len %d", step, n, r.Len())
			}
		}
	}
}

// The same for a consumer: it is given one id, and nobody else gets that.
func TestWaitFreeSuspendedConsumer(t *testing.T) {
	for step := 1; step <= 5; step++ {
		r := newWaitFreeAt(4, nbUsers, 1<<32-3)
		r.Enqueue(1, []uint32{998, 999})
		u, pos := &r.users[0], r.head.LoadAcq()
		w := with(u.deq.LoadAcq()+countUnit, pending, 0)
		u.deq.StoreSeq(w)
		if step >= 2 {
			u.deq.StoreSeq(with(w, candidate, pos))
		}
		if step >= 3 {
			r.dqOwnerAt(pos).StoreSeq(owned(pos, 0))
		}
		if step >= 4 {
			u.deq.StoreSeq(with(w, done, 998))
		}
		if step >= 5 {
			r.at(pos).StoreSeq(r.empty(pos + 4))
		}
		r.users[1].next = 0
		out := nbRounds(t, wf{r}, 1000)
		s := u.deq.LoadAcq()
		if s&stateMask != done || countOf(s) != countOf(w) {
			t.Fatalf("step %d: the wish is %#x", step, s)
		}
		id := uint32(s)
		if step >= 3 && id != 998 {
			t.Errorf("step %d: the consumer was given %d", step, id)
		}
		if !isRun(slices.Insert(slices.Clone(out), int(id-998), id), 998) {
			t.Errorf("step %d: the consumer was given %d, the others %d", step, id, out)
		}
		if n := r.Dequeue(0, make([]uint32, 1)); n != 0 || r.Len() != 0 {
			t.Errorf("step %d: the user's next call: %d, Len %d", step, n, r.Len())
		}
	}
}

// A wish in a full or empty ring is ended by others too.
func TestWaitFreeEnded(t *testing.T) {
	r := newWaitFreeAt(2, nbUsers, 0)
	u := &r.users[0]
	w := with(u.deq.LoadAcq()+countUnit, pending, 0)
	u.deq.StoreSeq(w)
	for range nbUsers {
		r.Dequeue(1, make([]uint32, 1))
	}
	if s := u.deq.LoadAcq(); s&stateMask != ended {
		t.Errorf("empty: the wish is %#x", s)
	}
	r.Enqueue(1, []uint32{1, 2})
	w = with(u.enq.LoadAcq()+countUnit, pending, 0)
	u.id.StoreSeq(with(w, 0, 3))
	u.enq.StoreSeq(w)
	for range nbUsers {
		r.Enqueue(1, []uint32{4})
	}
	if s := u.enq.LoadAcq(); s&stateMask != ended || r.Len() != 2 {
		t.Errorf("full: the wish is %#x, Len %d", s, r.Len())
	}
}

func TestNonBlockingLimits(t *testing.T) {
	for _, f := range []func(){func() { NewLockFree(0) }, func() { NewWaitFree(0, 1) }, func() { NewWaitFree(1, 0) }, func() { NewWaitFree(1, MaxUsers+1) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		}()
	}
	if NewLockFree(100).Cap() != 128 || NewWaitFree(100, MaxUsers).Cap() != 128 {
		t.Error("wrong Cap")
	}
}

func TestNonBlockingAllocs(t *testing.T) {
	ids := []uint32{1, 2, 3, 4}
	for name, at := range nonBlocking {
		r := at(64, 0)
		testkit.NoAllocs(t, name, 100, func() { r.enqueue(3, ids); r.dequeue(4, ids) })
	}
}
