// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"encoding/binary"
	"net"
	"net/netip"
	"unsafe"
)

// The frame that a source makes: UDP over IPv4, and in its payload what the sink
// needs to find loss, order, duplicates and damage. All words are little-endian.
//
//	 0 dst MAC 6   6 src MAC 6   12 0x0800
//	14 IPv4 header 20 (16 total length, 22 TTL, 24 checksum, 26 src, 30 dst)
//	34 UDP header 8 (ports, length, checksum 0)
//	42 u16 magic   44 u16 source   46 u16 flow
//	48 u64 sequence number in the flow
//	56 u32 check over magic, source, flow, sequence and length
//	60 zero up to 64; from 64 a pattern seeded by the check words
//
// A forwarder may change the MAC addresses, TTL with the header checksum, and the
// UDP checksum; everything else must arrive as it was.
const (
	minFrame   = 60
	frameMagic = 0x6d67
	frameWords = 8
)

const (
	mulA = 0x9e3779b97f4a7c15
	mulB = 0xc2b2ae3d27d4eb4f
)

// check is the word at 56; w5 is the word at 40.
func check(w5, seq uint64, n uint32) uint32 {
	return uint32((seq*mulA ^ (w5>>16 + uint64(n))) * mulB >> 32)
}

// template builds the first eight words of a flow's frames.
func template(t *[frameWords]uint64, s *SourceConfig, id uint16, flow uint32, dst, src net.HardwareAddr, n int) {
	var b [frameWords * 8]byte
	copy(b[0:6], dst)
	copy(b[6:12], src)
	binary.BigEndian.PutUint16(b[12:], 0x0800)
	b[14] = 0x45
	binary.BigEndian.PutUint16(b[16:], uint16(n-14))
	b[22], b[23] = 64, 17
	putAddr(b[26:30], s.SrcIP, netip.AddrFrom4([4]byte{10, byte(id), 0, 0}), flow)
	putAddr(b[30:34], s.DstIP, netip.AddrFrom4([4]byte{198, 18, 0, 0}), flow)
	binary.BigEndian.PutUint16(b[24:], ^onesSum(b[14:34]))
	binary.BigEndian.PutUint16(b[34:], uint16(1024+flow))
	binary.BigEndian.PutUint16(b[36:], 9)
	binary.BigEndian.PutUint16(b[38:], uint16(n-34))
	binary.LittleEndian.PutUint16(b[42:], frameMagic)
	binary.LittleEndian.PutUint16(b[44:], id)
	binary.LittleEndian.PutUint16(b[46:], uint16(flow))
	for i := range t {
		t[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

func putAddr(b []byte, a, def netip.Addr, add uint32) {
	if !a.Is4() {
		a = def
	}
	v := a.As4()
	binary.BigEndian.PutUint32(b, binary.BigEndian.Uint32(v[:])+add)
}

// onesSum is the ones' complement sum of big-endian 16 bit words.
func onesSum(b []byte) uint16 {
	var s uint32
	for i := 0; i+1 < len(b); i += 2 {
		s += uint32(b[i])<<8 | uint32(b[i+1])
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

func at64(p unsafe.Pointer, off uintptr) *uint64 { return (*uint64)(unsafe.Add(p, off)) }

// writeFrame puts one frame of n >= 60 bytes at p, where 64 bytes and n rounded up
// to 8 bytes may be written.
func writeFrame(p unsafe.Pointer, t *[frameWords]uint64, seq uint64, n uint32) {
	w := (*[frameWords]uint64)(p)
	w[0], w[1], w[2], w[3], w[4], w[5] = t[0], t[1], t[2], t[3], t[4], t[5]
	w[6] = seq
	c := check(t[5], seq, n)
	w[7] = uint64(c)
	if n > 64 {
		writePattern(p, uint64(c)<<32|seq&0xffffffff, n)
	}
}

func writePattern(p unsafe.Pointer, seed uint64, n uint32) {
	for o := uint32(64); o < n; o += 8 {
		seed += mulA
		*at64(p, uintptr(o)) = seed
	}
}

// checkPattern compares the bytes from 64 to n.
func checkPattern(p unsafe.Pointer, seed uint64, n uint32) bool {
	o := uint32(64)
	var diff uint64
	for ; o+8 <= n; o += 8 {
		seed += mulA
		diff |= *at64(p, uintptr(o)) ^ seed
	}
	if o < n {
		seed += mulA
		for i := uint32(0); o+i < n; i++ {
			diff |= uint64(*(*byte)(unsafe.Add(p, uintptr(o+i))) ^ byte(seed>>(8*i)))
		}
	}
	return diff == 0
}
