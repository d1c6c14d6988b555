// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"
)

// Run runs all cases as sub-tests of t, named by their ids.
func Run(t *testing.T, f Factory) {
	t.Helper()
	for _, c := range Cases() {
		t.Run(c.ID, func(t *testing.T) {
			g := &goT{T: t}
			// a cleanup that runs after all others: the case is judged when it has ended
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("%s: %s", c.ID, c.Objective)
				} else if msg := f.judge(c.ID, g.skipped); msg != "" {
					t.Errorf("%s: %s", c.ID, msg)
				}
			})
			c.exec(&f, g)
		})
	}
	for id := range f.Skips {
		if _, ok := cases[id]; !ok {
			t.Errorf("the list of expected skips has %s, which is no case", id)
		}
	}
}

// goT is a *testing.T as a T.
type goT struct {
	*testing.T
	skipped Capability
}

func (g *goT) Skip(c Capability) {
	g.T.Helper()
	g.skipped = c
	g.T.Skipf("the platform lacks: %s", c)
}

func (g *goT) Short() bool { return testing.Short() }
