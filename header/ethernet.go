// SPDX-License-Identifier: Apache-2.0

package header

import (
	"encoding/binary"
	"net"
)

// Ethernet views an Ethernet II header and what follows it (IEEE 802.3):
//
//	0                   1                   2                   3
//	0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|                      destination address                      |
//	+-------------------------------+-------------------------------+
//	|     (last two bytes)          |        source address         |
//	+-------------------------------+                               +
//	|                                                               |
//	+-------------------------------+-------------------------------+
//	|             type              |  payload or VLAN tag ...
//	+-------------------------------+
type Ethernet []byte

// EthernetLen is the length of the header; EthernetMin and EthernetMax are the
// lengths of a frame without FCS and tags.
const (
	EthernetLen = 14
	EthernetMin = 60
	EthernetMax = 1514
)

// MAC is an Ethernet address as a value.
type MAC [6]byte

// Broadcast is the address of all stations.
var Broadcast = MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// ParseMAC reads an address of 6 bytes in the forms that net.ParseMAC knows.
func ParseMAC(s string) (m MAC, err error) {
	a, err := net.ParseMAC(s)
	if err == nil && len(a) != len(m) {
		err = &net.AddrError{Err: "not an Ethernet address of 6 bytes", Addr: s}
	}
	if err == nil {
		m = MAC(a)
	}
	return m, err
}

// IsGroup reports a multicast or broadcast address.
func (m MAC) IsGroup() bool { return m[0]&1 != 0 }

// String returns the form 02:00:00:00:00:01.
func (m MAC) String() string { return net.HardwareAddr(m[:]).String() }

// IsValid reports whether the header is whole.
func (b Ethernet) IsValid() bool { return len(b) >= EthernetLen }

// Dst returns the destination address.
func (b Ethernet) Dst() MAC { return MAC(b[0:6]) }

// SetDst writes the destination address.
func (b Ethernet) SetDst(m MAC) { *(*MAC)(b[0:6]) = m }

// Src returns the source address.
func (b Ethernet) Src() MAC { return MAC(b[6:12]) }

// SetSrc writes the source address.
func (b Ethernet) SetSrc(m MAC) { *(*MAC)(b[6:12]) = m }

// Type returns the EtherType, or the length of an 802.3 frame (up to 1500).
func (b Ethernet) Type() uint16 { return binary.BigEndian.Uint16(b[12:14]) }

// SetType writes the EtherType.
func (b Ethernet) SetType(t uint16) { binary.BigEndian.PutUint16(b[12:14], t) }

// Payload returns what follows the header: a VLAN view for the tag types.
func (b Ethernet) Payload() []byte { return b[EthernetLen:] }
