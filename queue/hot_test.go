// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"testing"

	"github.com/odp-go/godp/internal/testkit"
)

// A burst through a queue calls nothing but its ring.
func TestCompiledCode(t *testing.T) {
	f := testkit.CompileFacts(t, ".")
	f.NoEscapes(t, "(*Queue).Enqueue", "(*Queue).Dequeue")
	f.NoBoundsChecks(t, "(*Queue).Dequeue")
	testkit.Assemble(t, ".", false).MaxRMW(t, map[string]int{"(*Queue).Enqueue": 0, "(*Queue).Dequeue": 0})
}
