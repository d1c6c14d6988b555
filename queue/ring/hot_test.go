// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/testkit"
)

// What every burst calls is compiled as it is meant to be.
func TestCompiledCode(t *testing.T) {
	f := testkit.CompileFacts(t, ".")
	f.Inlined(t, "(*SPSC).TryEnqueue", "(*SPSC).TryDequeue", "(*SPSC).room", "(*SPSC).avail", "(*SPSC).publish", "(*SPSC).release", "(*MPSC).release",
		"(*slots).free", "(*slots).split", "word", "slot", "tag", "setEvent")
	f.NoBoundsChecks(t, "(*SPSC).TryEnqueue", "(*SPSC).TryDequeue", "putEvents", "takeEvents", "writeRun", "readRun", "writeEventRun", "readEventRun",
		"(*MPMC).EnqueueEvent", "(*MPMC).DequeueEvent", "(*MPMC).DequeueEvents", "(*producers).reserve", "(*producers).reserveSingle")
	f.NoIndexChecks(t)
	f.NoEscapes(t, "(*SPSC).EnqueueEvents", "(*SPSC).DequeueEvents", "(*MPMC).EnqueueEvent", "(*MPMC).EnqueueEvents", "(*MPMC).DequeueEvents", "(*MPSC).EnqueueEvents",
		"(*MPSC).DequeueEvents", "(*SPMC).EnqueueEvents", "(*SPMC).DequeueEvents")
	testkit.Assemble(t, ".", false).MaxRMW(t, map[string]int{
		"(*SPSC).EnqueueEvents": 0, "(*SPSC).DequeueEvents": 0, "(*MPSC).DequeueEvents": 0, "(*SPMC).EnqueueEvents": 0,
		"(*MPMC).EnqueueEvent": 1, "(*MPMC).DequeueEvent": 1, "(*MPMC).DequeueEvents": 1, "(*producers).reserve": 1, "(*slots).writeEvents": 0, "(*slots).readEvents": 0,
	})
}

// The forms for one event do what those for bursts do, at the edges too.
func TestSingleEvents(t *testing.T) {
	ev := make([]*buffer.Event, 5)
	for i := range ev {
		ev[i] = buffer.FromID(uint32(i + 1))
	}
	for _, start := range []uint64{0, 1<<32 - 2, 1<<64 - 2} {
		s, m := newSPSCAt(4, start), newMPMCAt(4, start)
		var e *buffer.Event
		for range 3 {
			if s.TryDequeue(&e) && s.Len() != 0 || m.DequeueEvent(&e) {
				t.Fatal("an empty ring gave an event")
			}
			for i, x := range ev {
				if !s.TryEnqueue(x) && s.EnqueueEvents(ev[i:i+1]) == 0 != (i == 4) || m.EnqueueEvent(x) != (i < 4) {
					t.Fatalf("event %d of 4: SPSC has %d, MPMC %d", i, s.Len(), m.Len())
				}
			}
			var one [1]*buffer.Event
			for i := range 4 {
				if !s.TryDequeue(&one[0]) && s.DequeueEvents(one[:]) != 1 || one[0] != ev[i] {
					t.Fatalf("SPSC: event %d is %v", i, one[0].ID())
				}
				if !m.DequeueEvent(&e) || e != ev[i] {
					t.Fatalf("MPMC: event %d is %v", i, e.ID())
				}
			}
		}
	}
}
