// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"time"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// pollOnce is one pass of poll(2) over a bound descriptor: it syncs, and says what is
// ready. With default flags even a poll for nothing sends what is queued.
func (b *binding) pollOnce(events int16, freebsd bool) (revents int16) {
	wantTx, wantRx := events&abi.PollOut != 0, events&abi.PollIn != 0
	if freebsd {
		revents, wantTx, wantRx = b.pollFast(wantTx, wantRx)
	}
	if b.txPoll || wantTx {
		revents |= b.pollTx(wantTx)
	}
	if wantRx {
		revents |= b.pollRx()
	}
	return revents
}

// pollFast is what FreeBSD does first, without a lock and without a sync: space in
// some TX ring answers POLLOUT; unseen frames in all RX rings, none with slots to
// give back, answer POLLIN.
func (b *binding) pollFast(wantTx, wantRx bool) (revents int16, tx, rx bool) {
	if wantTx {
		for _, k := range b.tx {
			if k.tryLock() {
				if k.state.LoadAcq() == ringOn && k.ring.Cur() != k.ring.Tail() {
					revents |= abi.PollOut
					wantTx = false
				}
				k.unlock()
			}
		}
	}
	if wantRx && len(b.rx) > 0 {
		all := true
		for _, k := range b.rx {
			if !k.tryLock() {
				return revents, wantTx, wantRx
			}
			all = all && k.state.LoadAcq() == ringOn && k.ring.Cur() != k.ring.Tail() && k.ring.Head() == k.rhead
			k.unlock()
		}
		if all {
			revents |= abi.PollIn
			wantRx = false
		}
	}
	return revents, wantTx, wantRx
}

func (b *binding) pollTx(want bool) (revents int16) {
	hooked := b.port.w.hooked.LoadAcq() != 0
	for _, k := range b.tx {
		switch k.grab() {
		case grabStopped:
			revents |= abi.PollErr
			continue
		case grabBusy:
			continue
		}
		if want || k.ring.Head() != k.hwcur {
			if !k.txSync() {
				revents |= abi.PollErr
			} else if want && k.ring.Cur() != k.rtail {
				revents |= abi.PollOut
				want = false
			}
			if hooked {
				b.port.w.scribble(k)
			}
		}
		k.unlock()
	}
	return revents
}

func (b *binding) pollRx() (revents int16) {
	hooked := b.port.w.hooked.LoadAcq() != 0
	for _, k := range b.rx {
		switch k.grab() {
		case grabStopped:
			revents |= abi.PollErr
			continue
		case grabBusy:
			continue
		}
		if !k.rxSync() {
			revents |= abi.PollErr
		} else if k.rcur != k.rtail {
			revents |= abi.PollIn
		}
		if hooked {
			b.port.w.scribble(k)
		}
		k.unlock()
	}
	return revents
}

// poll waits; see abi.Kernel.
func (f *file) poll(events int16, d time.Duration) int16 {
	w := f.w
	freebsd := w.cfg.Personality == FreeBSD
	var deadline time.Time
	if d > 0 {
		deadline = time.Now().Add(d)
	}
	for {
		b := f.bind.Load()
		if b == nil || f.dead.LoadAcq() != 0 {
			return abi.PollErr
		}
		if rev := b.pollOnce(events, freebsd); rev != 0 || d == 0 {
			return rev
		}
		ch := make(chan struct{}, 1)
		var rx, tx []*kring
		if events&abi.PollIn != 0 {
			rx = b.rx
		}
		if events&abi.PollOut != 0 {
			tx = b.tx
		}
		var wt waiter
		wt.arm(func() { ch <- struct{}{} }, rx, tx)
		rev := b.pollOnce(events, freebsd) // what came before the waiter stood there
		if rev == 0 && f.dead.LoadAcq() == 0 {
			f.sleep(ch, b.sleepFor(rx, tx), d, deadline)
		}
		wt.cancel()
		if rev != 0 {
			return rev
		}
		if d > 0 && !time.Now().Before(deadline) {
			if b = f.bind.Load(); b == nil || f.dead.LoadAcq() != 0 {
				return abi.PollErr
			}
			return b.pollOnce(events, freebsd)
		}
	}
}

// sleepFor is the time until something happens by the clock, 0 = nothing will.
func (b *binding) sleepFor(rx, tx []*kring) time.Duration {
	var due int64
	for _, k := range rx {
		d, now := k.ready()
		if now {
			return 1
		}
		if d > 0 && (due == 0 || d < due) {
			due = d
		}
	}
	for _, k := range tx {
		if d := k.txDue(); d > 0 && (due == 0 || d < due) {
			due = d
		}
	}
	return time.Duration(due)
}

func (f *file) sleep(ch chan struct{}, due, d time.Duration, deadline time.Time) {
	if due == 0 && d < 0 {
		<-ch
		return
	}
	wait := due
	if d > 0 {
		if left := time.Until(deadline); due == 0 || left < due {
			wait = left
		}
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ch:
	case <-t.C:
	}
}
