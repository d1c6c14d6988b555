// SPDX-License-Identifier: Apache-2.0

package ring_test

import (
	"fmt"

	"github.com/odp-go/godp/queue/ring"
)

// Bursts are partial or all-or-nothing.
func Example() {
	r := ring.NewMPMC(4)
	fmt.Println(r.Enqueue([]uint32{1, 2, 3}), r.EnqueueAll([]uint32{4, 5}), r.Enqueue([]uint32{4, 5}))

	ids := make([]uint32, 8)
	n := r.Dequeue(ids)
	fmt.Println(ids[:n], r.Len(), r.Cap())
	// Output:
	// 3 false 1
	// [1 2 3 4] 0 4
}
