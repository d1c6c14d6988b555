// SPDX-License-Identifier: Apache-2.0

package buffer

// This file is for platforms: what a driver may do to the header of a packet that
// it owns. Applications have no use for it.

// Buf returns the start of the buffer (arena offset / 64), its size in bytes and the
// platform's number of it.
func (e *Event) Buf() (buf, size, ext uint32) { return e.buf, e.bufLen, e.ext }

// SwapBuf puts another buffer of the same size under the header and returns the
// old one: how a netmap slot and a packet exchange buffers. SetData must follow.
func (e *Event) SwapBuf(buf, ext uint32) (oldBuf, oldExt uint32) {
	oldBuf, oldExt = e.buf, e.ext
	e.buf, e.ext = buf, ext
	return
}

// SetData places n bytes of data at byte off of the buffer, as one segment.
func (k *Packet) SetData(off, n uint32) {
	k.data = uint64(k.buf)<<6 + uint64(off)
	k.segLen, k.len = n, n
}

// DataOff returns the byte offset of the data in the buffer of the first segment.
func (k *Packet) DataOff() uint32 { return uint32(k.data - uint64(k.buf)<<6) }

// SetInput records where the packet came in: index of the port and of its queue.
func (k *Packet) SetInput(port, queue int) { k.input, k.queue = uint16(port+1), uint16(queue) }
