// SPDX-License-Identifier: Apache-2.0

// Command hello is the first program: it opens a port, receives packets in burst
// mode, and prints and counts them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"github.com/odp-go/godp/examples/internal/opt"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/odp"
	_ "github.com/odp-go/godp/platform/loop"
	_ "github.com/odp-go/godp/platform/netmap"
)

func main() { os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr)) }

// Main returns the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	out := opt.NewOutput(stdout)
	return opt.Exit("hello", out.Join(run(args, out)), stderr)
}

func run(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("hello", flag.ContinueOnError)
	device := fs.String("i", "loop:0?seed=8&flows=8", "device to receive from")
	count := fs.Int("n", 8, "packets to wait for")
	if done, err := opt.Parse(fs, args, out, nil); done || err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	inst, err := odp.Open(ctx, odp.Config{Workers: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer inst.Close()
	port, err := inst.OpenPort(ctx, *device, odp.PortConfig{})
	if err != nil {
		return err
	}
	packets, bytes := 0, 0
	err = inst.Run(ctx, func(w *odp.Worker) error {
		var pkts [32]*odp.Packet
		for packets < *count && w.Running() {
			n, err := port.In(0).RecvWait(w, pkts[:min(len(pkts), *count-packets)], 100*time.Millisecond)
			if err != nil {
				return err
			}
			for _, p := range pkts[:n] {
				eth := header.Ethernet(p.Data()) // a view: nothing is copied
				fmt.Fprintf(out, "%s > %s type %#04x, %d bytes", eth.Src(), eth.Dst(), eth.Type(), p.Len())
				if p.HasIPv4() {
					ip := header.IPv4(p.L3())
					fmt.Fprintf(out, ", IPv4 %v > %v protocol %d", ip.Src(), ip.Dst(), ip.Protocol())
				}
				fmt.Fprintln(out)
				bytes += p.Len()
			}
			packets += n
			odp.FreePackets(w, pkts[:n]) // what was received is ours until we give it away
		}
		return nil
	})
	fmt.Fprintf(out, "%d packets, %d bytes\n", packets, bytes)
	return errors.Join(err, inst.Shutdown(context.Background())) // which reports what was not given back
}
