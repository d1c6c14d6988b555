// SPDX-License-Identifier: Apache-2.0

package header

import "encoding/binary"

// ICMP views an ICMP or ICMPv6 header and what follows it (RFC 792, RFC 4443):
//
//	0                   1                   2                   3
//	0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------+---------------+-------------------------------+
//	|     type      |     code      |            checksum           |
//	+---------------+---------------+-------------------------------+
//	|  echo: identifier             |  echo: sequence number        |
//	+-------------------------------+-------------------------------+
type ICMP []byte

// ICMPLen is the length of the header.
const ICMPLen = 8

// Message types of echo.
const (
	ICMPEchoReply     = 0
	ICMPEchoRequest   = 8
	ICMPv6EchoRequest = 128
	ICMPv6EchoReply   = 129
)

// IsValid reports whether the header is whole.
func (b ICMP) IsValid() bool { return len(b) >= ICMPLen }

// Type returns the message type.
func (b ICMP) Type() uint8 { return b[0] }

// SetType writes the message type.
func (b ICMP) SetType(v uint8) { b[0] = v }

// Code returns the code.
func (b ICMP) Code() uint8 { return b[1] }

// SetCode writes the code.
func (b ICMP) SetCode(v uint8) { b[1] = v }

// Checksum returns the checksum.
func (b ICMP) Checksum() uint16 { return binary.BigEndian.Uint16(b[2:4]) }

// SetChecksum writes the checksum.
func (b ICMP) SetChecksum(c uint16) { binary.BigEndian.PutUint16(b[2:4], c) }

// UpdateChecksum computes the checksum over the whole view and writes it; pseudo is
// 0 for ICMP, and IPv6.Pseudo for ICMPv6.
func (b ICMP) UpdateChecksum(pseudo Partial) {
	b.SetChecksum(0)
	b.SetChecksum(pseudo.Add(b).Checksum())
}

// ChecksumOK reports whether the checksum over the whole view is right.
func (b ICMP) ChecksumOK(pseudo Partial) bool { return pseudo.Add(b).Sum16() == 0xffff }

// ID returns the identifier of an echo message.
func (b ICMP) ID() uint16 { return binary.BigEndian.Uint16(b[4:6]) }

// SetID writes the identifier of an echo message.
func (b ICMP) SetID(v uint16) { binary.BigEndian.PutUint16(b[4:6], v) }

// Seq returns the sequence number of an echo message.
func (b ICMP) Seq() uint16 { return binary.BigEndian.Uint16(b[6:8]) }

// SetSeq writes the sequence number of an echo message.
func (b ICMP) SetSeq(v uint16) { binary.BigEndian.PutUint16(b[6:8], v) }

// Payload returns what follows the header.
func (b ICMP) Payload() []byte { return b[ICMPLen:] }
