// SPDX-License-Identifier: Apache-2.0

package pcapfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
)

// Numbers of the formats.
const (
	magicMicro = 0xa1b2c3d4
	magicNano  = 0xa1b23c4d
	magicOrder = 0x1a2b3c4d

	blockSection  = 0x0a0d0d0a
	blockIface    = 1
	blockOld      = 2
	blockSimple   = 3
	blockEnhanced = 6

	optEnd      = 0
	optResol    = 9
	optFCS      = 13
	optOffset   = 14
	maxBlock    = 64 << 20 // of a block that is skipped
	maxIface    = 1 << 12  // bytes of an interface's block
	maxIfs      = 1 << 16
	defaultTick = 6 // microseconds
)

// nextNG reads blocks up to the next packet.
func (f *Reader) nextNG() (r Record, err error) {
	for {
		h := f.head[:8]
		if err := f.first(h, "a block's header"); err != nil {
			return r, err
		}
		if binary.LittleEndian.Uint32(h) == blockSection {
			if err := f.section(h); err != nil {
				return r, err
			}
			continue
		}
		if f.bo == nil {
			return r, f.bad("a block before the first section", nil)
		}
		kind, n := f.bo.Uint32(h), f.bo.Uint32(h[4:])
		if n < 12 || n%4 != 0 || n > maxBlock {
			return r, f.bad(fmt.Sprintf("a block of %d bytes: allowed are multiples of 4 from 12 to %d", n, maxBlock), nil)
		}
		body := int(n) - 12
		got := false
		switch kind {
		case blockIface:
			err = f.iface(body)
		case blockEnhanced, blockOld:
			r, err = f.packet(kind, body)
			got = true
		case blockSimple:
			r, err = f.simple(body)
			got = true
		default:
			err = f.skip(body)
		}
		if err == nil {
			err = f.trailer(n)
		}
		if err != nil {
			return Record{}, err
		}
		if got {
			return r, nil
		}
	}
}

// trailer checks the length that ends a block.
func (f *Reader) trailer(n uint32) error {
	t := f.head[:4]
	if err := f.full(t, "a block"); err != nil {
		return err
	}
	if m := f.bo.Uint32(t); m != n {
		return f.bad(fmt.Sprintf("a block of %d bytes ends with the length %d", n, m), nil)
	}
	return nil
}

func (f *Reader) skip(n int) error {
	m, err := io.CopyN(io.Discard, f.r, int64(n))
	f.at += m
	if err != nil {
		return f.bad("the file ends in a block", unexpected(err))
	}
	return nil
}

// section reads a section header, whose first 8 bytes are h.
func (f *Reader) section(h []byte) error {
	raw := [4]byte(h[4:8])
	m := f.head[8:24]
	if err := f.full(m, "a section header"); err != nil {
		return err
	}
	switch uint32(magicOrder) {
	case binary.LittleEndian.Uint32(m):
		f.bo = binary.LittleEndian
	case binary.BigEndian.Uint32(m):
		f.bo = binary.BigEndian
	default:
		return f.bad(fmt.Sprintf("byte order %x of a section", m[:4]), nil)
	}
	n := f.bo.Uint32(raw[:])
	if v := f.bo.Uint16(m[4:]); v != 1 {
		return f.bad(fmt.Sprintf("version %d of pcapng: allowed is 1", v), nil)
	}
	if n < 28 || n%4 != 0 || n > maxBlock {
		return f.bad(fmt.Sprintf("a section header of %d bytes: allowed are multiples of 4 from 28 to %d", n, maxBlock), nil)
	}
	f.ifs = f.ifs[:0]
	if err := f.skip(int(n) - 28); err != nil {
		return err
	}
	return f.trailer(n)
}

// iface reads an interface.
func (f *Reader) iface(n int) error {
	if n < 8 || len(f.ifs) == maxIfs {
		return f.bad(fmt.Sprintf("an interface of %d bytes, number %d", n, len(f.ifs)), nil)
	}
	b, err := f.data(min(n, maxIface), "an interface")
	if err != nil {
		return err
	}
	i := iface{link: int(f.bo.Uint16(b)), snap: f.bo.Uint32(b[4:]), resol: defaultTick}
	for o := b[8:]; len(o) >= 4; {
		code, ln := f.bo.Uint16(o), int(f.bo.Uint16(o[2:]))
		if code == optEnd || 4+ln > len(o) {
			break
		}
		v := o[4 : 4+ln]
		switch {
		case code == optResol && ln == 1:
			i.resol = v[0]
		case code == optFCS && ln == 1:
			i.fcs = int(v[0])
		case code == optOffset && ln == 8:
			i.offset = int64(f.bo.Uint64(v))
		}
		o = o[min(len(o), 4+(ln+3)&^3):]
	}
	f.ifs = append(f.ifs, i)
	return f.skip(n - min(n, maxIface))
}

// packet reads an enhanced packet block, or the packet block that it replaced.
func (f *Reader) packet(kind uint32, n int) (r Record, err error) {
	h := f.head[8:28]
	if n < len(h) {
		return r, f.bad(fmt.Sprintf("a packet block of %d bytes", n+12), nil)
	}
	if err := f.full(h, "a packet's header"); err != nil {
		return r, err
	}
	id := f.bo.Uint32(h)
	if kind == blockOld {
		id = uint32(f.bo.Uint16(h))
	}
	if int64(id) >= int64(len(f.ifs)) {
		return r, f.bad(fmt.Sprintf("a packet of interface %d: there are %d", id, len(f.ifs)), nil)
	}
	i := &f.ifs[id]
	t := uint64(f.bo.Uint32(h[4:]))<<32 | uint64(f.bo.Uint32(h[8:]))
	c := f.bo.Uint32(h[12:])
	r = Record{Time: i.time(t), Orig: int(f.bo.Uint32(h[16:])), Link: i.link}
	return r, f.body(&r, c, n-len(h), i.fcs)
}

// body reads c bytes of data and what fills up the block's n.
func (f *Reader) body(r *Record, c uint32, n, fcs int) (err error) {
	if int64(c) > int64(n) || c > MaxLen {
		return f.bad(fmt.Sprintf("a packet of %d bytes: the block has %d, allowed are %d", c, n, MaxLen), nil)
	}
	if r.Data, err = f.data(int(c), "a packet"); err != nil {
		return err
	}
	r.trim(fcs)
	return f.skip(n - int(c))
}

// simple reads a simple packet block: of the first interface, without a time.
func (f *Reader) simple(n int) (r Record, err error) {
	h := f.head[8:12]
	if n < 4 || len(f.ifs) == 0 {
		return r, f.bad(fmt.Sprintf("a simple packet block of %d bytes, with %d interfaces", n+12, len(f.ifs)), nil)
	}
	if err := f.full(h, "a packet's header"); err != nil {
		return r, err
	}
	i := &f.ifs[0]
	orig := f.bo.Uint32(h)
	c := min(orig, uint32(n-4))
	if i.snap > 0 {
		c = min(c, i.snap)
	}
	r = Record{Orig: int(orig), Link: i.link}
	return r, f.body(&r, c, n-4, i.fcs)
}

// time turns a time stamp of the interface into nanoseconds.
func (i *iface) time(t uint64) int64 {
	n := uint(i.resol & 0x7f)
	var ns uint64
	switch {
	case i.resol&0x80 != 0 && n > 63:
	case i.resol&0x80 != 0:
		hi, lo := bits.Mul64(t&(1<<n-1), 1e9)
		ns = (t>>n)*1e9 + (lo>>n | hi<<(64-n))
		if n == 0 {
			ns = t * 1e9
		}
	case n <= 9:
		ns = t * power10(9-n)
	case n <= 28:
		ns = t / power10(n-9)
	}
	return int64(ns) + i.offset*1e9
}

func power10(n uint) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}
