// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || race

package pack

import "unsafe"

// Wide reports whether the vector forms are used: not here.
const Wide = false

// PutTagged writes the ids of n events to n slots, with tag and its successors.
func PutTagged(slots, ev unsafe.Pointer, n int, base uintptr, tag uint64) {
	putTagged(slots, ev, n, base, tag)
}

// TakeTagged writes the addresses of up to n events, as long as the slots have the tag
// and its successors, and returns how many had.
func TakeTagged(ev, slots unsafe.Pointer, n int, base uintptr, tag uint64) int {
	return takeTagged(ev, slots, n, base, tag)
}

// TakeTaggedIDs is TakeTagged of bare ids.
func TakeTaggedIDs(ids, slots unsafe.Pointer, n int, tag uint64) int {
	return takeTaggedIDs(ids, slots, n, tag)
}

// PutIDs writes the ids of n events to n bare slots.
func PutIDs(slots, ev unsafe.Pointer, n int, base uintptr) { putIDs(slots, ev, n, base) }

// TakeIDs writes the addresses of the events of n bare slots.
func TakeIDs(ev, slots unsafe.Pointer, n int, base uintptr) { takeIDs(ev, slots, n, base) }
