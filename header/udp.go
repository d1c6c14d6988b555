// SPDX-License-Identifier: Apache-2.0

package header

import "encoding/binary"

// UDP views a UDP header and what follows it (RFC 768):
//
//	0                   1                   2                   3
//	0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------------------------------+-------------------------------+
//	|          source port          |        destination port       |
//	+-------------------------------+-------------------------------+
//	|    length, header included    |   checksum, 0 = none (IPv4)   |
//	+-------------------------------+-------------------------------+
type UDP []byte

// UDPLen is the length of the header.
const UDPLen = 8

// IsValid reports whether the whole message is in the view.
func (b UDP) IsValid() bool {
	return len(b) >= UDPLen && b.Length() >= UDPLen && b.Length() <= len(b)
}

// Encode writes a header for everything in the view, without a checksum.
func (b UDP) Encode(src, dst uint16) {
	b.SetSrcPort(src)
	b.SetDstPort(dst)
	b.SetLength(uint16(min(len(b), 0xffff)))
	b.SetChecksum(0)
}

// SrcPort returns the source port.
func (b UDP) SrcPort() uint16 { return binary.BigEndian.Uint16(b[0:2]) }

// SetSrcPort writes the source port.
func (b UDP) SetSrcPort(p uint16) { binary.BigEndian.PutUint16(b[0:2], p) }

// DstPort returns the destination port.
func (b UDP) DstPort() uint16 { return binary.BigEndian.Uint16(b[2:4]) }

// SetDstPort writes the destination port.
func (b UDP) SetDstPort(p uint16) { binary.BigEndian.PutUint16(b[2:4], p) }

// Length returns the length of header and payload.
func (b UDP) Length() int { return int(binary.BigEndian.Uint16(b[4:6])) }

// SetLength writes the length of header and payload.
func (b UDP) SetLength(n uint16) { binary.BigEndian.PutUint16(b[4:6], n) }

// Checksum returns the checksum, 0 when there is none.
func (b UDP) Checksum() uint16 { return binary.BigEndian.Uint16(b[6:8]) }

// SetChecksum writes the checksum.
func (b UDP) SetChecksum(c uint16) { binary.BigEndian.PutUint16(b[6:8], c) }

// UpdateChecksum computes the checksum with a pseudo header's sum and writes it; a sum
// of 0 becomes 0xffff.
func (b UDP) UpdateChecksum(pseudo Partial) {
	b.SetChecksum(0)
	b.SetChecksum(noZero(pseudo.Add(b[:b.Length()]).Checksum()))
}

// ChecksumOK reports whether the checksum is right with a pseudo header's sum. No
// checksum is right.
func (b UDP) ChecksumOK(pseudo Partial) bool {
	return b.Checksum() == 0 || pseudo.Add(b[:b.Length()]).Sum16() == 0xffff
}

// Payload returns the data.
func (b UDP) Payload() []byte { return b[UDPLen:b.Length()] }
