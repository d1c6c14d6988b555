// SPDX-License-Identifier: Apache-2.0

package header

import "encoding/binary"

// ARP views an address resolution message for IPv4 over Ethernet (RFC 826):
//
//	0                   1                   2                   3
//	0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-------------------------------+-------------------------------+
//	|      hardware space, 1        |     protocol space, 0x0800    |
//	+---------------+---------------+-------------------------------+
//	| hw length, 6  | pr length, 4  |           operation           |
//	+---------------+---------------+-------------------------------+
//	|                    sender hardware address                    |
//	+-------------------------------+-------------------------------+
//	|       (last two bytes)        |    sender protocol address    |
//	+-------------------------------+-------------------------------+
//	|       (last two bytes)        |    target hardware address    |
//	+-------------------------------+                               +
//	|                                                               |
//	+---------------------------------------------------------------+
//	|                    target protocol address                    |
//	+---------------------------------------------------------------+
type ARP []byte

// ARPLen is the length of the message; the operations are ARPRequest and ARPReply.
const (
	ARPLen     = 28
	ARPRequest = 1
	ARPReply   = 2
)

// arpPrefix is what an IPv4 over Ethernet message starts with.
const arpPrefix = 0x0001_0800_06_04

// IsValid reports whether the message is whole and for IPv4 over Ethernet.
func (b ARP) IsValid() bool {
	return len(b) >= ARPLen && binary.BigEndian.Uint64(b[0:8])>>16 == arpPrefix
}

// Init writes the fixed fields and the operation; the addresses follow.
func (b ARP) Init(op uint16) { binary.BigEndian.PutUint64(b[0:8], arpPrefix<<16|uint64(op)) }

// Op returns the operation.
func (b ARP) Op() uint16 { return binary.BigEndian.Uint16(b[6:8]) }

// SenderMAC returns the sender's hardware address.
func (b ARP) SenderMAC() MAC { return MAC(b[8:14]) }

// SetSenderMAC writes the sender's hardware address.
func (b ARP) SetSenderMAC(m MAC) { *(*MAC)(b[8:14]) = m }

// SenderIP returns the sender's IPv4 address.
func (b ARP) SenderIP() [4]byte { return [4]byte(b[14:18]) }

// SetSenderIP writes the sender's IPv4 address.
func (b ARP) SetSenderIP(a [4]byte) { *(*[4]byte)(b[14:18]) = a }

// TargetMAC returns the target's hardware address.
func (b ARP) TargetMAC() MAC { return MAC(b[18:24]) }

// SetTargetMAC writes the target's hardware address.
func (b ARP) SetTargetMAC(m MAC) { *(*MAC)(b[18:24]) = m }

// TargetIP returns the target's IPv4 address.
func (b ARP) TargetIP() [4]byte { return [4]byte(b[24:28]) }

// SetTargetIP writes the target's IPv4 address.
func (b ARP) SetTargetIP(a [4]byte) { *(*[4]byte)(b[24:28]) = a }
