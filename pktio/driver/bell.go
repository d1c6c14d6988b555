// SPDX-License-Identifier: Apache-2.0

package driver

import (
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/worker"
)

// Bell is how a sender inside the process wakes a receiver that sleeps: one
// receiver, any number of senders. The zero value is ready.
//
//	state  0 = nobody sleeps, 1 = the receiver sleeps, 2 = a sender reads wake
//	wake   written by the receiver in state 0, read by the sender that made state 2
type Bell struct {
	_     relax.Pad
	state relax.Uint32
	wake  func()
	_     relax.Pad
}

// Hang says that the receiver is about to sleep. He looks for work after it, a
// last time. The bell must have been taken off.
func (b *Bell) Hang(wake func()) {
	b.wake = wake
	b.state.StoreSeq(1) // partner: what Ring's caller published
}

// TakeOff says that the receiver is awake. A wake that was on its way may still come.
func (b *Bell) TakeOff() {
	if b.state.LoadAcq() == 0 || b.state.CAS(1, 0) {
		return
	}
	var s worker.Spin
	for b.state.LoadAcq() != 0 { // for the few instructions that a sender reads wake
		s.Wait()
	}
}

// Ring wakes the receiver if he sleeps. What he is to find was published before,
// and a full barrier lies between that and this call.
func (b *Bell) Ring() {
	if b.state.LoadAcq() != 1 || !b.state.CAS(1, 2) {
		return
	}
	wake := b.wake
	b.state.StoreRel(0)
	wake()
}
