// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/worker"
)

// staging is a send ring's waiting room: senders that found the ring's lock
// taken leave their packets here, and the holder of the lock sends them. It is one
// queue for all producers, so packets that follow each other through an atomic or
// ordered context leave in that order.
//
//	slots  ids; 0 = reserved and not yet written. written by: producers, cleared by the holder
//	tail   reserved up to here, with closedBit. written by: producers (CAS)
//	head   taken up to here. written by: the holder
type staging struct {
	slots []relax.Uint32
	mask  uint64
	_     relax.Pad
	tail  relax.Uint64
	_     relax.Pad
	head  relax.Uint64
	_     relax.Pad
}

const closedBit = 1 << 63

func (s *staging) init(n int) {
	s.slots = make([]relax.Uint32, n)
	s.mask = uint64(n - 1)
}

// pending returns the number of packets reserved or staged.
func (s *staging) pending() int {
	h := s.head.LoadAcq()
	return int(s.tail.LoadAcq()&^closedBit - h)
}

// put takes packets from the front, as many as there is room for. Any goroutine.
func (s *staging) put(pkts []*buffer.Packet) int {
	for {
		t := s.tail.LoadAcq()
		if t&closedBit != 0 {
			return 0
		}
		// read after tail: when it has passed t meanwhile, the exchange below fails
		h := s.head.LoadAcq()
		n := min(uint64(len(pkts)), s.mask+1-(t-h))
		if n == 0 {
			return 0
		}
		if !s.tail.CAS(t, t+n) {
			continue
		}
		for i := uint64(0); i < n; i++ {
			s.slots[(t+i)&s.mask].StoreRel(pkts[i].ID())
		}
		return int(n)
	}
}

// peek reads the oldest staged packets without taking them. The caller holds the
// ring's lock.
func (s *staging) peek(pkts []*buffer.Packet) int {
	h := s.head.LoadAcq()
	n := 0
	for n < len(pkts) && n < len(s.slots) {
		id := s.slots[(h+uint64(n))&s.mask].LoadAcq()
		if id == 0 {
			break
		}
		pkts[n] = buffer.FromID(id).Packet()
		n++
	}
	return n
}

// take removes the n oldest, which peek returned.
func (s *staging) take(n int) {
	h := s.head.LoadAcq()
	for i := 0; i < n; i++ {
		s.slots[(h+uint64(i))&s.mask].StoreRel(0)
	}
	s.head.StoreRel(h + uint64(n))
}

// close refuses further packets and frees those that are staged; it returns how
// many. It waits for producers in the middle of put. The caller holds the lock.
func (s *staging) close() int {
	for {
		t := s.tail.LoadAcq()
		if s.tail.CAS(t, t|closedBit) {
			break
		}
	}
	var buf [32]*buffer.Packet
	var spin worker.Spin
	freed := 0
	for s.pending() > 0 {
		n := s.peek(buf[:])
		if n == 0 {
			spin.Wait()
			continue
		}
		s.take(n)
		buffer.FreePackets(nil, buf[:n])
		freed += n
	}
	return freed
}
