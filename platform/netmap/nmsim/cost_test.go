// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// The simulator's own cost: what a source and a sink take for a frame, with a client
// that only moves head (SourceOnly), and in a swap of buffers (Forward).

func BenchmarkSourceOnly(b *testing.B) {
	for _, buf := range []int{2048, 2112} {
		b.Run(fmt.Sprint("buf=", buf), func(b *testing.B) {
			w := testWorld(b, Config{Mem: Geometry{BufNum: 8192, BufSize: buf}, NoTimestamp: true})
			must(b, w.NIC("eth0", NICConfig{Source: &SourceConfig{Burst: 64}}))
			c := open(b, w, "eth0")
			r := c.rxr(0)
			b.ResetTimer()
			for n := 0; n < b.N; {
				c.rxsync()
				n += int(avail(r))
				r.SetHead(r.Tail())
			}
		})
	}
}

// BenchmarkSinkOnly sends the same frames again and again (each is a duplicate).
func BenchmarkSinkOnly(b *testing.B) {
	w := testWorld(b, Config{NoTimestamp: true})
	twoPorts(b, w, SourceConfig{Burst: 1024, Count: 1024}, NICConfig{})
	x, y := open(b, w, "eth0"), open(b, w, "eth1")
	x.rxsync()
	swapForward(x.rxr(0), y.txr(0), 1023, false, false)
	y.txsync()
	r := y.txr(0)
	b.ResetTimer()
	for n := 0; n < b.N; n += 64 {
		h := r.Head()
		for i := 0; i < 64; i++ {
			h = abi.Next(h, r.NumSlots())
		}
		r.SetHead(h)
		y.txsync()
	}
}

func BenchmarkForward(b *testing.B) {
	for _, buf := range []int{2048, 2112} {
		for _, slots := range []int{256, 1024} {
			for _, burst := range []int{64, 256} {
				b.Run(fmt.Sprintf("buf=%d/slots=%d/burst=%d", buf, slots, burst), func(b *testing.B) {
					w := testWorld(b, Config{Mem: Geometry{BufNum: 8192, BufSize: buf}})
					twoPorts(b, w, SourceConfig{Burst: burst}, NICConfig{TxSlots: slots, RxSlots: slots})
					x, y := open(b, w, "eth0"), open(b, w, "eth1")
					b.ResetTimer()
					forward(x, y, b.N, false, false)
					b.StopTimer()
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpps")
					if r := w.ReportAll(); r.Corrupt+r.Reordered+r.Duplicate != 0 {
						b.Errorf("%+v", r)
					}
				})
			}
		}
	}
}

// BenchmarkForward2 has a worker per direction: no line is written by both.
func BenchmarkForward2(b *testing.B) {
	for _, win := range []int{0, 512} {
		b.Run(fmt.Sprintf("window=%d", win), func(b *testing.B) {
			w := testWorld(b, Config{Mem: Geometry{BufNum: 8192, BufSize: 2112}})
			twoPorts(b, w, SourceConfig{Window: win}, NICConfig{})
			x, y := open(b, w, "eth0"), open(b, w, "eth1")
			b.ResetTimer()
			var wg sync.WaitGroup
			for _, d := range [][2]*conn{{x, y}, {y, x}} {
				wg.Add(1)
				rx, tx := d[0].rxr(0), d[1].txr(0)
				go func() {
					defer wg.Done()
					for n := 0; n < b.N/2; {
						d[0].rxsync()
						n += swapForward(rx, tx, 32, false, false)
						d[1].txsync()
					}
				}()
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpps")
			if r := w.ReportAll(); r.Corrupt+r.Reordered+r.Duplicate != 0 {
				b.Errorf("%+v", r)
			}
		})
	}
}

func TestOwnCost(t *testing.T) {
	d, err := OwnCost(10 * time.Millisecond)
	if err != nil || d <= 0 {
		t.Fatalf("%v %v", d, err)
	}
	t.Logf("%v a frame", d)
}
