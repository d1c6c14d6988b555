// SPDX-License-Identifier: Apache-2.0

package queue_test

import (
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// A burst goes through a queue of four: what does not fit stays with the caller.
func Example() {
	set, _ := worker.NewSet(1)
	w, _ := set.Join(worker.KindWorker)
	pool, _ := buffer.NewPool(set, buffer.PoolConfig{Name: "work", Type: buffer.TypeBuffer, Size: 64, Num: 64})
	q, err := queue.New(set, queue.Config{Name: "jobs", Size: 4, EnqMode: queue.MTUnsafe, DeqMode: queue.MTUnsafe})
	if err != nil {
		fmt.Println(err)
		return
	}

	bufs := make([]*buffer.Buffer, 6)
	pool.AllocBuffers(w, bufs)
	ev := make([]*buffer.Event, len(bufs))
	for i, b := range bufs {
		b.Data()[0] = byte(i)
		ev[i] = &b.Event
	}
	n, _ := q.Enqueue(w, ev)
	fmt.Println("accepted", n, "of", len(ev))
	buffer.FreeEvents(w, ev[n:])

	var out [8]*buffer.Event
	n, _ = q.Dequeue(w, out[:])
	for _, e := range out[:n] {
		fmt.Print(e.Buffer().Data()[0], " ")
	}
	fmt.Println("came out")
	buffer.FreeEvents(w, out[:n])

	fmt.Println(q.Close(), pool.Out())
	w.Leave()
	fmt.Println(pool.Close(), set.Close())
	// Output:
	// accepted 4 of 6
	// 0 1 2 3 came out
	// <nil> 0
	// <nil> <nil>
}
