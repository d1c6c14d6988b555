// SPDX-License-Identifier: Apache-2.0

// Command atomic_counters keeps state per flow without a lock or an atomic word:
// flows are spread over atomic queues by hash, and a queue has one worker at a time.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"

	"github.com/odp-go/godp/examples/internal/opt"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/pktio"
	_ "github.com/odp-go/godp/platform/loop"
	_ "github.com/odp-go/godp/platform/netmap"
)

func main() { os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr)) }

// Main returns the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	out := opt.NewOutput(stdout)
	return opt.Exit("atomic_counters", out.Join(run(args, out)), stderr)
}

// flow is what is known of one flow.
type flow struct {
	hash           uint32
	packets, bytes uint64
}

// table holds the flows of one queue: plain memory, open addressing. Whoever has the
// queue's atomic context may touch it, nobody else.
type table struct {
	flows [4096]flow
	full  uint64 // packets that found no place
}

func (t *table) count(hash uint32, bytes int) {
	for i := range uint32(16) {
		f := &t.flows[(hash>>8+i)%uint32(len(t.flows))]
		if f.packets == 0 || f.hash == hash {
			f.hash = hash
			f.packets++
			f.bytes += uint64(bytes)
			return
		}
	}
	t.full++
}

func run(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("atomic_counters", flag.ContinueOnError)
	device := fs.String("i", "loop:0?seed=512&flows=100", "device to receive from and send to")
	count := fs.Int64("n", 100000, "packets to count")
	workers := fs.Int("c", 4, "workers")
	queues := fs.Int("q", 16, "atomic queues that the flows are spread over, 1 to 64")
	if done, err := opt.Parse(fs, args, out, nil); done || err != nil {
		return err
	}
	if *workers < 1 || *queues < 1 || *queues > 64 {
		return opt.Usage("-c at least 1, -q 1 to 64")
	}
	ctx := context.Background()
	inst, err := odp.Open(ctx, odp.Config{Workers: *workers, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer inst.Close()
	cfg := odp.PortConfig{Mode: odp.ModeScheduled, Sync: odp.Atomic, NumQueues: *queues}
	cfg.Hash = pktio.HashSymmetric // both directions of a flow meet in one queue
	port, err := inst.OpenPort(ctx, *device, cfg)
	if err != nil {
		return err
	}
	qs := port.Queues()
	tables := make([]table, len(qs))
	var total atomic.Int64
	err = inst.Run(ctx, func(w *odp.Worker) error {
		var ev [32]*odp.Event
		for {
			n, q, err := inst.Schedule(w, ev[:], -1)
			if err != nil {
				return err // ErrStopped: an orderly end
			}
			t := &tables[slices.Index(qs, q)]
			pkts := odp.PacketsOf(ev[:n])
			for _, p := range pkts {
				hash, _ := p.FlowHash()
				t.count(hash, p.Len())
			}
			sent, err := port.Out(0).Send(w, pkts)
			odp.FreePackets(w, pkts[sent:])
			if total.Add(int64(n)) >= *count || err != nil {
				inst.Stop()
			}
		}
	})
	flows, packets, full := 0, uint64(0), uint64(0)
	for i := range tables {
		for _, f := range tables[i].flows {
			if f.packets > 0 {
				flows++
				packets += f.packets
			}
		}
		full += tables[i].full
	}
	fmt.Fprintf(out, "%d packets of %d flows, in %d queues, by %d workers; %d received, %d without a place\n",
		packets, flows, len(qs), *workers, total.Load(), full)
	return errors.Join(err, inst.Shutdown(context.Background())) // which reports what was not given back
}
