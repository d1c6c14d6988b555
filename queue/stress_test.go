// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

// TestManyShareOne: workers and a control goroutine dequeue from and enqueue to one
// queue; at the end every event is there exactly once.
func TestManyShareOne(t *testing.T) {
	rounds := 10_000
	if testing.Short() {
		rounds = 1000
	}
	for progress := Blocking; progress <= WaitFree; progress++ {
		shareOne(t, progress, rounds)
	}
}

func shareOne(t *testing.T, progress Progress, rounds int) {
	const users, num = 4, 100
	set, ws := kit(t, users)
	q := mustNew(t, set, Config{Size: num, NonBlocking: progress})
	q.Enqueue(nil, events(num))
	var wg sync.WaitGroup
	for i := range users + 1 {
		wg.Go(func() {
			var w *worker.Worker
			if i < users {
				w = ws[i]
			}
			rnd := rand.New(rand.NewPCG(5, uint64(i)))
			ev := make([]*buffer.Event, 40)
			for range rounds {
				n, err := q.Dequeue(w, ev[:1+rnd.IntN(len(ev))])
				if err != nil {
					t.Error(err)
					return
				}
				if n == 0 {
					runtime.Gosched()
				}
				if m, err := q.Enqueue(w, ev[:n]); m != n || err != nil {
					t.Errorf("a queue that held them refused %d of %d: %v", n-m, n, err)
					return
				}
			}
		})
	}
	wg.Wait()
	out := make([]*buffer.Event, num+1)
	n, _ := q.Dequeue(nil, out)
	seen := map[uint32]int{}
	for _, id := range ids(out[:n]) {
		seen[id]++
	}
	if n != num || len(seen) != num {
		t.Errorf("%d events, %d different, want %d", n, len(seen), num)
	}
}

// TestPingPong: two workers, two queues, each event comes round in its order.
func TestPingPong(t *testing.T) {
	rounds := 10_000
	if testing.Short() {
		rounds = 1000
	}
	for _, enq := range []Mode{MT, MTUnsafe} {
		for _, deq := range []Mode{MT, MTUnsafe} {
			set, ws := kit(t, 2)
			const burst = 8
			var qs [2]*Queue
			for i := range qs {
				qs[i] = mustNew(t, set, Config{Size: 2 * burst, EnqMode: enq, DeqMode: deq})
				qs[i].Enqueue(ws[0], events(burst))
			}
			var wg sync.WaitGroup
			var stop atomic.Bool
			for i := range qs {
				wg.Go(func() {
					ev := make([]*buffer.Event, burst)
					for want, got := uint32(1), 0; got < rounds && !stop.Load(); {
						n, _ := qs[i].Dequeue(ws[i], ev)
						if n == 0 {
							runtime.Gosched()
						}
						for _, id := range ids(ev[:n]) {
							if id != want {
								t.Errorf("%v %v: got %d, want %d", enq, deq, id, want)
								stop.Store(true)
								return
							}
							want = want%burst + 1
						}
						if m, _ := qs[1-i].Enqueue(ws[i], ev[:n]); m != n {
							t.Errorf("refused %d", n-m)
							stop.Store(true)
							return
						}
						got += n
					}
				})
			}
			wg.Wait()
			out := make([]*buffer.Event, 2*burst)
			a, _ := qs[0].Dequeue(nil, out)
			b, _ := qs[1].Dequeue(nil, out)
			if a+b != 2*burst && !t.Failed() {
				t.Errorf("%d events are left of %d", a+b, 2*burst)
			}
		}
	}
}
