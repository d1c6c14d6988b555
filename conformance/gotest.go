// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"testing"
)

// Run runs the cases of the areas (none = all) as sub-tests of t, named by their
// ids. What no device takes part in (POOL to SCHED) need not run for each of them.
func Run(t *testing.T, f Factory, areas ...string) {
	t.Helper()
	for _, a := range areas {
		if !slices.Contains(areaOrder, a) {
			t.Errorf("there is no area %q: they are %v", a, areaOrder)
		}
	}
	for _, c := range Cases() {
		if len(areas) != 0 && !slices.Contains(areas, c.Area()) {
			continue
		}
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
