// SPDX-License-Identifier: Apache-2.0

package header

import "encoding/binary"

// IPv6 views an IPv6 header and what follows it (RFC 8200):
//
//	0                   1                   2                   3
//	0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------+---------------+---------------------------------------+
//	|version| traffic class |              flow label               |
//	+-------+---------------+-------+---------------+---------------+
//	|         payload length        |  next header  |   hop limit   |
//	+-------------------------------+---------------+---------------+
//	|                                                               |
//	+                   source address, 16 bytes                    +
//	|                                                               |
//	+---------------------------------------------------------------+
//	|                                                               |
//	+                destination address, 16 bytes                  +
//	|                                                               |
//	+---------------------------------------------------------------+
//	|              extension headers or payload ...
//	+---------------------------------------------------------------+
type IPv6 []byte

// IPv6Len is the length of the fixed header.
const IPv6Len = 40

// IPv6Fields are the fields of the fixed header, for Encode.
type IPv6Fields struct {
	Src, Dst     [16]byte
	NextHeader   uint8
	HopLimit     uint8 // 0 = 64
	TrafficClass uint8
	FlowLabel    uint32
	PayloadLen   uint16 // 0 = what follows the header in the view
}

// IsValid reports whether the version is right and the whole datagram is in the view.
func (b IPv6) IsValid() bool {
	return len(b) >= IPv6Len && b[0]>>4 == 6 && b.PayloadLen() <= len(b)-IPv6Len
}

// Encode writes the fixed header.
func (b IPv6) Encode(f *IPv6Fields) {
	_ = b[39]
	hop, n := f.HopLimit, f.PayloadLen
	if hop == 0 {
		hop = 64
	}
	if n == 0 {
		n = uint16(min(len(b)-IPv6Len, 0xffff))
	}
	binary.BigEndian.PutUint32(b[0:4], 6<<28|uint32(f.TrafficClass)<<20|f.FlowLabel&0xfffff)
	b.SetPayloadLen(n)
	b[6], b[7] = f.NextHeader, hop
	b.SetSrc(f.Src)
	b.SetDst(f.Dst)
}

// TrafficClass returns the DSCP and ECN bits.
func (b IPv6) TrafficClass() uint8 { return uint8(binary.BigEndian.Uint16(b[0:2]) >> 4) }

// FlowLabel returns the flow label.
func (b IPv6) FlowLabel() uint32 { return binary.BigEndian.Uint32(b[0:4]) & 0xfffff }

// PayloadLen returns the length of what follows the fixed header.
func (b IPv6) PayloadLen() int { return int(binary.BigEndian.Uint16(b[4:6])) }

// SetPayloadLen writes the length of what follows the fixed header.
func (b IPv6) SetPayloadLen(n uint16) { binary.BigEndian.PutUint16(b[4:6], n) }

// NextHeader returns the protocol of what follows.
func (b IPv6) NextHeader() uint8 { return b[6] }

// HopLimit returns the hop limit.
func (b IPv6) HopLimit() uint8 { return b[7] }

// SetHopLimit writes the hop limit; IPv6 has no header checksum.
func (b IPv6) SetHopLimit(v uint8) { b[7] = v }

// Src returns the source address.
func (b IPv6) Src() [16]byte { return [16]byte(b[8:24]) }

// SetSrc writes the source address.
func (b IPv6) SetSrc(a [16]byte) { *(*[16]byte)(b[8:24]) = a }

// Dst returns the destination address.
func (b IPv6) Dst() [16]byte { return [16]byte(b[24:40]) }

// SetDst writes the destination address.
func (b IPv6) SetDst(a [16]byte) { *(*[16]byte)(b[24:40]) = a }

// Payload returns what follows the fixed header, without the frame's padding.
func (b IPv6) Payload() []byte { return b[IPv6Len : IPv6Len+b.PayloadLen()] }

// Pseudo returns the sum of the pseudo header for n bytes of protocol proto.
func (b IPv6) Pseudo(proto uint8, n int) Partial {
	return PseudoIPv6((*[16]byte)(b[8:24]), (*[16]byte)(b[24:40]), proto, n)
}
