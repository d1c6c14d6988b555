// SPDX-License-Identifier: Apache-2.0

// Package conformance is the list of behaviours that a godp platform shows, as
// suites that anybody can run: the behaviours of ODP's validation suite, restated for
// the Go API, one case each with its id (SCHED-17).
//
// # From go test
//
//	func TestConformanceMine(t *testing.T) {
//		conformance.Run(t, conformance.Factory{
//			Name:   "mine",
//			Single: "mine:0",
//			Pair:   [2]string{"mine:1", "mine:2"},
//			Caps:   []conformance.Capability{conformance.CapLink},
//			Skips:  map[string]conformance.Capability{"PKTIO-52": conformance.CapTimestamp},
//		})
//	}
//
// Each case is a sub-test, so -run 'Conformance.*/SCHED-17$' runs one.
//
// # Without a tool chain
//
//	report := conformance.RunAll(ctx, factory, conformance.Options{Run: re})
//	report.WriteTable(os.Stdout)
//
// # What a skip means
//
// A case never passes by doing nothing: what the platform can't do is a Capability
// that it does not claim, and the case is skipped with that name. A platform commits
// the list of its expected skips (Factory.Skips); any other skip is a failure, and so is
// an expected skip that passes: the list is then out of date.
//
// # How a case is written
//
// A case asserts through its Env, which is a T. It opens what it needs through
// the Env (Instance, Pool, Control), so that the end of the case gives all of it back
// and fails when something was lost. Lower time bounds are exact; upper ones are
// liveness limits (Patience). Cases register per area in a file of their own:
//
//	func init() {
//		register("QUEUE",
//			Case{"QUEUE-01", "Capabilities are consistent.", nil, queueCapabilities},
//		)
//	}
package conformance
