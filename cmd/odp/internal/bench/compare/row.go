// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"strings"
)

// Unit says what a row's figures are.
type Unit int

// The units.
const (
	PerSecond   Unit = iota // events or packets per second: more is better
	Nanoseconds             // less is better
	Cycles                  // of the time stamp counter; less is better
)

func (u Unit) String() string {
	return [...]string{"M/s", "ns", "cycles"}[u]
}

// format prints a figure in its unit.
func (u Unit) format(v float64) string {
	if u == PerSecond {
		v /= 1e6
	}
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Row is one comparison.
type Row struct {
	ID      string
	Work    string   // for people
	Ours    []string // arguments of "odp bench"
	Peer    []string // program and arguments
	Env     []string // of the peer
	Unit    Unit
	Pick    string  // which of our figures: "" = events_per_sec, "high" = latency of high priority, "cycles" = cycles_per_event
	Want    float64 // ratio to reach, ours / peer; 0 = none set. In ns and cycles it is an upper limit
	Workers int
	Seconds int    // how long a peer goes on that does not end by itself; it is then interrupted
	Changed string // how the peer must be changed to do this work; "" = as it is distributed
	Note    string // where the work is not equal
	read    func(out string) (reading, error)
}

// reading is what a peer's output says.
type reading struct {
	value   float64
	workers int // that really ran; 0 = the output does not tell
}

// met reports whether a ratio reaches what is wanted.
func (r *Row) met(ratio float64) bool {
	if r.Unit != PerSecond {
		return ratio <= r.Want
	}
	return ratio >= r.Want
}

// want prints the wanted ratio.
func (r *Row) want() string {
	switch {
	case r.Want == 0:
		return "-"
	case r.Unit != PerSecond:
		return fmt.Sprintf("<= %g", r.Want)
	}
	return fmt.Sprintf(">= %g", r.Want)
}

// peerCommand is the peer's command line as one would type it.
func (r *Row) peerCommand() string {
	return strings.Join(append(append([]string{}, r.Env...), r.Peer...), " ")
}
