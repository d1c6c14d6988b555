// SPDX-License-Identifier: Apache-2.0

package loop

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
)

// fifo carries packet ids from one send queue to one receive queue: one producer
// and one consumer, as pktio promises to a driver.
//
//	tail, headSeen  written by: the send queue
//	head, tailSeen  written by: the receive queue
type fifo struct {
	slots    []uint32
	mask     uint32
	_        relax.Pad
	tail     relax.Uint32
	headSeen uint32
	_        relax.Pad
	head     relax.Uint32
	tailSeen uint32
	_        relax.Pad
}

func newFIFO(n int) *fifo { return &fifo{slots: make([]uint32, n), mask: uint32(n - 1)} }

// room returns the free slots as the producer sees them; at least want when
// there are that many.
func (f *fifo) room(want uint32) uint32 {
	t := f.tail.LoadAcq()
	free := uint32(len(f.slots)) - (t - f.headSeen)
	if free < want {
		f.headSeen = f.head.LoadAcq()
		free = uint32(len(f.slots)) - (t - f.headSeen)
	}
	return free
}

// put appends pkts, for which there is room. What is read of another word after
// it is ordered behind (partner: rxQueue.asleep).
func (f *fifo) put(pkts []*buffer.Packet) {
	t := f.tail.LoadAcq()
	slots, mask := f.slots, f.mask
	for i, k := range pkts {
		if j := (t + uint32(i)) & mask; int(j) < len(slots) {
			slots[j] = k.ID()
		}
	}
	f.tail.StoreSeq(t + uint32(len(pkts)))
}

// get fills pkts from the front. Each packet's metadata is made as new.
func (f *fifo) get(pkts []*buffer.Packet) int {
	h := f.head.LoadAcq()
	n := f.tailSeen - h
	if n < uint32(len(pkts)) {
		f.tailSeen = f.tail.LoadAcq()
		n = f.tailSeen - h
	}
	if n == 0 {
		return 0
	}
	if n > uint32(len(pkts)) {
		n = uint32(len(pkts))
	}
	slots, mask := f.slots, f.mask
	out := pkts[:n]
	for i := range out {
		if j := (h + uint32(i)) & mask; int(j) < len(slots) {
			k := buffer.FromID(slots[j]).Packet()
			k.ResetMeta()
			out[i] = k
		}
	}
	f.head.StoreRel(h + n)
	return int(n)
}

// empty is for the consumer: nothing is there now.
func (f *fifo) empty() bool { return f.tail.LoadAcq() == f.head.LoadAcq() }
