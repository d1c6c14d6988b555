// SPDX-License-Identifier: Apache-2.0

// Package ring holds bounded first-in first-out rings of 32 bit event ids, one
// kind a file: SPSC, SPMC, MPSC and MPMC, and the non-blocking LockFree and WaitFree.
// It knows no order contexts, no locks and no workers: who may call what follows from
// the kind's name.
//
// # Choosing a kind
//
//	producers  consumers  kind   atomic read-modify-writes per burst
//	1          1          SPSC   0
//	1          many       SPMC   1 per dequeue
//	many       1          MPSC   1 per enqueue
//	many       many       MPMC   1 per enqueue, 1 per dequeue
//	many       many       LockFree, 1 per event and 1 per burst on either side
//	numbered   numbered   WaitFree, about 10 per event
//
// "1" means one at a time, with a happens-before edge from one to the next (a
// lock, a token): it need not be the same goroutine forever.
//
// # Bursts
//
// Every call moves a burst. Enqueue and Dequeue are partial: they move what
// fits (or is there) now, from the front, and return how many. EnqueueAll and
// DequeueAll, which the non-blocking kinds have not, move all or nothing. What was enqueued is visible to consumers when
// the call returns. None of them waits for anybody: in SPMC, MPSC and MPMC rings a
// writer that was descheduled between reserving and writing its slots delays
// the readers behind these slots (they return what they have), never a writer. In a
// LockFree ring it delays nobody; in a WaitFree ring moreover nobody can be kept out by
// the luck of the others.
//
// # Ids and events
//
// A slot holds the 32 bit id of an event header (buffer.Event.ID), not a
// pointer: half the traffic between cores, and no write barrier while the
// collector marks. The event forms convert inside the copy loop.
//
// The sequence per slot is the idea of D. Vyukov's bounded queue; reading
// before reserving, which spares the reader's release, is possible because the
// whole slot is one 64 bit word.
package ring

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/arena"
)

// MinSize and MaxSize limit the capacity of a ring, in ids.
const (
	MinSize = 1
	MaxSize = 1 << 28
)

// arenaBase is where ids count from.
var arenaBase = uintptr(arena.Ptr(0))

// unroll is the burst length from which two copies beat a loop.
const unroll = 8

// line separates what different goroutines write: a cache line and the
// neighbour that the prefetcher pairs with it.
const line = 128

// Size returns the capacity of a ring that was asked to hold n ids: n rounded
// up to a power of two. The error says the allowed values.
func Size(n int) (int, error) {
	if n < MinSize || n > MaxSize {
		return 0, fmt.Errorf("ring: size %d: allowed %d to %d", n, MinSize, MaxSize)
	}
	return 1 << bits.Len32(uint32(n-1)), nil
}

// mustSize is Size for the constructors, which take checked sizes.
func mustSize(n int) uint32 {
	c, err := Size(n)
	if err != nil {
		panic(err)
	}
	return uint32(c)
}

// words returns n words that start on a multiple of line and share no line with
// another object.
func words[T uint32 | uint64](n uint32) []T {
	per := uint32(line / unsafe.Sizeof(T(0)))
	b := make([]T, n+2*per)
	skip := uint32(-uintptr(unsafe.Pointer(unsafe.SliceData(b)))&(line-1)) / uint32(unsafe.Sizeof(T(0)))
	return b[skip : skip+n : skip+n]
}

// setEvent writes the event that id names to *p without a write barrier. That is
// allowed because events live in the arena, which the collector neither marks nor
// frees, so neither the old nor the new value of *p is of interest to it. A burst
// written with barriers is 5 to 20 times slower while the collector marks.
func setEvent(p **buffer.Event, id uint32) {
	*(*uintptr)(unsafe.Pointer(p)) = uintptr(unsafe.Pointer(buffer.FromID(id)))
}
