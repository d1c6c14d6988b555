// SPDX-License-Identifier: Apache-2.0

package header

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Partial is an unfinished ones' complement sum (RFC 1071) of 16 bit words in
// network order. Sums of parts are added with Add and Plus; every part but the last
// must have an even length. The zero value is the sum of nothing.
type Partial uint64

// Sum16 returns the ones' complement sum of b, an odd last byte padded with a
// zero byte (ODP's odp_chksum_ones_comp16, in host order). 0xffff when b holds
// its own right checksum.
func Sum16(b []byte) uint16 { return Partial(0).Add(b).Sum16() }

// Checksum returns the Internet checksum of b: the complement of Sum16.
func Checksum(b []byte) uint16 { return ^Sum16(b) }

// Add adds the words of b.
func (s Partial) Add(b []byte) Partial {
	return s.addAt(unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b)))
}

// addAt is Add for n bytes at p. The sum is taken over little-endian words of 64
// bits, whose ones' complement sum folds to the byte-swapped sum of 16 bit words
// (RFC 1071 section 2 B).
func (s Partial) addAt(p unsafe.Pointer, n uint32) Partial {
	var a, c uint64
	i := uint32(0)
	for ; n-i >= 32; i += 32 {
		a, c = bits.Add64(a, le64(p, i), c)
		a, c = bits.Add64(a, le64(p, i+8), c)
		a, c = bits.Add64(a, le64(p, i+16), c)
		a, c = bits.Add64(a, le64(p, i+24), c)
	}
	for ; n-i >= 8; i += 8 {
		a, c = bits.Add64(a, le64(p, i), c)
	}
	if n-i >= 4 {
		a, c = bits.Add64(a, uint64(le32(p, i)), c)
		i += 4
	}
	if i < n { // 1 to 3 bytes, as the low bytes of a word
		w := uint64(u8(p, i))
		if n-i >= 2 {
			w |= uint64(u8(p, i+1)) << 8
		}
		if n-i == 3 {
			w |= uint64(u8(p, i+2)) << 16
		}
		a, c = bits.Add64(a, w, c)
	}
	a, c = bits.Add64(a, 0, c)
	return s + Partial(bits.ReverseBytes16(fold(a+c)))
}

// Plus adds one 16 bit word.
func (s Partial) Plus(w uint16) Partial { return s + Partial(w) }

// Sum16 folds the sum to 16 bits.
func (s Partial) Sum16() uint16 { return fold(uint64(s)) }

// Checksum folds and complements the sum.
func (s Partial) Checksum() uint16 { return ^fold(uint64(s)) }

func fold(v uint64) uint16 {
	v = v>>32 + v&0xffffffff
	v = v>>16&0xffff + v&0xffff + v>>32
	v = v>>16 + v&0xffff
	return uint16(v>>16 + v)
}

// IPv4HeaderOK reports whether the checksum of the IPv4 header at p is right. The
// caller has checked that the header with its options is there.
func IPv4HeaderOK(p unsafe.Pointer) bool {
	if u8(p, 0)&0xf != 5 {
		return Partial(0).addAt(p, uint32(u8(p, 0)&0xf)*4).Sum16() == 0xffff
	}
	a, c := bits.Add64(le64(p, 0), le64(p, 8), 0)
	a, c = bits.Add64(a, uint64(le32(p, 16)), c)
	return fold(a+c) == 0xffff
}

// Update16 returns the checksum of data in which one aligned 16 bit word changed
// from old to now: RFC 1624 equation 3, which is right where the older formulas give
// 0xffff for 0. For UDP use UpdateUDP.
func Update16(checksum, old, now uint16) uint16 {
	s := uint32(^checksum) + uint32(^old) + uint32(now)
	s = s>>16 + s&0xffff
	return ^uint16(s>>16 + s)
}

// Update32 is Update16 for an aligned 32 bit word: an IPv4 address.
func Update32(checksum uint16, old, now uint32) uint16 {
	return Update16(Update16(checksum, uint16(old>>16), uint16(now>>16)), uint16(old), uint16(now))
}

// UpdateUDP is Update16 for a UDP checksum: 0 means that there is none and stays,
// and a computed 0 is written as 0xffff.
func UpdateUDP(checksum, old, now uint16) uint16 {
	if checksum == 0 {
		return 0
	}
	return noZero(Update16(checksum, old, now))
}

// noZero gives a UDP checksum of 0 its other form.
func noZero(c uint16) uint16 {
	if c == 0 {
		return 0xffff
	}
	return c
}

// PseudoIPv4 is the sum of the pseudo header of TCP and UDP over IPv4; addresses
// in network order, length of header and data.
func PseudoIPv4(src, dst [4]byte, proto uint8, length int) Partial {
	s, d := binary.BigEndian.Uint32(src[:]), binary.BigEndian.Uint32(dst[:])
	return Partial(s>>16+s&0xffff) + Partial(d>>16+d&0xffff) + Partial(proto) + Partial(uint16(length))
}

// PseudoIPv6 is the sum of the pseudo header over IPv6 (RFC 8200 section 8.1). With
// a routing header dst is the final destination.
func PseudoIPv6(src, dst *[16]byte, proto uint8, length int) Partial {
	return Partial(0).Add(src[:]).Add(dst[:]) + Partial(proto) + Partial(uint32(length)>>16) + Partial(uint16(length))
}

func le64(p unsafe.Pointer, off uint32) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, off))[:])
}

func le32(p unsafe.Pointer, off uint32) uint32 {
	return binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(p, off))[:])
}
