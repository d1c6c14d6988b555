// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"slices"
	"sync"
)

// waiter is somebody who sleeps until something happens on one of some rings. It
// may be armed again once it was cancelled; a notifier that still has it in hand
// then calls the new wake, without a reason, which sleepers expect.
type waiter struct {
	mu    sync.Mutex
	wake  func() // nil when it was fired or cancelled; guarded by mu
	rings []*kring
}

// arm puts the waiter on the rings; it is on none before.
func (wt *waiter) arm(wake func(), rings ...[]*kring) {
	wt.mu.Lock()
	wt.wake = wake
	wt.mu.Unlock()
	wt.rings = wt.rings[:0]
	for _, r := range rings {
		wt.rings = append(wt.rings, r...)
	}
	for _, k := range wt.rings {
		k.waitMu.Lock()
		k.waiters = append(k.waiters, wt)
		k.armed.StoreSeq(1) // partner: notify
		k.waitMu.Unlock()
	}
}

// claim takes the wake function; nil when somebody else has it.
func (wt *waiter) claim() (wake func()) {
	wt.mu.Lock()
	wake, wt.wake = wt.wake, nil
	wt.mu.Unlock()
	return wake
}

// cancel takes the waiter off its rings. A wake that is under way may still come,
// unless it was claimed here: true = wake was not called and will not be.
func (wt *waiter) cancel() bool {
	for _, k := range wt.rings {
		k.waitMu.Lock()
		if i := slices.Index(k.waiters, wt); i >= 0 {
			k.waiters = slices.Delete(k.waiters, i, i+1)
		}
		if len(k.waiters) == 0 {
			k.armed.StoreRel(0)
		}
		k.waitMu.Unlock()
	}
	return wt.claim() != nil
}

// notify wakes who sleeps on the ring. What it waits for was published before, with
// a full barrier behind it.
func (k *kring) notify() {
	if k.armed.LoadAcq() == 0 { // partner: arm
		return
	}
	k.waitMu.Lock()
	var room [4]*waiter
	ws := append(room[:0], k.waiters...)
	clear(k.waiters)
	k.waiters = k.waiters[:0]
	k.armed.StoreRel(0)
	k.waitMu.Unlock()
	for _, wt := range ws {
		if wake := wt.claim(); wake != nil {
			wake()
		}
	}
}

// ready reports whether an rxsync would find a frame, or in how many nanoseconds a
// paced source has one (0 = not by the clock).
func (k *kring) ready() (due int64, now bool) {
	if !k.tryLock() {
		return 0, true // somebody syncs it at this moment: look again
	}
	defer k.unlock()
	if k.state.LoadAcq() != ringOn {
		return 0, k.state.LoadAcq() == ringStopped
	}
	if k.ring.Head() != k.rtail || k.hwtail != k.rtail || k.produced.LoadAcq() != k.collected {
		return 0, true
	}
	s := k.src
	if s == nil {
		return 0, false
	}
	switch {
	case s.due(k.port.w, k) > 0 || s.odd.pending > 0 || s.odd.dup:
		return 0, true
	case s.pps > 0 && s.stop.LoadAcq() == 0 && k.port.linkDown.LoadAcq() == 0 && (s.cfg.Count == 0 || s.made < s.cfg.Count):
		return s.nextDue(k.port.w.now()), false
	}
	return 0, false
}

// txDue is how many nanoseconds away the next completion of a delayed ring is.
func (k *kring) txDue() int64 {
	if !k.tryLock() {
		return 1
	}
	defer k.unlock()
	if k.state.LoadAcq() != ringOn || k.due == nil || k.txDone == k.hwcur || k.port.stuck.LoadAcq() != 0 {
		return 0
	}
	return max(1, k.due[k.txDone]-k.port.w.now())
}
