// SPDX-License-Identifier: Apache-2.0

package header

import (
	"encoding/binary"
	"unsafe"
)

// IPv4 views an IPv4 header and what follows it (RFC 791):
//
//	0                   1                   2                   3
//	0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------+-------+-----------+---+-------------------------------+
//	|version|  IHL  |   DSCP    |ECN|         total length          |
//	+-------+-------+-----------+---+-----+-------------------------+
//	|         identification        |flags|     fragment offset     |
//	+---------------+---------------+-----+-------------------------+
//	|      TTL      |   protocol    |        header checksum        |
//	+---------------+---------------+-------------------------------+
//	|                        source address                         |
//	+---------------------------------------------------------------+
//	|                      destination address                      |
//	+---------------------------------------------------------------+
//	|                  options, up to 40 bytes ...
//	+---------------------------------------------------------------+
type IPv4 []byte

// IPv4MinLen is the length of a header without options.
const IPv4MinLen = 20

// Bits of IPv4.Flags.
const (
	IPv4MoreFragments = 1
	IPv4DontFragment  = 2
)

// IPv4Fields are the fields of a header without options, for Encode.
type IPv4Fields struct {
	Src, Dst       [4]byte
	Protocol       uint8
	TTL            uint8 // 0 = 64
	TOS            uint8
	ID             uint16
	Flags          uint8  // IPv4MoreFragments, IPv4DontFragment
	FragmentOffset uint16 // bytes, a multiple of 8
	TotalLen       uint16 // 0 = the length of the view
}

// IsValid reports whether version and lengths are right and the whole datagram is in
// the view. It does not look at the checksum.
func (b IPv4) IsValid() bool {
	if len(b) < IPv4MinLen || b[0]>>4 != 4 {
		return false
	}
	h, n := b.HeaderLen(), b.TotalLen()
	return h >= IPv4MinLen && h <= n && n <= len(b)
}

// Encode writes a header without options, checksum included.
func (b IPv4) Encode(f *IPv4Fields) {
	_ = b[19]
	ttl, n := f.TTL, f.TotalLen
	if ttl == 0 {
		ttl = 64
	}
	if n == 0 {
		n = uint16(min(len(b), 0xffff))
	}
	b[0], b[1] = 0x45, f.TOS
	binary.BigEndian.PutUint16(b[2:], n)
	binary.BigEndian.PutUint16(b[4:], f.ID)
	binary.BigEndian.PutUint16(b[6:], uint16(f.Flags)<<13|f.FragmentOffset>>3)
	b[8], b[9] = ttl, f.Protocol
	b.SetSrc(f.Src)
	b.SetDst(f.Dst)
	b.UpdateChecksum()
}

// HeaderLen returns the length of the header with options, in bytes.
func (b IPv4) HeaderLen() int { return int(b[0]&0xf) * 4 }

// TOS returns the DSCP and ECN bits.
func (b IPv4) TOS() uint8 { return b[1] }

// TotalLen returns the length of header and payload.
func (b IPv4) TotalLen() int { return int(binary.BigEndian.Uint16(b[2:4])) }

// SetTotalLen writes the length of header and payload.
func (b IPv4) SetTotalLen(n uint16) { binary.BigEndian.PutUint16(b[2:4], n) }

// ID returns the identification.
func (b IPv4) ID() uint16 { return binary.BigEndian.Uint16(b[4:6]) }

// Flags returns the IPv4MoreFragments and IPv4DontFragment bits.
func (b IPv4) Flags() uint8 { return b[6] >> 5 }

// FragmentOffset returns the offset of the payload in its datagram, in bytes.
func (b IPv4) FragmentOffset() int { return int(binary.BigEndian.Uint16(b[6:8])&0x1fff) * 8 }

// IsFragment reports whether the datagram is more than this.
func (b IPv4) IsFragment() bool { return binary.BigEndian.Uint16(b[6:8])&0x3fff != 0 }

// TTL returns the time to live.
func (b IPv4) TTL() uint8 { return b[8] }

// SetTTL writes the time to live; the checksum does not change with it.
func (b IPv4) SetTTL(v uint8) { b[8] = v }

// DecTTL takes one hop off a header whose TTL is not 0, and updates the checksum.
func (b IPv4) DecTTL() {
	old := binary.BigEndian.Uint16(b[8:10])
	b[8]--
	b.SetChecksum(Update16(b.Checksum(), old, old-0x100))
}

// Protocol returns the protocol of the payload.
func (b IPv4) Protocol() uint8 { return b[9] }

// Checksum returns the header checksum.
func (b IPv4) Checksum() uint16 { return binary.BigEndian.Uint16(b[10:12]) }

// SetChecksum writes the header checksum.
func (b IPv4) SetChecksum(c uint16) { binary.BigEndian.PutUint16(b[10:12], c) }

// ChecksumOK reports whether the header checksum is right.
func (b IPv4) ChecksumOK() bool { return Sum16(b[:b.HeaderLen()]) == 0xffff }

// UpdateChecksum computes the header checksum anew and writes it.
func (b IPv4) UpdateChecksum() {
	b.SetChecksum(0)
	b.SetChecksum(Checksum(b[:b.HeaderLen()]))
}

// Src returns the source address.
func (b IPv4) Src() [4]byte { return [4]byte(b[12:16]) }

// SetSrc writes the source address.
func (b IPv4) SetSrc(a [4]byte) { *(*[4]byte)(b[12:16]) = a }

// Dst returns the destination address.
func (b IPv4) Dst() [4]byte { return [4]byte(b[16:20]) }

// SetDst writes the destination address.
func (b IPv4) SetDst(a [4]byte) { *(*[4]byte)(b[16:20]) = a }

// Options returns the options.
func (b IPv4) Options() []byte { return b[IPv4MinLen:b.HeaderLen()] }

// Payload returns what follows the header, without the frame's padding.
func (b IPv4) Payload() []byte { return b[b.HeaderLen():b.TotalLen()] }

// Pseudo returns the sum of the pseudo header for a payload of n bytes.
func (b IPv4) Pseudo(n int) Partial { return PseudoIPv4(b.Src(), b.Dst(), b.Protocol(), n) }

// DecTTL takes one hop off the IPv4 header at p and updates its checksum: two loads and
// two stores. The caller has checked the length and that the TTL is above 1.
func DecTTL(p unsafe.Pointer) {
	*(*byte)(unsafe.Add(p, 8))--
	// taking 0x100 from a word is adding 0x100 to the checksum, with its carry; 0xffff
	// becomes 0 (RFC 1624)
	c := uint32(be16(p, 10)) + 0x100
	put16(p, 10, uint16(c+(c+1)>>16))
}
