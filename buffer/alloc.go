// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/worker"
)

// AllocPackets fills pkts from the front with packets of length data bytes and
// returns how many it got; fewer means that the pool has no more now. The data is
// undefined, the headroom is the pool's, all metadata is at its default; the user
// area keeps what it holds. Packets longer than SegCap get several segments.
// A length that is negative or above MaxLen gets none.
func (p *Pool) AllocPackets(w *worker.Worker, pkts []*Packet, length int) int {
	if uint(length) > uint(p.segCap) || length > int(p.maxLen) || p.typ != TypePacket {
		return p.allocLong(w, pkts, length)
	}
	n := p.get(w, words(pkts))
	if checked {
		p.checkAlloc(w, words(pkts[:n]))
	}
	len2 := uint64(uint32(length))<<32 | uint64(uint32(length))
	head, t3, t5, t6 := uint64(p.head), p.tmpl[3], p.tmpl[5], p.tmpl[6]
	for _, k := range pkts[:n] {
		h := (*[8]uint64)(unsafe.Pointer(k))
		h[0] = uint64(k.buf)<<6 + head // data
		h[2] = len2                    // segLen, len
		h[3] = t3                      // refs 1, no flags
		h[4] = 0                       // hash, next
		h[5] = t5                      // no input, no layer offsets
		h[6] = t6                      // pool, typ, state, nsegs 1, queue
	}
	return n
}

// AllocPacket returns one packet of length data bytes, nil when the pool has none
// now or the length is above MaxLen. See AllocPackets.
func (p *Pool) AllocPacket(w *worker.Worker, length int) *Packet {
	if uint(length) > uint(p.segCap) || length > int(p.maxLen) || p.typ != TypePacket {
		var one [1]*Packet
		p.allocLong(w, one[:], length)
		return one[0]
	}
	k := (*Packet)(p.getOne(w))
	if k == nil {
		return nil
	}
	if checked {
		p.checkAlloc(w, []uintptr{uintptr(unsafe.Pointer(k))})
	}
	p.fresh(k, p.head, uint32(length))
	return k
}

// fresh gives a header the metadata of a new packet with one segment.
func (p *Pool) fresh(k *Packet, head, length uint32) {
	h := (*[8]uint64)(unsafe.Pointer(k))
	h[0] = uint64(k.buf)<<6 + uint64(head)
	h[2] = uint64(length)<<32 | uint64(length)
	h[3], h[4], h[5], h[6] = p.tmpl[3], 0, p.tmpl[5], p.tmpl[6]
}

// allocLong makes packets of several segments, each all or nothing.
func (p *Pool) allocLong(w *worker.Worker, pkts []*Packet, length int) int {
	if length < 0 || length > int(p.maxLen) || p.typ != TypePacket {
		return 0
	}
	for i := range pkts {
		k := p.allocChain(w, p.head, uint32(length))
		if k == nil {
			return i
		}
		pkts[i] = k
	}
	return len(pkts)
}

// allocChain makes one packet of any length; head is the headroom of its first segment.
// It returns nil, and keeps nothing, when the pool has too few segments now.
func (p *Pool) allocChain(w *worker.Worker, head, length uint32) *Packet {
	n := uint32(1)
	if first := p.stride - head; length > first {
		n += (length - first + p.stride - 1) / p.stride
	}
	if n > maxSegs {
		return nil
	}
	var few [64]uintptr
	ev := few[:]
	if int(n) > len(ev) {
		ev = make([]uintptr, n)
	}
	ev = ev[:n]
	if got := p.get(w, ev); got < int(n) {
		p.put(w, ev[:got])
		return nil
	}
	if checked {
		p.checkAlloc(w, ev)
	}
	var next uint32
	rest := length
	for i := int(n) - 1; i >= 0; i-- {
		k := (*Packet)(p.ptr(ev[i]))
		if i == 0 {
			p.fresh(k, head, rest)
			k.len, k.nsegs, k.next = length, uint16(n), next
			return k
		}
		m := (length - (p.stride - head)) - uint32(i-1)*p.stride
		m = min(m, p.stride)
		p.fresh(k, 0, m)
		k.next = next
		next = k.ID()
		rest -= m
	}
	return nil
}

// AllocBuffers fills bufs from the front and returns how many it got; fewer means
// that the pool has no more now, none that it is no pool of buffers. Contents, user area and user word are as the last
// owner left them: no header is read or written.
func (p *Pool) AllocBuffers(w *worker.Worker, bufs []*Buffer) int {
	if p.typ != TypeBuffer {
		return 0
	}
	n := p.get(w, words(bufs))
	if checked {
		p.checkAlloc(w, words(bufs[:n]))
	}
	return n
}

// AllocBuffer returns one buffer, nil when the pool has none now or is no pool of
// buffers.
func (p *Pool) AllocBuffer(w *worker.Worker) *Buffer {
	if p.typ != TypeBuffer {
		return nil
	}
	b := (*Buffer)(p.getOne(w))
	if checked && b != nil {
		p.checkAlloc(w, []uintptr{uintptr(unsafe.Pointer(b))})
	}
	return b
}

// Data views the whole buffer; the slice lives as long as the caller owns it.
func (b *Buffer) Data() []byte {
	return unsafe.Slice((*byte)(arena.At(uint64(b.buf)<<6)), b.bufLen)
}

// Size returns the bytes of the buffer, at least the pool's Size.
func (b *Buffer) Size() int { return int(b.bufLen) }
