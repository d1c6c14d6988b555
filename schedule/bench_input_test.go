// SPDX-License-Identifier: Apache-2.0

//go:build linux

package schedule

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

// endless is an input that always has a burst: what was given to it by Enqueue, as a
// loop device does.
type endless struct {
	ev   [64]*buffer.Event
	n    int
	last *worker.Worker
	mv   int // polls by another worker than the one before
}

func (in *endless) Dequeue(w *worker.Worker, ev []*buffer.Event) (int, error) {
	if in.last != w {
		in.last = w
		in.mv++
	}
	return copy(ev, in.ev[:in.n]), nil
}

// BenchmarkInputs polls two inputs that always have a full burst, nothing else.
func BenchmarkInputs(b *testing.B) {
	for _, y := range kinds {
		for _, c := range []int{1, 2} {
			b.Run(fmt.Sprintf("%v/c=%d", y, c), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c + 2))
				r := newRig(b, c, 64, Config{Idle: Busy})
				var ins [2]endless
				var qs [2]*Queue
				for i := range ins {
					for ins[i].n < 32 {
						ins[i].ev[ins[i].n] = r.event(0)
						ins[i].n++
					}
					qs[i] = r.queue(QueueConfig{Sync: y})
					if err := qs[i].AttachSource(&ins[i]); err != nil {
						b.Fatal(err)
					}
				}
				var wg sync.WaitGroup
				for i := range c {
					wg.Add(1)
					go func() {
						defer wg.Done()
						runtime.LockOSThread()
						_ = pin(i)
						w := r.join()
						defer r.leave(w)
						var array [64]*buffer.Event
						ev := array[16:48]
						for range b.N / c {
							r.s.Schedule(w, ev, 0)
						}
					}()
				}
				wg.Wait()
				b.ReportMetric(float64(r.s.Stats().Events)/b.Elapsed().Seconds()/1e6, "Mev/s")
				b.ReportMetric(1000*float64(ins[0].mv+ins[1].mv)/float64(b.N), "moves/1000")
				for i := range ins {
					detach(b, qs[i], nil)
					r.free(ins[i].ev[:ins[i].n]...)
				}
			})
		}
	}
}
