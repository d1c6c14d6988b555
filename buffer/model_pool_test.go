// SPDX-License-Identifier: Apache-2.0

package buffer_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
	"pgregory.net/rapid"
)

// poolStep is one step of a worker's program.
type poolStep struct{ op, n int }

const (
	stepAlloc = iota // alloc n
	stepFree         // free the n oldest that are held
	stepSwap         // exchange what is held with another goroutine
	stepPark         // give the cache back, as before a sleep
	stepCount
)

// poolRun is a program on one pool. owner has an entry for each event: 0 = the pool's,
// else the goroutine that holds it + 1; each change is a compare-and-swap, so an
// event that two hold, or that is freed twice, is seen when it happens.
type poolRun struct {
	p     *buffer.Pool
	owner sync.Map // event id to *atomic.Int32
	limit []int
	swap  []chan []*buffer.Buffer
	bad   atomic.Pointer[string]
}

func (r *poolRun) fail(what string) { r.bad.CompareAndSwap(nil, &what) }

func (r *poolRun) mark(b *buffer.Buffer, from, to int32) {
	v, _ := r.owner.LoadOrStore(b.ID(), new(atomic.Int32))
	if !v.(*atomic.Int32).CompareAndSwap(from, to) {
		r.fail("an event had another owner than the model says")
	}
}

// TestPoolModel runs random programs of allocations, frees, exchanges and flushes on
// several goroutines, workers and control plane, with all kinds of caches. In the model a
// pool is a set of Num events: each is handed out to one holder at a time; while all
// together hold no more than Need, nothing fails; a call that fails while fewer are out than
// Num is allowed only beyond Need (the rest may be in caches); all of them are there at the end.
func TestPoolModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		users := rapid.IntRange(1, 3).Draw(rt, "workers")
		need := rapid.IntRange(2*(users+1), 60).Draw(rt, "need")
		cache := rapid.SampledFrom([]int{-1, 2, 3, 16}).Draw(rt, "cache")
		set, err := worker.NewSet(users)
		check(rt, err)
		r := &poolRun{}
		num := need + users*max(cache, 0)
		r.p, err = buffer.NewPool(set, buffer.PoolConfig{Type: buffer.TypeBuffer, Num: num, Size: 64, Need: need, Cache: cache, Strict: true})
		check(rt, err)
		var programs [][]poolStep
		for range users + 1 { // the last one is the control plane
			programs = append(programs, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) poolStep {
				return poolStep{rapid.SampledFrom([]int{stepAlloc, stepAlloc, stepFree, stepFree, stepSwap, stepPark}).Draw(t, "op"), rapid.IntRange(0, need).Draw(t, "n")}
			}), 1, 40).Draw(rt, "program"))
			r.limit = append(r.limit, need/(2*(users+1))) // in hand, and as many in its box
			r.swap = append(r.swap, make(chan []*buffer.Buffer, 1))
		}
		var ws []*worker.Worker
		for range users {
			w, err := set.Join(worker.KindWorker)
			check(rt, err)
			ws = append(ws, w)
		}
		laps := rapid.SampledFrom([]int{1, 10, 40}).Draw(rt, "laps")
		var wg sync.WaitGroup
		for i, steps := range programs {
			wg.Go(func() {
				var w *worker.Worker
				if i < users {
					w = ws[i]
					defer w.Leave()
				}
				r.run(w, i, steps, laps)
			})
		}
		wg.Wait()
		for _, box := range r.swap { // who was done could not look again
			select {
			case held := <-box:
				for _, b := range held {
					r.mark(b, -1, 0)
				}
				r.p.FreeBuffers(nil, held)
			default:
			}
		}
		if b := r.bad.Load(); b != nil {
			rt.Fatal(*b)
		}
		if n := r.p.Available(); n != num || r.p.Out() != 0 {
			rt.Fatalf("%d of %d events are back, %d out", n, num, r.p.Out())
		}
		all := make([]*buffer.Buffer, num+1) // every one of them, and no more
		if n := r.p.AllocBuffers(nil, all); n != num {
			rt.Fatalf("%d of %d events could be allocated at the end", n, num)
		}
		for _, b := range all[:num] {
			r.mark(b, 0, 1)
		}
		if r.bad.Load() != nil {
			rt.Fatal("an event came twice")
		}
		r.p.FreeBuffers(nil, all[:num])
		check(rt, r.p.Close())
		check(rt, set.Close())
	})
}

func check(rt *rapid.T, err error) {
	if err != nil {
		rt.Fatal(err)
	}
}

func (r *poolRun) run(w *worker.Worker, i int, steps []poolStep, laps int) {
	me := int32(i + 1)
	var held []*buffer.Buffer
	for range laps {
		for _, s := range steps {
			switch s.op {
			case stepAlloc:
				got := make([]*buffer.Buffer, min(s.n, r.limit[i]-len(held)))
				if len(got) == 1 {
					if got[0] = r.p.AllocBuffer(w); got[0] == nil {
						r.fail("an allocation of one failed within Need")
						return
					}
				} else if r.p.AllocBuffers(w, got) != len(got) {
					r.fail("an allocation failed within Need")
					return
				}
				for _, b := range got {
					r.mark(b, 0, me)
				}
				held = append(held, got...)
			case stepFree:
				n := min(s.n, len(held))
				for _, b := range held[:n] {
					r.mark(b, me, 0)
				}
				switch s.n % 3 {
				case 0:
					r.p.FreeBuffers(w, held[:n])
				case 1:
					buffer.FreeBuffers(w, held[:n])
				default:
					for _, b := range held[:n] {
						r.p.FreeBuffer(w, b)
					}
				}
				held = held[n:]
			case stepSwap: // to the next one's box; what lies in the own box is taken
				for _, b := range held {
					r.mark(b, me, -1)
				}
				next := (i + 1) % len(r.swap)
				if r.limit[next] >= len(held) {
					select {
					case r.swap[next] <- held:
						held = nil
					default:
					}
				}
				for _, b := range held {
					r.mark(b, -1, me)
				}
				if len(held) == 0 {
					select {
					case held = <-r.swap[i]:
						for _, b := range held {
							r.mark(b, -1, me)
						}
					default:
					}
				}
			case stepPark:
				if w != nil {
					w.Quiesce()
					w.Flush()
				}
				runtime.Gosched()
			}
		}
	}
	for _, b := range held {
		r.mark(b, me, 0)
	}
	r.p.FreeBuffers(w, held)
}
