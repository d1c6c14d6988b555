// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/odp-go/godp/cmd/odp/internal/cli"
	"github.com/odp-go/godp/cmd/odp/internal/devices"
	"github.com/odp-go/godp/cmd/odp/internal/machine"
	"github.com/odp-go/godp/conformance"
)

const conformUsage = `odp conform [-i DEV[,DEV]] [-run ID] [-json] [-short] [-v]
odp conform -list [-run ID]
odp conform -chaos 60s [-seed N] [-round K] [-json] [-v]

runs the conformance suites and prints a table by area. Each case is a behaviour with an id.

-i names one device that receives what it sends, or two that are connected to each other:
loop:0  netmap:eth1,netmap:eth2  netmap:x{1,netmap:x}1  vale0:a,vale0:b
The devices are taken for the time of the run. Without -i the in-process devices are
tested: loop, and cards, pipes and switch ports of the simulated netmap kernel.

-chaos runs forwarders on in-process cards for that long while links flap, calls fail, ports
close and open, pools are empty and workers panic, and asks for the account of every frame.
What happens follows from the seed, which is printed; -round runs one round of it again.

The exit status is 1 when a case failed, when a platform of the project skipped a case
that is not on its list of expected skips, and when the run was interrupted.`

// conformOptions is the command line, checked.
type conformOptions struct {
	devices []string
	run     *regexp.Regexp
	json    bool
	list    bool
	short   bool
	verbose bool
	limit   time.Duration
	chaos   time.Duration // 0 = the suites
	seed    uint64
	round   int // -1 = all
}

func parseConform(args []string, stdout io.Writer) (o conformOptions, done bool, err error) {
	fs := flag.NewFlagSet("odp conform", flag.ContinueOnError)
	ifs := fs.String("i", "", "the `devices`, separated by a comma")
	run := fs.String("run", "", "run the cases whose id this regular `expression` matches: SCHED-17$")
	fs.BoolVar(&o.json, "json", false, "print the report as JSON, to be sent in")
	fs.BoolVar(&o.list, "list", false, "list the cases and run none")
	fs.BoolVar(&o.short, "short", false, "fewer rounds of the same cases")
	fs.BoolVar(&o.verbose, "v", false, "name each case on the standard error when it has ended")
	fs.DurationVar(&o.limit, "limit", 3*time.Minute, "how long a case may take")
	fs.DurationVar(&o.chaos, "chaos", 0, "run disturbed forwarders for this `time`, instead of the suites")
	seed := fs.String("seed", "", "the `number` that a chaos run follows from (default: of the clock)")
	fs.IntVar(&o.round, "round", -1, "run this one `round` of a chaos run")
	if done, err = cli.Parse(fs, conformUsage, args, stdout); done || err != nil {
		return o, done, err
	}
	if o.run, err = regexp.Compile(*run); err != nil {
		return o, false, cli.Usage("-run %q: %v", *run, err)
	}
	if o.limit <= 0 {
		return o, false, cli.Usage("-limit %v: more than 0", o.limit)
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["chaos"] || given["seed"] || given["round"] {
		for _, name := range []string{"i", "run", "list", "short", "limit"} {
			if given[name] {
				return o, false, cli.Usage("-%s is for the suites: a chaos run has -chaos, -seed, -round, -json and -v", name)
			}
		}
		return o, false, o.parseChaos(given, *seed)
	}
	if given["i"] {
		if o.devices, err = devices.Split(*ifs); err != nil {
			return o, false, cli.Usage("%v", err)
		}
		if _, err = devices.Named(o.devices...); err != nil {
			return o, false, cli.Usage("-i: %v", err)
		}
	}
	if n := selected(o.run); len(n) == 0 {
		return o, false, cli.Usage("-run %q: no case has such an id; odp conform -list lists them", *run)
	}
	return o, false, nil
}

// selected are the cases whose id matches.
func selected(re *regexp.Regexp) (list []conformance.Case) {
	for _, c := range conformance.Cases() {
		if re.MatchString(c.ID) {
			list = append(list, c)
		}
	}
	return list
}

// conformReport is what a user sends in.
type conformReport struct {
	Version     buildInfo            `json:"version"`
	Machine     machine.Machine      `json:"machine"`
	Devices     []devices.Device     `json:"devices"`
	Started     time.Time            `json:"started"`
	Seconds     float64              `json:"seconds"`
	Short       bool                 `json:"short"`
	Run         string               `json:"run,omitempty"` // the selection
	Interrupted bool                 `json:"interrupted,omitempty"`
	Passed      int                  `json:"passed"`
	Failed      int                  `json:"failed"`
	Skipped     int                  `json:"skipped"`
	Coverage    conformance.Coverage `json:"coverage"`
	Left        []string             `json:"left,omitempty"` // what the devices did not give back
	Cases       []conformance.Result `json:"cases"`
}

func conform(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, done, err := parseConform(args, stdout)
	if done || err != nil {
		return err
	}
	if o.chaos > 0 {
		return o.runChaos(ctx, stdout, stderr)
	}
	if o.list {
		for _, c := range selected(o.run) {
			fmt.Fprintf(stdout, "%-10s %s\n", c.ID, c.Objective)
		}
		return nil
	}
	platforms, err := o.platforms()
	if err != nil {
		return err
	}
	rep := conformReport{
		Version: build(), Machine: machine.Read(), Started: time.Now().UTC(), Short: o.short, Run: o.run.String(),
		Coverage: conformance.Covered(), Devices: []devices.Device{}, Cases: []conformance.Result{},
	}
	if len(o.devices) > 0 {
		if rep.Devices, err = platforms[0].Describe(ctx); err != nil {
			return fmt.Errorf("the devices can't be opened: %w", err)
		}
	}
	var reports []conformance.Report
	for i := range platforms {
		r, err := o.runOn(ctx, &platforms[i], stderr)
		if len(r.Cases) > 0 {
			reports = append(reports, r)
		}
		rep.Cases = append(rep.Cases, r.Cases...)
		rep.Passed, rep.Failed, rep.Skipped = rep.Passed+r.Passed, rep.Failed+r.Failed, rep.Skipped+r.Skipped
		if err != nil {
			rep.Left = append(rep.Left, err.Error())
		}
	}
	rep.Interrupted = ctx.Err() != nil
	rep.Seconds = time.Since(rep.Started).Seconds()
	if o.json {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		err = enc.Encode(rep)
	} else {
		err = rep.write(stdout, reports)
	}
	switch {
	case err != nil:
		return err
	case rep.Interrupted:
		return errors.New("interrupted: the report is not complete")
	case rep.Passed == 0 && rep.Failed == 0:
		return errors.New("no case ran: all were skipped")
	case rep.Failed > 0 || len(rep.Left) > 0:
		return cli.ErrTold
	}
	return nil
}

// platforms are what the command line names, or those in process.
func (o *conformOptions) platforms() ([]devices.Platform, error) {
	if len(o.devices) == 0 {
		return devices.InProcess()
	}
	p, err := devices.Named(o.devices...)
	return []devices.Platform{p}, err
}

// runOn runs the selected cases on one platform.
func (o *conformOptions) runOn(ctx context.Context, p *devices.Platform, stderr io.Writer) (conformance.Report, error) {
	opts := conformance.Options{Run: o.run, Areas: p.Areas, Short: o.short, Limit: o.limit}
	if o.verbose {
		opts.Each = func(r conformance.Result) {
			fmt.Fprintf(stderr, "%s %-10s on %s, %.2f s %s\n", r.State, r.ID, r.Platform, r.Seconds, r.Lacks)
		}
	}
	r := conformance.RunAll(ctx, p.Factory, opts)
	return r, p.Close()
}

// write writes the report for people.
func (rep *conformReport) write(w io.Writer, reports []conformance.Report) error {
	fmt.Fprintf(w, "%v\n%s, %d CPUs", rep.Version, rep.Machine.Kernel, rep.Machine.CPUs)
	if rep.Machine.CPU != "" {
		fmt.Fprintf(w, ", %s", rep.Machine.CPU)
	}
	fmt.Fprintln(w)
	for _, d := range rep.Devices {
		zero := "zero copy"
		if !d.ZeroCopy {
			zero = "no zero copy: " + d.Why
		}
		fmt.Fprintf(w, "%s: %s, %d receive and %d send queues of %d and %d slots, %s\n", d.Name, d.Driver, d.RxQueues, d.TxQueues, d.RxSlots, d.TxSlots, zero)
		for _, n := range d.Notes {
			fmt.Fprintf(w, "    %s\n", n)
		}
	}
	fmt.Fprintln(w)
	err := conformance.WriteTables(w, reports)
	for _, l := range rep.Left {
		fmt.Fprintln(w, l)
	}
	return err
}
