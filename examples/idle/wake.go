// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/odp-go/godp/odp"
)

// receiver returns how a worker gets packets: from the scheduler, whose policy
// decides what it does meanwhile, or from the input, waiting (sleep) or polling.
func receiver(inst *odp.Instance, port *odp.Port, sleep bool) func(w *odp.Worker, pkts []*odp.Packet) (int, error) {
	switch {
	case port.Mode() == odp.ModeScheduled:
		return func(w *odp.Worker, pkts []*odp.Packet) (int, error) {
			n, _, err := inst.Schedule(w, odp.EventsOf(pkts), -1)
			return n, err
		}
	case sleep:
		return func(w *odp.Worker, pkts []*odp.Packet) (int, error) { return port.In(0).RecvWait(w, pkts, -1) }
	}
	return port.In(0).Recv
}

// wake sends a frame and returns how many microseconds later a worker had it.
func wake(port *odp.Port, received, at *atomic.Int64) (float64, error) {
	p := port.Pool().AllocPacket(nil, 60)
	if p == nil {
		return 0, errors.New("the device's pool is empty")
	}
	clear(p.Data())
	before, start := received.Load(), odp.Now()
	if n, err := port.Out(0).Send(nil, []*odp.Packet{p}); err != nil || n == 0 {
		odp.FreePackets(nil, []*odp.Packet{p}[n:])
		return 0, fmt.Errorf("the device did not take a frame: %w", errors.Join(err, errors.New("is it full, or its link down")))
	}
	for received.Load() == before {
		if time.Sleep(20 * time.Microsecond); odp.Now()-start > int64(2*time.Second) {
			return 0, errors.New("a frame that was sent did not arrive within 2 s: use -x for a device that is not a loop")
		}
	}
	return float64(at.Load()-start) / 1e3, nil
}

// cpuTime is what the process has used, in user and system mode.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
