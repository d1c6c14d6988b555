// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/odp-go/godp/platform/template"
)

func portName(p int) string { return fmt.Sprintf("l3fwd%d", p) }

// row is one case's figures.
type row struct {
	Case     string  `json:"case"`
	Mpps     float64 `json:"mpps"`
	Unstaged float64 `json:"unstaged_mpps"`
	Ratio    float64 `json:"ratio"`      // staged to unstaged
	Plain    float64 `json:"iofwd_mpps"` // receive and send only
	Share    float64 `json:"share_of_iofwd"`
	NsNet    float64 `json:"ns_net_of_feed"` // ns a packet more than receive and send only
	Checked  bool    `json:"output_checked"`
}

// report is the JSON of the measurement.
type report struct {
	Check string `json:"check"`
	Burst int    `json:"burst"`
	Pages string `json:"tables"`
	Cases []row  `json:"cases"`
}

// measure is the program without interfaces. For each case the output of both forms is
// checked first; then they and plain forwarding are measured in turn, three times, and
// the best of each counts: what disturbs a run makes it slower, never faster.
func measure(ctx context.Context, o *options, stdout io.Writer) error {
	text := stdout
	if o.json {
		text = io.Discard
	}
	seconds := o.seconds
	if seconds == 0 {
		seconds = 0.5
	}
	rep := report{Check: o.check, Burst: o.rxBurst}
	fmt.Fprintf(text, "one worker, %d ports, bursts of %d, frames of 60 and 62 bytes, checks: %s\n", numPorts, o.rxBurst, o.check)
	fmt.Fprintf(text, "%-22s %9s %9s %7s %9s %7s %9s\n", "case", "Mpps", "unstaged", "ratio", "rx+tx", "share", "ns net")
	for i := range allCases {
		c := &allCases[i]
		if len(o.onlyCases) > 0 && !slices.Contains(o.onlyCases, c.name) {
			continue
		}
		w := *o
		w.setup(c)
		w.seconds = seconds
		res, pages, err := w.measureCase(ctx, c)
		if err != nil {
			return err
		}
		rep.Pages = pages
		rep.Cases = append(rep.Cases, res)
		fmt.Fprintf(text, "%-22s %9.1f %9.1f %7.2f %9.1f %7.2f %9.1f\n", res.Case, res.Mpps, res.Unstaged, res.Ratio, res.Plain, res.Share, res.NsNet)
	}
	fmt.Fprintf(text, "The output of the first five was compared frame by frame with a slow router, both forms. %s\n", rep.Pages)
	if o.json {
		return printJSON(stdout, rep)
	}
	return nil
}

// setup makes the options those of a case.
func (o *options) setup(c *trafficCase) {
	o.ifs = nil
	for p := range numPorts {
		o.ifs = append(o.ifs, "template:"+portName(p))
	}
	o.mask, o.workers, o.ownPool, o.staged = 1<<numPorts-1, 1, true, true
	o.routes4, o.routes6 = builtin(true), builtin(false)
	if c.cold {
		o.routes4, o.given = coldRoutes(), true
	}
	o.config = nil
	for p := range numPorts {
		o.config = append(o.config, [3]int{p, 0, 0})
	}
}

func (o *options) measureCase(ctx context.Context, c *trafficCase) (res row, pages string, err error) {
	for _, staged := range []bool{true, false} {
		if o.staged = staged; c.cold {
			continue // the slow router would take minutes; the same code is checked by the other cases
		}
		if err := verify(ctx, *o, c); err != nil {
			return res, "", err
		}
	}
	for p := range numPorts {
		if err := template.Set(portName(p), template.Feed{Frames: c.frames(o, p)}); err != nil {
			return res, "", err
		}
		defer template.Forget(portName(p))
	}
	res = row{Case: c.name, Checked: !c.cold}
	for range 3 {
		for _, form := range []struct {
			staged, plain bool
			to            *float64
		}{{true, false, &res.Mpps}, {false, false, &res.Unstaged}, {true, true, &res.Plain}} {
			o.staged, o.plain = form.staged, form.plain
			mpps, p, err := o.rate(ctx)
			if err != nil {
				return res, "", err
			}
			*form.to, pages = max(*form.to, mpps), p
		}
	}
	o.plain = false
	res.Ratio, res.Share, res.NsNet = res.Mpps/res.Unstaged, res.Mpps/res.Plain, 1000/res.Mpps-1000/res.Plain
	return res, pages, nil
}

// rate measures a quarter of the time after a warm-up.
func (o *options) rate(ctx context.Context) (mpps float64, pages string, err error) {
	w := *o
	w.seconds, w.interval = 0, 0
	r, err := open(ctx, &w, io.Discard)
	if err != nil {
		return 0, "", err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	pages = r.t.String()
	go func() { done <- r.run(ctx) }()
	window := time.Duration(o.seconds * float64(time.Second))
	time.Sleep(window / 4)
	a, start := r.sum(), time.Now()
	select {
	case <-time.After(window):
	case err := <-done:
		return 0, "", fmt.Errorf("the workers ended early: %w", err)
	}
	b, took := r.sum(), time.Since(start)
	cancel()
	if err := <-done; err != nil {
		return 0, "", err
	}
	if b.dropped() > 0 || b.refused > 0 {
		return 0, "", fmt.Errorf("%d packets were dropped and %d refused", b.dropped(), b.refused)
	}
	return float64(b.sent-a.sent) / took.Seconds() / 1e6, pages, nil
}
