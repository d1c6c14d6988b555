// SPDX-License-Identifier: Apache-2.0

package buffer

// This file is for platforms: what a driver may do to the header of a packet that
// it owns. Applications have no use for it.

// Buf returns the start of the buffer (arena offset / 64), its size in bytes and the
// platform's number of it.
func (e *Event) Buf() (buf, size, ext uint32) { return e.buf, e.bufLen, e.ext }

// SwapBuf puts another buffer of the same size under the header and returns the
// old one: how a netmap slot and a packet exchange buffers. SetData must follow.
// Only for a packet that is Exchangeable.
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
// It has no meaning for a segment that refers to another's data.
func (k *Packet) DataOff() uint32 { return uint32(k.data - uint64(k.buf)<<6) }

// SetInput records where the packet came in: index of the port and of its queue.
func (k *Packet) SetInput(port, queue int) { k.input, k.queue = uint16(port+1), uint16(queue) }

// Exchangeable reports whether the packet is one segment with its own buffer that
// nobody else refers to: then a driver may take the buffer and leave another.
func (k *Packet) Exchangeable() bool {
	return k.nsegs == 1 && k.refs.LoadAcq() == 1 && k.state == stateAlloc
}

// InPool reports whether the event belongs to pool p; it reads the header.
func (e *Event) InPool(p *Pool) bool { return e.pool == p.idx }

// MarkKernel marks a header whose buffer the kernel has (on), or has given back
// (off). The leak report and the checks of the invariants tag know it.
func (e *Event) MarkKernel(on bool) {
	e.state = stateAlloc
	if on {
		e.state = stateKernel
	}
	if checked {
		if p := e.PoolOf(); p != nil {
			c := p.cold(e)
			owner := c.owner.LoadAcq() &^ ownerKernel
			if on {
				owner |= ownerKernel
			}
			c.owner.StoreRel(owner)
		}
	}
}

// HandOver is called by a device inside the process that passes packets to their
// receiver by reference, before they are visible there: under the invariants tag, who sends
// or frees one of them again is told so. Without the tag it does nothing.
func HandOver(pkts []*Packet) {
	if checked {
		handOver(pkts)
	}
}

// TakeOver is called by the receiver, or by the sender for what found no room.
func TakeOver(pkts []*Packet) {
	if checked {
		takeOver(pkts)
	}
}

// Private reports whether all segments are of pool p and nobody else refers to
// any of them: then the packet can change its owner by reference.
func (k *Packet) Private(p *Pool) bool {
	if k.pool != p.idx {
		return false
	}
	if k.Exchangeable() {
		return true
	}
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		if s.pool != p.idx || s.shared() {
			return false
		}
	}
	return true
}
