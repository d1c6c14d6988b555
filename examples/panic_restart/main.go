// SPDX-License-Identifier: Apache-2.0

// Command panic_restart has a bug that a bad packet meets: the worker panics, is
// started again, and goes on; what it had in hand is lost, and counted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/examples/internal/opt"
	"github.com/odp-go/godp/odp"
	_ "github.com/odp-go/godp/platform/loop"
	_ "github.com/odp-go/godp/platform/netmap"
	_ "github.com/odp-go/godp/platform/null"
)

func main() { os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr)) }

// Main returns the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	out := opt.NewOutput(stdout)
	return opt.Exit("panic_restart", out.Join(run(args, out)), stderr)
}

// A message is the data of a UDP datagram over IPv4: its length is in its last of
// four bytes, then comes its text.
const lengthAt = 14 + 20 + 8 + 3

// text returns the text of a message, and trusts the length in it: the bug.
func text(frame []byte) []byte {
	return frame[lengthAt+1:][:frame[lengthAt]] // panics when the frame is shorter
}

func run(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("panic_restart", flag.ContinueOnError)
	from := fs.String("i", "loop:0?seed=16&flows=1", "device to receive from; the last of the loop's 16 frames is a bad one")
	to := fs.String("o", "null:0", "device to send to")
	count := fs.Int64("n", 16, "packets to receive")
	limit := fs.Int("limit", 8, "restarts that are granted within a minute")
	if done, err := opt.Parse(fs, args, out, nil); done || err != nil {
		return err
	}
	ctx := context.Background()
	inst, err := odp.Open(ctx, odp.Config{Workers: 1, OnPanic: odp.RestartWorker, RestartLimit: *limit, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer inst.Close()
	in, err := inst.OpenPort(ctx, *from, odp.PortConfig{})
	if err != nil {
		return err
	}
	o, err := inst.OpenPort(ctx, *to, odp.PortConfig{})
	if err != nil {
		return err
	}
	var received, sent, letters atomic.Int64
	err = inst.Run(ctx, func(w *odp.Worker) error { // starts anew after a panic
		var pkts [8]*odp.Packet
		for received.Load() < *count && w.Running() {
			n, err := in.In(0).RecvWait(w, pkts[:], 100*time.Millisecond)
			if err != nil {
				return err
			}
			received.Add(int64(n))
			for _, p := range pkts[:n] {
				letters.Add(int64(len(text(p.Data()))))
			}
			k, err := o.Out(0).Send(w, pkts[:n])
			odp.FreePackets(w, pkts[k:n])
			if sent.Add(int64(k)); err != nil {
				return err
			}
		}
		return nil
	})
	if p, ok := odp.AsPanic(err); ok {
		err = fmt.Errorf("worker %d panicked too often, at last with: %v", p.Worker, p.Value)
	}
	soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond) // what a panic lost does not come back
	defer cancel()
	shut := inst.Shutdown(soon)
	s := inst.Snapshot()
	fmt.Fprintf(out, "%d received, %d sent, %d bytes of text; %d panics, %d restarts, %d packets lost in the worker's hands\n",
		received.Load(), sent.Load(), letters.Load(), s.Panics, s.Restarts, s.LeakedByPanic)
	if errors.Is(shut, odp.ErrLeak) && s.LeakedAtEnd == s.LeakedByPanic {
		shut = nil // what it says has just been printed
	}
	return errors.Join(err, shut)
}
