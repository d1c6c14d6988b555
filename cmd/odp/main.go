// SPDX-License-Identifier: Apache-2.0

// Command odp is the tool box of godp: one static binary, for a machine without a tool
// chain too. "odp help" lists what it does.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/odp-go/godp/cmd/odp/internal/cli"

	_ "github.com/odp-go/godp/platform/afpacket"
	_ "github.com/odp-go/godp/platform/afxdp"
	_ "github.com/odp-go/godp/platform/loop"
	_ "github.com/odp-go/godp/platform/netmap"
	_ "github.com/odp-go/godp/platform/null"
	_ "github.com/odp-go/godp/platform/pcap"
	_ "github.com/odp-go/godp/platform/tap"
	_ "github.com/odp-go/godp/platform/wrap"
)

// commands is the table of the commands, in the order of the help. Each has a file.
var commands = []cli.Command{
	{Name: "bench", Short: "measure the framework as ODP's performance tests measure ODP", Run: runBench},
	{Name: "conform", Short: "run the conformance suites on devices", Run: conform},
	{Name: "version", Short: "the version of the program and of what it runs on", Run: version},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Main is the program without the process: it returns the exit status.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run(ctx, "odp", commands, args, stdout, stderr)
}
