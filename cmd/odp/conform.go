// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"regexp"

	"github.com/odp-go/godp/cmd/odp/internal/cli"
	"github.com/odp-go/godp/conformance"
)

const conformUsage = `odp conform [-run ID] [-json] [-list]

runs the conformance suites on the in-process loop device and prints a table by area.
The exit status is 1 when a case failed.`

func conform(ctx context.Context, args []string, stdout, _ io.Writer) error {
	fs := flag.NewFlagSet("odp conform", flag.ContinueOnError)
	run := fs.String("run", "", "run the cases whose id this regular `expression` matches")
	asJSON := fs.Bool("json", false, "print the report as JSON")
	list := fs.Bool("list", false, "list the cases and run none")
	if done, err := cli.Parse(fs, conformUsage, args, stdout); done || err != nil {
		return err
	}
	re, err := regexp.Compile(*run)
	if err != nil {
		return cli.Usage("-run %q: %v", *run, err)
	}
	if *list {
		for _, c := range conformance.Cases() {
			if re.MatchString(c.ID) {
				fmt.Fprintf(stdout, "%-10s %s\n", c.ID, c.Objective)
			}
		}
		return nil
	}
	r := conformance.RunAll(ctx, conformance.Factory{Name: "loop", Single: "loop:0"}, conformance.Options{Run: re})
	if *asJSON {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		err = enc.Encode(r)
	} else {
		err = r.WriteTable(stdout)
	}
	if err == nil && !r.OK() {
		err = cli.ErrTold
	}
	return err
}
