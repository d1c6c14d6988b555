// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/odp-go/godp/worker"
)

// Config describes an instance. The zero value of each field is its default, so
// Open(ctx, Config{}) gives a working instance.
type Config struct {
	// Name is for logs and errors; default "odp".
	Name string
	// Workers is the number of worker goroutines that Run starts. Default: the
	// CPUs that the process may use (affinity, container quota) - 1, at least 1.
	// More workers than CPUs work: they share.
	Workers int
	// MaxWorkers is the number of worker ids, for workers and control threads
	// together. Default Workers + 16, at most worker.MaxWorkers. Every pool, queue
	// and port keeps a little state for each.
	MaxWorkers int
	// CPUs is where workers are pinned, from the highest down. Default: all that
	// the process may use. One that it may not use is an error.
	CPUs CPUMask
	// Pin says whether workers are pinned to one CPU each.
	Pin PinMode
	// Nice is the nice value of the worker threads, -20 to 19; 0 = unchanged.
	// Negative values need a privilege; a refusal is reported, an error under Strict.
	Nice int
	// OnPanic says what a panic in a worker does.
	OnPanic PanicPolicy
	// RestartLimit is how many restarts all workers together may have within
	// RestartWindow; one more stops the instance as StopAll does. Defaults 8 and 1 minute.
	RestartLimit  int
	RestartWindow time.Duration
	// Scheduler is the scheduler's configuration: idle policy, number of queues,
	// threshold for new events.
	Scheduler SchedulerConfig
	// StopTimeout is how long Close waits for a worker that was asked to stop
	// before it goes on without it, and names it. Default 2 s.
	StopTimeout time.Duration
	// Log receives what an operator should know: fallbacks, restarts, faults; nothing per
	// packet. Default slog.Default().
	Log *slog.Logger
	// Strict makes an error of everything that would otherwise be granted in part
	// and reported (pinning, nice value, zero copy, huge pages, cache sizes).
	Strict bool
}

// PinMode says how hard Run tries to pin a worker to its CPU.
type PinMode uint8

// The pin modes.
const (
	// PinTry pins each worker; a refusal is logged and in the Snapshot (an
	// error under Strict). Workers that share a CPU with another are not pinned:
	// the kernel balances them better.
	PinTry PinMode = iota
	// PinOff leaves the placing to the kernel.
	PinOff
	// PinForce pins each worker even where CPUs are shared; a refusal is an error.
	PinForce
)

// PanicPolicy says what a panic of a worker does to the instance.
type PanicPolicy uint8

// The panic policies. In each the worker first lets go of all that others could
// wait for: locks, order turn, event contexts, scheduled events it had in stock,
// cached buffers. What it had in hand is counted as leaked by the panic.
const (
	// StopAll asks all workers to stop; Run returns a *PanicError.
	StopAll PanicPolicy = iota
	// RestartWorker starts the worker's function again, on a new thread, up to
	// RestartLimit.
	RestartWorker
)

// Kind tells workers from control threads.
type Kind = worker.Kind

// The kinds of thread.
const (
	KindWorker  = worker.KindWorker
	KindControl = worker.KindControl
)

// fill checks the configuration and puts the defaults in.
func (c *Config) fill(cpus CPUMask, usable int) error {
	bad := func(field string, got any, allowed string) error {
		return fmt.Errorf("odp: Open: Config.%s %v: allowed is %s", field, got, allowed)
	}
	if c.Name == "" {
		c.Name = "odp"
	}
	if c.CPUs.IsZero() {
		c.CPUs = cpus
	} else if err := checkCPUs(c.CPUs, cpus); err != nil {
		return err
	} else {
		usable = min(usable, c.CPUs.Count())
		if c.Workers == 0 {
			c.Workers = usable // a chosen set is meant for the workers alone
		}
	}
	switch {
	case c.Workers < 0 || c.Workers > worker.MaxWorkers:
		return bad("Workers", c.Workers, fmt.Sprintf("1 to %d, or 0 for the default", worker.MaxWorkers))
	case c.Workers == 0:
		c.Workers = min(max(1, usable-1), worker.MaxWorkers)
	}
	switch {
	case c.MaxWorkers == 0:
		c.MaxWorkers = min(c.Workers+16, worker.MaxWorkers)
	case c.MaxWorkers < c.Workers || c.MaxWorkers > worker.MaxWorkers:
		return bad("MaxWorkers", c.MaxWorkers, fmt.Sprintf("Workers (%d) to %d, or 0 for the default", c.Workers, worker.MaxWorkers))
	}
	switch {
	case c.Nice < -20 || c.Nice > 19:
		return bad("Nice", c.Nice, "-20 to 19")
	case c.Pin > PinForce:
		return bad("Pin", c.Pin, "PinTry, PinOff or PinForce")
	case c.OnPanic > RestartWorker:
		return bad("OnPanic", c.OnPanic, "StopAll or RestartWorker")
	case c.RestartLimit < 0:
		return bad("RestartLimit", c.RestartLimit, "0 (default) or more")
	case c.RestartWindow < 0:
		return bad("RestartWindow", c.RestartWindow, "0 (default) or more")
	case c.StopTimeout < 0:
		return bad("StopTimeout", c.StopTimeout, "0 (default) or more")
	}
	if c.RestartLimit == 0 {
		c.RestartLimit = 8
	}
	if c.RestartWindow == 0 {
		c.RestartWindow = time.Minute
	}
	if c.StopTimeout == 0 {
		c.StopTimeout = 2 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return nil
}
