// SPDX-License-Identifier: Apache-2.0

package header

import (
	"encoding/binary"
	"unsafe"
)

// SCTP views an SCTP common header and the chunks that follow it (RFC 9260):
//
//	0                   1                   2                   3
//	0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------------------------------+-------------------------------+
//	|          source port          |        destination port       |
//	+-------------------------------+-------------------------------+
//	|                       verification tag                        |
//	+---------------------------------------------------------------+
//	|          checksum: CRC32c, least significant byte first       |
//	+---------------------------------------------------------------+
type SCTP []byte

// SCTPLen is the length of the common header.
const SCTPLen = 12

// IsValid reports whether the common header is whole.
func (b SCTP) IsValid() bool { return len(b) >= SCTPLen }

// SrcPort returns the source port.
func (b SCTP) SrcPort() uint16 { return binary.BigEndian.Uint16(b[0:2]) }

// SetSrcPort writes the source port.
func (b SCTP) SetSrcPort(p uint16) { binary.BigEndian.PutUint16(b[0:2], p) }

// DstPort returns the destination port.
func (b SCTP) DstPort() uint16 { return binary.BigEndian.Uint16(b[2:4]) }

// SetDstPort writes the destination port.
func (b SCTP) SetDstPort(p uint16) { binary.BigEndian.PutUint16(b[2:4], p) }

// Tag returns the verification tag.
func (b SCTP) Tag() uint32 { return binary.BigEndian.Uint32(b[4:8]) }

// SetTag writes the verification tag.
func (b SCTP) SetTag(v uint32) { binary.BigEndian.PutUint32(b[4:8], v) }

// Checksum returns the CRC32c.
func (b SCTP) Checksum() uint32 { return binary.LittleEndian.Uint32(b[8:12]) }

// UpdateChecksum computes the CRC32c over the whole view and writes it.
func (b SCTP) UpdateChecksum() { binary.LittleEndian.PutUint32(b[8:12], b.sum()) }

// ChecksumOK reports whether the CRC32c over the whole view is right.
func (b SCTP) ChecksumOK() bool { return b.Checksum() == b.sum() }

func (b SCTP) sum() uint32 {
	_ = b[SCTPLen-1]
	return sctpSum(unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b)))
}

// Payload returns the chunks.
func (b SCTP) Payload() []byte { return b[SCTPLen:] }
