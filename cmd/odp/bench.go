// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"strings"

	"github.com/odp-go/godp/cmd/odp/internal/bench"
	"github.com/odp-go/godp/cmd/odp/internal/bench/compare"
)

// runBench is "odp bench".
func runBench(ctx context.Context, args []string, stdout, _ io.Writer) error {
	if len(args) > 0 && args[0] == "compare" {
		return compare.Run(ctx, args[1:], stdout)
	}
	return bench.Run(ctx, args, build().short(), stdout)
}

// short is what stands beside a figure: the version, and the revision where it is known.
func (b buildInfo) short() string {
	v := b.Version
	if len(b.Revision) >= 12 && !strings.Contains(v, b.Revision[:12]) {
		v += " " + b.Revision[:12]
	}
	if b.Modified {
		v += " with changes"
	}
	return v
}
