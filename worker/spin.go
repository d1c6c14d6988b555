// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"time"

	"github.com/odp-go/godp/internal/relax"
)

// Spin is a bounded wait for another worker: at most 2 us of pauses, then
// yields of the thread, then sleeps of 50 us. The holder of what is waited for may be
// descheduled, also on this very CPU; whoever only pauses then burns the time slice
// that the holder needs. The zero value is ready; use one per wait.
//
// Linux and FreeBSD yield and sleep by raw system calls, other systems and the
// portable build by the Go scheduler.
type Spin struct{ n int32 }

const (
	pauseFor = 2 * time.Microsecond // how long to pause before yielding
	yields   = 192                  // how often to yield before sleeping: about 100 us
	napFor   = 50 * time.Microsecond
)

// pauses is how many fit in pauseFor: a pause takes 5 to 140 cycles, by model.
var pauses = int32(calibrate())

func calibrate() int {
	const n = 32
	best := time.Duration(1<<63 - 1)
	for range 4 {
		t := time.Now()
		for range n {
			relax.Pause()
		}
		best = min(best, time.Since(t))
	}
	if best <= 0 { // a coarse clock
		return 64
	}
	return max(8, min(256, int(pauseFor*n/best)))
}

// Wait waits a little longer than the last time.
func (s *Spin) Wait() {
	s.n++
	switch {
	case s.n <= pauses:
		relax.Pause()
	case s.n <= pauses+yields:
		yield()
	default:
		s.n-- // stay: a wait may last for ever
		nap(napFor)
	}
}

// Reset starts over with pauses, for a wait that saw progress.
func (s *Spin) Reset() { s.n = 0 }

// Yield gives the rest of the caller's time slice to another thread of its CPU,
// for loops that poll without end and have nothing to wait for. It does not give up
// the P: a loop that may run with more workers than GOMAXPROCS calls runtime.Gosched now and then.
func Yield() { yield() }
