// SPDX-License-Identifier: Apache-2.0

package testkit

import "testing"

// NoAllocs fails the test when f allocates, on average over the runs. It is skipped
// under the race detector and with the invariants tag, which allocate themselves.
func NoAllocs(t testing.TB, what string, runs int, f func()) {
	t.Helper()
	if race {
		t.Logf("%s: allocations are not counted under the race detector", what)
		f()
		return
	}
	if n := testing.AllocsPerRun(runs, f); n != 0 {
		t.Errorf("%s: %v allocations per run, want 0", what, n)
	}
}
