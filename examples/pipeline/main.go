// SPDX-License-Identifier: Apache-2.0

// Command pipeline has two stages: any worker does the long work of an ordered
// queue, and the next queue and the output still get the packets in their order.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/odp-go/godp/examples/internal/opt"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/odp"
	_ "github.com/odp-go/godp/platform/null"
)

func main() { os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr)) }

// Main returns the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	out := opt.NewOutput(stdout)
	return opt.Exit("pipeline", out.Join(run(args, out)), stderr)
}

const frameLen = 64

func run(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("pipeline", flag.ContinueOnError)
	device := fs.String("o", "null:0", "device to send to")
	count := fs.Int("n", 4000, "packets, 1 to 16000")
	workers := fs.Int("c", 4, "workers")
	kind := fs.String("m", "ordered", "the first stage: ordered, atomic, or parallel, which loses the order")
	if done, err := opt.Parse(fs, args, out, nil); done || err != nil {
		return err
	}
	sync, ok := map[string]odp.Sync{"ordered": odp.Ordered, "atomic": odp.Atomic, "parallel": odp.Parallel}[*kind]
	if !ok || *count < 1 || *count > 16000 || *workers < 1 {
		return opt.Usage("-m ordered, atomic or parallel, -n 1 to 16000, -c at least 1")
	}
	ctx := context.Background()
	inst, err := odp.Open(ctx, odp.Config{Workers: *workers, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer inst.Close()
	port, err := inst.OpenPort(ctx, *device, odp.PortConfig{})
	if err != nil {
		return err
	}
	first, err := inst.NewSchedQueue(odp.SchedQueueConfig{Name: "work", Sync: sync, Size: 1 << 14})
	if err != nil {
		return err
	}
	second, err := inst.NewSchedQueue(odp.SchedQueueConfig{Name: "output", Sync: odp.Atomic, Priority: odp.PriorityLevel(5), Size: 1 << 14})
	if err != nil {
		return err
	}
	pool, err := inst.NewPool(odp.PoolConfig{Name: "frames", Num: *count, Size: frameLen, Cache: -1})
	if err != nil {
		return err
	}
	pkts := make([]*odp.Packet, *count)
	if n := pool.AllocPackets(nil, pkts, frameLen); n < *count {
		return fmt.Errorf("the pool gave %d packets of %d", n, *count)
	}
	for i, p := range pkts {
		binary.BigEndian.PutUint32(p.Data()[14:], uint32(i))
	}
	if n, err := first.Enqueue(nil, odp.EventsOf(pkts)); err != nil || n < *count {
		return fmt.Errorf("the queue took %d packets of %d: %w", n, *count, err)
	}
	next, displaced, done := uint32(0), 0, 0 // of the second stage: an atomic queue needs no lock
	err = inst.Run(ctx, func(w *odp.Worker) error {
		var ev [8]*odp.Event
		for {
			n, q, err := inst.Schedule(w, ev[:], -1)
			if err != nil {
				return err // ErrStopped: an orderly end
			}
			pkts := odp.PacketsOf(ev[:n])
			if q == first {
				for _, p := range pkts { // work of very different length
					for range 1 + int(p.Data()[17]%64)*8 {
						binary.BigEndian.PutUint32(p.Data()[frameLen-4:], header.CRC32(p.Data()[:frameLen-4], 0))
					}
				}
				sent, err := second.Enqueue(w, ev[:n]) // waits for this context's turn
				odp.FreePackets(w, pkts[sent:])
				if err != nil {
					return err
				}
				continue
			}
			for _, p := range pkts {
				if seq := binary.BigEndian.Uint32(p.Data()[14:]); seq < next {
					displaced++
				} else {
					next = seq + 1
				}
			}
			sent, err := port.Out(0).Send(w, pkts)
			odp.FreePackets(w, pkts[sent:])
			if done += n; done == *count || err != nil {
				inst.Stop()
			}
		}
	})
	fmt.Fprintf(out, "%d packets through %s and output by %d workers: %d out of order\n", done, *kind, *workers, displaced)
	return errors.Join(err, inst.Shutdown(context.Background())) // which reports what was not given back
}
