// SPDX-License-Identifier: Apache-2.0

// Package meta names the bits that a parser finds in a frame. buffer keeps
// them in a packet's header, header (the parser) fills them in.
package meta

// Flags are what was found in a frame.
type Flags uint32

// One bit per property, ODP's odp_packet_has_* in the same order.
const (
	L2       Flags = 1 << iota // a known layer 2 header was found (Ethernet)
	L3                         // a known layer 3 header was found
	L4                         // a known layer 4 header was found
	EthBcast                   // destination MAC is broadcast
	EthMcast                   // destination MAC has the group bit; broadcast has it too
	Jumbo                      // longer than 1518 bytes
	VLAN                       // at least one VLAN tag
	QinQ                       // two VLAN tags; VLAN is set too
	ARP
	IPv4
	IPv6
	IPBcast // destination 255.255.255.255
	IPMcast // destination 224/4 or ff00::/8
	IPFrag
	IPOpt
	IPsec // AH or ESP
	UDP
	TCP
	SCTP
	ICMP      // ICMP or ICMPv6
	ErrL2     // layer 2 header is cut short or wrong
	ErrL3     // layer 3 header is cut short, has a wrong version or length, or a bad checked checksum
	ErrL4     // the same for layer 4
	L3Checked // the layer 3 checksum was checked
	L3OK      // and is right
	L4Checked
	L4OK
	HasHash // the flow hash is valid
	HasTime // the time stamp is valid
	UserFlag
)

// Err is the union of the error bits.
const Err = ErrL2 | ErrL3 | ErrL4

// Layer is how deep a frame is parsed on input.
type Layer uint8

// Parse depths; a deeper one contains the others.
const (
	LayerNone Layer = iota // nothing is parsed
	LayerL2
	LayerL3
	LayerL4
	LayerAll = LayerL4
)

// NoOffset marks a layer offset that is not set.
const NoOffset = 0xffff
