// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/odp-go/godp/buffer"
)

// An id of the stress tests: producer (2 bits), sequence (22 bits), never 0.
const seqBits = 22

// TestStress: nothing lost, nothing doubled, each producer's order kept in what each
// consumer sees.
func TestStress(t *testing.T) {
	per := uint32(60_000)
	if testing.Short() {
		per = 20_000
	}
	for _, k := range kinds {
		for _, c := range []struct{ p, c int }{{1, 1}, {2, 2}, {3, 1}, {1, 3}, {4, 4}} {
			if c.p > 1 && !k.mp || c.c > 1 && !k.mc {
				continue
			}
			for _, size := range []int{2, 64} {
				n := per
				if size == 2 {
					n /= 10
				}
				stress(t, k.name, k.at(size, 1<<32-uint64(n)/2), c.p, c.c, n)
			}
		}
	}
}

func stress(t *testing.T, name string, r fifo, producers, consumers int, per uint32) {
	var wg sync.WaitGroup
	seen := make([]atomic.Uint32, producers*int(per))
	var left atomic.Int64
	left.Store(int64(producers) * int64(per))
	for p := range producers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(p)))
			ids, ev := make([]uint32, 40), make([]*buffer.Event, 40)
			for next := uint32(0); next < per; {
				n := min(1+rnd.IntN(len(ids)), int(per-next))
				for i := range ids[:n] {
					ids[i] = uint32(p)<<seqBits | (next + uint32(i) + 1)
					ev[i] = buffer.FromID(ids[i])
				}
				done := 0
				switch rnd.IntN(3) {
				case 0:
					done = r.Enqueue(ids[:n])
				case 1:
					done = r.EnqueueEvents(ev[:n])
				case 2:
					if r.EnqueueAll(ids[:n]) {
						done = n
					} else if n > r.Cap() {
						done = r.Enqueue(ids[:1])
					}
				}
				if done == 0 {
					runtime.Gosched()
				}
				next += uint32(done)
			}
		})
	}
	for c := range consumers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(2, uint64(c)))
			ids, ev := make([]uint32, 40), make([]*buffer.Event, 40)
			last := make([]uint32, producers)
			for left.Load() > 0 {
				n := 1 + rnd.IntN(len(ids))
				switch rnd.IntN(3) {
				case 0:
					n = r.Dequeue(ids[:n])
				case 1:
					n = r.DequeueEvents(ev[:n])
					for i, e := range ev[:n] {
						ids[i] = e.ID()
					}
				case 2:
					if n = 1 + n%min(3, r.Cap()); !r.DequeueAll(ids[:n]) {
						n = 0
					}
				}
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
	for i := range seen {
		if seen[i].Load() != 1 {
			t.Fatalf("%s %dx%d cap %d: id %d seen %d times", name, producers, consumers, r.Cap(), i, seen[i].Load())
		}
	}
	if r.Len() != 0 {
		t.Fatalf("%s: %d left", name, r.Len())
	}
}
