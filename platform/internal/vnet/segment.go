// SPDX-License-Identifier: Apache-2.0

package vnet

import (
	"encoding/binary"

	"github.com/odp-go/godp/header"
)

// Segmenter cuts a frame that stands for several into those. The zero value has
// nothing to cut.
type Segmenter struct {
	frame []byte // the whole frame; nil = nothing is left
	l3    int    // start of the IP header
	l4    int    // start of the TCP or UDP header
	hdr   int    // bytes before the payload
	size  int    // payload bytes of a segment
	at    int    // next payload byte, from the start of the frame
	n     uint16 // segments so far
	v6    bool
	tcp   bool
}

// MaxSegments is how many segments a frame is cut into at most; more is a fault of
// who sent it.
const MaxSegments = 4096

// Start takes a frame, which must stay as it is until Next returned 0. false: it is
// of a kind that can't be cut, or its header is wrong.
func (s *Segmenter) Start(h Header, frame []byte) bool {
	*s = Segmenter{}
	l3 := 12
	for {
		if l3+2 > len(frame) {
			return false
		}
		t := binary.BigEndian.Uint16(frame[l3:])
		if t != 0x8100 && t != 0x88a8 && t != 0x9100 {
			break
		}
		l3 += 4
	}
	v6 := binary.BigEndian.Uint16(frame[l3:]) == 0x86dd
	if !v6 && binary.BigEndian.Uint16(frame[l3:]) != 0x0800 {
		return false
	}
	l3 += 2
	l4, size := int(h.csumStart), int(h.gsoSize)
	kind := h.gso &^ gsoECN
	tcp := kind == gsoTCPv4 || kind == gsoTCPv6
	switch {
	case !tcp && kind != gsoUDPL4, kind == gsoTCPv4 && v6, kind == gsoTCPv6 && !v6, size == 0:
		return false
	case v6 && l4 < l3+40, !v6 && l4 < l3+20, l4+8 > len(frame):
		return false
	case !v6 && l4 != l3+int(frame[l3]&15)*4:
		return false
	}
	hdr := l4 + 8
	if tcp {
		if l4+20 > len(frame) {
			return false
		}
		hdr = l4 + int(frame[l4+12]>>4)*4
		if hdr < l4+20 {
			return false
		}
	}
	if hdr >= len(frame) || (len(frame)-hdr+size-1)/size > MaxSegments {
		return false
	}
	*s = Segmenter{frame: frame, l3: l3, l4: l4, hdr: hdr, size: size, at: hdr, v6: v6, tcp: tcp}
	return true
}

// Active reports whether segments are left.
func (s *Segmenter) Active() bool { return s.frame != nil }

// Len returns the length of the next segment, 0 when there is none.
func (s *Segmenter) Len() int {
	if s.frame == nil {
		return 0
	}
	return s.hdr + min(s.size, len(s.frame)-s.at)
}

// Next writes the next segment into dst, which has Len bytes at least, and returns
// its length, 0 when there is none.
func (s *Segmenter) Next(dst []byte) int {
	n := s.Len()
	if n == 0 {
		return 0
	}
	dst = dst[:n]
	copy(dst, s.frame[:s.hdr])
	copy(dst[s.hdr:], s.frame[s.at:])
	first := s.n == 0
	sent := s.at - s.hdr
	s.at += n - s.hdr
	last := s.at == len(s.frame)
	ip, l4 := dst[s.l3:], dst[s.l4:]
	var sum header.Partial
	if s.v6 {
		binary.BigEndian.PutUint16(ip[4:], uint16(n-s.l3-40))
		sum = header.Partial(0).Add(ip[8:40])
	} else {
		binary.BigEndian.PutUint16(ip[2:], uint16(n-s.l3))
		binary.BigEndian.PutUint16(ip[4:], binary.BigEndian.Uint16(ip[4:])+s.n)
		ip[10], ip[11] = 0, 0
		binary.BigEndian.PutUint16(ip[10:], header.Checksum(ip[:s.l4-s.l3]))
		sum = header.Partial(0).Add(ip[12:20])
	}
	sum = sum.Plus(uint16(len(l4)))
	if s.tcp {
		binary.BigEndian.PutUint32(l4[4:], binary.BigEndian.Uint32(l4[4:])+uint32(sent))
		if !last {
			l4[13] &^= 0x09 // FIN, PSH
		}
		if !first {
			l4[13] &^= 0x80 // CWR
		}
		l4[16], l4[17] = 0, 0
		binary.BigEndian.PutUint16(l4[16:], sum.Plus(6).Add(l4).Checksum())
	} else {
		binary.BigEndian.PutUint16(l4[4:], uint16(len(l4)))
		l4[6], l4[7] = 0, 0
		c := sum.Plus(17).Add(l4).Checksum()
		if c == 0 {
			c = 0xffff
		}
		binary.BigEndian.PutUint16(l4[6:], c)
	}
	s.n++
	if last {
		s.frame = nil
	}
	return n
}
