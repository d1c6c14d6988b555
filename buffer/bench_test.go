// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/odp-go/godp/worker"
)

// The rows of ODP's odp_pool_perf: a round allocates `bursts` bursts of `burst`
// events (single calls when burst is 0) and frees them; no data is touched. The
// figure is ns per event, one event = one alloc and one free.
type row struct {
	typ           Type
	num           int
	burst, bursts int
	cache         int
}

var rows = []row{
	{TypeBuffer, 16384, 0, 1, 0},
	{TypeBuffer, 16384, 1, 1, 0},
	{TypeBuffer, 16384, 32, 1, 0},
	{TypeBuffer, 16384, 32, 16, 0},
	{TypeBuffer, 16384, 32, 1, -1},
	{TypePacket, 8192, 0, 1, 0},
	{TypePacket, 8192, 1, 1, 0},
	{TypePacket, 8192, 32, 1, 0},
	{TypePacket, 8192, 32, 16, 0},
	{TypePacket, 8192, 32, 1, -1},
}

func (r row) String() string {
	kind := "buffer"
	if r.typ == TypePacket {
		kind = "packet"
	}
	s := fmt.Sprintf("%s/b=%d", kind, r.burst)
	if r.bursts > 1 {
		s += fmt.Sprintf("x%d", r.bursts)
	}
	if r.cache < 0 {
		s += "/nocache"
	}
	return s
}

// run makes n events' worth of rounds; general frees through the package's functions.
func (r row) run(p *Pool, w *worker.Worker, n int, general bool) {
	if r.burst == 0 {
		if r.typ == TypeBuffer {
			for range n {
				b := p.AllocBuffer(w)
				p.FreeBuffer(w, b)
			}
			return
		}
		for range n {
			k := p.AllocPacket(w, 64)
			p.FreePacket(w, k)
		}
		return
	}
	per := r.burst * r.bursts
	ev := make([]*Event, per)
	for i := 0; i < n; i += per {
		got := 0
		for b := 0; b < r.bursts; b++ {
			if r.typ == TypeBuffer {
				got += p.AllocBuffers(w, BuffersOf(ev[got:got+r.burst]))
			} else {
				got += p.AllocPackets(w, PacketsOf(ev[got:got+r.burst]), 64)
			}
		}
		for b := 0; b < got; b += r.burst {
			e := min(b+r.burst, got)
			switch {
			case general:
				FreeEvents(w, ev[b:e])
			case r.typ == TypeBuffer:
				p.FreeBuffers(w, BuffersOf(ev[b:e]))
			default:
				p.FreePackets(w, PacketsOf(ev[b:e]))
			}
		}
	}
}

func BenchmarkPool(b *testing.B) {
	for _, r := range rows {
		b.Run(r.String(), func(b *testing.B) {
			set, ws := kit(b, 2)
			p := newPool(b, set, PoolConfig{Type: r.typ, Num: r.num, Size: 64, Cache: r.cache})
			b.ResetTimer()
			r.run(p, ws[0], b.N, false)
			b.ReportMetric(1e3*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "Mev/s")
		})
	}
}

// Packets of the default size, freed by the functions that read the headers.
func BenchmarkPacketGeneralFree(b *testing.B) {
	for _, r := range []row{{TypePacket, 8192, 1, 1, 0}, {TypePacket, 8192, 32, 1, 0}, {TypePacket, 8192, 32, 16, 0}} {
		b.Run(r.String(), func(b *testing.B) {
			set, ws := kit(b, 2)
			p := newPool(b, set, PoolConfig{Num: r.num})
			b.ResetTimer()
			r.run(p, ws[0], b.N, true)
			b.ReportMetric(1e3*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "Mev/s")
		})
	}
}

// Two workers on one pool.
func BenchmarkPool2(b *testing.B) {
	for _, r := range rows {
		b.Run(r.String(), func(b *testing.B) {
			set, ws := kit(b, 2)
			p := newPool(b, set, PoolConfig{Type: r.typ, Num: r.num, Size: 64, Cache: r.cache})
			b.ResetTimer()
			var wg sync.WaitGroup
			for i, w := range ws {
				wg.Go(func() {
					runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
					_ = w.Pin(max(0, runtime.NumCPU()-1-i))
					r.run(p, w, b.N, false)
				})
			}
			wg.Wait()
			b.ReportMetric(2e3*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "Mev/s")
		})
	}
}

// Where headers and data lie: read and write the header and the first data line
// of n packets in turn. Strides of 2048 are what everybody would take first.
func BenchmarkTouch(b *testing.B) {
	for _, stride := range []uint32{0, 2048, 2112, 2048 + 64*31} {
		for _, n := range []int{32, 256, 1024, 8192} {
			b.Run(fmt.Sprintf("stride=%d/n=%d", stride, n), func(b *testing.B) {
				set, _ := kit(b, 1)
				p := &Pool{set: set}
				if err := p.configure(PoolConfig{Name: "touch", Num: n, Size: 1856, Cache: -1}); err != nil {
					b.Fatal(err)
				}
				if stride != 0 {
					p.stride = stride
				}
				if err := p.open(b.Context()); err != nil {
					b.Fatal(err)
				}
				p.fill()
				defer p.Close()
				pk := make([]*Packet, n)
				p.AllocPackets(nil, pk, 60)
				b.ResetTimer()
				for i := 0; i < b.N; i += n {
					for _, k := range pk {
						d := k.Data()
						d[0]++
						k.hash += uint32(d[12])
					}
				}
				b.StopTimer()
				p.FreePackets(nil, pk)
			})
		}
	}
}

// What a cache holds: addresses, moved by copy, or ids of 32 bits, converted in a
// loop. A burst of 32 in and out.
func BenchmarkCacheForm(b *testing.B) {
	set, _ := kit(b, 1)
	p := newPool(b, set, PoolConfig{Type: TypeBuffer, Num: 256, Size: 64, Cache: -1})
	ev := make([]*Event, 32)
	for i := range ev {
		ev[i] = p.EventAt(i)
	}
	b.Run("addresses", func(b *testing.B) {
		array, n := make([]uintptr, 256), 100
		for i := 0; i < b.N; i += 32 {
			copy(array[n:], words(ev))
			copy(words(ev), array[n:])
		}
	})
	b.Run("ids", func(b *testing.B) {
		array, n := make([]uint32, 256), 100
		for i := 0; i < b.N; i += 32 {
			a := array[n : n+len(ev)]
			for j, e := range ev {
				a[j] = e.ID()
			}
			for j, id := range a {
				ev[j] = FromID(id)
			}
		}
	})
}
