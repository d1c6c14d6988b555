// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/odp-go/godp/internal/relax"
)

// States of a parker.
//
//	awake ──park──▶ asleep ──wake, time-out, descriptor──▶ awake
//	  │  ▲                                                   ▲
//	  └─wake─▶ notified ──next park (returns at once)────────┘
//
// asleep is written by the owner only, notified by wakers only, and the waker
// that turned asleep into notified is the one that pays for the system call. So a
// wake is never lost: it either finds asleep (and triggers the poller), or leaves
// notified behind for the next park.
const (
	awake uint32 = iota
	notified
	asleep
	shut
)

// unwatchableNap bounds the sleep when a descriptor can't be watched: the
// caller then looks at it by itself that often.
const unwatchableNap = time.Millisecond

// verifyAfter is the length of a sleep from which on an unchanged watch set is
// entered into the kernel again: a descriptor may have been closed, and its
// number given to another file, without anybody telling.
const verifyAfter = 10 * time.Millisecond

// errRenew says that the poller had to forget its watch set.
var errRenew = errors.New("worker: the watch set must be entered again")

// parker is the place where the worker of one id sleeps. It belongs to the slot
// of the Set, not to the Worker: its descriptors outlive the Worker, so that a
// late Wake never meets a closed or reused descriptor. A late Wake for a worker
// that left wakes its successor once, for nothing.
type parker struct {
	state    relax.Uint32 // owner: park; others: wake (partner: each other)
	inflight relax.Uint32 // wakers between their swap and the end of the trigger (partner: closing)
	_        relax.Pad

	// owned by the worker of the moment; closing needs that there is none
	opened  bool
	watched []int  // what the poller watches, in the order given
	epoch   uint32 // Set.epoch when watched was entered
	blind   bool   // one of watched can't be watched
	err     error  // why, or what else the system refused
	poller  poller
	_       relax.Pad
}

func (p *parker) open() error {
	if !p.opened {
		if err := p.poller.open(); err != nil {
			return err
		}
		p.opened = true
	}
	p.state.StoreSeq(awake)
	return nil
}

// close gives the descriptors back. No worker uses the parker; wakers may.
func (p *parker) close() {
	if !p.opened {
		return
	}
	p.state.StoreSeq(shut)
	for p.inflight.LoadAcq() != 0 {
		runtime.Gosched()
	}
	p.poller.close()
	p.opened = false
}

// wake: see Worker.Wake.
func (p *parker) wake() {
	if s := p.state.LoadAcq(); s == notified || s == shut {
		return
	}
	p.inflight.Add(1)
	if p.state.Swap(notified) == asleep {
		p.poller.trigger()
	}
	p.inflight.Add(^uint32(0))
}

// forget takes back a wake that has not ended a park yet.
func (p *parker) forget() { p.state.CAS(notified, awake) }

func (p *parker) park(d time.Duration, fds []int, epoch uint32) {
	if len(fds) != 0 || len(p.watched) != 0 {
		p.watch(fds, epoch, d < 0 || d >= verifyAfter)
	}
	if !p.state.CAS(awake, asleep) {
		p.state.CAS(notified, awake)
		return
	}
	if p.blind && (d < 0 || d > unwatchableNap) {
		d = unwatchableNap
	}
	var deadline time.Time
	if d > 0 {
		deadline = time.Now().Add(d)
	}
	for left := d; ; {
		ready, err := p.poller.sleep(left)
		if err == errRenew {
			p.watched = p.watched[:0]
			break
		}
		if err != nil {
			p.err = err
			time.Sleep(unwatchableNap) // never a busy loop over a system that refuses
			break
		}
		// not ready and still asleep: a signal, or the trigger of a wake that an earlier park has seen
		if ready || p.state.LoadAcq() != asleep || d == 0 {
			break
		}
		if d > 0 {
			if left = time.Until(deadline); left <= 0 {
				break
			}
		}
	}
	p.state.Swap(awake) // a wake until here was the end of this park
}

// watch makes the poller watch fds and nothing else.
func (p *parker) watch(fds []int, epoch uint32, verify bool) {
	if !verify && epoch == p.epoch && slices.Equal(fds, p.watched) {
		return
	}
	for _, fd := range p.watched {
		if !slices.Contains(fds, fd) {
			p.poller.unwatch(fd)
		}
	}
	p.watched = append(p.watched[:0], fds...)
	p.epoch, p.blind = epoch, false
	p.enter()
}

// enter tells the poller about every watched descriptor (again).
func (p *parker) enter() {
	p.poller.generation()
	for _, fd := range p.watched {
		if err := p.poller.watch(fd); err != nil {
			p.blind, p.err = true, err
		}
	}
}

// leave takes the watch set out, for the next worker of the slot.
func (p *parker) leave() {
	p.watch(nil, 0, true)
	p.err = nil
}
