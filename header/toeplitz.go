// SPDX-License-Identifier: Apache-2.0

package header

import (
	"unsafe"

	"github.com/odp-go/godp/internal/meta"
)

// KeyLen is the length of a Toeplitz key: enough for the addresses and ports of IPv6.
const KeyLen = 40

// MicrosoftKey is the key of the RSS specification's test vectors, which most
// NICs load by default.
var MicrosoftKey = [KeyLen]byte{
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0,
	0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c,
	0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
}

// SymmetricKey gives both directions of a flow the same hash: it repeats every 16
// bits (Woo and Park, "Scalable TCP session monitoring with symmetric receive-side
// scaling", 2012).
var SymmetricKey = func() (k [KeyLen]byte) {
	for i := 0; i < KeyLen; i += 2 {
		k[i], k[i+1] = 0x6d, 0x5a
	}
	return
}()

// flowLen is the longest input: two IPv6 addresses and two ports.
const flowLen = 36

// Toeplitz is the RSS hash with one key, as a table: 256 words for each byte of the
// input. Make it once; it is read-only afterwards and may be shared.
type Toeplitz struct {
	table [flowLen][256]uint32
}

// NewToeplitz makes the tables for a key (36 KiB; IPv4 touches a third).
func NewToeplitz(key *[KeyLen]byte) *Toeplitz {
	t := new(Toeplitz)
	for i := range t.table {
		// the 40 key bits that a byte's eight windows of 32 bits see
		var k uint64
		for j := range 5 {
			k = k<<8 | uint64(key[(i+j)%KeyLen])
		}
		for v := range t.table[i] {
			var h uint32
			for bit := range 8 {
				if v&(0x80>>bit) != 0 {
					h ^= uint32(k >> (8 - bit))
				}
			}
			t.table[i][v] = h
		}
	}
	return t
}

// Sum hashes at most 36 bytes, in network order as the RSS specification lays them
// out: source address, destination address, source port, destination port. What
// is longer is not looked at.
func (t *Toeplitz) Sum(b []byte) (h uint32) {
	for i := range min(len(b), flowLen) {
		h ^= t.table[i][b[i]]
	}
	return h
}

// word hashes four bytes with the tables of their places.
func word(t *[4][256]uint32, v uint32) uint32 {
	return t[0][v>>24] ^ t[1][v>>16&0xff] ^ t[2][v>>8&0xff] ^ t[3][v&0xff]
}

// at returns the tables of the four bytes from i on.
func (t *Toeplitz) at(i uint32) *[4][256]uint32 { return (*[4][256]uint32)(t.table[i : i+4]) }

// Flow hashes a parsed frame as a NIC with this key does, same arguments and
// rules as FlowHash.
func (t *Toeplitz) Flow(p unsafe.Pointer, n uint32, flags meta.Flags, l3, l4 uint16) (h uint32) {
	off, ports := uint32(l3), hasPorts(n, flags, l4)
	switch {
	case flags&(meta.IPv4|meta.L3) == meta.IPv4|meta.L3 && n >= 20 && off <= n-20:
		h = word(t.at(0), be32(p, off+12)) ^ word(t.at(4), be32(p, off+16))
		if ports {
			h ^= word(t.at(8), be32(p, uint32(l4)))
		}
	case flags&(meta.IPv6|meta.L3) == meta.IPv6|meta.L3 && n >= 40 && off <= n-40:
		for i := uint32(0); i < 32; i += 4 {
			h ^= word(t.at(i), be32(p, off+8+i))
		}
		if ports {
			h ^= word(t.at(32), be32(p, uint32(l4)))
		}
	}
	return h
}

// hasPorts reports whether the ports are part of a frame's flow: TCP, UDP or
// SCTP with its header in this frame, not fragmented.
func hasPorts(n uint32, flags meta.Flags, l4 uint16) bool {
	return flags&meta.L4 != 0 && flags&(meta.UDP|meta.TCP|meta.SCTP) != 0 && flags&meta.IPFrag == 0 &&
		n >= 4 && uint32(l4) <= n-4
}
