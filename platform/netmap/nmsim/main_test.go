// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"testing"

	"github.com/odp-go/godp/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// What a sync costs must not grow: no allocation, and few locked instructions.
func TestHotPathFacts(t *testing.T) {
	f := testkit.CompileFacts(t, ".")
	f.Inlined(t, "(*kring).next", "(*kring).buf", "(*kring).validBuf", "check", "at64")
	f.NoEscapes(t, "(*kring).take", "(*kring).takeBack", "(*kring).nicTx", "(*kring).sendOut", "(*source).fill", "(*source).fillPlain",
		"writeFrame", "(*sink).run", "(*sink).runBatch", "(*sink).frameIn", "(*kring).txSync", "(*kring).rxSync", "(*binding).sync")
	w := testWorld(t, Config{})
	twoPorts(t, w, SourceConfig{}, NICConfig{})
	a, b := open(t, w, "eth0"), open(t, w, "eth1")
	forward(a, b, 5000, false, false)
	rx, tx := a.rxr(0), b.txr(0)
	testkit.NoAllocs(t, "receive and send", 200, func() {
		a.rxsync()
		swapForward(rx, tx, 32, false, false)
		b.txsync()
	})
}

func TestHotPathLocks(t *testing.T) {
	a := testkit.Assemble(t, ".", false)
	a.MaxRMW(t, map[string]int{
		"(*kring).take": 0, "(*kring).takeBack": 0, "(*source).fillPlain": 0, "(*sink).runBatch": 0, "(*sink).frameIn": 0,
	})
}
