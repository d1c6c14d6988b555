// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

// pin binds the calling thread to the n-th CPU counted from the last one, for good.
func pin(w *worker.Worker, n int) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	_ = w.Pin(max(0, runtime.NumCPU()-1-n))
}

// BenchmarkLoop is odp_queue_perf: dequeue a burst, enqueue it to the same queue, 64
// events per queue. Mev/s counts the events of all workers.
func BenchmarkLoop(b *testing.B) {
	for _, c := range []struct {
		name             string
		mode             Mode
		workers, private int
		progress         Progress
	}{{"c1/mt", MT, 1, 0, Blocking}, {"c1/unsafe", MTUnsafe, 1, 0, Blocking}, {"c2/shared", MT, 2, 0, Blocking}, {"c2/private", MT, 2, 1, Blocking},
		{"c1/lockfree", MT, 1, 0, LockFree}, {"c2/lockfree", MT, 2, 0, LockFree}, {"c1/waitfree", MT, 1, 0, WaitFree}, {"c2/waitfree", MT, 2, 0, WaitFree}} {
		for _, burst := range []int{1, 32} {
			b.Run(fmt.Sprintf("%s/%d", c.name, burst), func(b *testing.B) {
				set, ws := kit(b, c.workers)
				var qs [2]*Queue
				for i := range qs {
					qs[i] = mustNew(b, set, Config{Size: 1024, EnqMode: c.mode, DeqMode: c.mode, NonBlocking: c.progress})
					qs[i].Enqueue(nil, events(64))
				}
				b.ResetTimer()
				var wg sync.WaitGroup
				for i, w := range ws {
					wg.Go(func() {
						pin(w, i)
						q := qs[i*c.private]
						ev := make([]*buffer.Event, burst)
						for n := 0; n < b.N/c.workers; {
							k, _ := q.Dequeue(w, ev)
							q.Enqueue(w, ev[:k])
							n += k
						}
					})
				}
				wg.Wait()
				b.StopTimer()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mev/s")
				for _, q := range qs {
					q.Dequeue(nil, make([]*buffer.Event, 64))
				}
			})
		}
	}
}

// BenchmarkPair is odp_queue_perf's pair mode: dequeue from one queue, enqueue to the other.
func BenchmarkPair(b *testing.B) {
	for _, mode := range []Mode{MT, MTUnsafe} {
		for _, burst := range []int{1, 32} {
			b.Run(fmt.Sprintf("%v/%d", mode, burst), func(b *testing.B) {
				set, ws := kit(b, 2)
				var qs [2]*Queue
				for i := range qs {
					qs[i] = mustNew(b, set, Config{Size: 1024, EnqMode: mode, DeqMode: mode})
					qs[i].Enqueue(nil, events(256))
				}
				b.ResetTimer()
				var wg sync.WaitGroup
				var left sync.WaitGroup
				left.Add(2)
				done := make(chan struct{})
				go func() { left.Wait(); close(done) }()
				for i, w := range ws {
					wg.Go(func() {
						pin(w, i)
						ev := make([]*buffer.Event, burst)
						step := func() int {
							k, _ := qs[i].Dequeue(w, ev)
							qs[1-i].Enqueue(w, ev[:k])
							return k
						}
						for n := 0; n < b.N/2; {
							n += step()
						}
						left.Done()
						for {
							select {
							case <-done:
								return
							default:
								step()
							}
						}
					})
				}
				wg.Wait()
				b.StopTimer()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mev/s")
				for _, q := range qs {
					q.Dequeue(nil, make([]*buffer.Event, 512))
				}
			})
		}
	}
}
