// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"unsafe"

	"github.com/odp-go/godp/internal/invariants"
	"github.com/odp-go/godp/platform/netmap/abi"
)

func ptr[T any](p *T) unsafe.Pointer { return unsafe.Pointer(p) }

// changed are the flags that tell the kernel that a slot has another buffer now.
// They are variables so that a test can leave one out and see that this is noticed.
var changedRx, changedTx uint16 = abi.SlotBufChanged, abi.SlotBufChanged

// ring is a bound ring. There is one cursor: head and cur of the shared ring are
// stored together, and head here is the same value without reading it again.
// Only the owner of the queue touches it.
type ring struct {
	r     *abi.Ring
	n     uint32 // slots; constant, checked at open
	head  uint32 // what was published last
	fd    int
	mask  uint64 // of a slot's ptr: offset of the data; 0 = not granted
	init  uint64 // offset that receive slots are given back with
	id    uint16 // number of the ring, host rings count from hostRing
	ahead bool   // cur was set to tail, ahead of head, to wait for the rest of a frame
	skip  bool   // the rest of a frame that is too long is being dropped
}

// hostRing is added to the number of a host ring in names.
const hostRing = 1 << 15

// slots returns how many slots belong to the client now. A reason means that the
// ring can't be used any more: the kernel's tail is outside of it, or the kernel has put
// head back, which it does when it finds an index or a slot that it does not accept.
func (g *ring) slots() (n uint32, bad string) {
	tail := g.r.Tail()
	if tail >= g.n {
		return 0, "the kernel's tail is outside the ring"
	}
	if g.r.Head() != g.head {
		return 0, whyReset
	}
	return abi.Avail(g.head, tail, g.n), ""
}

const whyReset = "the kernel has reset the ring, because it found an index or a slot that it does not accept, or another program uses the ring"

// slot returns slot i, which is below n.
func (g *ring) slot(i uint32) *abi.Slot {
	if invariants.Enabled && i >= g.n {
		invariants.Failf("slot %d is used, of %d", i, g.n)
	}
	return g.r.Slot(i)
}

// publish hands everything before head to the kernel.
func (g *ring) publish(head uint32) {
	g.head, g.ahead = head, false
	g.r.SetHead(head)
}

// empty writes a receive slot that goes back to the kernel. Where offsets are granted
// its data is asked for at the first one again: the kernel may have moved it up, and
// would move it further each time.
func (g *ring) empty(s *abi.Slot, idx uint32, n, flags uint16) {
	if g.mask != 0 {
		s.SetPtr(s.Ptr()&^g.mask | g.init)
	}
	s.Store(idx, n, flags)
}

// pending reports whether the kernel still has slots to send.
func (g *ring) pending() bool {
	tail := g.r.Tail()
	return tail < g.n && abi.Next(tail, g.n) != g.head
}
