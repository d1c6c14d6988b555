// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"fmt"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

// MaxWaitAny is the largest number of inputs that RecvAny waits on.
const MaxWaitAny = 64

// RecvAny receives from the first of several inputs that has packets, and waits
// for at least d (d < 0: until the worker is stopped; 0: not at all) when none has.
// from is the index of that input. 0 packets and no error mean that the time is
// over, or that the worker was asked to stop. No lock is held while it waits. The
// inputs are looked at in their order: a caller that must be fair rotates them.
// (ODP: odp_pktin_recv_mq_tmo.)
func RecvAny(w *worker.Worker, ins []*In, pkts []*buffer.Packet, d time.Duration) (from, n int, err error) {
	if len(ins) > MaxWaitAny {
		return 0, 0, fmt.Errorf("pktio: RecvAny on %d inputs: at most %d", len(ins), MaxWaitAny)
	}
	look := func() bool {
		for i, in := range ins {
			if n, err = in.Recv(w, pkts); n > 0 || err != nil {
				from = i
				return true
			}
		}
		return false
	}
	if look() || d == 0 || len(pkts) == 0 || len(ins) == 0 {
		return from, n, err
	}
	start := time.Now()
	for {
		spent := time.Since(start)
		if (d > 0 && spent >= d) || (w != nil && w.Stopping()) {
			return 0, 0, nil
		}
		rest := time.Duration(-1)
		if d > 0 {
			rest = d - spent
		}
		switch {
		case spent < spinFor:
			var s worker.Spin
			s.Wait()
		case w == nil:
			time.Sleep(shorter(rest, lookAgain))
		default:
			sleepAny(w, ins, rest)
		}
		if look() {
			return from, n, err
		}
	}
}

// sleepAny parks the worker until one of the inputs may have packets.
func sleepAny(w *worker.Worker, ins []*In, rest time.Duration) {
	var room [MaxWaitAny]int
	fds, awake := room[:0], false
	for _, in := range ins {
		s := &in.wait[w.ID()]
		if s.wake == nil {
			s.wake = w.Wake
		}
		fd, due, ready := in.arm(w, s.wake, s)
		if ready {
			awake = true
			break
		}
		if fd >= 0 {
			fds = append(fds, fd)
		}
		if due > 0 {
			rest = shorter(rest, due)
		}
		awake = awake || in.port.state.LoadAcq() != stRunning
	}
	if !awake {
		w.Park(rest, fds)
	}
	for _, in := range ins {
		in.disarm(w, &in.wait[w.ID()])
	}
}
