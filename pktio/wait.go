// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

// waitSlot is what a worker needs to sleep on a queue, kept so that a wait
// allocates nothing.
type waitSlot struct {
	wake  func()
	fds   [1]int
	armed bool
}

const (
	spinFor   = 20 * time.Microsecond  // polling before a sleep
	lookAgain = 500 * time.Microsecond // sleep on a queue that can't wake anybody
)

// RecvWait is Recv that waits until a packet comes, for at least d (d < 0: until
// the port or the worker is stopped; 0: not at all). 0, nil means that the time is
// over, or that the worker was asked to stop. No lock is held while it waits.
// A nil worker may wait too, at the cost of looking every half millisecond.
func (in *In) RecvWait(w *worker.Worker, pkts []*buffer.Packet, d time.Duration) (int, error) {
	n, err := in.Recv(w, pkts)
	if n > 0 || err != nil || d == 0 || len(pkts) == 0 {
		return n, err
	}
	start := time.Now()
	for {
		spent := time.Since(start)
		if d > 0 && spent >= d {
			return 0, nil
		}
		if w != nil && w.Stopping() {
			return 0, nil
		}
		rest := time.Duration(-1)
		if d > 0 {
			rest = d - spent
		}
		if spent < spinFor {
			var s worker.Spin
			s.Wait()
		} else if w == nil {
			time.Sleep(shorter(rest, lookAgain))
		} else {
			in.sleep(w, rest)
		}
		if n, err = in.Recv(w, pkts); n > 0 || err != nil {
			return n, err
		}
	}
}

// shorter returns the shorter of two times, of which a may be negative = endless and b is positive.
func shorter(a, b time.Duration) time.Duration {
	if a < 0 {
		return b
	}
	return min(a, b)
}

// sleep parks the worker until the queue may have packets, for at most rest.
func (in *In) sleep(w *worker.Worker, rest time.Duration) {
	s := &in.wait[w.ID()]
	if s.wake == nil {
		s.wake = w.Wake
	}
	fd, due, ready := in.arm(w, s.wake, s)
	if ready {
		return
	}
	fds := s.fds[:0]
	if fd >= 0 {
		s.fds[0] = fd
		fds = s.fds[:1]
	}
	if due > 0 {
		rest = shorter(rest, due)
	}
	if in.port.state.LoadAcq() == stRunning {
		w.Park(rest, fds)
	}
	in.disarm(w, s)
}

// arm prepares the ring for a sleep, under its lock, and gives the lock back.
// A ring on whose descriptor somebody sleeps is left alone by all others.
func (in *In) arm(w *worker.Worker, wake func(), s *waitSlot) (fd int, due time.Duration, ready bool) {
	if in.sp != nil {
		return in.sp.arm(w, in.lane, wake, s)
	}
	r := in.ring
	if r.waiter == nil {
		return -1, lookAgain, false
	}
	if ok, err := in.enter(w); !ok {
		return -1, lookAgain, err != nil
	}
	defer in.leave(w)
	if r.armed.LoadAcq() != notArmed {
		return -1, lookAgain, false
	}
	fd, due, ready = r.waiter.Arm(wake)
	if ready {
		r.waiter.Disarm()
		return -1, 0, true
	}
	s.armed = true
	r.setArmed(fd)
	return fd, due, false
}

// setArmed marks the ring as watched. partner: Port.state, which Close writes
// before it reads armed.
func (r *rxRing) setArmed(fd int) {
	if fd >= 0 {
		r.armed.StoreSeq(armedFD)
	} else {
		r.armed.StoreSeq(armedWake)
	}
}

// disarm ends the sleep. The device is still open: its Close waits for armed.
func (in *In) disarm(w *worker.Worker, s *waitSlot) {
	if in.sp != nil {
		in.sp.disarm(w, in.lane, s)
		return
	}
	if !s.armed {
		return
	}
	s.armed = false
	r := in.ring
	for {
		if ok, err := in.enter(w); ok {
			r.waiter.Disarm()
			r.armed.StoreSeq(notArmed)
			in.leave(w)
			return
		} else if err != nil || r.lk.word.LoadAcq() == heldForever {
			r.armed.StoreSeq(notArmed)
			return
		}
		var sp worker.Spin
		sp.Wait()
	}
}

// abandon ends a sleep whose worker panicked.
func (s *waitSlot) abandon(in *In) {
	if s.armed {
		s.armed = false
		in.ring.armed.StoreSeq(notArmed)
	}
}

// Arm prepares for a sleep of the scheduler's watcher on this queue, see
// driver.Waiter: the caller holds the token of the queue that the input is bound
// to. ready means that packets may be there: do not sleep. Disarm ends it.
func (in *In) Arm(wake func()) (fd int, due time.Duration, ready bool) {
	if in.port.state.LoadAcq() != stRunning {
		return -1, lookAgain, false
	}
	return in.arm(nil, wake, &in.wait[len(in.wait)-1])
}

// Disarm ends Arm. The same goroutine need not call it, but only one may.
func (in *In) Disarm() { in.disarm(nil, &in.wait[len(in.wait)-1]) }
