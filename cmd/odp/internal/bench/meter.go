// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"math"
	"time"

	"github.com/odp-go/godp/odp"
)

const (
	// tickMask: a loop calls Tick every 256 rounds (a round without events is one too).
	tickMask = 255
	window   = 10 * time.Millisecond
	maxBins  = 6000 // a minute of windows; later ones are not watched
	forever  = math.MaxUint64
)

// Meter is one worker's clock and counts in one repetition. It is the worker's alone
// until the worker has ended.
type Meter struct {
	w    *odp.Worker
	base uint64 // cycle counter at window 0, common to all workers
	bin  uint64 // cycles in a window
	bins []uint64

	counted bool          // the loop ends by count
	time    time.Duration // else after so long
	end     uint64        // when a timed loop ends

	Start, End uint64 // cycle counter
	cpu        int64  // ns of CPU time that the thread had meanwhile
	Count      Counts

	_ [128]byte
}

// Counts are what the loops count. Not every loop has all of them.
type Counts struct {
	Events   uint64 `json:"events"`
	Rounds   uint64 `json:"rounds"`          // turns of the loop, those without events too
	Calls    uint64 `json:"calls,omitempty"` // calls that gave events
	Enqueues uint64 `json:"enqueues,omitempty"`
	Empty    uint64 `json:"empty,omitempty"` // calls that gave none
	Full     uint64 `json:"full,omitempty"`  // calls that did not take all
	Dropped  uint64 `json:"dropped,omitempty"`
}

// Limit returns n where the loop ends by count, else a number that is never reached.
func (m *Meter) Limit(n uint64) uint64 {
	if m.counted {
		return n
	}
	return forever
}

// Begin starts the clock.
func (m *Meter) Begin() {
	m.end = forever
	m.cpu = -cpuTime()
	m.Start = cyclesStrict()
	if !m.counted {
		m.end = m.Start + toCycles(m.time)
	}
}

// Finish stops the clock.
func (m *Meter) Finish(c Counts) {
	m.End = cyclesStrict()
	m.cpu += cpuTime()
	m.Count = c
}

// Tick notes how many events the worker has done and reports whether the loop goes on.
func (m *Meter) Tick(events uint64) bool {
	now := cycles()
	if i := (now - m.base) / m.bin; i < uint64(len(m.bins)) {
		m.bins[i] = events
	}
	return now < m.end && m.w.Running()
}

// Shares says how evenly the workers worked while all of them did.
type Shares struct {
	// Least is the smallest share of the events that a worker did.
	Least float64 `json:"least"`
	// LeastIn10ms is the smallest share that a worker did of any full 10 ms.
	LeastIn10ms float64 `json:"least_in_10ms"`
	Windows     int     `json:"windows"`   // full windows of 10 ms
	Uneven      int     `json:"uneven"`    // of them: some worker did less than half of an even share
	Fairness    float64 `json:"fairness"`  // Jain's index of the workers' events, 1 = even
	Counts      bool    `json:"row_valid"` // each did at least 80 % of an even share, and no window is uneven
}

// shares compares the workers in the time that all of them measured.
func shares(ms []*Meter) Shares {
	n := len(ms)
	var s Shares
	if n == 0 {
		return s
	}
	from, to := uint64(0), uint64(forever)
	for _, m := range ms {
		from, to = max(from, m.Start), min(to, m.End)
	}
	// The last value noted up to the end of window i is the state at that time.
	first, last := int((from-ms[0].base)/ms[0].bin)+1, int((to-ms[0].base)/ms[0].bin)
	last = min(last, maxBins)
	at := make([]uint64, n)
	before := make([]uint64, n)
	fill := func(dst []uint64, upto int) {
		for k, m := range ms {
			for i := upto - 1; i >= 0; i-- {
				if m.bins[i] != 0 {
					dst[k] = m.bins[i]
					break
				}
			}
		}
	}
	total := make([]float64, n)
	s.Least, s.LeastIn10ms = 1, 1
	for i := first; i < last; i++ {
		fill(before, i)
		fill(at, i+1)
		sum := uint64(0)
		for k := range at {
			sum += at[k] - before[k]
			total[k] += float64(at[k] - before[k])
		}
		if sum == 0 {
			continue
		}
		s.Windows++
		least := 1.0
		for k := range at {
			least = min(least, float64(at[k]-before[k])/float64(sum))
		}
		s.LeastIn10ms = min(s.LeastIn10ms, least)
		if least < 0.5/float64(n) {
			s.Uneven++
		}
	}
	if s.Windows == 0 { // too short for a window: all events of all
		for k, m := range ms {
			total[k] = float64(m.Count.Events)
		}
	}
	var sum float64
	for _, v := range total {
		sum += v
	}
	for _, v := range total {
		if sum > 0 {
			s.Least = min(s.Least, v/sum)
		}
	}
	if s.Windows == 0 {
		s.LeastIn10ms = s.Least
	}
	s.Fairness = Jain(total)
	s.Counts = s.Uneven == 0 && s.Least >= 0.8/float64(n)
	return s
}

// cpuShare returns the least share of the time that one of the workers had its CPU:
// what is missing went to other programs. 1 where the system does not tell.
func cpuShare(ms []*Meter) float64 {
	least := 1.0
	for _, m := range ms {
		if wall := toNs(m.End - m.Start); m.cpu > 0 && wall > 0 {
			least = min(least, float64(m.cpu)/wall)
		}
	}
	return least
}
