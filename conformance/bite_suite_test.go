// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mutant is an implementation that is broken in one way, and the cases that must
// see it: these and no others.
type mutant struct {
	what   string
	breaks func(o *ops)
	fails  string // ids without their area, in order
}

// suiteBites runs the cases of the area against each mutant, but the long ones (very many
// events, pools or steps) only where one of them is to see it, and not in short mode,
// which takes the first five mutants.
func suiteBites(t *testing.T, area, long string, list []mutant) {
	t.Helper()
	if testing.Short() {
		list = list[:min(5, len(list))]
	}
	isLong := regexp.MustCompile("^(" + area + "-(" + long + "))$")
	for _, m := range list {
		t.Run(strings.ReplaceAll(m.what, " ", "_"), func(t *testing.T) {
			all := !testing.Short() && slices.ContainsFunc(strings.Fields(m.fails), func(n string) bool { return isLong.MatchString(area + "-" + n) })
			runs := func(id string) bool { return areaOf(id) == area && (all || !isLong.MatchString(id)) }
			o := realOps
			m.breaks(&o)
			r := RunAll(t.Context(), Factory{Name: "broken", Single: "loop:0", ops: &o}, Options{Run: idPattern(runs), Short: true})
			var got []string
			for _, c := range r.Cases {
				if c.State == Failed {
					got = append(got, strings.TrimPrefix(c.ID, area+"-"))
				}
			}
			var want []string
			for _, id := range strings.Fields(m.fails) {
				if runs(area + "-" + id) {
					want = append(want, id)
				}
			}
			if len(want) == 0 {
				t.Fatalf("no case is to see the mutant; %d ran", len(r.Cases))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: failed are %s, want %s", m.what, strings.Join(got, " "), strings.Join(want, " "))
				for _, c := range r.Cases {
					if c.State == Failed && !slices.Contains(want, strings.TrimPrefix(c.ID, area+"-")) {
						t.Logf("%s: %s", c.ID, c.Log[0])
					}
				}
			}
		})
	}
}

// idPattern is a pattern of the cases that f wants.
func idPattern(f func(id string) bool) *regexp.Regexp {
	var list []string
	for _, c := range Cases() {
		if f(c.ID) {
			list = append(list, c.ID)
		}
	}
	return regexp.MustCompile("^(" + strings.Join(list, "|") + ")$")
}
