// SPDX-License-Identifier: Apache-2.0

// Command l3fwd routes IPv4 and IPv6 packets between interfaces, with the options
// of DPDK's l3fwd. A burst goes through each stage together. Without arguments it measures
// itself on four in-process ports with the five traffic cases of DPDK's 2014 commit
// that introduced those stages.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/odp-go/godp/examples/internal/opt"
	_ "github.com/odp-go/godp/platform/loop"
	_ "github.com/odp-go/godp/platform/netmap"
	_ "github.com/odp-go/godp/platform/null"
	_ "github.com/odp-go/godp/platform/template"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Main is the program without the process: it returns the exit status.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := opt.NewOutput(stdout)
	return opt.Exit("l3fwd", out.Join(main1(ctx, args, out)), stderr)
}

func main1(ctx context.Context, args []string, stdout io.Writer) error {
	o, help, err := parseOptions(args, stdout)
	if help || err != nil {
		return err
	}
	if o.demo {
		return measure(ctx, &o, stdout)
	}
	text := stdout
	if o.json {
		text = io.Discard
	}
	r, err := open(ctx, &o, text)
	if err != nil {
		return err
	}
	err = r.run(ctx)
	sum := r.sum()
	if o.json {
		if e := printJSON(stdout, r.result(sum)); err == nil {
			err = e
		}
	} else {
		r.print(sum)
	}
	if err == nil && o.seconds > 0 && sum.packets == 0 {
		err = fmt.Errorf("nothing came in %v s: is there traffic on %v, and is the link up", o.seconds, o.ifs)
	}
	return err
}
