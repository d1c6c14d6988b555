// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"io"
	"runtime"
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
func (r *Report) WriteTable(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	line := func(area string, count map[State]int) {
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t\n", area, count[Passed], count[Failed], count[Skipped])
	}
	fmt.Fprintf(tw, "area\tpassed\tfailed\tskipped\t\n")
	counts, all := map[string]map[State]int{}, map[State]int{}
	for _, c := range r.Cases {
		if counts[c.Area] == nil {
			counts[c.Area] = map[State]int{}
		}
		counts[c.Area][c.State]++
		all[c.State]++
	}
	for _, area := range areaOrder {
		if n := counts[area]; n != nil {
			line(area, n)
		}
	}
	line("all", all)
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, c := range r.Cases {
		if c.State == Failed {
			fmt.Fprintf(w, "\nfailed %s: %s\n", c.ID, c.Objective)
			for _, l := range c.Log {
				fmt.Fprintf(w, "    %s\n", l)
			}
		}
	}
	var lacks []Capability
	ids := map[Capability][]string{}
	for _, c := range r.Cases {
		if c.State == Skipped {
			if ids[c.Lacks] == nil {
				lacks = append(lacks, c.Lacks)
			}
			ids[c.Lacks] = append(ids[c.Lacks], c.ID)
		}
	}
	for _, l := range lacks {
		fmt.Fprintf(w, "\nskipped for lack of \"%s\": %v\n", l, ids[l])
	}
	_, err := fmt.Fprintf(w, "\n%v\n%s on %s: %d passed, %d failed, %d skipped\n", r.Coverage, r.Platform, r.System, r.Passed, r.Failed, r.Skipped)
	return err
}
