// SPDX-License-Identifier: Apache-2.0

package header

import (
	"encoding/binary"
	"slices"
)

// Building blocks of test frames.

func cat(parts ...[]byte) []byte { return slices.Concat(parts...) }

func word16(v int) []byte { return []byte{byte(v >> 8), byte(v)} }

var (
	uniMAC   = []byte{2, 0, 0, 0, 0, 1}
	srcMAC   = []byte{2, 0, 0, 0, 0, 2}
	bcastMAC = []byte{255, 255, 255, 255, 255, 255}
	mcastMAC = []byte{1, 0, 0x5e, 0, 0, 1}
	addr4    = []byte{10, 0, 0, 1}
	addr6    = []byte{0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
)

func eth(dst []byte, typ int, payload []byte) []byte {
	return cat(dst, srcMAC, word16(typ), payload)
}

func tag(vid, typ int, payload []byte) []byte { return cat(word16(vid), word16(typ), payload) }

// ip4 makes an IPv4 header with options and the fragment word, and its payload.
func ip4(proto byte, dst, opt []byte, frag int, payload []byte) []byte {
	h := cat([]byte{0x45 + byte(len(opt)/4), 0}, word16(20+len(opt)+len(payload)), word16(7), word16(frag),
		[]byte{64, proto, 0, 0, 192, 168, 0, 1}, dst, opt)
	var sum uint32
	for i := 0; i < len(h); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(h[i:]))
	}
	sum = sum&0xffff + sum>>16
	binary.BigEndian.PutUint16(h[10:], ^uint16(sum&0xffff+sum>>16))
	return cat(h, payload)
}

func ip6(next byte, dst []byte, payload []byte) []byte {
	return cat([]byte{0x60, 0, 0, 0}, word16(len(payload)), []byte{next, 64}, addr6, dst, payload)
}

// ext is an IPv6 extension header of 8 + 8*extra bytes.
func ext(next byte, extra int, payload []byte) []byte {
	return cat([]byte{next, byte(extra)}, make([]byte, 6+8*extra), payload)
}

func frag6(next byte, word int, payload []byte) []byte {
	return cat([]byte{next, 0}, word16(word), []byte{1, 2, 3, 4}, payload)
}

func udp(payload []byte) []byte {
	return cat(word16(1024), word16(53), word16(8+len(payload)), word16(0), payload)
}

func tcp(payload []byte) []byte {
	return cat(word16(1024), word16(80), make([]byte, 8), []byte{0x50, 0x10}, make([]byte, 6), payload)
}

func arp() []byte {
	return cat(word16(1), word16(0x800), []byte{6, 4}, word16(1), srcMAC, addr4, make([]byte, 6), addr4)
}

func set(b []byte, off int, v ...byte) []byte {
	b = slices.Clone(b)
	copy(b[off:], v)
	return b
}
