// SPDX-License-Identifier: Apache-2.0

package header

import (
	"encoding/binary"
	"hash/crc32"
	"unsafe"

	"github.com/odp-go/godp/internal/meta"
)

// Verify checks the checksums of a frame that Parse was given and answered with flags,
// l3 and l4, and returns flags with the outcome: L3Checked for IPv4, L4Checked
// for TCP, UDP, ICMP and SCTP, each with its OK bit, or with its error bit when the
// checksum is wrong. The n bytes at p must be the whole frame (one segment).
//
// Not checked: what Parse found an error in, layer 4 of fragments, TCP and UDP
// behind an IPv6 routing header. A UDP checksum of 0 is right over IPv4 and wrong over IPv6.
func Verify(p unsafe.Pointer, n uint32, flags meta.Flags, l3, l4 uint16) meta.Flags {
	if flags&meta.Err != 0 || flags&meta.L3 == 0 {
		return flags
	}
	if flags&meta.IPv4 != 0 {
		flags |= meta.L3Checked
		if IPv4HeaderOK(unsafe.Add(p, l3)) {
			flags |= meta.L3OK
		} else {
			flags |= meta.ErrL3
		}
	}
	ok, checked := l4Right(p, n, flags, l3, l4)
	if checked {
		flags |= meta.L4Checked
		if ok {
			flags |= meta.L4OK
		} else {
			flags |= meta.ErrL4
		}
	}
	return flags
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func l4Right(p unsafe.Pointer, n uint32, flags meta.Flags, l3, l4 uint16) (ok, checked bool) {
	if flags&meta.L4 == 0 || flags&(meta.IPFrag|meta.IPsec) != 0 {
		return false, false
	}
	pseudo, length := pseudoAt(p, flags, l3, l4)
	if uint32(l4)+length > n {
		return false, false
	}
	at := unsafe.Add(p, l4)
	v6opt := flags&(meta.IPv6|meta.IPOpt) == meta.IPv6|meta.IPOpt
	switch {
	case flags&meta.SCTP != 0:
		return sctpSum(at, length) == le32(at, 8), true
	case flags&meta.ICMP != 0:
		if flags&meta.IPv4 != 0 {
			pseudo = 0
		} else {
			pseudo += ProtoICMPv6
		}
	case flags&meta.UDP != 0:
		if v6opt {
			return false, false
		}
		if be16(at, 6) == 0 {
			return flags&meta.IPv4 != 0, true
		}
		// the UDP length is the one that counts; Parse has checked it
		udp := uint32(be16(at, 4))
		pseudo += ProtoUDP + Partial(udp) - Partial(length)
		length = udp
	case flags&meta.TCP != 0:
		if v6opt {
			return false, false
		}
		pseudo += ProtoTCP
	default:
		return false, false
	}
	return pseudo.addAt(at, length).Sum16() == 0xffff, true
}

// pseudoAt sums the pseudo header without its protocol, and returns the length of
// what is behind l4 in the datagram.
func pseudoAt(p unsafe.Pointer, flags meta.Flags, l3, l4 uint16) (s Partial, length uint32) {
	ip := unsafe.Add(p, l3)
	if flags&meta.IPv4 != 0 {
		length = uint32(be16(ip, 2)) - uint32(l4-l3)
		s = Partial(0).addAt(unsafe.Add(ip, 12), 8)
	} else {
		length = uint32(be16(ip, 4)) + 40 - uint32(l4-l3)
		s = Partial(0).addAt(unsafe.Add(ip, 8), 32)
	}
	return s + Partial(length), length
}

// sctpSum is the CRC32c of an SCTP packet with its checksum field taken as 0, in
// the byte order in which a little-endian load reads the field.
func sctpSum(p unsafe.Pointer, n uint32) uint32 {
	b := unsafe.Slice((*byte)(p), n)
	c := crc32.Update(0, castagnoli, b[:8])
	c = crc32.Update(c, castagnoli, zero4[:])
	return crc32.Update(c, castagnoli, b[12:])
}

var zero4 [4]byte

// InsertL3 writes the IPv4 header checksum of a parsed frame; other frames are left alone.
func InsertL3(p unsafe.Pointer, flags meta.Flags, l3 uint16) {
	if flags&(meta.L3|meta.IPv4|meta.ErrL3) != meta.L3|meta.IPv4 {
		return
	}
	ip := unsafe.Add(p, l3)
	put16(ip, 10, 0)
	put16(ip, 10, Partial(0).addAt(ip, uint32(u8(ip, 0)&0xf)*4).Checksum())
}

// InsertL4 writes the TCP, UDP, ICMP or SCTP checksum of a parsed frame; it leaves
// alone what Verify does not check. The n bytes at p must be the whole frame.
func InsertL4(p unsafe.Pointer, n uint32, flags meta.Flags, l3, l4 uint16) {
	if flags&meta.Err != 0 || flags&meta.L4 == 0 || flags&(meta.IPFrag|meta.IPsec) != 0 {
		return
	}
	pseudo, length := pseudoAt(p, flags, l3, l4)
	if uint32(l4)+length > n {
		return
	}
	at := unsafe.Add(p, l4)
	v6opt := flags&(meta.IPv6|meta.IPOpt) == meta.IPv6|meta.IPOpt
	switch {
	case flags&meta.SCTP != 0:
		binary.LittleEndian.PutUint32((*[4]byte)(unsafe.Add(at, 8))[:], sctpSum(at, length))
	case flags&meta.ICMP != 0:
		if flags&meta.IPv4 != 0 {
			pseudo = 0
		} else {
			pseudo += ProtoICMPv6
		}
		put16(at, 2, 0)
		put16(at, 2, pseudo.addAt(at, length).Checksum())
	case flags&meta.UDP != 0 && !v6opt:
		udp := uint32(be16(at, 4))
		put16(at, 6, 0)
		put16(at, 6, noZero((pseudo+ProtoUDP+Partial(udp)-Partial(length)).addAt(at, udp).Checksum()))
	case flags&meta.TCP != 0 && !v6opt:
		put16(at, 16, 0)
		put16(at, 16, (pseudo+ProtoTCP).addAt(at, length).Checksum())
	}
}

func put16(p unsafe.Pointer, off uint32, v uint16) {
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Add(p, off))[:], v)
}
