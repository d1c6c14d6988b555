// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
)

// State is how a case ended.
type State string

// The states.
const (
	Passed  State = "pass"
	Failed  State = "fail"
	Skipped State = "skip"
)

// Result is what came of one case.
type Result struct {
	Platform  string     `json:"platform"` // Factory.Name
	ID        string     `json:"id"`
	Area      string     `json:"area"`
	Objective string     `json:"objective"`
	State     State      `json:"state"`
	Lacks     Capability `json:"lacks,omitempty"` // what it was skipped for
	Log       []string   `json:"log,omitempty"`
	Seconds   float64    `json:"seconds"`
}

// Report is what came of a run. Its JSON form is what a user sends in.
type Report struct {
	Platform string   `json:"platform"`
	System   string   `json:"system"` // operating system, architecture, Go version
	Passed   int      `json:"passed"`
	Failed   int      `json:"failed"`
	Skipped  int      `json:"skipped"`
	Cases    []Result `json:"cases"`
	Coverage Coverage `json:"coverage"` // of ODP's suite, by all cases that there are
}

func newReport(platform string) Report {
	return Report{Platform: platform, System: runtime.GOOS + "/" + runtime.GOARCH + " " + runtime.Version(), Cases: []Result{}, Coverage: Covered()}
}

func (r *Report) add(c Result) {
	r.Cases = append(r.Cases, c)
	switch c.State {
	case Passed:
		r.Passed++
	case Failed:
		r.Failed++
	default:
		r.Skipped++
	}
}

// OK reports whether something ran and nothing failed.
func (r *Report) OK() bool { return r.Failed == 0 && r.Passed > 0 }

// WriteTable writes the report for people: a line per area, then the failures with
// what they said, then the skips by the capability that they lack.
func (r *Report) WriteTable(w io.Writer) error { return WriteTables(w, []Report{*r}) }

// WriteTables writes the reports of several platforms as one table. A platform has lines
// of its own where more than one ran an area. Listed are the behaviours of ODP's suite.
func WriteTables(w io.Writer, reports []Report) error {
	var all Report
	counts := map[[2]string]map[State]int{}
	rows := map[string][]string{} // by area: the platforms
	for _, r := range reports {
		for _, c := range r.Cases {
			k := [2]string{c.Area, r.Platform}
			if counts[k] == nil {
				counts[k] = map[State]int{}
				rows[c.Area] = append(rows[c.Area], r.Platform)
			}
			counts[k][c.State]++
			all.add(c)
		}
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(tw, "area\tlisted\tpassed\tfailed\tskipped\t\n")
	for _, area := range areaOrder {
		for i, platform := range rows[area] {
			n := counts[[2]string{area, platform}]
			on := ""
			if len(rows[area]) > 1 {
				on = "on " + platform
			}
			behaviours := ""
			if i == 0 {
				behaviours = listedIn(area)
			}
			fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%d\t%s\n", area, behaviours, n[Passed], n[Failed], n[Skipped], on)
		}
	}
	fmt.Fprintf(tw, "all\t%s\t%d\t%d\t%d\t\n", "", all.Passed, all.Failed, all.Skipped)
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, c := range all.Cases {
		if c.State == Failed {
			fmt.Fprintf(w, "\nfailed %s on %s: %s\n", c.ID, c.Platform, c.Objective)
			for _, l := range c.Log {
				fmt.Fprintf(w, "    %s\n", l)
			}
		}
	}
	type lack struct {
		platform string
		cap      Capability
	}
	var lacks []lack
	ids := map[lack][]string{}
	for _, c := range all.Cases {
		if c.State == Skipped {
			l := lack{c.Platform, c.Lacks}
			if ids[l] == nil {
				lacks = append(lacks, l)
			}
			ids[l] = append(ids[l], c.ID)
		}
	}
	for _, l := range lacks {
		fmt.Fprintf(w, "\nskipped on %s for lack of \"%s\": %s\n", l.platform, l.cap, strings.Join(ids[l], " "))
	}
	fmt.Fprintf(w, "\n%v\n", Covered())
	var err error
	for _, r := range reports {
		_, err = fmt.Fprintf(w, "%s on %s: %d passed, %d failed, %d skipped\n", r.Platform, r.System, r.Passed, r.Failed, r.Skipped)
	}
	return err
}
