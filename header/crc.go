// SPDX-License-Identifier: Apache-2.0

package header

import (
	"fmt"
	"hash/crc32"
	"math/bits"
)

// CRC32 continues the CRC with polynomial 0x04c11db7 (reflected, as Ethernet uses
// it) over b from init, without a final inversion (ODP's odp_hash_crc32). The usual
// checksum is ^CRC32(b, 0xffffffff).
func CRC32(b []byte, init uint32) uint32 { return ^crc32.Update(^init, crc32.IEEETable, b) }

// CRC32C is CRC32 with the Castagnoli polynomial 0x1edc6f41 (ODP's
// odp_hash_crc32c): one instruction per 8 bytes on most processors.
func CRC32C(b []byte, init uint32) uint32 { return ^crc32.Update(^init, castagnoli, b) }

// FCS returns the frame check sequence of an Ethernet frame; it is sent least
// significant byte first.
func FCS(frame []byte) uint32 { return crc32.ChecksumIEEE(frame) }

// CRCParams describe a CRC in the Rocksoft model: polynomial and final value
// without reflection, the width in bits.
type CRCParams struct {
	Width                 int // 1 to 64
	Poly                  uint64
	ReflectIn, ReflectOut bool
	XorOut                uint64
}

// CRC is a generic CRC (ODP's odp_hash_crc_gen64). It is read-only after NewCRC and may
// be shared.
type CRC struct {
	p     CRCParams
	shift uint // the register is kept at the top of 64 bits
	table [256]uint64
}

// NewCRC makes the table of a CRC. The error names the field and the values allowed.
func NewCRC(p CRCParams) (*CRC, error) {
	if p.Width < 1 || p.Width > 64 {
		return nil, fmt.Errorf("header: CRC width %d: allowed 1 to 64", p.Width)
	}
	if limit := ^uint64(0) >> (64 - p.Width); p.Poly > limit || p.XorOut > limit {
		return nil, fmt.Errorf("header: CRC polynomial %#x, xor %#x: allowed %d bits", p.Poly, p.XorOut, p.Width)
	}
	c := &CRC{p: p, shift: uint(64 - p.Width)}
	poly := p.Poly << c.shift
	for i := range c.table {
		r := uint64(i) << 56
		for range 8 {
			top := r >> 63
			r = r<<1 ^ -top&poly
		}
		c.table[i] = r
	}
	return c, nil
}

// Sum returns the CRC of b from init.
func (c *CRC) Sum(b []byte, init uint64) uint64 {
	r := init << c.shift
	if c.p.ReflectIn {
		for _, v := range b {
			r = r<<8 ^ c.table[byte(r>>56)^bits.Reverse8(v)]
		}
	} else {
		for _, v := range b {
			r = r<<8 ^ c.table[byte(r>>56)^v]
		}
	}
	if c.p.ReflectOut {
		r = bits.Reverse64(r)
	} else {
		r >>= c.shift
	}
	return r ^ c.p.XorOut
}
