// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"sync/atomic"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// A worker that stops where it is (its thread has lost the CPU, say) may delay the queue
// that it holds, and nobody else: the other queues, a plain queue and the pool go on, new
// events enter the held queue too, and that goes on when the worker does.
func TestStoppedHolder(t *testing.T) {
	const rounds = 3000
	for _, where := range []string{"atomic context", "order turn", "reservation"} {
		t.Run(where, func(t *testing.T) {
			r := newRig(t, 3, 256, Config{})
			held := r.queue(QueueConfig{Name: "held", Sync: Atomic})
			if where == "order turn" {
				held = r.queue(QueueConfig{Name: "held", Sync: Ordered})
			}
			var others []*Queue
			for _, y := range kinds {
				q := r.queue(QueueConfig{Sync: y})
				others = append(others, q)
				r.fill(nil, q, 100, 110)
			}
			line, err := queue.New(r.set, queue.Config{Size: 64})
			if err != nil {
				t.Fatal(err)
			}
			holds, goOn := make(chan struct{}), make(chan struct{})
			var got, late atomic.Int64 // of the others; of the held one behind the stopped worker
			var resume func()
			if where == "reservation" { // a producer between its addition and its store
				e := r.event(0)
				pos := held.ring.tail.Add(posUnit)>>posShift - 1
				if !held.ring.claim() {
					t.Fatal("somebody else has the token")
				}
				held.s.start(nil, held)
				resume = func() { slot(held.ring.base, pos&held.ring.mask).StoreRel(tag(pos) | uint64(e.ID())) }
				close(holds)
			} else {
				r.fill(nil, held, 0, 1)
				resume = func() { close(goOn) }
			}
			wait := r.workers(3, func(w *worker.Worker) {
				ev := make([]*buffer.Event, 4)
				for w.Running() {
					n, q, err := r.s.Schedule(w, ev, -1)
					if err != nil {
						return
					}
					if q == held {
						if where != "reservation" && val(ev[0]) == 0 {
							close(holds)
							<-goOn
						} else {
							late.Add(int64(n))
						}
						r.free(ev[:n]...)
						continue
					}
					for i := range ev[:n] { // through the plain queue and the pool
						e := ev[i : i+1]
						send(w, line, e)
						for m := 0; m == 0; {
							m, _ = line.Dequeue(w, e)
						}
						v := val(e[0])
						r.free(e[0])
						e[0] = r.event(v)
					}
					send(w, others[got.Add(int64(n))%3], ev[:n])
				}
			})
			within(t, holds, "the worker gets the event at which it stops")
			r.fill(nil, held, 1, 4)
			got.Store(0)
			eventually(t, "the others go on while one is stopped", func() bool { return got.Load() > rounds })
			if where != "order turn" && late.Load() != 0 {
				t.Errorf("%d events of the held queue passed", late.Load())
			}
			resume()
			want := int64(3)
			if where == "reservation" {
				want = 4
			}
			eventually(t, "the held queue goes on", func() bool { return late.Load() == want })
			r.set.Stop()
			wait()
			w := r.join()
			r.drain(w)
			r.leave(w)
			if err := line.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
