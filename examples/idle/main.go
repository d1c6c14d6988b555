// SPDX-License-Identifier: Apache-2.0

// Command idle measures what waiting costs: the CPU share of workers that have nothing
// to do, and how long after a frame was sent to a sleeping worker it has it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/examples/internal/opt"
	"github.com/odp-go/godp/odp"
	_ "github.com/odp-go/godp/platform/loop"
	_ "github.com/odp-go/godp/platform/netmap"
)

func main() { os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr)) }

// Main returns the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	out := opt.NewOutput(stdout)
	return opt.Exit("idle", out.Join(run(args, out)), stderr)
}

// result is what was measured; times in microseconds.
type result struct {
	Device   string  `json:"device"`
	Mode     string  `json:"mode"`
	Idle     string  `json:"idle"`
	Workers  int     `json:"workers"`
	Seconds  float64 `json:"seconds"`
	CPU      float64 `json:"cpu_share"` // of one core, all threads of the process together
	Wakeups  int     `json:"wakeups"`
	Median   float64 `json:"wake_median_us"`
	P99      float64 `json:"wake_p99_us"`
	Slowest  float64 `json:"wake_max_us"`
	Received int64   `json:"received"`
}

func run(args []string, out io.Writer) error {
	var r result
	fs := flag.NewFlagSet("idle", flag.ContinueOnError)
	fs.StringVar(&r.Device, "i", "loop:0", "device that the workers receive from")
	via := fs.String("x", "", "device to send to it on, such as the other end of a cable; by default the same, as a loop needs")
	fs.StringVar(&r.Mode, "m", "queue", "burst or queue")
	fs.StringVar(&r.Idle, "idle", "adaptive", "busy or adaptive")
	fs.IntVar(&r.Workers, "c", 1, "workers; in burst mode 1")
	fs.Float64Var(&r.Seconds, "t", 5, "seconds without traffic")
	fs.IntVar(&r.Wakeups, "n", 1000, "frames to send, one at a time, 1 ms apart")
	asJSON := fs.Bool("json", false, "print one JSON object")
	if done, err := opt.Parse(fs, args, out, nil); done || err != nil {
		return err
	}
	policy, ok := map[string]odp.SchedulerConfig{"busy": {Idle: odp.IdleBusy}, "adaptive": {Idle: odp.IdleAdaptive}}[r.Idle]
	mode, ok2 := map[string]odp.Mode{"burst": odp.ModeDirect, "queue": odp.ModeScheduled}[r.Mode]
	if !ok || !ok2 || r.Seconds <= 0 || r.Wakeups < 1 || r.Workers < 1 || r.Workers > 1 && mode == odp.ModeDirect {
		return opt.Usage("-idle busy or adaptive, -m burst or queue, -t above 0, -n at least 1, -c at least 1 (burst: 1)")
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	inst, err := odp.Open(ctx, odp.Config{Workers: r.Workers, Scheduler: policy, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer inst.Close()
	port, err := inst.OpenPort(ctx, r.Device, odp.PortConfig{Mode: mode, Sync: odp.Atomic})
	if err != nil {
		return err
	}
	from := port
	if *via != "" {
		if from, err = inst.OpenPort(ctx, *via, odp.PortConfig{}); err != nil {
			return err
		}
	}
	receive := receiver(inst, port, r.Idle == "adaptive")
	var received, at atomic.Int64 // frames, and when the last one came
	done := make(chan error, 1)
	go func() {
		done <- inst.Run(ctx, func(w *odp.Worker) error {
			var pkts [32]*odp.Packet
			for {
				n, err := receive(w, pkts[:])
				if n > 0 {
					at.Store(odp.Now())
					received.Add(int64(n))
					odp.FreePackets(w, pkts[:n])
				}
				if err != nil || !w.Running() {
					return err
				}
			}
		})
	}()
	time.Sleep(100 * time.Millisecond)
	used, start := cpuTime(), time.Now()
	time.Sleep(time.Duration(r.Seconds * float64(time.Second)))
	r.CPU = (cpuTime() - used).Seconds() / time.Since(start).Seconds()

	var us []float64
	for len(us) < r.Wakeups && err == nil {
		time.Sleep(time.Millisecond) // the worker falls asleep again
		var late float64
		if late, err = wake(from, &received, &at); err == nil {
			us = append(us, late)
		}
	}
	stop()
	if err = errors.Join(err, <-done, inst.Shutdown(context.Background())); err != nil {
		return err
	}
	slices.Sort(us)
	r.Median, r.P99, r.Slowest, r.Received = us[len(us)/2], us[len(us)*99/100], us[len(us)-1], received.Load()
	if *asJSON {
		return json.NewEncoder(out).Encode(r)
	}
	_, err = fmt.Fprintf(out, "%s, %s mode, %s, %d workers: %.2f %% of a core without traffic; wake-up median %.1f us, p99 %.1f us, slowest %.1f us\n",
		r.Device, r.Mode, r.Idle, r.Workers, 100*r.CPU, r.Median, r.P99, r.Slowest)
	return err
}
