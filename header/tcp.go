// SPDX-License-Identifier: Apache-2.0

package header

import "encoding/binary"

// TCP views a TCP header and what follows it (RFC 9293):
//
//	0                   1                   2                   3
//	0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------------------------------+-------------------------------+
//	|          source port          |        destination port       |
//	+-------------------------------+-------------------------------+
//	|                        sequence number                        |
//	+---------------------------------------------------------------+
//	|                    acknowledgement number                     |
//	+-------+-------+---------------+-------------------------------+
//	| offset|   0   |     flags     |             window            |
//	+-------+-------+---------------+-------------------------------+
//	|            checksum           |         urgent pointer        |
//	+-------------------------------+-------------------------------+
//	|                  options, up to 40 bytes ...
//	+---------------------------------------------------------------+
type TCP []byte

// TCPMinLen is the length of a header without options.
const TCPMinLen = 20

// Bits of TCP.Flags.
const (
	TCPFin = 1 << iota
	TCPSyn
	TCPRst
	TCPPsh
	TCPAck
	TCPUrg
	TCPEce
	TCPCwr
)

// IsValid reports whether the header with its options is in the view.
func (b TCP) IsValid() bool {
	return len(b) >= TCPMinLen && b.HeaderLen() >= TCPMinLen && b.HeaderLen() <= len(b)
}

// SrcPort returns the source port.
func (b TCP) SrcPort() uint16 { return binary.BigEndian.Uint16(b[0:2]) }

// SetSrcPort writes the source port.
func (b TCP) SetSrcPort(p uint16) { binary.BigEndian.PutUint16(b[0:2], p) }

// DstPort returns the destination port.
func (b TCP) DstPort() uint16 { return binary.BigEndian.Uint16(b[2:4]) }

// SetDstPort writes the destination port.
func (b TCP) SetDstPort(p uint16) { binary.BigEndian.PutUint16(b[2:4], p) }

// Seq returns the sequence number.
func (b TCP) Seq() uint32 { return binary.BigEndian.Uint32(b[4:8]) }

// SetSeq writes the sequence number.
func (b TCP) SetSeq(v uint32) { binary.BigEndian.PutUint32(b[4:8], v) }

// Ack returns the acknowledgement number.
func (b TCP) Ack() uint32 { return binary.BigEndian.Uint32(b[8:12]) }

// SetAck writes the acknowledgement number.
func (b TCP) SetAck(v uint32) { binary.BigEndian.PutUint32(b[8:12], v) }

// HeaderLen returns the length of the header with options, in bytes.
func (b TCP) HeaderLen() int { return int(b[12]>>4) * 4 }

// SetHeaderLen writes the length of the header, a multiple of 4.
func (b TCP) SetHeaderLen(n int) { b[12] = b[12]&0xf | byte(n/4)<<4 }

// Flags returns the eight flags.
func (b TCP) Flags() uint8 { return b[13] }

// SetFlags writes the eight flags.
func (b TCP) SetFlags(f uint8) { b[13] = f }

// Window returns the window, not scaled.
func (b TCP) Window() uint16 { return binary.BigEndian.Uint16(b[14:16]) }

// SetWindow writes the window.
func (b TCP) SetWindow(v uint16) { binary.BigEndian.PutUint16(b[14:16], v) }

// Checksum returns the checksum.
func (b TCP) Checksum() uint16 { return binary.BigEndian.Uint16(b[16:18]) }

// SetChecksum writes the checksum.
func (b TCP) SetChecksum(c uint16) { binary.BigEndian.PutUint16(b[16:18], c) }

// UpdateChecksum computes the checksum over the whole view with a pseudo header's
// sum and writes it.
func (b TCP) UpdateChecksum(pseudo Partial) {
	b.SetChecksum(0)
	b.SetChecksum(pseudo.Add(b).Checksum())
}

// ChecksumOK reports whether the checksum over the whole view is right.
func (b TCP) ChecksumOK(pseudo Partial) bool { return pseudo.Add(b).Sum16() == 0xffff }

// Options returns the options.
func (b TCP) Options() []byte { return b[TCPMinLen:b.HeaderLen()] }

// Payload returns the data.
func (b TCP) Payload() []byte { return b[b.HeaderLen():] }
