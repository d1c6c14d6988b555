// SPDX-License-Identifier: Apache-2.0

//go:build invariants

package invariants

import "sync/atomic"

// Exclusive guards what one user at a time may use: a ring without locks, a device
// handle of level "none". It has no size when the checks are not enabled.
//
//	r.excl.Enter("SPSC enqueue")
//	...
//	r.excl.Leave()
type Exclusive struct{ holder atomic.Uint32 }

// Enter panics when another user is within.
func (x *Exclusive) Enter(what string) {
	if !x.holder.CompareAndSwap(0, 1) {
		Failf("%s: used by two at the same time", what)
	}
}

// Leave ends the use.
func (x *Exclusive) Leave() { x.holder.Store(0) }
