// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
)

// The rule: while the application holds fewer than Need events no allocation
// fails, whatever the workers do: allocate, free, free what others allocated. Who
// owns an event is marked in it, so that one handed out twice is seen.
func TestNeverFails(t *testing.T) {
	const workers, need = 4, 64
	rounds := 20000
	if testing.Short() {
		rounds = 3000
	}
	for _, cache := range []int{-1, 2, 3, 16, 64} {
		t.Run(fmt.Sprint("cache ", cache), func(t *testing.T) {
			set, ws := kit(t, workers)
			num := need + workers*max(cache, 0)
			p := newPool(t, set, PoolConfig{Type: TypeBuffer, Num: num, Size: 64, Need: need, Cache: cache, Strict: true})
			if p.Info().CacheSize != max(cache, 0) {
				t.Fatalf("cache %d", p.Info().CacheSize)
			}
			owner := make([]atomic.Int32, num)
			swap := make(chan []*Buffer, workers)
			var wg sync.WaitGroup
			for id, w := range ws {
				wg.Go(func() {
					rnd := rand.New(rand.NewPCG(1, uint64(id)))
					var held []*Buffer
					for range rounds {
						n := rnd.IntN(need/workers - len(held) + 1)
						bufs := make([]*Buffer, n)
						if n == 1 {
							bufs[0] = p.AllocBuffer(w)
						}
						if n != 1 && p.AllocBuffers(w, bufs) != n || n == 1 && bufs[0] == nil {
							t.Errorf("worker %d: an allocation of %d failed with %d held", id, n, len(held))
							return
						}
						for _, b := range bufs {
							if !owner[b.index].CompareAndSwap(0, 1) {
								t.Errorf("event %d was handed out twice", b.index)
							}
						}
						held = append(held, bufs...)
						select { // what is freed was allocated by somebody else
						case swap <- held:
							held = <-swap
						default:
						}
						n = rnd.IntN(len(held) + 1)
						for _, b := range held[:n] {
							owner[b.index].Store(0)
						}
						switch {
						case n == 1:
							p.FreeBuffer(w, held[0])
						case n%2 == 0:
							p.FreeBuffers(w, held[:n])
						default:
							FreeBuffers(w, held[:n])
						}
						held = held[n:]
					}
					for _, b := range held {
						owner[b.index].Store(0)
					}
					p.FreeBuffers(w, held)
				})
			}
			wg.Wait()
			for range len(swap) {
				p.FreeBuffers(nil, <-swap)
			}
			if p.Out() != 0 {
				t.Fatalf("out %d", p.Out())
			}
		})
	}
}

// The shared list alone, with chunks of three so that all paths meet.
func TestStoreConcurrently(t *testing.T) {
	const num, threads = 100, 4
	rounds := 30000
	if testing.Short() {
		rounds = 5000
	}
	var s store
	mem := make([]byte, num*64+64)
	base := (uintptr(unsafe.Pointer(&mem[0])) + 63) &^ 63
	s.initStore(base, num, 3, threads)
	for i := range num {
		s.put([]uintptr{base + uintptr(i)<<6}, nil)
	}
	owner := make([]atomic.Int32, num)
	var wg sync.WaitGroup
	for id := range threads {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(2, uint64(id)))
			var ev [10]uintptr
			var sp *spares
			if id != 0 {
				sp = &spares{shard: id}
			}
			for range rounds {
				n := s.get(ev[:1+rnd.IntN(10)], sp)
				for _, e := range ev[:n] {
					if !owner[s.index(e)].CompareAndSwap(0, 1) {
						t.Errorf("event %d was handed out twice", s.index(e))
					}
				}
				for _, e := range ev[:n] {
					owner[s.index(e)].Store(0)
				}
				m := rnd.IntN(n + 1)
				s.put(ev[:m], sp)
				s.put(ev[m:n], sp)
			}
		})
	}
	wg.Wait()
	var all [num + 1]uintptr
	if n := s.get(all[:], nil); n != num {
		t.Fatalf("%d of %d events are left", n, num)
	}
}

// A thread that comes back after its time slice with an old head must not get
// through with it, though the same chunk with the same count is on top again.
func TestStaleHead(t *testing.T) {
	var s store
	s.initStore(1<<20, 12, 4, 1)
	ev := make([]uintptr, 12)
	for i := range ev {
		ev[i] = s.base + uintptr(i)<<6
	}
	s.put(ev[:8], nil)
	h := s.shards[0].full.LoadAcq()
	var a, b [4]uintptr
	for range 2 { // away and back: the top is what it was
		if s.get(a[:], nil) != 4 || s.get(b[:], nil) != 4 {
			t.Fatal("get")
		}
		s.put(a[:], nil)
		s.put(b[:], nil)
	}
	if now := s.shards[0].full.LoadAcq(); uint32(now)>>chunkBits != uint32(h)>>chunkBits {
		t.Fatalf("head %x, was %x", now, h)
	}
	for _, n := range []int{1, 4} {
		if got := s.takeChunk(&s.shards[0], h, a[:n], nil); got != 0 {
			t.Fatalf("%d events by a stale head", got)
		}
	}
	if n := s.get(ev, nil); n != 8 {
		t.Fatalf("%d events", n)
	}
}

// More frees than events are noticed without any tag.
func TestOverflowIsNoticed(t *testing.T) {
	for _, c := range []struct{ cache, worker int }{{-1, -1}, {-1, 0}, {16, -1}, {16, 0}} {
		set, ws := kit(t, 1)
		p := newPool(t, set, PoolConfig{Name: "over", Type: TypeBuffer, Num: 64, Size: 64, Cache: c.cache})
		w := ws[0]
		if c.worker < 0 {
			w = nil
		}
		bufs := make([]*Buffer, 40)
		p.AllocBuffers(w, bufs)
		func() {
			defer func() {
				if s := fmt.Sprint(recover()); !strings.Contains(s, `"over"`) || !strings.Contains(s, "freed twice") {
					t.Errorf("%+v: panic %q", c, s)
				}
			}()
			for range 10 {
				p.put(w, words(bufs))
			}
			t.Errorf("%+v: no panic", c)
		}()
		p.unregister() // beyond repair: no Close
		p.closed.Store(true)
	}
}

// A platform closes while workers still hold, and free, packets of its region.
func TestDetachUnderLoad(t *testing.T) {
	const workers, num = 2, 128
	mem, err := arena.New(arena.Config{Name: "platform", Size: num * 128})
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	for range 3 {
		set, ws := kit(t, workers)
		p, err := NewExternalPool(set, ExternalConfig{Name: "ext", Num: num, BufSize: 128, Cache: 16})
		if err != nil {
			t.Fatal(err)
		}
		for i := range num {
			p.Attach(i, uint32((mem.Off+uint64(i)*128)>>6), uint32(i+1))
		}
		var wg sync.WaitGroup
		var warm sync.WaitGroup
		warm.Add(workers)
		for _, w := range ws {
			wg.Go(func() {
				pk := make([]*Packet, 8)
				for i := 0; ; i++ {
					n := p.AllocPackets(w, pk, 60)
					if i == 50 {
						warm.Done()
					}
					if n == 0 && i > 50 {
						return // the platform has taken its buffers back
					}
					FreePackets(w, pk[:n])
				}
			})
		}
		warm.Wait()
		seen := make([]bool, num+1)
		deadline := time.Now().Add(10 * time.Second)
		for p.Detach(func(buf, ext uint32) {
			if seen[ext] {
				t.Errorf("buffer %d came back twice", ext)
			}
			seen[ext] = true
		}) != nil {
			if time.Now().After(deadline) {
				t.Fatal("the packets don't come back")
			}
		}
		wg.Wait()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Values of a pool are made at the first use, by whoever comes first.
func TestValuesConcurrently(t *testing.T) {
	set, ws := kit(t, 4)
	p := newPool(t, set, PoolConfig{Num: 64, Cache: -1})
	var wg sync.WaitGroup
	for id, w := range ws {
		wg.Go(func() {
			for i := range 100 {
				k := p.AllocPacket(w, 60)
				if k.Value() != nil {
					t.Error("a value of somebody else")
				}
				k.SetValue(id<<8 | i)
				if k.Value() != id<<8|i {
					t.Error("another value")
				}
				FreePacket(w, k)
			}
		})
	}
	wg.Wait()
}
