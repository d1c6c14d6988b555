// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"unsafe"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// fillOdd is fill for frames that need more than the plain loop: chains, a shuffled
// order, damage, duplicates, empty slots, offsets. due frames may be made, free
// slots are there.
func (s *source) fillOdd(k *kring, due, free uint32) {
	o := &s.odd
	if o.pending > 0 { // show the rest of a chain that was cut
		k.hwtail = k.slotAt(k.hwtail, uint32(o.pending))
		free -= uint32(o.pending)
		o.pending = 0
	}
	per := s.slotsPerFrame(k)
	var made, bytes uint64
	for burst := s.cfg.Burst; burst > 0 && (due > 0 || o.dup); burst-- {
		if s.cfg.ZeroEvery > 0 && (s.made+made)%uint64(s.cfg.ZeroEvery) == uint64(s.cfg.ZeroEvery)-1 && free > per {
			k.show(k.hwtail, 0, 0)
			k.hwtail = k.next(k.hwtail)
			free--
		}
		if free < per {
			if s.pps > 0 && due > uint32(s.cfg.FIFO) {
				s.dueN += uint64(due) - uint64(s.cfg.FIFO)
				s.miss(k, uint64(due)-uint64(s.cfg.FIFO))
			}
			break
		}
		again := o.dup
		flow, seq := s.pick()
		s.writeChain(k, flow, seq, per, (s.made+made)%uint64(max(1, s.cfg.CorruptEvery)) == 1)
		o.dup = !again && s.cfg.DupEvery > 0 && (s.made+made)%uint64(s.cfg.DupEvery) == 0
		if !o.dup {
			s.step()
		}
		if !again {
			due--
			if s.pps > 0 {
				s.dueN++
			}
		}
		made++
		bytes += uint64(s.cfg.Len)
		if s.cfg.CutChains && per > 1 && made > 1 {
			o.pending = int(per) - 1
			break
		}
		k.hwtail = k.slotAt(k.hwtail, per)
		free -= per
	}
	if o.pending > 0 {
		k.hwtail = k.next(k.hwtail)
	}
	s.count(k, made, bytes)
}

// pick returns flow and sequence number of the next frame, through the shuffle.
func (s *source) pick() (flow uint32, seq uint64) {
	o, flows := &s.odd, uint64(len(s.tmpl))
	at := s.seq*flows + uint64(s.flow)
	if s.cfg.Shuffle > 1 {
		if o.at >= len(o.perm) {
			o.perm = o.perm[:0]
			for i := 0; i < s.cfg.Shuffle; i++ {
				o.perm = append(o.perm, at+uint64(i))
			}
			o.rng.Shuffle(len(o.perm), func(i, j int) { o.perm[i], o.perm[j] = o.perm[j], o.perm[i] })
			o.at = 0
		}
		at = o.perm[o.at]
	}
	return uint32(at % flows), at / flows
}

// step goes on to the next frame.
func (s *source) step() {
	if s.cfg.Shuffle > 1 {
		s.odd.at++
	}
	if s.flow++; s.flow == uint32(len(s.tmpl)) {
		s.flow = 0
		s.seq++
	}
}

func (s *source) slotsPerFrame(k *kring) uint32 {
	room := k.bufSize - uint32(k.offInit)
	return max(uint32(s.cfg.Frags), (uint32(s.cfg.Len)+room-1)/room)
}

// writeChain writes one frame over per slots from hwtail, which does not move.
func (s *source) writeChain(k *kring, flow uint32, seq uint64, per uint32, bad bool) {
	n := uint32(s.cfg.Len)
	buf := make([]uint64, (n+64)/8+1)
	p := unsafe.Pointer(&buf[0])
	writeFrame(p, &s.tmpl[flow], seq, n)
	b := unsafe.Slice((*byte)(p), n)
	if bad && s.cfg.CorruptEvery > 0 {
		b[56] ^= 0x5a
	}
	i := k.hwtail
	each := (n + per - 1) / per
	for f := uint32(0); f < per; f++ {
		cut := b[min(n, f*each):min(n, (f+1)*each)]
		var fl uint16
		if f < per-1 {
			fl = abi.SlotMoreFrag
		}
		k.fillSlot(i, cut, fl)
		i = k.next(i)
	}
}

// slotAt is the slot d after i.
func (k *kring) slotAt(i, d uint32) uint32 { return abi.Advance(i, d, k.n) }

// fillSlot copies b to the buffer that the hardware knows for slot i.
func (k *kring) fillSlot(i uint32, b []byte, fl uint16) {
	p := k.buf(k.dma[i])
	if k.offMask != 0 {
		p = unsafe.Add(p, uintptr(k.offInit))
		k.ring.Slot(i).SetPtr(k.offInit & k.offMask)
	}
	copy(unsafe.Slice((*byte)(p), k.bufSize-uint32(k.offInit)), b)
	k.show(i, uint16(len(b)), fl)
}

// show writes length and flags of a slot; its index stays what the client put there.
func (k *kring) show(i uint32, n, fl uint16) {
	s := k.ring.Slot(i)
	idx, _, _ := s.Load()
	s.Store(idx, n, fl)
}
