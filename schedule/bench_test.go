// SPDX-License-Identifier: Apache-2.0

//go:build linux

package schedule

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
	"golang.org/x/sys/unix"
)

// pin binds the calling thread to the n-th CPU counted from the last one.
func pin(n int) error {
	var set unix.CPUSet
	set.Set(runtime.NumCPU() - 1 - n)
	return unix.SchedSetaffinity(0, &set)
}

// BenchmarkSchedPerf is the loop of ODP's odp_sched_perf: schedule up to b events
// without waiting, enqueue them to the queue they came from; 100 events per queue,
// no data touched. c is the number of pinned workers; b.N is the events of all.
func BenchmarkSchedPerf(b *testing.B) {
	for _, y := range kinds {
		for _, q := range []int{1, 16} {
			for _, burst := range []int{1, 32} {
				for _, c := range []int{1, 2} {
					if c > runtime.NumCPU() {
						continue
					}
					b.Run(fmt.Sprintf("%v/q=%d/b=%d/c=%d", y, q, burst, c), func(b *testing.B) {
						benchSched(b, y, q, burst, c)
					})
				}
			}
		}
	}
}

// BenchmarkCrowd is the same loop with more workers than CPUs, not pinned.
func BenchmarkCrowd(b *testing.B) {
	for _, y := range kinds {
		for _, q := range []int{1, 16} {
			for _, burst := range []int{1, 32} {
				b.Run(fmt.Sprintf("%v/q=%d/b=%d", y, q, burst), func(b *testing.B) {
					benchSched(b, y, q, burst, 4*runtime.NumCPU())
				})
			}
		}
	}
}

func benchSched(b *testing.B, y Sync, queues, burst, workers int) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), workers+2)))
	const events = 100
	r := newRig(b, workers+1, queues*events, Config{Idle: Busy})
	for range queues {
		q := r.queue(QueueConfig{Sync: y, Size: 128})
		r.fill(nil, q, 0, events)
	}
	var start, done sync.WaitGroup
	start.Add(workers)
	var total, spent atomic.Int64
	for i := range workers {
		done.Add(1)
		go func() {
			defer done.Done()
			runtime.LockOSThread()
			if workers <= runtime.NumCPU() {
				_ = pin(i)
			}
			w, err := r.set.Join(worker.KindWorker)
			if err != nil {
				b.Error(err)
				return
			}
			defer w.Leave()
			defer r.s.Leave(w)
			var array [64]*buffer.Event // on its own stack: no line shared with another worker
			ev := array[16 : 16+burst]
			start.Done()
			start.Wait()
			begin := time.Now()
			per := b.N/workers + 1
			got := 0
			for got < per {
				n, q, _ := r.s.Schedule(w, ev, 0)
				for m := 0; m < n; {
					k, _ := q.Enqueue(w, ev[m:n])
					m += k
				}
				got += n
			}
			total.Add(int64(got))
			spent.Add(int64(time.Since(begin)))
		}()
	}
	b.ResetTimer()
	done.Wait()
	b.StopTimer()
	mean := float64(spent.Load()) / float64(workers) // as ODP counts
	if workers > runtime.NumCPU() {                  // they run one after the other
		mean = float64(b.Elapsed())
	}
	b.ReportMetric(1e3*float64(total.Load())/mean, "Mev/s")
	if st := r.s.Stats(); st.Events > 0 {
		b.ReportMetric(float64(st.Steals)/float64(st.Bursts)*1000, "steals/1000")
	}
	w := r.join()
	if v := r.drain(w); len(v) != queues*events {
		b.Errorf("%d of %d events are there at the end", len(v), queues*events)
	}
	r.leave(w)
}
