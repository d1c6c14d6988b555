// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/lookup"
	"github.com/odp-go/godp/odp"
)

// maxBurst is the largest -rx-burst.
const maxBurst = 256

// The reasons for which a packet goes nowhere: a hop behind those of the ports.
const (
	dropNoRoute = iota
	dropShort   // too short for its headers
	dropVersion // version or header length
	dropLength  // length in the header against the frame's
	dropChecksum
	dropTTL
	dropType // neither IPv4 nor IPv6
	numDrops
)

var dropNames = [numDrops]string{"no_route", "short", "version", "length", "checksum", "ttl", "ether_type"}

const (
	ethLen   = 14
	typeIPv4 = 0x0008 // as it is read, little-endian
	typeIPv6 = 0xdd86
)

// hop is what is written over a packet and where it goes: for one input, by the
// answer of the route table. The last numDrops of a list lead nowhere.
type hop struct {
	macs [12]byte // destination, source
	out  uint16   // output, or outputs + reason
	_    uint16
}

// burst is the state of one burst between its stages. The arrays of each family are
// dense: at4[j] is which packet addr4[j] belongs to.
type burst struct {
	addr4 [maxBurst]uint32
	hop4  [maxBurst]uint16
	at4   [maxBurst]uint16
	addr6 [maxBurst]lookup.Addr6
	hop6  [maxBurst]uint32
	at6   [maxBurst]uint16
	n4    int
	n6    int
	out   [maxBurst + 8]uint16 // by packet; the run mask reads 8 bytes past the end
	diff  uint16               // not 0: more than one output
}

func load16(p unsafe.Pointer, off uintptr) uint16 { return *(*uint16)(unsafe.Add(p, off)) }
func load32(p unsafe.Pointer, off uintptr) uint32 { return *(*uint32)(unsafe.Add(p, off)) }
func load64(p unsafe.Pointer, off uintptr) uint64 { return *(*uint64)(unsafe.Add(p, off)) }
func byteAt(p unsafe.Pointer, off uintptr) byte   { return *(*byte)(unsafe.Add(p, off)) }

// check4 is the IPv4 part of RFC 1812, 5.2.2 and 5.3.1, for a packet whose first
// segment holds n bytes at p: 0 = good, else a reason.
func check4(p unsafe.Pointer, n, total uint32) int {
	if n < ethLen+20 {
		return dropShort
	}
	first := byteAt(p, ethLen)
	length := uint32(bits.ReverseBytes16(load16(p, ethLen+2)))
	if first == 0x45 {
		if length < 20 || length > total-ethLen {
			return dropLength
		}
		if !sum20(p) {
			return dropChecksum
		}
	} else if r := options4(p, first, n, length, total); r != 0 {
		return r
	}
	if byteAt(p, ethLen+8) <= 1 {
		return dropTTL
	}
	return 0
}

// options4 checks a header that is not 20 bytes of version 4.
func options4(p unsafe.Pointer, first byte, n, length, total uint32) int {
	ihl := uint32(first&15) * 4
	switch {
	case first>>4 != 4 || ihl < 20:
		return dropVersion
	case n < ethLen+ihl:
		return dropShort
	case length < ihl || length > total-ethLen:
		return dropLength
	case !header.IPv4HeaderOK(unsafe.Add(p, ethLen)):
		return dropChecksum
	}
	return 0
}

// sum20 reports whether the ones' complement sum of a header of 20 bytes is right: a
// multiple of 0xffff. It is not 0, since the header's first byte is not.
func sum20(p unsafe.Pointer) bool {
	a, c := bits.Add64(load64(p, ethLen), load64(p, ethLen+8), 0)
	a, c = bits.Add64(a, uint64(load32(p, ethLen+16)), c)
	return (a+c)%0xffff == 0
}

// check6 is the IPv6 part: version, length, hop limit.
func check6(p unsafe.Pointer, n, total uint32) int {
	switch {
	case n < ethLen+40:
		return dropShort
	case byteAt(p, ethLen)>>4 != 6:
		return dropVersion
	case uint32(bits.ReverseBytes16(load16(p, ethLen+4)))+40 > total-ethLen:
		return dropLength
	case byteAt(p, ethLen+7) <= 1:
		return dropTTL
	}
	return 0
}

// loose4 is what DPDK's l3fwd asks of an IPv4 header: version, header length of at
// least 20 and total length of at least 20.
func loose4(p unsafe.Pointer, n uint32) int {
	switch {
	case n < ethLen+20:
		return dropShort
	case byteAt(p, ethLen)-0x45 > 0x4f-0x45:
		return dropVersion
	case bits.ReverseBytes16(load16(p, ethLen+2)) < 20:
		return dropLength
	}
	return 0
}

// strict is the first stage with -check=rfc1812: for each packet its family, the
// checks, and its destination address. fail is the hop of the first reason.
func (b *burst) strict(pkts []*odp.Packet, fail uint16) {
	n4, n6 := 0, 0
	for i, k := range pkts {
		p, n, total := k.DataPtr(), uint32(k.SegLen()), uint32(k.Len())
		r := dropShort
		if n >= ethLen {
			switch load16(p, 12) {
			case typeIPv4:
				if r = check4(p, n, total); r == 0 {
					b.addr4[n4&(maxBurst-1)] = bits.ReverseBytes32(load32(p, ethLen+16))
					b.at4[n4&(maxBurst-1)] = uint16(i)
					n4++
					continue
				}
			case typeIPv6:
				if r = check6(p, n, total); r == 0 {
					b.addr6[n6&(maxBurst-1)] = lookup.Addr6{Hi: bits.ReverseBytes64(load64(p, ethLen+24)), Lo: bits.ReverseBytes64(load64(p, ethLen+32))}
					b.at6[n6&(maxBurst-1)] = uint16(i)
					n6++
					continue
				}
			default:
				r = dropType
			}
		}
		b.out[i] = fail + uint16(r)
	}
	b.n4, b.n6 = n4, n6
}

// loose is the first stage with -check=dpdk.
func (b *burst) loose(pkts []*odp.Packet, fail uint16) {
	n4, n6 := 0, 0
	for i, k := range pkts {
		p, n := k.DataPtr(), uint32(k.SegLen())
		r := dropShort
		if n >= ethLen {
			switch load16(p, 12) {
			case typeIPv4:
				if r = loose4(p, n); r == 0 {
					b.addr4[n4&(maxBurst-1)] = bits.ReverseBytes32(load32(p, ethLen+16))
					b.at4[n4&(maxBurst-1)] = uint16(i)
					n4++
					continue
				}
			case typeIPv6:
				if n >= ethLen+40 {
					b.addr6[n6&(maxBurst-1)] = lookup.Addr6{Hi: bits.ReverseBytes64(load64(p, ethLen+24)), Lo: bits.ReverseBytes64(load64(p, ethLen+32))}
					b.at6[n6&(maxBurst-1)] = uint16(i)
					n6++
					continue
				}
			default:
				r = dropType
			}
		}
		b.out[i] = fail + uint16(r)
	}
	b.n4, b.n6 = n4, n6
}

// setMACs writes both addresses: 8 and 4 bytes.
func setMACs(p unsafe.Pointer, h *hop) {
	*(*uint64)(p) = binary.LittleEndian.Uint64(h.macs[:8])
	*(*uint32)(unsafe.Add(p, 8)) = binary.LittleEndian.Uint32(h.macs[8:])
}

// ttl4 takes one off the TTL and adds its weight to the checksum, with the carry
// (RFC 1141 as corrected by 1624).
func ttl4(p unsafe.Pointer) {
	*(*byte)(unsafe.Add(p, ethLen+8))--
	s := uint32(load16(p, ethLen+10)) + 1
	*(*uint16)(unsafe.Add(p, ethLen+10)) = uint16(s + s>>16)
}

// rewrite is the third stage: addresses, TTL and checksum of each packet that has a
// route, and where it goes.
func (b *burst) rewrite(pkts []*odp.Packet, hops []hop, dec6 byte) {
	n4, n6 := b.n4, b.n6
	diff := uint16(0)
	if n4 == len(pkts) { // all IPv4: no indirection
		ref := hops[b.hop4[0]].out
		for i, k := range pkts {
			h := &hops[b.hop4[i&(maxBurst-1)]]
			p := k.DataPtr()
			setMACs(p, h)
			ttl4(p)
			b.out[i&(maxBurst-1)] = h.out
			diff |= h.out ^ ref
		}
		b.diff = diff
		return
	}
	for j := range n4 {
		i := b.at4[j&(maxBurst-1)]
		h := &hops[b.hop4[j&(maxBurst-1)]]
		p := pkts[i].DataPtr()
		setMACs(p, h)
		ttl4(p)
		b.out[i] = h.out
	}
	for j := range n6 {
		i := b.at6[j&(maxBurst-1)]
		h := &hops[b.hop6[j&(maxBurst-1)]]
		p := pkts[i].DataPtr()
		setMACs(p, h)
		*(*byte)(unsafe.Add(p, ethLen+7)) -= dec6
		b.out[i] = h.out
	}
	ref := b.out[0]
	for _, o := range b.out[:len(pkts)] {
		diff |= o ^ ref
	}
	b.diff = diff
}
