// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/queue/ring"
	"pgregory.net/rapid"
)

type anyRing interface {
	Enqueue([]uint32) int
	EnqueueAll([]uint32) bool
	Dequeue([]uint32) int
	DequeueAll([]uint32) bool
	EnqueueEvents([]*buffer.Event) int
	DequeueEvents([]*buffer.Event) int
	Len() int
	Total() (in, out uint64)
	Cap() int
}

var rings = []struct {
	name   string
	mp, mc bool
	make   func(n int) anyRing
}{
	{"SPSC", false, false, func(n int) anyRing { return ring.NewSPSC(n) }},
	{"SPMC", false, true, func(n int) anyRing { return ring.NewSPMC(n) }},
	{"MPSC", true, false, func(n int) anyRing { return ring.NewMPSC(n) }},
	{"MPMC", true, true, func(n int) anyRing { return ring.NewMPMC(n) }},
}

// move is one call of a ring program.
type move struct{ form, n, delay int }

// TestModelThreads runs random programs on rings of every kind, on as many goroutines
// as the kind allows, and asks testkit.History whether a slice behind a lock could have
// answered the same. Ids are told apart by 22 bits of sequence and the producer's number.
func TestModelThreads(t *testing.T) {
	for _, k := range rings {
		t.Run(k.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				r := k.make(rapid.SampledFrom([]int{1, 2, 4, 16, 64}).Draw(rt, "size"))
				prods, cons := 1, 1
				if k.mp {
					prods = rapid.IntRange(1, 3).Draw(rt, "producers")
				}
				if k.mc {
					cons = rapid.IntRange(1, 3).Draw(rt, "consumers")
				}
				calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
					return move{rapid.IntRange(0, 2).Draw(t, "form"), rapid.IntRange(0, 20).Draw(t, "n"), rapid.IntRange(0, 40).Draw(t, "delay")}
				}), 1, 30)
				var in, out [][]move
				for range prods {
					in = append(in, calls.Draw(rt, "puts"))
				}
				for range cons {
					out = append(out, calls.Draw(rt, "gets"))
				}
				// two goroutines that are to meet in the middle of their calls need some laps
				runRing(rt, r, in, out, rapid.SampledFrom([]int{1, 10, 100}).Draw(rt, "laps"))
			})
		})
	}
}

func runRing(rt *rapid.T, r anyRing, in, out [][]move, laps int) {
	var h testkit.History
	var done atomic.Bool
	var wg, watch sync.WaitGroup
	var wait atomic.Int32
	wait.Store(int32(len(in) + len(out)))
	start := func() { // all at once, as far as there are processors
		for wait.Add(-1); wait.Load() > 0; {
			runtime.Gosched()
		}
	}
	for i, moves := range in {
		wg.Go(func() {
			l := h.Log(i)
			defer l.End()
			next := uint32(i+1) << 22
			start()
			for range laps {
				for _, m := range moves {
					next = put(r, l, m, next)
					linger(m.delay)
				}
			}
		})
	}
	for i, moves := range out {
		wg.Go(func() {
			l := h.Log(len(in) + i)
			defer l.End()
			start()
			for range laps {
				for _, m := range moves {
					get(r, l, m)
					linger(m.delay)
				}
			}
		})
	}
	var bad atomic.Pointer[[3]uint64]
	watch.Go(func() { // anybody may look
		var in0, out0 uint64
		for !done.Load() {
			n := r.Len()
			in, out := r.Total()
			if n < 0 || n > r.Cap() || in < in0 || out < out0 || in < out {
				bad.Store(&[3]uint64{uint64(n), in, out})
			}
			in0, out0 = in, out
			runtime.Gosched()
		}
	})
	wg.Wait()
	done.Store(true)
	watch.Wait()
	if b := bad.Load(); b != nil {
		rt.Fatalf("a watcher saw Len %d, Total %d %d with Cap %d", b[0], b[1], b[2], r.Cap())
	}
	n := r.Len()
	rest := make([]uint32, r.Cap()+1)
	rest = rest[:r.Dequeue(rest)]
	if n != len(rest) || r.Len() != 0 {
		rt.Fatalf("Len was %d, %d were left", n, len(rest))
	}
	if err := h.Check(r.Cap(), wide(rest)); err != nil {
		rt.Fatal(err)
	}
}

func wide(ids []uint32) (v []uint64) {
	for _, id := range ids {
		v = append(v, uint64(id))
	}
	return v
}

func put(r anyRing, l *testkit.Log, m move, next uint32) uint32 {
	ids, ev := make([]uint32, m.n), make([]*buffer.Event, m.n)
	for i := range ids {
		ids[i] = next + uint32(i)
		ev[i] = buffer.FromID(ids[i])
	}
	begin, n := l.Begin(), 0
	switch m.form {
	case 0:
		n = r.Enqueue(ids)
	case 1:
		n = r.EnqueueEvents(ev)
	case 2:
		if r.EnqueueAll(ids) {
			n = m.n
		}
	}
	l.Put(begin, m.n, m.form == 2, wide(ids[:n]))
	return next + uint32(m.n)
}

func get(r anyRing, l *testkit.Log, m move) {
	ids, ev := make([]uint32, m.n), make([]*buffer.Event, m.n)
	begin, n := l.Begin(), 0
	switch m.form {
	case 0:
		n = r.Dequeue(ids)
	case 1:
		n = r.DequeueEvents(ev)
	case 2:
		if r.DequeueAll(ids) {
			n = m.n
		}
	}
	got := slices.Clone(ids[:n])
	if m.form == 1 {
		for i, e := range ev[:n] {
			got[i] = e.ID()
		}
	}
	l.Get(begin, m.n, m.form == 2, wide(got))
}

func linger(class int) {
	switch class {
	case 0, 1:
		runtime.Gosched()
	case 2:
		time.Sleep(10 * time.Microsecond)
	}
}
