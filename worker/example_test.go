// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"fmt"

	"github.com/odp-go/godp/worker"
)

// The life of a worker: join, run until it is asked to stop, leave. The next one
// gets the same id.
func Example() {
	set, err := worker.NewSet(4)
	if err != nil {
		panic(err)
	}
	w, err := set.Join(worker.KindWorker)
	if err != nil {
		panic(err)
	}
	turns := 0
	for w.Running() { // a quiescent point: nothing shared is held here
		if turns++; turns == 3 {
			set.Stop() // from anywhere
		}
	}
	fmt.Println("worker", w.ID(), "of at most", set.Max(), "made", turns, "turns")
	w.Leave()
	fmt.Println(set.Close())
	// Output:
	// worker 0 of at most 4 made 3 turns
	// <nil>
}
