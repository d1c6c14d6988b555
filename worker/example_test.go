// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/worker"
)

// A worker sleeps until there is work or it is told to stop.
func ExampleWorker_Park() {
	set, err := worker.NewSet(4)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer set.Close()

	var jobs atomic.Int64 // an atomic store is a full barrier: Wake asks for one
	var done atomic.Int64
	joined := make(chan *worker.Worker)
	var wg sync.WaitGroup
	wg.Go(func() {
		w, err := set.Join(worker.KindWorker)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer w.Leave()
		joined <- w
		for w.Running() {
			if n := jobs.Swap(0); n > 0 {
				done.Add(n)
				continue
			}
			w.Park(-1, nil)
		}
	})
	w := <-joined
	for range 3 {
		jobs.Add(1)
		w.Wake()
	}
	for done.Load() < 3 {
		time.Sleep(time.Millisecond)
	}
	set.Stop()
	wg.Wait()
	fmt.Println(done.Load(), "jobs done")
	// Output: 3 jobs done
}

// A table is replaced while workers read it without a lock.
func ExampleSet_Grace() {
	set, err := worker.NewSet(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer set.Close()

	table := atomic.Pointer[map[string]int]{}
	table.Store(&map[string]int{"eth0": 1})
	ready := make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() {
		w, err := set.Join(worker.KindWorker)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer w.Leave()
		close(ready)
		for w.Running() { // a quiescent point: no pointer is kept across it
			_ = (*table.Load())["eth0"]
		}
	})
	<-ready

	old := table.Swap(&map[string]int{"eth0": 2})
	if err := set.Grace(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	clear(*old) // no worker reads it any more
	set.Stop()
	wg.Wait()
	fmt.Println("old table has", len(*old), "entries")
	// Output: old table has 0 entries
}
