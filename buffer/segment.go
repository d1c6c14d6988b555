// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
)

// Segment is one piece of a packet's data. The header of the first segment is the
// packet; the others have headers of their own, linked by ids:
//
//	Packet ──next──▶ Segment ──next──▶ Segment
//	  │ data            │ data            │ data
//	  ▼                 ▼                 ▼
//	[head|data|tail]  [data|tail]       [data|tail]
//
// Loop: for s := k.FirstSeg(); s != nil; s = s.Next() { … s.Data() … }
type Segment struct{ Event }

// FirstSeg returns the first segment.
func (k *Packet) FirstSeg() *Segment { return (*Segment)(unsafe.Pointer(k)) }

// LastSeg returns the last segment.
func (k *Packet) LastSeg() *Segment {
	s := k.FirstSeg()
	for n := k.nsegs; n > 1; n-- {
		s = (*Segment)(arena.Ptr(s.next))
	}
	return s
}

// Next returns the following segment, nil after the last.
func (s *Segment) Next() *Segment {
	if s.next == 0 {
		return nil
	}
	return (*Segment)(arena.Ptr(s.next))
}

// Data views the bytes of the segment.
func (s *Segment) Data() []byte { return unsafe.Slice((*byte)(arena.At(s.data)), s.segLen) }

// Len returns the bytes of the segment.
func (s *Segment) Len() int { return int(s.segLen) }

// shared reports whether another packet may read the bytes of the segment.
func (s *Segment) shared() bool { return s.state == stateIndirect || s.refs.LoadAcq() != 1 }

func (s *Segment) headroom() uint32 {
	if s.shared() {
		return 0
	}
	return uint32(s.data - uint64(s.buf)<<6)
}

func (s *Segment) tailroom() uint32 {
	if s.shared() {
		return 0
	}
	return uint32(uint64(s.buf)<<6 + uint64(s.bufLen) - s.data - uint64(s.segLen))
}

// Offset views the data from byte off of the packet to the end of the segment
// that holds it; nil when off is not below Len.
func (k *Packet) Offset(off int) []byte {
	s, o := k.at(off)
	if s == nil {
		return nil
	}
	return s.Data()[o:]
}

// at finds the segment that holds byte off, and off's place in it; nil when off is
// not below Len.
func (k *Packet) at(off int) (*Segment, uint32) {
	if uint(off) >= uint(k.len) {
		return nil, 0
	}
	s, o := k.FirstSeg(), uint32(off)
	for o >= s.segLen {
		o -= s.segLen
		s = (*Segment)(arena.Ptr(s.next))
	}
	return s, o
}
