// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"time"

	"github.com/odp-go/godp/internal/relax"
)

// Spin is a bounded wait for another worker: 64 pauses, then yields of the
// thread, then sleeps of 50 us. The zero value is ready; one per wait.
type Spin struct{ n int }

// Wait waits a little longer than the last time.
func (s *Spin) Wait() {
	s.n++
	switch {
	case s.n <= 64:
		relax.Pause()
	case s.n <= 256:
		yield()
	default:
		time.Sleep(50 * time.Microsecond)
	}
}
