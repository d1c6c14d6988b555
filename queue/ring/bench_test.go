// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
)

// BenchmarkLoop is odp_queue_perf with one worker: dequeue a burst, enqueue it again,
// 64 events in the ring. ns/op is per event.
func BenchmarkLoop(b *testing.B) {
	for _, k := range kinds {
		for _, burst := range []int{1, 32} {
			r := k.at(1024, 0)
			r.Enqueue(make([]uint32, 64))
			b.Run(fmt.Sprintf("%s/ids/%d", k.name, burst), func(b *testing.B) {
				ids := make([]uint32, burst)
				switch r := r.(type) {
				case *SPSC:
					for n := 0; n < b.N; n += burst {
						r.Enqueue(ids[:r.Dequeue(ids)])
					}
				case *SPMC:
					for n := 0; n < b.N; n += burst {
						r.Enqueue(ids[:r.Dequeue(ids)])
					}
				case *MPSC:
					for n := 0; n < b.N; n += burst {
						r.Enqueue(ids[:r.Dequeue(ids)])
					}
				case *MPMC:
					for n := 0; n < b.N; n += burst {
						r.Enqueue(ids[:r.Dequeue(ids)])
					}
				}
			})
			b.Run(fmt.Sprintf("%s/events/%d", k.name, burst), func(b *testing.B) {
				ev := make([]*buffer.Event, burst)
				for n := 0; n < b.N; n += burst {
					r.EnqueueEvents(ev[:r.DequeueEvents(ev)])
				}
			})
		}
	}
}

// BenchmarkPipe is one producer and one consumer, each a locked thread, 1024 slots.
func BenchmarkPipe(b *testing.B) {
	for _, k := range kinds {
		for _, burst := range []int{1, 32} {
			b.Run(fmt.Sprintf("%s/%d", k.name, burst), func(b *testing.B) {
				r := k.at(1024, 0)
				var wg sync.WaitGroup
				wg.Go(func() {
					runtime.LockOSThread()
					ids := make([]uint32, burst)
					for n := 0; n < b.N; {
						k := r.Enqueue(ids[:min(burst, b.N-n)])
						if n += k; k == 0 {
							relax.Pause()
						}
					}
				})
				wg.Go(func() {
					runtime.LockOSThread()
					ids := make([]uint32, burst)
					for n := 0; n < b.N; {
						k := r.Dequeue(ids)
						if n += k; k == 0 {
							relax.Pause()
						}
					}
				})
				wg.Wait()
			})
		}
	}
}

// BenchmarkShared is two workers that dequeue from and enqueue to one ring of 64 events.
func BenchmarkShared(b *testing.B) {
	for _, burst := range []int{1, 32} {
		b.Run(fmt.Sprintf("MPMC/%d", burst), func(b *testing.B) {
			r := NewMPMC(1024)
			r.Enqueue(make([]uint32, 64))
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					runtime.LockOSThread()
					ids := make([]uint32, burst)
					for n := 0; n < b.N/2; {
						k := r.Dequeue(ids)
						r.Enqueue(ids[:k])
						n += k
					}
				})
			}
			wg.Wait()
		})
	}
}
