// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/odp-go/godp/cmd/odp/internal/cli"
	"github.com/odp-go/godp/cmd/odp/internal/machine"
	"github.com/odp-go/godp/conformance/chaos"
)

// parseChaos checks the options of a chaos run.
func (o *conformOptions) parseChaos(given map[string]bool, seed string) (err error) {
	if !given["chaos"] || o.chaos <= 0 {
		return cli.Usage("-chaos %v: a time above 0, like 60s; -seed and -round go with it", o.chaos)
	}
	if given["round"] && (o.round < 0 || !given["seed"]) {
		return cli.Usage("-round %d: the number of a round, from 0, of the run of a -seed", o.round)
	}
	o.seed = uint64(time.Now().UnixNano()) % 1_000_000_000
	if given["seed"] {
		if o.seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
			return cli.Usage("-seed %q: a number from 0", seed)
		}
	}
	return nil
}

// chaosReport is what -json prints of a chaos run.
type chaosReport struct {
	Version     buildInfo       `json:"version"`
	Machine     machine.Machine `json:"machine"`
	Seconds     float64         `json:"seconds"`
	Interrupted bool            `json:"interrupted,omitempty"`
	chaos.Report
}

func (o *conformOptions) runChaos(ctx context.Context, stdout, stderr io.Writer) error {
	began := time.Now()
	if !o.json { // said before a run that may crash
		fmt.Fprintf(stdout, "%v\nodp conform -chaos %v -seed %d\n", build(), o.chaos, o.seed)
	} else {
		fmt.Fprintf(stderr, "odp conform -chaos %v -seed %d\n", o.chaos, o.seed)
	}
	cfg := chaos.Config{Seed: o.seed, Duration: o.chaos}
	if o.round >= 0 {
		cfg.First, cfg.Rounds = o.round, 1
	}
	cfg.Each = func(r chaos.Round) {
		if o.verbose {
			fmt.Fprintf(stderr, "round %d, %.2f s, %d of %d frames delivered, %d problems: %s\n",
				r.Number, r.Seconds, r.Delivered, r.Injected, len(r.Problems), r.Plan)
		}
	}
	rep, err := chaos.Run(ctx, cfg)
	if err != nil {
		return err
	}
	if o.json {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		err = enc.Encode(chaosReport{build(), machine.Read(), time.Since(began).Seconds(), ctx.Err() != nil, rep})
	} else {
		_, err = fmt.Fprint(stdout, rep.String())
		for _, f := range rep.Failed {
			fmt.Fprintf(stdout, "once more: odp conform -chaos 1s -seed %d -round %d\n", rep.Seed, f.Number)
		}
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case !rep.OK():
		return cli.ErrTold
	}
	return nil
}
