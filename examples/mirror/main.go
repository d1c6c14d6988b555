// SPDX-License-Identifier: Apache-2.0

// Command mirror sends each packet that it receives to two ports: one reference
// each, the data is there once, or with -copy a copy that may be changed.
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
	_ "github.com/odp-go/godp/platform/null"
)

func main() { os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr)) }

// Main returns the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	out := opt.NewOutput(stdout)
	return opt.Exit("mirror", out.Join(run(args, out)), stderr)
}

func run(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("mirror", flag.ContinueOnError)
	from := fs.String("i", "loop:0?seed=64", "device to receive from")
	first := fs.String("a", "null:a", "device that gets the packets")
	second := fs.String("b", "null:b", "device that gets them too")
	count := fs.Int("n", 64, "packets to mirror")
	copied := fs.Bool("copy", false, "send a copy to the second device, with the MAC addresses swapped")
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
	var ports [3]*odp.Port
	for i, name := range []string{*from, *first, *second} {
		if ports[i], err = inst.OpenPort(ctx, name, odp.PortConfig{}); err != nil {
			return err
		}
	}
	received, sent := 0, [2]int{}
	err = inst.Run(ctx, func(w *odp.Worker) error {
		var pkts, twins [32]*odp.Packet
		for received < *count && w.Running() {
			n, err := ports[0].In(0).RecvWait(w, pkts[:min(len(pkts), *count-received)], 100*time.Millisecond)
			if err != nil {
				return err
			}
			received += n
			m := 0
			for _, p := range pkts[:n] {
				if !*copied {
					// One more owner of the same packet, which nobody may change from here on.
					twins[m] = p.RefStatic()
				} else if twins[m], err = p.Copy(w, nil); err != nil {
					continue // no memory: this one is not mirrored
				} else if twins[m].SegLen() >= 12 {
					header.SwapMACs(twins[m].DataPtr())
				}
				m++
			}
			for i, b := range [][]*odp.Packet{pkts[:n], twins[:m]} {
				k, err := ports[1+i].Out(0).Send(w, b)
				odp.FreePackets(w, b[k:]) // each owner frees its own reference
				if sent[i] += k; err != nil {
					return err
				}
			}
		}
		return nil
	})
	fmt.Fprintf(out, "%d received, %d sent to %s, %d to %s\n", received, sent[0], *first, sent[1], *second)
	return errors.Join(err, inst.Shutdown(context.Background())) // which reports what was not given back
}
