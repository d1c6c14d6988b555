// SPDX-License-Identifier: Apache-2.0

// Package invariants holds checks that only builds with the tag "invariants" make:
// double free, use after free, use by two owners at once. Without the tag they cost
// nothing, not even a load. The whole test suite runs with and without it.
//
//	check                                         where            shown to bite by
//	double free, wrong pool, write after free     buffer           TestDoubleFreeIsNamed, TestFreeToTheWrongPool, TestWriteAfterFree
//	who holds what is out                         buffer           TestLeaksAreNamed
//	freed or enqueued while in a queue, or free   queue, schedule  TestOwnerOfQueuedEvents, TestChecksOfOwners
//	one user a side, one goroutine a worker       queue, schedule  TestTwoUsersOfOneSide, TestChecksOfOwners
//	ordered contexts: locks held, turns           schedule         TestChecksOfContexts
//	slot and buffer indices                       platform/netmap  TestIndexRanges
//
//	invariants.Assert(e.refs.LoadAcq() != 0, "free of a packet that is free")
//
//	if invariants.Enabled { // for what costs something to find out
//		if n := countSlots(); n != granted {
//			invariants.Failf("%d buffers in slots and headers, %d were granted", n, granted)
//		}
//	}
//
// The idea is Pebble's package of the same name.
package invariants

import (
	"fmt"
)

// Failure is what a failed check panics with.
type Failure struct{ Text string }

// Error makes a Failure an error.
func (f Failure) Error() string { return "invariant broken: " + f.Text }

// Assert panics with a Failure when ok is false and the checks are enabled. The
// arguments should cost nothing: they are evaluated in every build.
func Assert(ok bool, text string) {
	if Enabled && !ok {
		fail(text)
	}
}

//go:noinline
func fail(text string) { panic(Failure{text}) }

// Failf panics with a Failure, in every build: call it within "if Enabled".
func Failf(format string, args ...any) { panic(Failure{fmt.Sprintf(format, args...)}) }

// PoisonByte is what Poison writes.
const PoisonByte = 0xdb

// Poison fills memory that nobody may read any more, when the checks are enabled.
func Poison(b []byte) {
	if Enabled {
		for i := range b {
			b[i] = PoisonByte
		}
	}
}

// Poisoned reports whether memory still is as Poison left it; always true when the
// checks are not enabled.
func Poisoned(b []byte) bool {
	if Enabled {
		for _, x := range b {
			if x != PoisonByte {
				return false
			}
		}
	}
	return true
}
