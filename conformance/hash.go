// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/odp-go/godp/header"
)

// Hashes and checksums. The vectors are the published check values of the
// polynomials: the CRC of the digits 1 to 9, and those of RFC 3720.

func init() {
	register("HASH",
		Case{"HASH-01", "CRC32C gives the published values.", nil, hashCRC32C},
		Case{"HASH-02", "CRC32 gives the published values.", nil, hashCRC32},
		Case{"HASH-03", "A frame with its check sequence behind has the constant residue.", nil, func(e *Env) { hashFCS(e, 0) }},
		Case{"HASH-04", "A frame at an odd address has the same check sequence as anywhere else.", nil, func(e *Env) { hashFCS(e, 1) }},
		Case{"HASH-05", "The generic CRC gives the published values of width 32 and 64.", nil, func(e *Env) { hashGeneric(e, crcs[:4]) }},
		Case{"HASH-06", "The generic CRC gives the published values of width 24.", nil, func(e *Env) { hashGeneric(e, crcs[4:6]) }},
		Case{"HASH-07", "The generic CRC gives the published values of width 16.", nil, func(e *Env) { hashGeneric(e, crcs[6:]) }},
	)
	register("CHK",
		Case{"CHK-01", "The sum of a valid IPv4 header is all ones.", nil, chkIPv4},
		Case{"CHK-02", "A UDP checksum with its pseudo header verifies, and not after any bit changed.", nil, chkUDP},
		Case{"CHK-03", "The sum of a long UDP payload has its known value.", nil, chkLongUDP},
		Case{"CHK-04", "Random bytes of all small lengths at all alignments have the sum that RFC 1071 defines.", nil, chkSmall},
		Case{"CHK-05", "Very long buffers have the sum that RFC 1071 defines.", nil, chkLong},
	)
}

var digits = []byte("123456789")

func hashCRC32C(e *Env) {
	zeroes, ones, up := make([]byte, 32), make([]byte, 32), make([]byte, 32)
	for i := range up {
		ones[i], up[i] = 0xff, byte(i)
	}
	for _, c := range []struct {
		b    []byte
		want uint32
	}{{digits, 0xe3069283}, {zeroes, 0x8a9136aa}, {ones, 0x62a8ab43}, {up, 0x46dd794e}, {nil, 0}} {
		got := ^header.CRC32C(c.b, 0xffffffff)
		e.Check(got == c.want, "CRC32C of % x is %#x, want %#x", c.b, got, c.want)
		half := header.CRC32C(c.b[len(c.b)/2:], header.CRC32C(c.b[:len(c.b)/2], 0xffffffff))
		e.Check(^half == c.want, "CRC32C of % x in two parts is %#x, want %#x", c.b, ^half, c.want)
	}
}

func hashCRC32(e *Env) {
	for _, c := range []struct {
		b    []byte
		want uint32
	}{{digits, 0xcbf43926}, {make([]byte, 32), 0x190a55ad}, {[]byte("a"), 0xe8b7be43}, {nil, 0}} {
		got := ^header.CRC32(c.b, 0xffffffff)
		e.Check(got == c.want, "CRC32 of % x is %#x, want %#x", c.b, got, c.want)
	}
	e.Check(header.FCS(digits) == 0xcbf43926, "FCS of the digits is %#x", header.FCS(digits))
}

func hashFCS(e *Env, shift int) {
	for _, n := range []int{60, 61, 64, 127, 1514} {
		room := make([]byte, n+4+shift)
		f := room[shift : shift+n]
		copy(f, count(n, n))
		binary.LittleEndian.PutUint32(room[shift+n:], header.FCS(f))
		whole := room[shift : shift+n+4]
		e.Check(header.FCS(whole) == 0x2144df1c, "%d bytes: residue %#x, want 0x2144df1c", n, header.FCS(whole))
		e.Check(header.FCS(f) == header.FCS(append([]byte(nil), f...)), "%d bytes: the value depends on the address", n)
	}
}

// crcs are published check values: the CRC of the digits.
var crcs = []struct {
	name  string
	p     header.CRCParams
	init  uint64
	check uint64
}{
	{"32", header.CRCParams{Width: 32, Poly: 0x04c11db7, ReflectIn: true, ReflectOut: true, XorOut: 0xffffffff}, 0xffffffff, 0xcbf43926},
	{"32/bzip2", header.CRCParams{Width: 32, Poly: 0x04c11db7, XorOut: 0xffffffff}, 0xffffffff, 0xfc891918},
	{"64/ecma", header.CRCParams{Width: 64, Poly: 0x42f0e1eba9ea3693}, 0, 0x6c40df5f0b497347},
	{"64/xz", header.CRCParams{Width: 64, Poly: 0x42f0e1eba9ea3693, ReflectIn: true, ReflectOut: true, XorOut: ^uint64(0)}, ^uint64(0), 0x995dc9bbdf1939fa},
	{"24/openpgp", header.CRCParams{Width: 24, Poly: 0x864cfb}, 0xb704ce, 0x21cf02},
	{"24/flexray-a", header.CRCParams{Width: 24, Poly: 0x5d6dcb}, 0xfedcba, 0x7979bd},
	{"16/ccitt", header.CRCParams{Width: 16, Poly: 0x1021}, 0xffff, 0x29b1},
	{"16/arc", header.CRCParams{Width: 16, Poly: 0x8005, ReflectIn: true, ReflectOut: true}, 0, 0xbb3d},
	{"16/x-25", header.CRCParams{Width: 16, Poly: 0x1021, ReflectIn: true, ReflectOut: true, XorOut: 0xffff}, 0xffff, 0x906e},
}

func hashGeneric(e *Env, list []struct {
	name  string
	p     header.CRCParams
	init  uint64
	check uint64
}) {
	for _, c := range list {
		g, err := header.NewCRC(c.p)
		e.NoError(err, "NewCRC")
		got := g.Sum(digits, c.init)
		e.Check(got == c.check, "CRC %s of the digits is %#x, want %#x", c.name, got, c.check)
	}
	_, err := header.NewCRC(header.CRCParams{Width: 65})
	e.Check(err != nil, "a width of 65 was accepted")
}

// reference is RFC 1071's definition: big endian words, an odd byte padded with
// zero, carries added at the end.
func reference(b []byte) uint16 {
	var s uint64
	for i, v := range b {
		if i&1 == 0 {
			s += uint64(v) << 8
		} else {
			s += uint64(v)
		}
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

func chkIPv4(e *Env) {
	h := header.IPv4{0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7}
	e.Check(header.Sum16(h) == 0xffff && header.Checksum(h) == 0 && h.ChecksumOK(), "sum %#x, complement %#x", header.Sum16(h), header.Checksum(h))
	h.SetChecksum(0)
	e.Check(!h.ChecksumOK(), "a checksum of 0 is called right")
	h.UpdateChecksum()
	e.Check(h.Checksum() == 0xb861, "checksum %#x, want 0xb861", h.Checksum())
	h.DecTTL()
	e.Check(h.ChecksumOK() && h.TTL() == 0x3f, "TTL %#x, checksum right %v", h.TTL(), h.ChecksumOK())
}

func chkUDP(e *Env) {
	for _, n := range []int{0, 1, 2, 31, 100} {
		b := header.IPv4(ipv4Of(header.IPv4Fields{Protocol: header.ProtoUDP, Dst: [4]byte{10, 1, 2, 3}}, nil, udpOf(count(3, n))))
		u, pseudo := header.UDP(b.Payload()), b.Pseudo(len(b.Payload()))
		flat := join(b[12:20], []byte{0, header.ProtoUDP, byte(len(u) >> 8), byte(len(u))}, u)
		e.Check(reference(flat) == 0xffff && u.ChecksumOK(pseudo), "%d bytes: reference sum %#x, verified %v", n, reference(flat), u.ChecksumOK(pseudo))
		for i := range len(u) * 8 {
			u[i/8] ^= 1 << (i % 8)
			if u.IsValid() && u.Checksum() != 0 && u.ChecksumOK(pseudo) { // 0 = none was sent
				e.Errorf("%d bytes: bit %d changed, and the checksum is called right", n, i)
			}
			u[i/8] ^= 1 << (i % 8)
		}
	}
}

// udpOf makes a datagram with this payload.
func udpOf(pay []byte) []byte {
	b := make(header.UDP, header.UDPLen+len(pay))
	b.Encode(1000, 2000)
	copy(b[header.UDPLen:], pay)
	return b
}

func chkLongUDP(e *Env) {
	b := make([]byte, 1400)
	for i := range b {
		b[i] = 1
	}
	// 700 words of 0x0101 are 0x2bebc: with the carry added 0xbebe
	e.Check(header.Sum16(b) == 0xbebe, "sum %#x, want 0xbebe", header.Sum16(b))
	e.Check(header.Checksum(b) == 0x4141, "checksum %#x, want 0x4141", header.Checksum(b))
	e.Check(header.Sum16(append(b, 1)) == 0xbfbe, "with an odd byte: sum %#x, want 0xbfbe", header.Sum16(append(b, 1)))
}

func chkSmall(e *Env) {
	r := rand.New(rand.NewPCG(1, 2))
	room := make([]byte, 400)
	for i := range room {
		room[i] = byte(r.Uint32())
	}
	for n := range 300 {
		for at := range 16 {
			b := room[at : at+n]
			if header.Sum16(b) != reference(b) {
				e.Fatalf("%d bytes at alignment %d: sum %#x, want %#x", n, at, header.Sum16(b), reference(b))
			}
		}
	}
}

func chkLong(e *Env) {
	n := 16 << 20
	if e.Short() {
		n = 2 << 20
	}
	b := make([]byte, n+1)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	e.Check(header.Sum16(b) == reference(b), "%d random bytes: sum %#x, want %#x", n+1, header.Sum16(b), reference(b))
	for i := range b {
		b[i] = 0xff // every carry there is
	}
	e.Check(header.Sum16(b[:n]) == 0xffff && header.Sum16(b) == reference(b), "%d bytes of ones: sum %#x", n, header.Sum16(b[:n]))
}
