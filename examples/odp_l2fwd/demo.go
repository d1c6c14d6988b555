// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/odp-go/godp/examples/internal/opt"
)

// demoSeconds is how long each mode of the demonstration runs without -t.
const demoSeconds = 5

// demo forwards between two in-process NIC ports, each with a source and a sink at
// its far end, in burst mode and then in queue mode, and proves that it worked.
func demo(ctx context.Context, o *options, stdout, text io.Writer) error {
	far := fmt.Sprintf("?far=source&sink=1&rings=%d", (workers(o)+1)/2)
	o.ifs = []string{"nmsim:demo0" + far, "nmsim:demo1" + far}
	o.out = defaultMap(2)
	if o.seconds == 0 {
		o.seconds = demoSeconds
	}
	var rep report
	for _, m := range []opt.Mode{opt.Burst, opt.Atomic} {
		o.mode = m
		name := "burst mode"
		if m == opt.Atomic {
			name = "queue mode (atomic)"
		}
		fmt.Fprintf(text, "== %s, %d s: forwarding between two in-process netmap NIC ports at full speed\n", name, o.seconds)
		res, err := forward(ctx, o, text)
		if err != nil {
			return err
		}
		rep.Runs = append(rep.Runs, res)
		fmt.Fprintf(text, "TEST RESULT: %.0f maximum packets per second.\n\n", res.PPSMax)
		if ctx.Err() != nil {
			break
		}
	}
	if len(rep.Runs) == 2 && rep.Runs[0].PPSAvg > 0 {
		ratio := rep.Runs[1].PPSAvg / rep.Runs[0].PPSAvg
		rep.Ratio = &ratio
	}
	if o.json {
		if err := rep.print(stdout); err != nil {
			return err
		}
	}
	return rep.summary(text)
}

// summary prints the proof, and is an error when something is wrong.
func (rep report) summary(w io.Writer) error {
	row := func(name string, value func(r result) string) {
		fmt.Fprintf(w, "%-28s", name)
		for _, r := range rep.Runs {
			fmt.Fprintf(w, "%22s", value(r))
		}
		fmt.Fprintln(w)
	}
	number := func(v uint64) string { return fmt.Sprint(v) }
	row("what the far ends saw", func(r result) string { return r.Mode })
	row("frames injected", func(r result) string { return number(r.far.Injected) })
	row("delivered intact", func(r result) string { return number(r.far.Delivered) })
	reasons := map[string]bool{}
	for _, r := range rep.Runs {
		for k := range r.DropsByReason {
			reasons[k] = true
		}
	}
	for _, k := range slices.Sorted(maps.Keys(reasons)) {
		row("dropped: "+k, func(r result) string { return number(r.DropsByReason[k]) })
	}
	row("lost", func(r result) string { return number(*r.Lost) })
	row("reordered within a flow", func(r result) string { return number(*r.Reordered) })
	row("duplicated", func(r result) string { return number(r.far.Duplicate) })
	row("wrong MAC address", func(r result) string { return number(r.far.WrongMAC) })
	row("corrupt payload", func(r result) string { return number(r.far.Corrupt) })
	row("packets per second (mean)", func(r result) string { return fmt.Sprintf("%.0f", r.PPSAvg) })
	row("packets per burst (mean)", func(r result) string { return fmt.Sprintf("%.1f of 32", r.MeanBurst) })
	row("packets left in pools", func(r result) string { return fmt.Sprint(r.PoolLeaked) })
	if rep.Ratio != nil {
		fmt.Fprintf(w, "queue mode / burst mode: %.2f\n", *rep.Ratio)
	}
	for _, r := range rep.Runs {
		if *r.Lost+*r.Reordered+*r.Corrupt != 0 || r.PoolLeaked != 0 || r.Packets == 0 {
			return fmt.Errorf("%s mode: the far ends did not get what they should: %d packets, %d lost, %d reordered, %d corrupt, %d left in pools",
				r.Mode, r.Packets, *r.Lost, *r.Reordered, *r.Corrupt, r.PoolLeaked)
		}
	}
	fmt.Fprintln(w, "All frames are accounted for.")
	if len(rep.Runs) < 2 {
		fmt.Fprintln(w, "Interrupted: queue mode was not run.")
	}
	return nil
}
