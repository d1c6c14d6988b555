// SPDX-License-Identifier: Apache-2.0

// Command odp_l2fwd_perf measures forwarding, and does nothing else: it is the
// shortest forwarder of both modes. Interface 2k forwards to 2k+1 and back (the last of
// an odd number to itself), both MAC addresses are rewritten, a burst that is not
// accepted is dropped.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/examples/internal/opt"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/odp"
	_ "github.com/odp-go/godp/platform/loop"
	_ "github.com/odp-go/godp/platform/netmap"
	_ "github.com/odp-go/godp/platform/null"
)

const (
	maxBurst, batch = 256, 64 // batch: bursts between two publications of the counts
	schedWait       = 100 * time.Millisecond
)

var workerNice = -20 // of the worker threads; tests share the machine

// counts are a worker's as others may read them: packets, bursts, polls, drops.
type counts struct {
	v [4]atomic.Uint64
	_ [128]byte
}

func (c *counts) set(v ...uint64) {
	for i := range v {
		c.v[i].Store(v[i])
	}
}

func main() { os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr)) }

// Main returns the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	out := opt.NewOutput(stdout)
	return opt.Exit("odp_l2fwd_perf", out.Join(run(args, out)), stderr)
}

func run(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("odp_l2fwd_perf", flag.ContinueOnError)
	ifs := fs.String("i", "loop:0?seed=512,loop:1?seed=512", "interfaces, separated by commas")
	mode := fs.String("m", "burst", "burst, queue (= atomic), parallel or ordered")
	workers := fs.Int("c", 1, "workers, at least one per pair of interfaces in burst mode")
	burst := fs.Int("b", 32, "most packets in a burst, 1 to 256")
	seconds := fs.Float64("t", 2, "seconds of the measurement, after a quarter of it as warm-up")
	if done, err := opt.Parse(fs, args, out, nil); done || err != nil {
		return err
	}
	names, err := opt.Interfaces("i", *ifs)
	if err != nil {
		return err
	}
	m, err := opt.ParseMode(*mode)
	if err != nil || m == opt.Plain {
		return opt.Usage("-m %q: burst, queue, atomic, parallel or ordered", *mode)
	}
	if *burst < 1 || *burst > maxBurst || *workers < 1 || *workers > 64 || *seconds <= 0 {
		return opt.Usage("-b 1 to %d, -c 1 to 64, -t above 0", maxBurst)
	}
	return measure(names, m, *workers, *burst, *seconds, out)
}

// bench is one measurement.
type bench struct {
	inst    *odp.Instance
	mode    opt.Mode
	burst   int
	workers int
	ports   []*odp.Port
	macs    [][12]byte // by output
	route   []int      // port index -> output
	stats   []counts
	started atomic.Int32
}

func measure(names []string, m opt.Mode, workers, burst int, seconds float64, out io.Writer) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	inst, err := odp.Open(ctx, odp.Config{Name: "l2fwd_perf", Workers: workers, Nice: workerNice, Log: slog.New(slog.DiscardHandler),
		Scheduler: odp.SchedulerConfig{Idle: odp.IdleBusy}})
	if err != nil {
		return err
	}
	defer inst.Close()
	b := &bench{inst: inst, mode: m, burst: burst, workers: workers, stats: make([]counts, inst.Config().MaxWorkers)}
	if err := b.open(ctx, names); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- inst.Run(ctx, b.loop) }()
	window := time.Duration(seconds * float64(time.Second))
	for end := time.Now().Add(2 * time.Second); b.read()[0] == 0 && time.Now().Before(end); time.Sleep(window / 4) {
	}
	before, start := b.read(), time.Now()
	time.Sleep(window)
	after, took := b.read(), time.Since(start)
	stop()
	if err := <-done; err != nil {
		return err
	}
	packets, bursts, polls, drops := after[0]-before[0], after[1]-before[1], after[2]-before[2], after[3]-before[3]
	if b.read()[0] == 0 {
		return fmt.Errorf("nothing was forwarded: is there traffic on %v", names)
	}
	fmt.Fprintf(out, "%s, %d workers: %.2f Mpps, %.2f ns per packet, burst %.1f of %d, empty polls %.1f %%, drops %d\n",
		m, workers, float64(packets)/took.Seconds()/1e6, float64(took.Nanoseconds())/float64(packets), float64(packets)/float64(bursts), burst,
		100*float64(polls-bursts)/float64(polls), drops)
	return inst.Close()
}

// open opens the interfaces: one receive queue, and a send queue a worker where there are so many.
func (b *bench) open(ctx context.Context, names []string) error {
	cfg := odp.PortConfig{}
	cfg.RxQueues, cfg.TxQueues = 1, b.workers
	if b.mode.Scheduled() {
		cfg.Mode, cfg.Sync = odp.ModeScheduled, [...]odp.Sync{opt.Parallel: odp.Parallel, opt.Atomic: odp.Atomic, opt.Ordered: odp.Ordered}[b.mode]
	}
	for i, name := range names {
		p, err := b.inst.OpenPort(ctx, name, cfg)
		if err != nil {
			return err
		}
		b.ports = append(b.ports, p)
		b.macs = append(b.macs, header.MACPattern([]byte{2, 0, 0, 0, 0, byte(i)}, p.MAC()))
		for len(b.route) <= p.Index() {
			b.route = append(b.route, 0)
		}
		b.route[p.Index()] = min(i^1, len(names)-1)
	}
	return nil
}

// loop is what each worker runs.
func (b *bench) loop(w *odp.Worker) error {
	var pkts [maxBurst]*odp.Packet
	me, c := int(b.started.Add(1))-1, &b.stats[w.ID()]
	var packets, bursts, polls, drops uint64
	defer func() { c.set(packets, bursts, polls, drops) }()
	for k := me; w.Running(); k += b.workers {
		n, to, err := b.receive(w, pkts[:b.burst], k)
		if n > 0 {
			for _, p := range pkts[:n] {
				header.SetMACs(p.DataPtr(), &b.macs[to])
			}
			o, sent := b.ports[to], 0
			sent, err = o.Out(me%o.NumOut()).Send(w, pkts[:n])
			odp.FreePackets(w, pkts[sent:n])
			drops += uint64(n - sent)
			packets += uint64(n)
			bursts++
		}
		if polls++; polls%batch == 0 {
			c.set(packets, bursts, polls, drops)
		}
		if err != nil {
			return nil // stopped
		}
	}
	return nil
}

// receive gets a burst, from the scheduler or the interfaces in turn, and says where it goes.
func (b *bench) receive(w *odp.Worker, pkts []*odp.Packet, k int) (n, to int, err error) {
	if b.mode.Scheduled() {
		n, q, err := b.inst.Schedule(w, odp.EventsOf(pkts), schedWait)
		if n > 0 {
			to = b.route[q.Context().(*odp.Port).Index()]
		}
		return n, to, err
	}
	in := b.ports[k%len(b.ports)]
	n, err = in.In(0).Recv(w, pkts)
	return n, b.route[in.Index()], err
}

// read sums the counts: packets, bursts, polls, drops.
func (b *bench) read() (t [4]uint64) {
	for i := range b.stats {
		for k := range t {
			t[k] += b.stats[i].v[k].Load()
		}
	}
	return t
}
