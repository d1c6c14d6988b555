// SPDX-License-Identifier: Apache-2.0

package header

import (
	"encoding/binary"

	"github.com/odp-go/godp/internal/meta"
)

// result is what Parse returns, for comparison.
type result struct {
	flags  meta.Flags
	l3, l4 uint16
}

// slowParse is the parser's twin: plain slices, one protocol after the other, written
// from the rules in Parse's comment. total >= len(seg).
func slowParse(seg []byte, total int, layer meta.Layer) result {
	r := result{0, noOff, noOff}
	if layer == meta.LayerNone {
		return r
	}
	if len(seg) < 14 {
		r.flags = meta.ErrL2
		return r
	}
	r.flags = meta.L2
	if seg[0]&1 == 1 {
		r.flags |= meta.EthMcast
		if string(seg[:6]) == "\xff\xff\xff\xff\xff\xff" {
			r.flags |= meta.EthBcast
		}
	}
	if total > 1518 {
		r.flags |= meta.Jumbo
	}
	typ := binary.BigEndian.Uint16(seg[12:])
	rest, left := seg[14:], total-14 // bytes here, bytes of the frame
	step := func(n int) { rest, left = rest[n:], left-n }
	for tags := 0; tags < 2; tags++ {
		if typ != 0x8100 && typ != 0x88a8 && typ != 0x9100 {
			break
		}
		if len(rest) < 4 {
			r.flags |= meta.ErrL2
			return r
		}
		r.flags |= []meta.Flags{meta.VLAN, meta.QinQ}[tags]
		typ = binary.BigEndian.Uint16(rest[2:])
		step(4)
	}
	if typ < 1501 {
		if int(typ) > left {
			r.flags |= meta.ErrL2
			return r
		}
		if typ >= 8 && len(rest) >= 8 && string(rest[:6]) == "\xaa\xaa\x03\x00\x00\x00" {
			typ = binary.BigEndian.Uint16(rest[6:])
			step(8)
		} else {
			typ = 0
		}
	}
	here := func() uint16 { return uint16(len(seg) - len(rest)) }
	if layer == meta.LayerL2 {
		r.l3 = here()
		return r
	}
	var proto uint8
	first := true
	switch typ {
	case 0x0806:
		r.flags |= meta.ARP
		if len(rest) < 8 || len(rest) < 8+2*int(rest[4])+2*int(rest[5]) {
			r.flags |= meta.ErrL3
			return r
		}
		r.flags |= meta.L3
		r.l3 = here()
		return r
	case 0x0800:
		r.flags |= meta.IPv4
		if len(rest) < 20 {
			r.flags |= meta.ErrL3
			return r
		}
		r.flags |= meta.L3
		r.l3 = here()
		size, length := int(rest[0]&15)*4, int(binary.BigEndian.Uint16(rest[2:]))
		if rest[0]>>4 != 4 || size < 20 || size > len(rest) || length < size || length > left {
			r.flags |= meta.ErrL3
			return r
		}
		if size != 20 {
			r.flags |= meta.IPOpt
		}
		offset, more := int(rest[6]&0x1f)<<8|int(rest[7]), rest[6]&0x20 != 0
		if offset != 0 || more {
			r.flags |= meta.IPFrag
		}
		first = offset == 0
		if rest[16]&0xf0 == 0xe0 {
			r.flags |= meta.IPMcast
		}
		if string(rest[16:20]) == "\xff\xff\xff\xff" {
			r.flags |= meta.IPBcast
		}
		proto = rest[9]
		rest, left = rest[:min(len(rest), length)], length
		base := here
		tail := len(seg) - int(r.l3) - len(rest)
		here = func() uint16 { return base() - uint16(tail) }
		step(size)
	case 0x86dd:
		r.flags |= meta.IPv6
		if len(rest) < 40 {
			r.flags |= meta.ErrL3
			return r
		}
		r.flags |= meta.L3
		r.l3 = here()
		length := 40 + int(binary.BigEndian.Uint16(rest[4:]))
		if rest[0]>>4 != 6 || length > left {
			r.flags |= meta.ErrL3
			return r
		}
		if rest[24] == 0xff {
			r.flags |= meta.IPMcast
		}
		proto = rest[6]
		rest, left = rest[:min(len(rest), length)], length
		base := here
		tail := len(seg) - int(r.l3) - len(rest)
		here = func() uint16 { return base() - uint16(tail) }
		step(40)
		for i := 0; first && (proto == 0 || proto == 43 || proto == 44 || proto == 60); i++ {
			if i == 8 || len(rest) < 8 || proto != 44 && len(rest) < 8+8*int(rest[1]) {
				if i < 8 && len(rest) >= 8 {
					r.flags |= meta.IPOpt
				}
				r.flags |= meta.ErrL3
				return r
			}
			r.flags |= meta.IPOpt
			was := proto
			proto = rest[0]
			if was != 44 {
				step(8 + 8*int(rest[1]))
				continue
			}
			offset, more := int(rest[2])<<5|int(rest[3])>>3, rest[3]&1 != 0
			if offset != 0 || more {
				r.flags |= meta.IPFrag
			}
			first = offset == 0
			step(8)
		}
	default:
		return r
	}
	if layer == meta.LayerL3 {
		if first {
			r.l4 = here()
		}
		return r
	}
	flag := map[uint8]meta.Flags{1: meta.ICMP, 58: meta.ICMP, 6: meta.TCP, 17: meta.UDP, 50: meta.IPsec, 51: meta.IPsec, 132: meta.SCTP}[proto]
	need, known := map[uint8]int{1: 8, 58: 4, 6: 20, 17: 8, 50: 8, 51: 12, 132: 12, 4: 20}[proto]
	r.flags |= flag
	if !known || !first {
		return r
	}
	if len(rest) < need {
		r.flags |= meta.ErrL4
		return r
	}
	r.flags |= meta.L4
	r.l4 = here()
	switch proto {
	case 17:
		length := int(binary.BigEndian.Uint16(rest[4:]))
		if length < 8 || r.flags&meta.IPFrag == 0 && length > left {
			r.flags |= meta.ErrL4
		}
	case 6:
		if size := int(rest[12]>>4) * 4; size < 20 || size > left {
			r.flags |= meta.ErrL4
		}
	}
	return r
}
