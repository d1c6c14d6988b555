// SPDX-License-Identifier: Apache-2.0

// Command reflect sends back what an interface receives, with the addresses
// exchanged, and counts it by kind. The same program in C on ODP is docs/porting/reflect.c.
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
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/examples/internal/opt"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/pktio"
	_ "github.com/odp-go/godp/platform/loop"
	_ "github.com/odp-go/godp/platform/netmap"
)

const (
	burst  = 32
	queues = 2
	frames = 64
	length = 60
)

const (
	udp = iota
	tcp
	arp
	other
	kinds
)

type counts [kinds]uint64 // of one queue, behind its atomic context

func main() { os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr)) }

// Main returns the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	out := opt.NewOutput(stdout)
	return opt.Exit("reflect", out.Join(run(args, out)), stderr)
}

func kindOf(k *odp.Packet) int {
	switch {
	case k.HasUDP():
		return udp
	case k.HasTCP():
		return tcp
	case k.HasARP():
		return arp
	}
	return other
}

// give sends, and drops what the device has no room for.
func give(w *odp.Worker, out *odp.Out, pkts []*odp.Packet) {
	n, _ := out.Send(w, pkts)
	odp.FreePackets(w, pkts[n:])
}

// inject sends frames: every second one is UDP, the others are ARP.
func inject(pool *odp.Pool, out *odp.Out) error {
	for i := range frames {
		k := pool.AllocPacket(nil, length)
		if k == nil {
			return fmt.Errorf("the pool is empty after %d packets", i)
		}
		b := k.Data()
		clear(b)
		eth := header.Ethernet(b)
		eth.SetDst(header.MAC{2, 0, 0, 0, 0, 2})
		eth.SetSrc(header.MAC{2, 0, 0, 0, 0, 1})
		eth.SetType(header.TypeARP)
		if i%2 == 0 {
			eth.SetType(header.TypeIPv4)
			header.IPv4(b[14:]).Encode(&header.IPv4Fields{TTL: 64, Protocol: header.ProtoUDP, TotalLen: length - 14})
			header.UDP(b[34:]).SetLength(length - 34)
		}
		give(nil, out, []*odp.Packet{k})
	}
	return nil
}

func run(args []string, stdout io.Writer) error {
	fs := flag.NewFlagSet("reflect", flag.ContinueOnError)
	name := fs.String("i", "loop:0", "interface")
	workers := fs.Int("c", 2, "workers")
	limit := fs.Uint64("n", 10000, "packets to reflect")
	if done, err := opt.Parse(fs, args, stdout, nil); done || err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	inst, err := odp.Open(ctx, odp.Config{Workers: *workers, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer inst.Close()
	port, err := inst.OpenPort(ctx, *name, odp.PortConfig{Mode: odp.ModeScheduled, Sync: odp.Atomic,
		Config: pktio.Config{RxQueues: queues, PoolPackets: 4096}})
	if err != nil {
		return err
	}
	all := make([]counts, len(port.Queues()))
	for i, q := range port.Queues() {
		q.SetContext(&all[i])
	}
	if err := inject(port.Pool(), port.Out(0)); err != nil {
		return err
	}
	var total atomic.Uint64
	err = inst.Run(ctx, func(w *odp.Worker) error {
		var ev [burst]*odp.Event
		for total.Load() < *limit {
			n, from, err := inst.Schedule(w, ev[:], 10*time.Millisecond)
			if err != nil {
				return err
			}
			if n == 0 {
				continue
			}
			c := from.Context().(*counts)
			pkts := odp.PacketsOf(ev[:n])
			for _, k := range pkts {
				c[kindOf(k)]++
				header.SwapMACs(k.DataPtr())
			}
			give(w, port.Out(0), pkts)
			total.Add(uint64(n))
		}
		return nil
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if err := inst.Close(); err != nil { // also frees what is in the queues
		return err
	}
	for _, c := range all[1:] {
		for k := range c {
			all[0][k] += c[k]
		}
	}
	fmt.Fprintf(stdout, "udp %d, tcp %d, arp %d, other %d\n", all[0][udp], all[0][tcp], all[0][arp], all[0][other])
	return nil
}
