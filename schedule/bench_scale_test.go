// SPDX-License-Identifier: Apache-2.0

//go:build linux

package schedule

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

// BenchmarkQueues is one worker that serves 16 to 10^5 queues, one event in each: ns per
// event of Schedule and Enqueue, and the memory that the scheduler and each queue take.
func BenchmarkQueues(b *testing.B) {
	for _, y := range kinds {
		for _, queues := range []int{16, 1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%v/%d", y, queues), func(b *testing.B) {
				r := newRig(b, 2, queues, Config{MaxQueues: max(1024, queues), Idle: Busy})
				w := r.join()
				r.queue(QueueConfig{Sync: y, Size: 4}) // the level
				r.s.Schedule(w, make([]*buffer.Event, 1), 0)
				base := heap()
				for i := range queues - 1 {
					q := r.queue(QueueConfig{Sync: y, Size: 4})
					r.fill(w, q, i, i+1)
				}
				var array [64]*buffer.Event
				ev := array[16:48]
				for range 2 * queues { // lanes, and what grows with use
					n, q, _ := r.s.Schedule(w, ev, 0)
					q.Enqueue(w, ev[:n])
				}
				all := heap()
				b.ResetTimer()
				for range b.N {
					n, q, _ := r.s.Schedule(w, ev, 0)
					q.Enqueue(w, ev[:n])
				}
				b.StopTimer()
				b.ReportMetric(float64(all-base)/float64(queues-1), "B/queue")
				r.drain(w)
				r.leave(w)
			})
		}
	}
}

// BenchmarkWorkerMemory is the memory of a scheduler for each worker that it may have.
func BenchmarkWorkerMemory(b *testing.B) {
	size := func(workers int) float64 {
		set, err := worker.NewSet(workers)
		if err != nil {
			b.Fatal(err)
		}
		before := heap()
		s, err := New(set, Config{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.NewQueue(QueueConfig{Sync: Atomic}); err != nil {
			b.Fatal(err)
		}
		n := heap() - before
		runtime.KeepAlive(s)
		return float64(n)
	}
	for range b.N {
		few, many := size(2), size(34)
		b.ReportMetric((many-few)/32, "B/worker")
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
