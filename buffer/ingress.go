// SPDX-License-Identifier: Apache-2.0

package buffer

import "github.com/odp-go/godp/internal/meta"

// This file is for packet input and for platforms that pass a packet on by
// reference: what they write into the header of a packet that they own.

// ClearMeta makes the metadata as after an allocation: flags, offsets, hash,
// input, and what the cold part held. Data, length and segments stay.
func (k *Packet) ClearMeta() {
	if k.flags&flagValue != 0 {
		poolFor(&k.Event).dropValue(&k.Event)
	}
	k.flags, k.hash = 0, 0
	k.input, k.queue = 0, 0
	k.l2, k.l3, k.l4 = meta.NoOffset, meta.NoOffset, meta.NoOffset
}

// SetParsed records what the parser found in a packet whose metadata was as
// after an allocation; the layer 2 offset becomes 0.
func (k *Packet) SetParsed(f meta.Flags, l3, l4 uint16) {
	k.flags = uint32(f)
	k.l2, k.l3, k.l4 = 0, l3, l4
}

// SetFlowHash records the flow hash and marks it valid.
func (k *Packet) SetFlowHash(h uint32) {
	k.hash = h
	k.flags |= uint32(meta.HasHash)
}

// SetRxTime records when the packet came in, in ns, and marks it valid.
func (k *Packet) SetRxTime(ns uint64) {
	k.coldForWrite().time = ns
	k.flags |= uint32(meta.HasTime)
}

// InputIndex returns the index of the port that the packet came in by (-1 =
// none) and the index of the receive queue.
func (k *Packet) InputIndex() (port, queue int) { return int(k.input) - 1, int(k.queue) }

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
