// SPDX-License-Identifier: Apache-2.0

package header

import (
	"unsafe"

	"github.com/odp-go/godp/internal/meta"
)

// symmetric maps a 16 bit word to its hash under SymmetricKey, as two tables of
// bytes. They hold the hash twice, in both halves.
var symmetric = func() (t [2][256]uint32) {
	const key = uint32(0x6d5a6d5a)
	for v := range 256 {
		for bit := range 8 {
			if v&(0x80>>bit) != 0 {
				t[0][v] ^= key<<bit | key>>(32-bit)
				t[1][v] ^= key<<(bit+8) | key>>(24-bit)
			}
		}
	}
	return
}()

// FlowHash returns the hash that spreads flows over queues: the same value for
// both directions, and for every frame of a flow. p, n, flags, l3 and l4 are what
// Parse was given and returned. The flow of an IPv4 or IPv6 frame is its addresses,
// and its ports where it carries TCP, UDP or SCTP and is no fragment (all fragments of
// a datagram have one hash); other frames have hash 0.
//
// It is exactly Toeplitz.Flow with SymmetricKey, what a NIC with that key computes.
// A key that repeats every 16 bits makes the hash of the input the hash of the
// exclusive or of its 16 bit words, so it takes two look-ups; the upper half of
// the result equals the lower half.
func FlowHash(p unsafe.Pointer, n uint32, flags meta.Flags, l3, l4 uint16) uint32 {
	var w uint32
	off := uint32(l3)
	switch {
	case flags&(meta.IPv4|meta.L3) == meta.IPv4|meta.L3 && n >= 20 && off <= n-20:
		v := be64(p, off+12)
		w = uint32(v>>32) ^ uint32(v)
	case flags&(meta.IPv6|meta.L3) == meta.IPv6|meta.L3 && n >= 40 && off <= n-40:
		v := be64(p, off+8) ^ be64(p, off+16) ^ be64(p, off+24) ^ be64(p, off+32)
		w = uint32(v>>32) ^ uint32(v)
	default:
		return 0
	}
	if hasPorts(n, flags, l4) {
		w ^= be32(p, uint32(l4))
	}
	w ^= w >> 16
	return symmetric[0][w>>8&0xff] ^ symmetric[1][w&0xff]
}
