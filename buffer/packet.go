// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
)

// Len returns the data bytes in all segments.
func (k *Packet) Len() int { return int(k.len) }

// SegLen returns the data bytes in the first segment.
func (k *Packet) SegLen() int { return int(k.segLen) }

// NumSegs returns the number of segments, at least 1.
func (k *Packet) NumSegs() int { return int(k.nsegs) }

// Segmented reports whether the packet has several segments.
func (k *Packet) Segmented() bool { return k.nsegs > 1 }

// DataPtr returns the address of the first data byte.
func (k *Packet) DataPtr() unsafe.Pointer { return arena.At(k.data) }

// Data views the data of the first segment; the slice lives as long as the caller
// owns the packet.
func (k *Packet) Data() []byte { return unsafe.Slice((*byte)(arena.At(k.data)), k.segLen) }

// Headroom returns the free bytes before the data: 0 when the first segment is
// shared with another packet.
func (k *Packet) Headroom() int { return int((*Segment)(unsafe.Pointer(k)).headroom()) }

// Tailroom returns the free bytes after the data of the last segment: 0 when that
// segment is shared with another packet.
func (k *Packet) Tailroom() int { return int(k.LastSeg().tailroom()) }

// BufLen returns the bytes of the buffers of all segments: data, headroom and
// tailroom, and what lies between segments. It has no meaning for a packet that
// refers to another's data.
func (k *Packet) BufLen() (n int) {
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		n += int(s.bufLen)
	}
	return n
}

// PushHead moves the start of the data n bytes towards the start of the buffer and
// returns the data of the first segment; nil, and no change, when the headroom is
// smaller than n (ExtendHead then adds a segment). The new bytes are undefined;
// layer offsets are not adjusted.
func (k *Packet) PushHead(n int) []byte {
	if uint(n) > uint(k.data-uint64(k.buf)<<6) || n != 0 && (k.refs.LoadAcq() != 1 || k.state == stateIndirect) {
		return nil
	}
	k.data -= uint64(n)
	k.segLen += uint32(n)
	k.len += uint32(n)
	return k.Data()
}

// PullHead takes n bytes off the start of the data and returns the data of the first
// segment; nil, and no change, when the first segment would not keep a byte
// (TruncHead then removes segments).
func (k *Packet) PullHead(n int) []byte {
	if uint(n) >= uint(k.segLen) {
		return nil
	}
	k.data += uint64(n)
	k.segLen -= uint32(n)
	k.len -= uint32(n)
	return k.Data()
}

// PushTail adds n bytes at the end of the data and returns them; nil, and no change,
// when the tailroom is smaller than n (ExtendTail then adds segments). The new
// bytes are undefined.
func (k *Packet) PushTail(n int) []byte {
	s := k.LastSeg()
	if uint(n) > uint(s.tailroom()) {
		return nil
	}
	old := s.segLen
	s.segLen += uint32(n)
	k.len += uint32(n)
	return s.Data()[old:]
}

// PullTail takes n bytes off the end of the data; false, and no change, when the
// last segment would not keep a byte (TruncTail then removes segments).
func (k *Packet) PullTail(n int) bool {
	s := k.LastSeg()
	if uint(n) >= uint(s.segLen) {
		return false
	}
	s.segLen -= uint32(n)
	k.len -= uint32(n)
	return true
}
