// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/worker"
)

// Concat appends the data of src, which is consumed; the metadata of src is lost.
// Segments are linked, not copied, unless src is small and fits into the tailroom.
// A packet can't be appended to itself.
func (k *Packet) Concat(w *worker.Worker, src *Packet) error {
	if src == k {
		return fmt.Errorf("buffer: Concat: the packet itself: %w", ErrRange)
	}
	if uint64(k.len)+uint64(src.len) > maxSize || int(k.nsegs)+int(src.nsegs) > maxSegs {
		return fmt.Errorf("buffer: Concat: %d + %d bytes in %d + %d segments, allowed %d in %d: %w", k.len, src.len, k.nsegs, src.nsegs, maxSize, maxSegs, ErrTooLong)
	}
	const small = 256
	switch {
	case src.len == 0:
	case k.len == 0:
		if err := k.ExtendTail(w, int(src.len)); err != nil {
			return err
		}
		copyBetween(k, 0, src, 0, src.len)
	case src.len <= small && src.nsegs == 1 && !src.FirstSeg().shared() && k.LastSeg().tailroom() >= src.len:
		copy(k.PushTail(int(src.len)), src.Data())
	default:
		k.link(src)
		return nil
	}
	FreePacket(w, src)
	return nil
}

// link appends the segments of src.
func (k *Packet) link(src *Packet) {
	if src.flags&flagValue != 0 {
		src.SetValue(nil)
	}
	k.LastSeg().next = src.ID()
	k.len += src.len
	k.nsegs += src.nsegs
	src.flags = 0
}

// Split cuts the packet in two: k keeps the first off bytes, 0 < off < Len, and
// its metadata; the rest is returned as a packet of the same pool with default
// metadata. The part of the segment that is cut is copied; if it is shared, it stays
// shared.
func (k *Packet) Split(w *worker.Worker, off int) (*Packet, error) {
	if off <= 0 || uint(off) >= uint(k.len) {
		return nil, k.rangeErr("Split", off, 0)
	}
	// s holds the last byte that stays
	s, o := k.at(off - 1)
	keep := o + 1
	segs := uint16(1)
	for t := k.FirstSeg(); t != s; t = t.Next() {
		segs++
	}
	tailLen, tailSegs := k.len-uint32(off), k.nsegs-segs
	var tail *Packet
	if keep == s.segLen {
		tail = (*Packet)(unsafe.Pointer(s.Next()))
	} else {
		p := poolFor(&k.Event)
		n := s.segLen - keep
		var c *Packet
		if s.shared() {
			c = p.indirect(w, s, keep, n)
		} else if c = p.allocChain(w, min(p.head, p.stride-min(n, p.stride)), n); c != nil {
			copyBetween(c, 0, (*Packet)(unsafe.Pointer(s)), keep, n)
		}
		if c == nil {
			return nil, p.emptyErr("Split", 1)
		}
		tail = c
		tailSegs += c.nsegs
		c.LastSeg().next = s.next
		s.segLen = keep
	}
	s.next = 0
	k.len, k.nsegs = uint32(off), segs
	tail.ResetMeta()
	tail.len, tail.nsegs = tailLen, tailSegs
	return tail, nil
}

// AddData inserts n undefined bytes at byte off, 0 <= off <= Len, private to this
// packet. It returns the packet, whose header may be another one now.
func (k *Packet) AddData(w *worker.Worker, off, n int) (*Packet, error) {
	switch {
	case uint(off) > uint(k.len):
		return k, k.rangeErr("AddData", off, 0)
	case off == 0:
		return k.ExtendHead(w, n)
	case uint(off) == uint(k.len) || n == 0:
		return k, k.ExtendTail(w, n)
	}
	if !k.sharedFrom(off) {
		old := int(k.len)
		if err := k.ExtendTail(w, n); err != nil {
			return k, err
		}
		moveWithin(k, uint32(off+n), uint32(off), uint32(old-off))
		return k, nil
	}
	p := poolFor(&k.Event)
	if n < 0 || uint64(n)+uint64(k.len) > uint64(p.maxLen) {
		return k, p.longErr("AddData", uint64(uint(n))+uint64(k.len))
	}
	tail, err := k.Split(w, off)
	if err != nil {
		return k, err
	}
	err = k.ExtendTail(w, n)
	k.link(tail)
	return k, err
}

// RemData takes out n bytes at byte off; the packet keeps at least one byte. It
// returns the packet, whose header may be another one now.
func (k *Packet) RemData(w *worker.Worker, off, n int) (*Packet, error) {
	end := uint64(uint(off)) + uint64(uint(n))
	switch {
	case off < 0 || n < 0 || end > uint64(k.len) || n != 0 && uint(n) == uint(k.len):
		return k, k.rangeErr("RemData", off, n)
	case off == 0:
		return k.TruncHead(w, n)
	case end == uint64(k.len):
		return k, k.TruncTail(w, n)
	}
	if !k.sharedFrom(off) {
		moveWithin(k, uint32(off), uint32(end), k.len-uint32(end))
		return k, k.TruncTail(w, n)
	}
	tail, err := k.Split(w, off)
	if err != nil {
		return k, err
	}
	tail, err = tail.TruncHead(w, n)
	k.link(tail)
	return k, err
}

// sharedFrom reports whether a segment with bytes from off on is shared.
func (k *Packet) sharedFrom(off int) bool {
	for s, _ := k.at(off); s != nil; s = s.Next() {
		if s.shared() {
			return true
		}
	}
	return false
}

// Align makes bytes off to off+n contiguous, with the first at a multiple of align
// (a power of two, 0 = any). Nothing changes when they are already. Otherwise they
// are copied into a segment of their own, so n can't be larger than a segment. It
// returns the packet, whose header may be another one now.
func (k *Packet) Align(w *worker.Worker, off, n, align int) (*Packet, error) {
	if off < 0 || n < 0 || uint64(off)+uint64(n) > uint64(k.len) || off == int(k.len) && n == 0 {
		return k, k.rangeErr("Align", off, n)
	}
	if align < 0 || align > MaxAlign || bits.OnesCount(uint(align)) > 1 {
		return k, fmt.Errorf("buffer: Align: alignment %d: allowed powers of two up to %d: %w", align, MaxAlign, ErrRange)
	}
	mask := uintptr(max(align, 1) - 1)
	s, o := k.at(off)
	if o+uint32(n) <= s.segLen && uintptr(arena.At(s.data+uint64(o)))&mask == 0 {
		return k, nil
	}
	p := poolFor(&k.Event)
	n = max(n, 1)
	m := p.allocChain(w, 0, 1)
	if m == nil {
		return k, p.emptyErr("Align", 1)
	}
	// the first aligned place in the buffer behind the usual headroom, if it fits
	base := uintptr(arena.At(m.data))
	at := uint64((base+uintptr(p.head)+mask)&^mask - base)
	if at+uint64(n) > uint64(m.bufLen) {
		at = uint64((base+mask)&^mask - base)
	}
	if at+uint64(n) > uint64(m.bufLen) {
		p.FreePacket(w, m)
		return k, fmt.Errorf("buffer: Align: %d bytes at a multiple of %d: a segment of pool %q holds %d: %w", n, align, p.cfg.Name, m.bufLen, ErrTooLong)
	}
	m.data += at
	m.segLen, m.len = uint32(n), uint32(n)
	copyBetween(m, 0, k, uint32(off), uint32(n))
	return k.replace(w, m, off, n)
}

// replace puts m in the place of n bytes at off.
func (k *Packet) replace(w *worker.Worker, m *Packet, off, n int) (*Packet, error) {
	var tail *Packet
	var err error
	if end := off + n; end < int(k.len) {
		if tail, err = k.Split(w, end); err != nil {
			FreePacket(w, m)
			return k, err
		}
	}
	old := k
	if off > 0 {
		if old, err = k.Split(w, off); err != nil {
			if tail != nil {
				k.link(tail)
			}
			FreePacket(w, m)
			return k, err
		}
		k.link(m)
	} else {
		k.moveHead(m, m.len, m.nsegs)
		k = m
	}
	FreePacket(w, old)
	if tail != nil {
		k.link(tail)
	}
	return k, nil
}
