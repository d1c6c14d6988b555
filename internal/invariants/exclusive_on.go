// SPDX-License-Identifier: Apache-2.0

//go:build invariants

package invariants

// Enter panics when another user is within.
func (x *Exclusive) Enter(what string) {
	if !x.holder.CompareAndSwap(0, 1) {
		Failf("%s: used by two at the same time", what)
	}
}

// Leave ends the use.
func (x *Exclusive) Leave() { x.holder.Store(0) }
