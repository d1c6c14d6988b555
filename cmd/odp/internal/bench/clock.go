// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"sync"
	"time"
)

// cyclesPerNs is the frequency of the cycle counter in GHz, compared with the system's
// clock for 20 ms, once.
var cyclesPerNs = sync.OnceValue(func() float64 {
	t0, c0 := bothClocks()
	for time.Since(t0) < 20*time.Millisecond {
	}
	t1, c1 := bothClocks()
	return float64(c1-c0) / float64(t1.Sub(t0))
})

// bothClocks reads both clocks at the same time, as nearly as it can be done.
func bothClocks() (t time.Time, c uint64) {
	best := uint64(forever)
	for range 20 {
		c0 := cyclesStrict()
		now := time.Now()
		c1 := cyclesStrict()
		if c1-c0 < best {
			best, t, c = c1-c0, now, c0+(c1-c0)/2
		}
	}
	return t, c
}

func toCycles(d time.Duration) uint64 { return uint64(float64(d) * cyclesPerNs()) }

func toNs(c uint64) float64 { return float64(c) / cyclesPerNs() }
