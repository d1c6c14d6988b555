// SPDX-License-Identifier: Apache-2.0

//go:build amd64 && !race

package pack

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// Wide reports whether the vector forms are used. Callers test it, and the length,
// before the call; what they do instead is their own short loop.
var Wide = cpu.X86.HasAVX2

// PutTagged writes the ids of n events to n slots, with tag (in the upper half) and its
// successors. Only if Wide; n is at least Min.
//
//go:noescape
func PutTagged(slots, ev unsafe.Pointer, n int, base uintptr, tag uint64)

// TakeTagged writes the addresses of up to n events, as long as the slots have the tag
// and its successors, and returns how many had; what lies in ev behind them is undefined.
// Only if Wide.
//
//go:noescape
func TakeTagged(ev, slots unsafe.Pointer, n int, base uintptr, tag uint64) int

// TakeTaggedIDs is TakeTagged of bare ids.
//
//go:noescape
func TakeTaggedIDs(ids, slots unsafe.Pointer, n int, tag uint64) int

// PutIDs writes the ids of n events to n bare slots. Only if Wide.
//
//go:noescape
func PutIDs(slots, ev unsafe.Pointer, n int, base uintptr)

// TakeIDs writes the addresses of the events of n bare slots. Only if Wide.
//
//go:noescape
func TakeIDs(ev, slots unsafe.Pointer, n int, base uintptr)
