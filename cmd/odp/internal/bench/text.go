// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// text is the result for people.
func (res *Result) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", res.Bench, res.Params)
	fmt.Fprintf(&b, "%s; godp %s\n", res.Machine, res.Version)
	if len(res.Functions) > 0 {
		res.functionTable(&b)
		return b.String()
	}
	if len(res.Workers) > 0 {
		res.workerText(&b)
		fmt.Fprintf(&b, "median of %d: %s events/s (%s to %s), %.2f cycles and %.2f ns per event on each worker, burst %.1f\n", res.Repetitions,
			rate(res.EventsPerSec), rate(res.Min), rate(res.Max), res.CyclesPerEvent, res.NsPerEvent, res.MeanBurst)
	}
	if res.CPUShare < 0.97 {
		fmt.Fprintf(&b, "A worker had its CPU for %.0f %% of the time only: other programs ran, these figures are not those of a quiet machine.\n", 100*res.CPUShare)
	}
	if s := res.Shares; s != nil {
		verdict := "counts as a row of several workers"
		if !s.Counts {
			verdict = "does not count as a row of several workers: each must do 80 % of an even share, and half of one in every 10 ms"
		}
		fmt.Fprintf(&b, "sharing, worst repetition: least worker %.1f %%, least in 10 ms %.1f %%, %d of %d windows uneven, fairness %.3f: %s\n",
			100*s.Least, 100*s.LeastIn10ms, s.Uneven, s.Windows, s.Fairness, verdict)
	}
	for _, k := range slices.Sorted(maps.Keys(res.Extra)) {
		x := res.Extra[k]
		fmt.Fprintf(&b, "%s: %.4g (%.4g to %.4g)\n", k, x.Median, x.Min, x.Max)
	}
	for _, k := range slices.Sorted(maps.Keys(res.Memory)) {
		fmt.Fprintf(&b, "%s: %.6g\n", k, res.Memory[k])
	}
	res.latencyTable(&b)
	return b.String()
}

// rate prints events per second in millions.
func rate(v float64) string { return fmt.Sprintf("%.2f M", v/1e6) }

func (res *Result) workerText(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "worker\tM events/s\tevents\trounds\tburst\tempty\tfull\tdropped\tms\t\n")
	for _, x := range res.Workers {
		fmt.Fprintf(w, "%d\t%.2f\t%d\t%d\t%.1f\t%d\t%d\t%d\t%.1f\t\n", x.Worker, x.EventsPerSec/1e6, x.Events, x.Rounds, x.MeanBurst, x.Empty, x.Full, x.Dropped, 1e3*x.Seconds)
	}
	w.Flush()
}

func (res *Result) functionTable(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "function\tcycles per call\tns\tmin to max, ns\n")
	for _, f := range res.Functions {
		fmt.Fprintf(w, "%s\t%.1f\t%.2f\t%.2f to %.2f\n", f.Name, f.Cycles.Median, f.Ns.Median, f.Ns.Min, f.Ns.Max)
	}
	w.Flush()
}

func (res *Result) latencyTable(b *strings.Builder) {
	if len(res.Latency) == 0 {
		return
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "priority\tthread\tavg ns\tmin ns\tmax ns\tsamples\tevents\t\n")
	for _, l := range res.Latency {
		fmt.Fprintf(w, "%s\t%s\t%.0f\t%.0f\t%.0f\t%d\t%d\t\n", l.Priority, l.Thread, l.Avg, l.Min, l.Max, l.Samples, l.Events)
	}
	w.Flush()
}
