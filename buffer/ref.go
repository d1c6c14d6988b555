// SPDX-License-Identifier: Apache-2.0

package buffer

import "github.com/odp-go/godp/worker"

// References: several packets over the same bytes. Each segment header counts who
// refers to it; a packet made by Ref has headers of its own (indirect segments) whose
// data lies in the buffers of others. Layout and metadata are private to each packet;
// the shared bytes are read-only for all: headroom and tailroom next to them are 0, and
// the calls that write answer ErrShared. Bytes had by Data must not be written
// either. A buffer goes back to its pool with its last reference.
//
//	base ─▶ [hdr refs 2]──data──▶ |eth|ip|udp|payload…|
//	ref  ─▶ [hdr indirect]──data──────────────▲
//
// The terms are ODP's static and dynamic references.

// RefStatic makes one more owner of the whole packet: the same header, which from
// then on is constant for all of them, data, metadata and layout. Each owner frees
// it once. It may be called by several owners at the same time.
func (k *Packet) RefStatic() *Packet {
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		s.refs.Add(1)
	}
	return k
}

// Ref makes a packet that shares the bytes from off to the end, 0 <= off < Len.
// It is of the same pool (one header, and the buffer with it, per segment), has default
// metadata, and no headroom: ExtendHead gives it a head of its own.
func (k *Packet) Ref(w *worker.Worker, off int) (*Packet, error) {
	s, o := k.at(off)
	if s == nil {
		return nil, k.rangeErr("Ref", off, 0)
	}
	p := poolFor(&k.Event)
	first := p.indirect(w, s, o, s.segLen-o)
	if first == nil {
		return nil, p.emptyErr("Ref", int(k.nsegs))
	}
	last := first.FirstSeg()
	for s = s.Next(); s != nil; s = s.Next() {
		r := p.indirect(w, s, 0, s.segLen)
		if r == nil {
			FreePacket(w, first)
			return nil, p.emptyErr("Ref", int(k.nsegs))
		}
		last.next = r.ID()
		last = r.FirstSeg()
		first.nsegs++
		first.len += s.segLen
	}
	return first, nil
}

// RefPacket makes a packet of the data of hdr followed by the shared bytes of k
// from off on: hdr is consumed and becomes the packet, with its metadata. After an
// error hdr is the caller's still.
func (k *Packet) RefPacket(w *worker.Worker, off int, hdr *Packet) (*Packet, error) {
	r, err := k.Ref(w, off)
	if err != nil {
		return nil, err
	}
	if err := hdr.Concat(w, r); err != nil {
		FreePacket(w, r)
		return nil, err
	}
	return hdr, nil
}

// indirect makes a packet of one segment over n bytes of segment s, nil when the
// pool has no header now.
func (p *Pool) indirect(w *worker.Worker, s *Segment, off, n uint32) *Packet {
	r := p.allocChain(w, 0, 0)
	if r == nil {
		return nil
	}
	target := &s.Event
	if s.state == stateIndirect {
		target = FromID(poolFor(&s.Event).cold(&s.Event).target)
	}
	target.refs.Add(1)
	p.cold(&r.Event).target = target.ID()
	r.state = stateIndirect
	r.data = s.data + uint64(off)
	r.segLen, r.len = n, n
	return r
}

// HasRef reports whether another packet refers to bytes of this one, or another
// owner to all of it.
func (k *Packet) HasRef() bool {
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		if s.refs.LoadAcq() > 1 {
			return true
		}
	}
	return false
}

// IsReferencing reports whether the packet has bytes in the buffers of others.
func (k *Packet) IsReferencing() bool {
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		if s.state == stateIndirect {
			return true
		}
	}
	return false
}
