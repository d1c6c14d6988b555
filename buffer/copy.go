// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"fmt"

	"github.com/odp-go/godp/worker"
)

// Copy makes a full copy in pool p (nil = the packet's own): data, metadata, user
// area. The copy shares nothing. A pool with a smaller user area is refused. The
// value (SetValue) is not copied.
func (k *Packet) Copy(w *worker.Worker, p *Pool) (*Packet, error) {
	own := poolFor(&k.Event)
	if p == nil {
		p = own
	}
	if p.cfg.UserArea < own.cfg.UserArea {
		return nil, fmt.Errorf("buffer: Copy: user area of %d bytes, pool %q has %d: %w", own.cfg.UserArea, p.cfg.Name, p.cfg.UserArea, ErrTooLong)
	}
	c, err := p.copyOf(w, "Copy", k, 0, k.len)
	if err != nil {
		return nil, err
	}
	c.copyMeta(k)
	copy(c.UserArea(), k.UserArea())
	return c, nil
}

// CopyPart makes a packet in pool p (nil = the packet's own) of n bytes at off,
// n > 0, with default metadata.
func (k *Packet) CopyPart(w *worker.Worker, off, n int, p *Pool) (*Packet, error) {
	if off < 0 || n <= 0 || uint64(off)+uint64(n) > uint64(k.len) {
		return nil, k.rangeErr("CopyPart", off, n)
	}
	if p == nil {
		p = poolFor(&k.Event)
	}
	return p.copyOf(w, "CopyPart", k, uint32(off), uint32(n))
}

func (p *Pool) copyOf(w *worker.Worker, op string, k *Packet, off, n uint32) (*Packet, error) {
	if p.typ != TypePacket || n > p.maxLen {
		return nil, p.longErr(op, uint64(n))
	}
	c := p.allocChain(w, p.head, n)
	if c == nil {
		return nil, p.emptyErr(op, int(n/p.stride)+1)
	}
	copyBetween(c, 0, k, off, n)
	return c, nil
}

// CopyToMem copies len(dst) bytes at off out of the packet.
func (k *Packet) CopyToMem(off int, dst []byte) error {
	if off < 0 || uint64(off)+uint64(len(dst)) > uint64(k.len) {
		return k.rangeErr("CopyToMem", off, len(dst))
	}
	for len(dst) != 0 {
		n := copy(dst, k.Offset(off))
		dst = dst[n:]
		off += n
	}
	return nil
}

// CopyFromMem writes src into the packet at off. Shared bytes are refused.
func (k *Packet) CopyFromMem(off int, src []byte) error {
	if err := k.writable("CopyFromMem", off, len(src)); err != nil {
		return err
	}
	for len(src) != 0 {
		n := copy(k.Offset(off), src)
		src = src[n:]
		off += n
	}
	return nil
}

// CopyFromPacket writes n bytes of another packet into this one.
func (k *Packet) CopyFromPacket(off int, src *Packet, srcOff, n int) error {
	if srcOff < 0 || n < 0 || uint64(srcOff)+uint64(n) > uint64(src.len) {
		return src.rangeErr("CopyFromPacket", srcOff, n)
	}
	if src == k {
		return k.MoveData(off, srcOff, n)
	}
	if err := k.writable("CopyFromPacket", off, n); err != nil {
		return err
	}
	copyBetween(k, uint32(off), src, uint32(srcOff), uint32(n))
	return nil
}

// CopyData copies n bytes inside the packet; the ranges must not overlap.
func (k *Packet) CopyData(dst, src, n int) error { return k.MoveData(dst, src, n) }

// MoveData copies n bytes inside the packet as if through a temporary: the ranges
// may overlap.
func (k *Packet) MoveData(dst, src, n int) error {
	if src < 0 || n < 0 || uint64(src)+uint64(n) > uint64(k.len) {
		return k.rangeErr("MoveData", src, n)
	}
	if err := k.writable("MoveData", dst, n); err != nil {
		return err
	}
	moveWithin(k, uint32(dst), uint32(src), uint32(n))
	return nil
}

// writable checks that the bytes exist and that no other packet refers to them.
func (k *Packet) writable(op string, off, n int) error {
	if off < 0 || n < 0 || uint64(off)+uint64(n) > uint64(k.len) {
		return k.rangeErr(op, off, n)
	}
	for s, o := k.at(off); s != nil && n > 0; s, o = s.Next(), 0 {
		if s.shared() {
			return fmt.Errorf("buffer: %s: %w", op, ErrShared)
		}
		n -= int(s.segLen - o)
	}
	return nil
}

// copyBetween copies n bytes between two packets; the ranges exist. src may be a
// segment in the middle of a packet when all n bytes are in it.
func copyBetween(dst *Packet, dstOff uint32, src *Packet, srcOff, n uint32) {
	if n == 0 {
		return
	}
	d, do := dst.at(int(dstOff))
	s, so := src.FirstSeg(), srcOff
	for so >= s.segLen {
		so -= s.segLen
		s = s.Next()
	}
	for {
		m := copy(d.Data()[do:], s.Data()[so:min(s.segLen, so+n)])
		n -= uint32(m)
		if n == 0 {
			return
		}
		if do += uint32(m); do == d.segLen {
			d, do = d.Next(), 0
		}
		if so += uint32(m); so == s.segLen {
			s, so = s.Next(), 0
		}
	}
}

// moveWithin copies n bytes inside a packet; the ranges exist and may overlap.
func moveWithin(k *Packet, dst, src, n uint32) {
	if n == 0 || dst == src {
		return
	}
	if k.nsegs == 1 {
		b := k.Data()
		copy(b[dst:dst+n], b[src:src+n])
		return
	}
	if dst < src || dst >= src+n {
		for n != 0 {
			m := uint32(copy(k.Offset(int(dst)), cut(k.Offset(int(src)), n)))
			dst, src, n = dst+m, src+m, n-m
		}
		return
	}
	// overlapping towards the end: from the last byte on, piece by piece
	for n != 0 {
		d, do := k.at(int(dst + n - 1))
		s, so := k.at(int(src + n - 1))
		m := min(do+1, so+1, n)
		copy(d.Data()[do+1-m:do+1], s.Data()[so+1-m:so+1])
		n -= m
	}
}

func cut(b []byte, n uint32) []byte { return b[:min(len(b), int(n))] }
