// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"github.com/odp-go/godp/odptest"

	_ "github.com/odp-go/godp/platform/loop"
)

func TestMain(m *testing.M) { odptest.Main(m) }

func TestConformanceLoop(t *testing.T) {
	Run(t, Factory{Name: "loop", Single: "loop:0", Skips: loopSkips})
}
