// SPDX-License-Identifier: Apache-2.0

package header

import (
	"unsafe"

	"github.com/odp-go/godp/internal/meta"
)

// EtherTypes that the parser knows.
const (
	TypeIPv4   = 0x0800
	TypeARP    = 0x0806
	TypeVLAN   = 0x8100
	TypeIPv6   = 0x86dd
	TypeQinQ   = 0x88a8
	TypeQinQ91 = 0x9100 // the outer tag before 802.1ad
)

// Protocol numbers (IPv4 protocol, IPv6 next header) that the parser knows.
const (
	ProtoHopByHop = 0
	ProtoICMP     = 1
	ProtoIPIP     = 4
	ProtoTCP      = 6
	ProtoUDP      = 17
	ProtoRouting  = 43
	ProtoFragment = 44
	ProtoESP      = 50
	ProtoAH       = 51
	ProtoICMPv6   = 58
	ProtoNoNext   = 59
	ProtoDstOpts  = 60
	ProtoSCTP     = 132
)

const (
	jumboLen      = 1518 // longer frames are jumbo
	maxLength8023 = 1500 // a type field up to here is a length (802.3)
	maxExtension  = 8    // IPv6 extension headers that are followed
	noOff         = meta.NoOffset
)

// Parse finds the headers in the n bytes at p, a frame that starts with its Ethernet
// header and lies in one segment, down to layer. l3 and l4 are the offsets of
// the layer 3 and layer 4 headers, meta.NoOffset when there is none; the layer 2
// offset is always 0. Any goroutine that owns the bytes may call it.
//
// It follows ODP's parser (odp_packet_parse):
//
//   - A flag of layer N and its offset are set when the whole fixed header of a
//     known protocol is there. When it is cut short, the protocol's flag and the
//     layer's error bit are set; when it is whole but wrong (version, lengths
//     that contradict the frame), the layer's flag, its offset and the error bit. After an
//     error nothing deeper is looked at.
//   - With a layer less than meta.LayerL4 the offset of the next layer is set too,
//     without its flag.
//   - A broadcast destination has EthBcast and EthMcast. Two tags have VLAN and QinQ;
//     tag types are 0x8100, 0x88a8 and 0x9100; a priority tag (VID 0) is a tag. What is
//     behind a third tag is unknown.
//   - 802.3 frames are looked through when they carry LLC/SNAP with a zero OUI.
//   - IPv4 options and IPv6 extension headers set IPOpt. Fragments set IPFrag; all
//     but the first have the flag of their protocol, but neither L4 nor an offset.
//     An IPv6 fragment header with offset 0 and no more fragments is a whole
//     datagram (RFC 6946): IPOpt only.
//   - AH and ESP set IPsec and are the layer 4 header; what they protect is not parsed.
//   - UDP and TCP lengths are checked against the IP length. Checksums are not
//     looked at: see Verify.
func Parse(p unsafe.Pointer, n uint32, layer meta.Layer) (flags meta.Flags, l3, l4 uint16) {
	// The common case: Ethernet II with at most one tag, IPv4 without options and
	// not fragmented or IPv6 without extensions, UDP or TCP. All else, and all that is
	// wrong, goes to parse.
	if n-46 > jumboLen-46 || layer != meta.LayerL4 {
		return parse(p, n, n, layer)
	}
	flags = meta.L2 | meta.L3 | meta.L4
	typ, off := be16(p, 12), uint32(14)
	if typ == TypeVLAN {
		typ, off = be16(p, 16), 18
		flags |= meta.VLAN
	}
	if u8(p, 0)&1 != 0 {
		flags |= macGroup(p)
	}
	ip, rest := unsafe.Add(p, off), n-off
	switch typ {
	case TypeIPv4:
		w := be64(ip, 0) // version and header length, TOS, total length, id, fragment word
		total := uint32(w>>32) & 0xffff
		if w>>56 != 0x45 || w&0x3fff != 0 || total-28 > rest-28 {
			break
		}
		flags |= meta.IPv4
		if u8(ip, 16) >= 0xe0 {
			flags |= ipv4Group(be32(ip, 16))
		}
		switch u8(ip, 9) {
		case ProtoUDP:
			if uint32(be16(ip, 24))-8 <= total-28 {
				return flags | meta.UDP, uint16(off), uint16(off + 20)
			}
		case ProtoTCP:
			if total >= 40 {
				if h := uint32(u8(ip, 32)) >> 4 * 4; h >= 20 && h <= total-20 {
					return flags | meta.TCP, uint16(off), uint16(off + 20)
				}
			}
		}
	case TypeIPv6:
		w := be64(ip, 0) // version, class, label, payload length, next header, hop limit
		length := uint32(w>>16) & 0xffff
		if w>>60 != 6 || rest < 48 || length-8 > rest-48 {
			break
		}
		flags |= meta.IPv6
		if u8(ip, 24) == 0xff {
			flags |= meta.IPMcast
		}
		switch uint8(w >> 8) {
		case ProtoUDP:
			if uint32(be16(ip, 44))-8 <= length-8 {
				return flags | meta.UDP, uint16(off), uint16(off + 40)
			}
		case ProtoTCP:
			if length >= 20 {
				if h := uint32(u8(ip, 52)) >> 4 * 4; h >= 20 && h <= length {
					return flags | meta.TCP, uint16(off), uint16(off + 40)
				}
			}
		}
	}
	return parse(p, n, n, layer)
}

// ParseSegment is Parse for a packet of several segments: n bytes of the
// frame's total lie at p. Lengths inside the headers are checked against total; a
// header that is not whole in the first segment counts as cut short.
func ParseSegment(p unsafe.Pointer, n, total uint32, layer meta.Layer) (flags meta.Flags, l3, l4 uint16) {
	return parse(p, n, max(n, total), layer)
}

// ParseL3 is ParseSegment for bytes without a layer 2 header, as a tun device and
// odp_packet_parse with an IP start give them: typ (TypeIPv4, TypeIPv6, TypeARP) says
// what is at p. Another typ finds nothing, nor does a layer
// that ends at layer 2.
func ParseL3(p unsafe.Pointer, n, total uint32, typ uint16, layer meta.Layer) (flags meta.Flags, l3, l4 uint16) {
	if layer <= meta.LayerL2 {
		return 0, noOff, noOff
	}
	return parseL3(p, n, max(n, total), 0, typ, layer, 0)
}

func macGroup(p unsafe.Pointer) meta.Flags {
	if be32(p, 0) == 0xffffffff && be16(p, 4) == 0xffff {
		return meta.EthBcast | meta.EthMcast
	}
	return meta.EthMcast
}

func ipv4Group(dst uint32) meta.Flags {
	switch {
	case dst == 0xffffffff:
		return meta.IPBcast
	case dst>>28 == 0xe:
		return meta.IPMcast
	}
	return 0
}

func isTag(typ uint16) bool { return typ == TypeVLAN || typ == TypeQinQ || typ == TypeQinQ91 }

// parse is the general parser.
//
//go:noinline
func parse(p unsafe.Pointer, n, total uint32, layer meta.Layer) (flags meta.Flags, l3, l4 uint16) {
	if layer == meta.LayerNone {
		return 0, noOff, noOff
	}
	if n < 14 {
		return meta.ErrL2, noOff, noOff
	}
	flags = meta.L2
	if u8(p, 0)&1 != 0 {
		flags |= macGroup(p)
	}
	if total > jumboLen {
		flags |= meta.Jumbo
	}
	typ, off := be16(p, 12), uint32(14)
	for tag := meta.VLAN; isTag(typ) && tag <= meta.QinQ; tag <<= 1 {
		if n-off < 4 {
			return flags | meta.ErrL2, noOff, noOff
		}
		flags |= tag
		typ = be16(p, off+2)
		off += 4
	}
	if typ <= maxLength8023 {
		length := uint32(typ)
		if length > total-off {
			return flags | meta.ErrL2, noOff, noOff
		}
		typ = 0 // unknown
		if length >= 8 && n-off >= 8 && be32(p, off) == 0xaaaa0300 && be16(p, off+4) == 0 {
			typ = be16(p, off+6)
			off += 8
		}
	}
	if layer == meta.LayerL2 {
		return flags, uint16(off), noOff
	}
	return parseL3(p, n, total, off, typ, layer, flags)
}

// parseL3 looks at what an EtherType names, at off.
func parseL3(p unsafe.Pointer, n, total, off uint32, typ uint16, layer meta.Layer, flags meta.Flags) (_ meta.Flags, l3, l4 uint16) {
	switch typ {
	case TypeIPv4:
		return parseIPv4(p, n, total, off, layer, flags|meta.IPv4)
	case TypeIPv6:
		return parseIPv6(p, n, total, off, layer, flags|meta.IPv6)
	case TypeARP:
		flags |= meta.ARP
		if n-off < 8 || n-off < 8+2*(uint32(u8(p, off+4))+uint32(u8(p, off+5))) {
			return flags | meta.ErrL3, noOff, noOff
		}
		return flags | meta.L3, uint16(off), noOff
	}
	return flags, noOff, noOff
}

func parseIPv4(p unsafe.Pointer, n, total, off uint32, layer meta.Layer, flags meta.Flags) (_ meta.Flags, l3, l4 uint16) {
	if n-off < 20 {
		return flags | meta.ErrL3, noOff, noOff
	}
	flags |= meta.L3
	l3 = uint16(off)
	v, length, frag := u8(p, off), uint32(be16(p, off+2)), be16(p, off+6)
	head := uint32(v&0xf) * 4
	if v>>4 != 4 || head < 20 || head > n-off || length < head || length > total-off {
		return flags | meta.ErrL3, l3, noOff
	}
	if head > 20 {
		flags |= meta.IPOpt
	}
	if frag&0x3fff != 0 {
		flags |= meta.IPFrag
	}
	flags |= ipv4Group(be32(p, off+16))
	proto := u8(p, off+9)
	if frag&0x1fff != 0 {
		return flags | laterFragment(proto, layer), l3, noOff
	}
	flags, l4 = parseL4(p, n, off+length, off+head, proto, layer, flags)
	return flags, l3, l4
}

func parseIPv6(p unsafe.Pointer, n, total, off uint32, layer meta.Layer, flags meta.Flags) (_ meta.Flags, l3, l4 uint16) {
	if n-off < 40 {
		return flags | meta.ErrL3, noOff, noOff
	}
	flags |= meta.L3
	l3 = uint16(off)
	end := off + 40 + uint32(be16(p, off+4))
	if u8(p, off)>>4 != 6 || end > total {
		return flags | meta.ErrL3, l3, noOff
	}
	if u8(p, off+24) == 0xff {
		flags |= meta.IPMcast
	}
	proto := u8(p, off+6)
	off += 40
	whole := min(n, end)
	for i := 0; ; i++ {
		var size uint32
		switch proto {
		case ProtoHopByHop, ProtoRouting, ProtoDstOpts, ProtoFragment:
			if i == maxExtension || whole-off < 8 {
				return flags | meta.ErrL3, l3, noOff
			}
			flags |= meta.IPOpt
			size = 8
			if proto != ProtoFragment {
				size += uint32(u8(p, off+1)) * 8
			}
			if whole-off < size {
				return flags | meta.ErrL3, l3, noOff
			}
		default:
			flags, l4 = parseL4(p, n, end, off, proto, layer, flags)
			return flags, l3, l4
		}
		next := u8(p, off)
		if proto == ProtoFragment {
			frag := be16(p, off+2)
			if frag&0xfff9 != 0 {
				flags |= meta.IPFrag
			}
			if frag&0xfff8 != 0 {
				return flags | laterFragment(next, layer), l3, noOff
			}
		}
		proto = next
		off += size
	}
}

// laterFragment returns the flags of a protocol whose header is in another fragment.
func laterFragment(proto uint8, layer meta.Layer) meta.Flags {
	if layer < meta.LayerL4 {
		return 0
	}
	f, _ := l4Kind(proto)
	return f
}

// l4Kind returns the flag of a protocol, and the size of its fixed header;
// 0 for a protocol that is not known.
func l4Kind(proto uint8) (flag meta.Flags, size uint32) {
	switch proto {
	case ProtoUDP:
		return meta.UDP, 8
	case ProtoTCP:
		return meta.TCP, 20
	case ProtoICMP:
		return meta.ICMP, 8
	case ProtoICMPv6:
		return meta.ICMP, 4
	case ProtoSCTP:
		return meta.SCTP, 12
	case ProtoAH:
		return meta.IPsec, 12
	case ProtoESP:
		return meta.IPsec, 8
	case ProtoIPIP:
		return 0, 20
	}
	return 0, 0
}

// parseL4 looks at the layer 4 header at off of a datagram that ends at end.
func parseL4(p unsafe.Pointer, n, end, off uint32, proto uint8, layer meta.Layer, flags meta.Flags) (meta.Flags, uint16) {
	if layer < meta.LayerL4 {
		return flags, uint16(off)
	}
	f, size := l4Kind(proto)
	flags |= f
	if size == 0 {
		return flags, noOff
	}
	if min(n, end)-off < size {
		return flags | meta.ErrL4, noOff
	}
	flags |= meta.L4
	room := end - off
	switch proto {
	case ProtoUDP:
		length := uint32(be16(p, off+4))
		if length < 8 || length > room && flags&meta.IPFrag == 0 {
			flags |= meta.ErrL4
		}
	case ProtoTCP:
		if h := uint32(u8(p, off+12)) >> 4 * 4; h < 20 || h > room {
			flags |= meta.ErrL4
		}
	}
	return flags, uint16(off)
}
