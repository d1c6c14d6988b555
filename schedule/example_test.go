// SPDX-License-Identifier: Apache-2.0

package schedule_test

import (
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/schedule"
	"github.com/odp-go/godp/worker"
)

// Two queues, one of high priority: its event comes first, although it was
// enqueued last.
func Example() {
	set, err := worker.NewSet(2)
	if err != nil {
		panic(err)
	}
	defer set.Close()
	s, err := schedule.New(set, schedule.Config{Idle: schedule.Busy})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	pool, err := buffer.NewPool(set, buffer.PoolConfig{Name: "events", Num: 64, Cache: -1})
	if err != nil {
		panic(err)
	}
	defer pool.Close()
	low, err := s.NewQueue(schedule.QueueConfig{Name: "low", Sync: schedule.Atomic})
	if err != nil {
		panic(err)
	}
	defer low.Close()
	high, err := s.NewQueue(schedule.QueueConfig{Name: "high", Sync: schedule.Atomic, Priority: schedule.Highest})
	if err != nil {
		panic(err)
	}
	defer high.Close()

	w, err := set.Join(worker.KindWorker)
	if err != nil {
		panic(err)
	}
	defer w.Leave()
	defer s.Leave(w)
	for i, q := range []*schedule.Queue{low, low, high} {
		p := pool.AllocPacket(w, 60)
		p.SetMark(uint32(i))
		if _, err := q.Enqueue(w, buffer.EventsOf([]*buffer.Packet{p})); err != nil {
			panic(err)
		}
	}
	var ev [32]*buffer.Event
	for {
		n, q, err := s.Schedule(w, ev[:], 0) // 0: don't wait
		if n == 0 {
			fmt.Println("nothing is left", err)
			break
		}
		fmt.Println(q.Name(), n, "events, the first is number", buffer.PacketsOf(ev[:n])[0].Mark())
		buffer.FreePackets(w, buffer.PacketsOf(ev[:n]))
	}
	// Output:
	// high 1 events, the first is number 2
	// low 2 events, the first is number 0
	// nothing is left <nil>
}
