// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/worker"
)

// sendChain sends one packet in several slots: a segment by exchange where it can
// be, else copied, into as many slots as it needs. All slots are written before any is
// published, so head is never inside a frame.
func (q *txQueue) sendChain(head, left uint32, w *worker.Worker, k *buffer.Packet) (used uint32, took bool) {
	limit := min(q.bufs.size, 0xffff)
	move := !q.floor || q.g.mask == 0
	if !move {
		limit /= 2 // the data may have to start as high
	}
	need, segs := uint32(0), 0
	for seg := k.FirstSeg(); seg != nil; seg = seg.Next() {
		n := uint32(seg.Len())
		switch {
		case n == 0:
			continue
		case segs == len(q.plan):
			need = abi.MaxFrags + 1
		case move && n <= limit && q.canMove(seg.Packet(), 0, n):
			need++
		default:
			need += (n + limit - 1) / limit
		}
		if need > abi.MaxFrags {
			break
		}
		q.plan[segs] = seg
		segs++
	}
	switch {
	case need > abi.MaxFrags || need > q.g.n-1:
		add(&q.tooMany, 1)
		return 0, true
	case need > left:
		return 0, false
	}
	// every slot needs a valid buffer before anything is moved
	for i, h := uint32(0), head; i < need; i, h = i+1, abi.Next(h, q.g.n) {
		if _, ok := q.slotBuf(q.g.slot(h), w); !ok {
			return 0, false
		}
	}
	for _, seg := range q.plan[:segs] {
		n := uint32(seg.Len())
		sk := seg.Packet()
		if move && n <= limit && q.canMove(sk, 0, n) {
			s := q.g.slot(head)
			idx, _, _ := s.Load()
			off := sk.DataOff()
			if q.bufs.ok(idx) {
				_, ext := sk.SwapBuf(q.bufs.at(idx), idx)
				used++
				q.place(s, ext, n, off, changedTx|more(used, need))
				head = abi.Next(head, q.g.n)
				continue
			}
			// it changed since slotBuf looked: send nothing of this frame
			q.fail("another process changed a slot that is not its own", 0)
			return 0, false
		}
		for src := seg.Data(); len(src) > 0; {
			s := q.g.slot(head)
			idx, _, fl := s.Load()
			if !q.bufs.ok(idx) {
				q.fail("another process changed a slot that is not its own", 0)
				return 0, false
			}
			low := q.lowest(s)
			c := copy(arena.Bytes(uint64(q.bufs.at(idx))<<6+uint64(low), int(limit)), src)
			src = src[c:]
			used++
			q.place(s, idx, uint32(c), low, fl&abi.SlotBufChanged|more(used, need))
			head = abi.Next(head, q.g.n)
		}
	}
	add(&q.chains, 1)
	return used, true
}

func more(used, need uint32) uint16 {
	if used < need {
		return abi.SlotMoreFrag
	}
	return 0
}
