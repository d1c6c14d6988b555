// SPDX-License-Identifier: Apache-2.0

// Command odp_l2fwd forwards packets between interfaces, with the options and
// the output of ODP's odp_l2fwd. Without arguments it is a demonstration on two
// in-process netmap ports.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/odp-go/godp/examples/internal/opt"
	_ "github.com/odp-go/godp/platform/afpacket"
	_ "github.com/odp-go/godp/platform/afxdp"
	_ "github.com/odp-go/godp/platform/loop"
	_ "github.com/odp-go/godp/platform/netmap"
	_ "github.com/odp-go/godp/platform/null"
	_ "github.com/odp-go/godp/platform/pcap"
	_ "github.com/odp-go/godp/platform/tap"
	_ "github.com/odp-go/godp/platform/wrap"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Main is the program without the process: it returns the exit status.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := opt.NewOutput(stdout)
	return opt.Exit("odp_l2fwd", out.Join(main1(ctx, args, out)), stderr)
}

func main1(ctx context.Context, args []string, stdout io.Writer) error {
	o, help, err := parseOptions(args, stdout)
	if help || err != nil {
		return err
	}
	text := stdout
	if o.json {
		text = io.Discard
	}
	if o.demo {
		return demo(ctx, &o, stdout, text)
	}
	res, err := forward(ctx, &o, text)
	if res.Mode == "" {
		return err // it did not begin
	}
	// What was forwarded is told also when a worker failed or packets were not given back.
	if o.json {
		err = errors.Join(report{Runs: []result{res}}.print(stdout), err)
	} else if o.interval > 0 {
		fmt.Fprintf(text, "TEST RESULT: %.0f maximum packets per second.\n", res.PPSMax)
	}
	if err == nil && o.seconds > 0 && res.Packets == 0 {
		err = fmt.Errorf("nothing was forwarded in %d s: is there traffic on %v, and is the link up", o.seconds, o.ifs)
	}
	return err
}
