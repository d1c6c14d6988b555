// SPDX-License-Identifier: Apache-2.0

//go:build !invariants

package invariants

// Exclusive guards what one user at a time may use: a ring without locks, a device
// handle of level "none". It has no size when the checks are not enabled.
//
//	r.excl.Enter("SPSC enqueue")
//	...
//	r.excl.Leave()
type Exclusive struct{}

// Enter panics when another user is within.
func (x *Exclusive) Enter(string) {}

// Leave ends the use.
func (x *Exclusive) Leave() {}
