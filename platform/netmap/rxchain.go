// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/worker"
)

// span measures the frame that starts at slot head: its slots and bytes. whole is
// false when its end is not visible yet. bad: one of its slots can't be followed.
// At most one slot more than a frame may have is looked at.
func (q *rxQueue) span(g *ring, head, left uint32) (slots, bytes uint32, whole, bad bool) {
	for slots < left && slots <= abi.MaxFrags {
		s := g.slot(head)
		idx, ln, fl := s.Load()
		if _, ok := q.check(g, s, idx, ln); !ok {
			bad = true
		}
		slots++
		bytes += uint32(ln)
		if fl&abi.SlotMoreFrag == 0 {
			return slots, bytes, true, bad
		}
		head = abi.Next(head, g.n)
	}
	return slots, bytes, false, bad
}

// measure decides what to do with a frame of several slots. take: it is whole and good,
// and slots and bytes are its size. Otherwise slots is how many were dropped, 0 =
// the frame waits: cur is put at the tail, so that a sleeper is woken by more.
func (q *rxQueue) measure(g *ring, head, left uint32, w *worker.Worker) (slots, bytes uint32, take bool) {
	slots, bytes, whole, bad := q.span(g, head, left)
	switch {
	case g.skip:
		// the rest of a frame of too many slots
		q.discard(g, head, slots, w)
		g.skip = !whole
		return slots, 0, false
	case slots > abi.MaxFrags || !whole && left == g.n-1:
		// it can never be whole
		add(&q.tooLong, 1)
		q.discard(g, head, slots, w)
		g.skip = !whole
		return slots, 0, false
	case !whole:
		g.wait(head, abi.Advance(head, left, g.n))
		return 0, 0, false
	case bad:
		add(&q.badSlot, 1)
		q.discard(g, head, slots, w)
		return slots, 0, false
	}
	add(&q.chains, 1)
	return slots, bytes, true
}

// wait sets cur ahead of head; everything before head is returned.
func (g *ring) wait(head, tail uint32) {
	g.head, g.ahead = head, true
	g.r.SetHeadCur(head, tail)
}

// discard gives slots back as they are; those without a valid buffer get one.
func (q *rxQueue) discard(g *ring, head, n uint32, w *worker.Worker) {
	for ; n > 0; n-- {
		s := g.slot(head)
		idx, ln, _ := s.Load()
		if q.bufs.ok(idx) {
			g.empty(s, idx, min(ln, uint16(min(q.bufs.size, 0xffff))), 0)
		} else {
			q.drop(g, s, idx, ln, w)
		}
		head = abi.Next(head, g.n)
	}
}

// join receives a frame of several slots as a packet of several segments, each
// exchanged with its slot.
func (q *rxQueue) join(g *ring, head, left uint32, w *worker.Worker, pkts []*buffer.Packet) (used uint32, frames int) {
	slots, _, take := q.measure(g, head, left, w)
	if !take {
		return slots, 0
	}
	first := pkts[0]
	if slots > 1 {
		more := q.chain[:slots-1]
		if got := q.pool.AllocPackets(w, more, 0); got < len(more) {
			add(&q.starved, 1)
			q.pool.FreePackets(w, more[:got])
			return 0, 0
		}
	}
	for i := uint32(0); i < slots; i++ {
		s := g.slot(head)
		idx, ln, _ := s.Load()
		off, ok := q.check(g, s, idx, ln)
		k := first
		if i > 0 {
			k = q.chain[i-1]
		}
		if !ok {
			// it changed since span looked: another process writes here
			k.SetData(0, 0)
			q.drop(g, s, idx, ln, w)
		} else {
			q.move(g, s, idx, ln, off, k)
		}
		head = abi.Next(head, g.n)
	}
	first.Chain(q.chain[:slots-1])
	return slots, 1
}

// copyLong receives a frame of several slots, or one that is longer than a segment of
// the pool, by copying it into one packet.
func (q *rxQueue) copyLong(g *ring, head, left uint32, w *worker.Worker, pkts []*buffer.Packet) (used uint32, frames int) {
	slots, bytes, take := q.measure(g, head, left, w)
	if !take {
		return slots, 0
	}
	one := q.scratch[:]
	k := pkts[0]
	if bytes > q.segCap {
		if int(bytes) > q.pool.MaxLen() {
			add(&q.noRoom, 1)
			q.discard(g, head, slots, w)
			return slots, 0
		}
		if q.pool.AllocPackets(w, one, int(bytes)) == 0 {
			add(&q.starved, 1)
			return 0, 0
		}
		k = one[0]
	} else {
		k.SetData(q.head, bytes)
	}
	seg := k.FirstSeg()
	dst := seg.Data()
	for i := uint32(0); i < slots; i++ {
		s := g.slot(head)
		idx, ln, _ := s.Load()
		off, ok := q.check(g, s, idx, ln)
		head = abi.Next(head, g.n)
		if !ok {
			q.drop(g, s, idx, ln, w)
			continue
		}
		src := arena.Bytes(uint64(q.bufs.at(idx))<<6+uint64(off), int(ln))
		for len(src) > 0 {
			if len(dst) == 0 {
				if seg = seg.Next(); seg == nil {
					break // the lengths grew since they were added up
				}
				dst = seg.Data()
			}
			c := copy(dst, src)
			src, dst = src[c:], dst[c:]
		}
		g.empty(s, idx, ln, 0)
	}
	if k != pkts[0] {
		q.scratch[0] = pkts[0]
		buffer.FreePackets(w, q.scratch[:])
		pkts[0] = k
	}
	return slots, 1
}
