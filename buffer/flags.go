// SPDX-License-Identifier: Apache-2.0

package buffer

import "github.com/odp-go/godp/internal/meta"

// The bits of Flags, for Has and SetFlag; each is one of ODP's odp_packet_has_*.
const (
	FlagL2       = meta.L2       // a known layer 2 header
	FlagL3       = meta.L3       // a known layer 3 header
	FlagL4       = meta.L4       // a known layer 4 header
	FlagEthBcast = meta.EthBcast // destination MAC is broadcast
	FlagEthMcast = meta.EthMcast // destination MAC has the group bit; broadcast has it too
	FlagJumbo    = meta.Jumbo    // longer than 1518 bytes
	FlagVLAN     = meta.VLAN     // at least one VLAN tag
	FlagQinQ     = meta.QinQ     // two VLAN tags
	FlagARP      = meta.ARP
	FlagIPv4     = meta.IPv4
	FlagIPv6     = meta.IPv6
	FlagIPBcast  = meta.IPBcast // destination 255.255.255.255
	FlagIPMcast  = meta.IPMcast // destination 224/4 or ff00::/8
	FlagIPFrag   = meta.IPFrag
	FlagIPOpt    = meta.IPOpt // IPv4 options or IPv6 extension headers
	FlagIPsec    = meta.IPsec // AH or ESP
	FlagUDP      = meta.UDP
	FlagTCP      = meta.TCP
	FlagSCTP     = meta.SCTP
	FlagICMP     = meta.ICMP  // ICMP or ICMPv6
	FlagErrL2    = meta.ErrL2 // layer 2 is cut short or wrong
	FlagErrL3    = meta.ErrL3 // layer 3 is cut short, wrong, or has a bad checked checksum
	FlagErrL4    = meta.ErrL4 // the same for layer 4
)
