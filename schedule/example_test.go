// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"errors"
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/schedule"
	"github.com/odp-go/godp/worker"
)

// Two queues, one worker: the higher priority comes first, and the loop ends when
// the worker was told to stop and nothing is left.
func Example() {
	set, _ := worker.NewSet(1)
	defer set.Close()
	pool, _ := buffer.NewPool(set, buffer.PoolConfig{Name: "frames", Num: 64})
	defer pool.Close()
	s, _ := schedule.New(set, schedule.Config{})
	defer s.Close()
	control, _ := s.NewQueue(schedule.QueueConfig{Name: "control", Sync: schedule.Atomic, Priority: schedule.Highest})
	defer control.Close()
	data, _ := s.NewQueue(schedule.QueueConfig{Name: "data", Sync: schedule.Ordered})
	defer data.Close()

	var pkts [3]*buffer.Packet
	pool.AllocPackets(nil, pkts[:], 60)
	ev := buffer.EventsOf(pkts[:])
	data.Enqueue(nil, ev[:2])
	control.Enqueue(nil, ev[2:])

	w, _ := set.Join(worker.KindWorker)
	defer w.Leave()
	defer s.Leave(w)
	w.RequestStop()
	var burst [32]*buffer.Event
	for {
		n, q, err := s.Schedule(w, burst[:], -1)
		if errors.Is(err, queue.ErrStopped) {
			break
		}
		fmt.Println(q.Name(), n)
		pool.FreePackets(w, buffer.PacketsOf(burst[:n]))
	}
	// Output:
	// control 1
	// data 2
}

// stages is a queue.Dest of one's own: it awaits the worker's turn, so that it keeps
// the order of an ordered queue.
type stages struct{ seen []int }

func (d *stages) Enqueue(w *worker.Worker, ev []*buffer.Event) (int, error) {
	w.AwaitTurn()
	d.seen = append(d.seen, len(ev)) // one worker at a time is here, in order
	return len(ev), nil
}

var _ queue.Dest = (*stages)(nil)
