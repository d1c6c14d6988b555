// SPDX-License-Identifier: Apache-2.0

package buffer

// Chain makes the packets of rest, each one segment, the segments behind packet k,
// which has one segment too: how a platform joins a frame that came in several
// buffers. The caller owns all of them; afterwards only k is a packet.
func (k *Packet) Chain(rest []*Packet) {
	last := &k.Event
	for _, r := range rest {
		k.len += r.segLen
		last.next = r.ID()
		last = &r.Event
	}
	k.nsegs = uint16(1 + len(rest))
}

// Exchangeable reports whether the segment has its own buffer that nobody else
// refers to (Packet.Exchangeable, for any segment).
func (s *Segment) Exchangeable() bool { return !s.shared() && s.state == stateAlloc }
