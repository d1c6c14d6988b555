// SPDX-License-Identifier: Apache-2.0

//go:build linux

package schedule

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
	"golang.org/x/sys/unix"
)

// BenchmarkWake is the time from the Enqueue of an event by another thread to the
// return of Schedule in a worker that has been asleep for 300 us: median and p99.
func BenchmarkWake(b *testing.B) {
	for _, idle := range []Idle{Adaptive, Busy} {
		b.Run([]string{"adaptive", "busy"}[idle], func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
			r := newRig(b, 2, 4, Config{Idle: idle})
			q := r.queue(QueueConfig{Sync: Atomic})
			var at atomic.Int64
			took := make([]int64, 0, b.N)
			done := make(chan struct{})
			go func() {
				defer close(done)
				runtime.LockOSThread()
				_ = pin(0)
				w := r.join()
				defer r.leave(w)
				ev := make([]*buffer.Event, 1)
				for range b.N {
					if n, _, _ := r.s.Schedule(w, ev, -1); n == 1 {
						took = append(took, nanotime()-at.Load())
						r.free(ev...)
						at.Store(0)
					}
				}
			}()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			_ = pin(1)
			w := r.join()
			for range b.N {
				for start := nanotime(); at.Load() != 0 || nanotime()-start < 300_000; {
				}
				e := []*buffer.Event{r.event(0)}
				at.Store(nanotime())
				q.Enqueue(w, e)
			}
			<-done
			r.leave(w)
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2])/1e3, "median-us")
			b.ReportMetric(float64(took[len(took)*99/100])/1e3, "p99-us")
		})
	}
}

// BenchmarkIdle is the CPU that two idle workers take, in percent of one, over two
// seconds: without inputs, with inputs that have a descriptor, with inputs that can't be slept on.
func BenchmarkIdle(b *testing.B) {
	for _, kind := range []string{"queues", "descriptor", "bare"} {
		b.Run(kind, func(b *testing.B) {
			r := newRig(b, 2, 4, Config{})
			var qs []*Queue
			var fds []int
			for range 4 {
				q := r.queue(QueueConfig{Sync: Atomic})
				qs = append(qs, q)
				switch kind {
				case "descriptor":
					fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK)
					if err != nil {
						b.Fatal(err)
					}
					fds = append(fds, fd)
					_ = q.AttachSource(&fdInput{fd: fd})
				case "bare":
					_ = q.AttachSource(&input{r: r})
				}
			}
			wait := r.workers(2, func(w *worker.Worker) {
				runtime.LockOSThread()
				ev := make([]*buffer.Event, 32)
				for {
					if _, _, err := r.s.Schedule(w, ev, -1); err != nil {
						return
					}
				}
			})
			time.Sleep(100 * time.Millisecond)
			start, cpu := time.Now(), cpuTime()
			time.Sleep(2 * time.Second)
			used := 100 * float64(cpuTime()-cpu) / float64(time.Since(start))
			r.set.Stop()
			wait()
			if kind != "queues" {
				for _, q := range qs {
					detach(b, q, nil)
				}
			}
			for _, fd := range fds {
				unix.Close(fd)
			}
			b.ReportMetric(used, "cpu%")
			b.ReportMetric(float64(r.s.Stats().Parks), "parks")
			b.ReportMetric(float64(r.s.Stats().Polls), "polls")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func cpuTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// fdInput never has anything, and is slept on by its descriptor.
type fdInput struct{ fd int }

func (in *fdInput) Dequeue(*worker.Worker, []*buffer.Event) (int, error) { return 0, nil }
func (in *fdInput) Arm(func()) (int, time.Duration, bool)                { return in.fd, 0, false }
func (in *fdInput) Disarm()                                              {}
