// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"fmt"
	"time"

	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// started is the zero of the process's clock (ODP's odp_time_startup).
var started = time.Now()

// Now returns nanoseconds on the process's clock: monotonic, from about zero,
// not stepped by changes of the wall clock, and comparable between workers. It is both
// ODP's local and its global time. A call costs about 40 ns: once per burst.
func Now() int64 { return int64(time.Since(started)) }

// Startup returns the wall clock time of Now() == 0.
func Startup() time.Time { return started }

// waitSpin is the rest of a wait that is spent spinning, for exactness.
const waitSpin = 60 * time.Microsecond

// WaitUntil returns at time t of Now, never before. It sleeps while t is far and
// spins for the last 60 us. ErrStopped: w was asked to stop meanwhile. w may be
// nil. It is a quiescent point; no lock or event context may be held across it.
func WaitUntil(w *Worker, t int64) error {
	for {
		left := time.Duration(t - Now())
		if left <= 0 {
			return nil
		}
		if w != nil {
			w.Quiesce()
			if w.Stopping() {
				return fmt.Errorf("wait: worker %d: %w", w.ID(), queue.ErrStopped)
			}
		}
		switch {
		case left <= waitSpin:
			var s worker.Spin
			for n := 0; n < 64 && Now() < t; n++ {
				s.Wait()
			}
		case w == nil:
			time.Sleep(left - waitSpin)
		default:
			w.Park(left-waitSpin, nil)
		}
	}
}

// Wait returns after d, never earlier; see WaitUntil.
func Wait(w *Worker, d time.Duration) error { return WaitUntil(w, Now()+int64(d)) }
