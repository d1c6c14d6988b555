// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"flag"
	"testing"
)

var withBites = flag.Bool("conformance.bite", false, "also run the suites against broken implementations; needs a quiet machine")

// needBite skips a test that runs the suites on broken schedulers, queues and clocks unless
// it was asked for: which of their cases fail depends on how the machine's threads run.
func needBite(t *testing.T) {
	t.Helper()
	if !*withBites {
		t.Skip("broken implementations: run with -conformance.bite, on a quiet machine (make bite)")
	}
}
