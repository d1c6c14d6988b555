// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"testing"

	"github.com/odp-go/godp/internal/testkit"
)

// The budget of locked instructions (DESIGN: an enqueue 1, a call answered from the
// stash 0, a token taken and given back 2 a burst), counted in the compiled code. Cold
// paths lie in functions of their own.
func TestLockedInstructions(t *testing.T) {
	a := testkit.Assemble(t, ".", false)
	for _, f := range []struct {
		name string
		max  int
		why  string
	}{
		{"(*Queue).Enqueue", 0, "the ring has it"},
		{"(*Queue).enqueueLane", 0, "a worker's lane of a parallel queue has one producer"},
		{"(*lane).put", 0, "a worker's lane of a parallel queue has one producer"},
		{"(*lane).putOne", 0, "a worker's lane of a parallel queue has one producer"},
		{"(*lane).take", 1, "a lane has any number of consumers"},
		{"(*laneList).takeOwn", 0, "only the owner writes the list"},
		{"(*events).putOne", 1, "the reservation; the way back from a closed queue and a missing token lie apart"},
		{"(*events).put", 1, "the reservation, which takes the token of an empty queue along"},
		{"(*Scheduler).Schedule", 0, "the stash is the worker's own"},
		{"(*state).unstash", 0, "the stash is the worker's own"},
		{"(*Scheduler).schedule", 0, "a burst has them in own, giveBack, finish"},
		{"(*Scheduler).pass", 0, "priorities cost loads only"},
		{"(*Scheduler).own", 1, "taking the token"},
		{"(*Queue).drain", 0, "the token's holder is the only consumer"},
		{"(*events).take", 0, "the token's holder is the only consumer"},
		{"(*events).takeIDs", 0, "the token's holder is the only consumer"},
		{"(*Scheduler).mayHold", 0, "an atomic queue that is held is free of them"},
		{"(*Scheduler).refill", 0, "an atomic queue that is held is free of them"},
		{"(*order).ticket", 0, "taken while holding the token"},
	} {
		if n := a.RMW(t, f.name); n > f.max {
			t.Errorf("%s has %d locked instructions, allowed %d: %s", f.name, n, f.max, f.why)
		}
	}
	if n := a.RMW(t, "(*events).put"); n != 1 {
		t.Errorf("the reservation has %d locked instructions: the count does not work", n)
	}
}

func TestMain(m *testing.M) { testkit.Main(m) }

// What is called for every burst is compiled as it is meant to be.
func TestCompiledCode(t *testing.T) {
	f := testkit.CompileFacts(t, ".")
	f.Inlined(t, "(*events).ready", "(*events).drop", "(*level).pop", "(*level).empty", "slot", "tag", "(*state).unstash")
	f.Inlined(t, "(*lane).at", "(*lane).len", "(*state).mark", "(*state).polls", "(*Queue).part", "eventID", "setEvent")
	f.NoBoundsChecks(t, "putRun", "takeRun", "(*lane).putOne", "(*events).putOne", "(*Scheduler).schedule", "(*Scheduler).pass", "(*Scheduler).refill", "(*Queue).enqueueRing")
	f.NoEscapes(t, "(*lane).put", "(*lane).putOne", "(*lane).take", "(*events).putOne", "(*Queue).enqueueRing", "(*laneList).takeOwn", "(*laneList).takeOther", "(*Scheduler).mayTake")
	f.NoEscapes(t, "(*Scheduler).Schedule", "(*Queue).Enqueue", "(*events).put", "(*events).take", "(*Scheduler).pass", "(*Scheduler).take", "(*Scheduler).giveBack")
}
