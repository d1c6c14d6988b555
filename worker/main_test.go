// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"testing"

	"github.com/odp-go/godp/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// What every burst does costs no locked instruction and no call: quiescent points,
// the check for a stop, awaiting the turn without an ordered context, a wake of who is
// awake and was woken before.
func TestHotPathsAreCheap(t *testing.T) {
	f := testkit.CompileFacts(t, ".")
	f.Inlined(t, "(*Worker).ID", "(*Worker).Quiesce", "(*Worker).Stopping", "(*Worker).AwaitTurn", "(*Worker).Wake", "(*Set).Max")
	a := testkit.Assemble(t, ".", false)
	a.MaxRMW(t, map[string]int{
		"(*Worker).Quiesce":   0,
		"(*Worker).Running":   0,
		"(*Worker).Stopping":  0,
		"(*Worker).AwaitTurn": 0,
		"(*Worker).awaitTurn": 0,
		"(*Worker).ID":        0,
		"(*Spin).Wait":        0,
		"(*parker).wake":      3, // swap, and the count of wakers around it: only when not notified
		"(*parker).park":      3, // to sleep, back, or take a token
	})
}
