// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"unsafe"

	"github.com/odp-go/godp/worker"
)

// This file makes packets longer and shorter beyond their first segment. Calls
// that may put another segment in front return the packet: its header is that of the
// first segment, so it may be another one afterwards.

// ExtendHead adds n bytes at the start of the data, undefined and private to this
// packet: from the headroom first, then in new segments, whose own headroom is
// what they don't need. A packet that would be longer than the pool's MaxLen is
// refused (ErrTooLong), whatever its headroom. It returns the packet, whose header may be another one now;
// metadata, user area and value are kept.
func (k *Packet) ExtendHead(w *worker.Worker, n int) (*Packet, error) {
	if n == 0 {
		return k, nil
	}
	p := poolFor(&k.Event)
	if n < 0 || uint64(n)+uint64(k.len) > uint64(p.maxLen) {
		return k, p.longErr("ExtendHead", uint64(uint(n))+uint64(k.len))
	}
	room := k.FirstSeg().headroom()
	if uint(n) <= uint(room) {
		k.PushHead(n)
		return k, nil
	}
	first, last, err := p.newSegs(w, "ExtendHead", uint32(n)-room, true, k.nsegs)
	if err != nil {
		return k, err
	}
	k.PushHead(int(room))
	last.next = k.ID()
	k.moveHead(first, k.len+uint32(n)-room, k.nsegs+first.nsegs)
	return first, nil
}

// ExtendTail adds n bytes at the end of the data, undefined and private to this
// packet: in the tailroom first, then in new segments. A packet that would be longer
// than the pool's MaxLen is refused (ErrTooLong), whatever its tailroom.
func (k *Packet) ExtendTail(w *worker.Worker, n int) error {
	if n == 0 {
		return nil
	}
	p := poolFor(&k.Event)
	if n < 0 || uint64(n)+uint64(k.len) > uint64(p.maxLen) {
		return p.longErr("ExtendTail", uint64(uint(n))+uint64(k.len))
	}
	s := k.LastSeg()
	room := s.tailroom()
	if uint(n) <= uint(room) {
		s.segLen += uint32(n)
		k.len += uint32(n)
		return nil
	}
	first, _, err := p.newSegs(w, "ExtendTail", uint32(n)-room, false, k.nsegs)
	if err != nil {
		return err
	}
	s.segLen += room
	s.next = first.ID()
	k.len += uint32(n)
	k.nsegs += first.nsegs
	return nil
}

// newSegs makes a chain of segments that holds n bytes. The bytes of a chain for
// the head end where its buffers end. have is the segments of the packet it is for.
func (p *Pool) newSegs(w *worker.Worker, op string, n uint32, head bool, have uint16) (first *Packet, last *Segment, err error) {
	m := (n + p.stride - 1) / p.stride
	if m+uint32(have) > maxSegs {
		return nil, nil, p.longErr(op, uint64(n))
	}
	first = p.allocChain(w, 0, n)
	if first == nil {
		return nil, nil, p.emptyErr(op, int(m))
	}
	if head {
		// the short segment comes first, at the end of its buffer
		rest := n - (m-1)*p.stride
		for s := first.FirstSeg(); s != nil; s = s.Next() {
			s.segLen = p.stride
		}
		first.segLen = rest
		first.data += uint64(p.stride - rest)
	}
	return first, first.LastSeg(), nil
}

// moveHead makes first the header of the packet k: metadata, user area and value move.
func (k *Packet) moveHead(first *Packet, length uint32, segs uint16) {
	first.copyMeta(k)
	if v := k.Value(); v != nil {
		first.SetValue(v)
		k.SetValue(nil)
	}
	copy(first.UserArea(), k.UserArea())
	first.len, first.nsegs = length, segs
	k.flags = 0
}

// copyMeta copies the metadata of src but its value and user area.
func (k *Packet) copyMeta(src *Packet) {
	k.flags = k.flags&flagValue | src.flags&^(flagCold|flagValue)
	k.hash, k.input, k.queue = src.hash, src.input, src.queue
	k.l2, k.l3, k.l4 = src.l2, src.l3, src.l4
	if s := src.coldForRead(); s != nil {
		k.flags &^= flagCold
		d := k.coldForWrite()
		d.time, d.user, d.mark, d.trace, d.payload = s.time, s.user, s.mark, s.trace, s.payload
		d.flow, d.color, d.drop, d.shaper = s.flow, s.color, s.drop, s.shaper
	}
}

// TruncHead takes n bytes off the start of the data, 0 <= n < Len, and frees the
// segments that are left without data. It returns the packet, whose header may be
// another one now.
func (k *Packet) TruncHead(w *worker.Worker, n int) (*Packet, error) {
	if n != 0 && uint(n) >= uint(k.len) {
		return k, k.rangeErr("TruncHead", 0, n)
	}
	cut := uint32(n)
	s, gone := k.FirstSeg(), uint16(0)
	for cut != 0 && cut >= s.segLen {
		cut -= s.segLen
		s = s.Next()
		gone++
	}
	if gone != 0 {
		first := (*Packet)(unsafe.Pointer(s))
		k.moveHead(first, k.len-(uint32(n)-cut), k.nsegs-gone)
		for e := &k.Event; e != &s.Event; {
			next := FromID(e.next)
			freeSeg(w, e)
			e = next
		}
		k = first
	}
	k.data += uint64(cut)
	k.segLen -= cut
	k.len -= cut
	return k, nil
}

// TruncTail takes n bytes off the end of the data, 0 <= n < Len, and frees the
// segments that are left without data.
func (k *Packet) TruncTail(w *worker.Worker, n int) error {
	if n == 0 {
		return nil
	}
	if uint(n) >= uint(k.len) {
		return k.rangeErr("TruncTail", int(k.len), n)
	}
	s, o := k.at(int(k.len) - n - 1)
	s.segLen = o + 1
	k.len -= uint32(n)
	next := s.next
	s.next = 0
	for next != 0 {
		e := FromID(next)
		next = e.next
		freeSeg(w, e)
		k.nsegs--
	}
	return nil
}

// ResetMaxLen returns the largest length that Reset accepts.
func (k *Packet) ResetMaxLen() int {
	if p := k.PoolOf(); p != nil && k.bufLen > p.head {
		return int(min(k.bufLen-p.head, p.maxLen))
	}
	return 0
}

// Reset makes the packet as after an allocation of length bytes, up to ResetMaxLen:
// further segments are freed, the headroom is the pool's, the metadata is at its
// default; the user area keeps what it holds. A packet that is shared or refers to
// another's data is refused.
func (k *Packet) Reset(w *worker.Worker, length int) error {
	if uint(length) > uint(k.ResetMaxLen()) {
		return k.rangeErr("Reset", 0, length)
	}
	if k.FirstSeg().shared() {
		return ErrShared
	}
	if k.nsegs > 1 {
		freeChain(w, FromID(k.next))
	}
	if k.flags&flagValue != 0 {
		k.SetValue(nil)
	}
	p := poolFor(&k.Event)
	p.fresh(k, p.head, uint32(length))
	return nil
}
