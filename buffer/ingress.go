// SPDX-License-Identifier: Apache-2.0

package buffer

// This file is what packet I/O does to every packet: tests and writes of the hot
// line, small enough to be inlined.

// SetIngress writes the metadata of a received packet in one go: what a parser
// found (as SetParse), the input port and its queue. Everything else becomes as in a
// new packet, except a Value, which must not be there (see Simple).
func (k *Packet) SetIngress(flags Flags, l3, l4 uint16, port, queue int) {
	k.flags, k.hash = uint32(flags), 0
	k.input = uint16(port + 1)
	k.l2, k.l3, k.l4 = 0, l3, l4
	k.queue = uint16(queue)
}

// Simple reports whether the packet is one segment of pool p that nobody else
// refers to, with no Value: it can pass to another owner by reference.
func (k *Packet) Simple(p *Pool) bool {
	return k.pool == p.idx && k.nsegs == 1 && k.state == stateAlloc && k.refs.LoadAcq() == 1 && k.flags&flagValue == 0
}
