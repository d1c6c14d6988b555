// SPDX-License-Identifier: Apache-2.0

package loop

import (
	"encoding/binary"
	"unsafe"

	"github.com/odp-go/godp/buffer"
)

// minFrame is an Ethernet, IPv4 and UDP header with no payload.
const minFrame = 14 + 20 + 8

// fillFrame writes a valid UDP over IPv4 frame of flow number flow over b.
func fillFrame(b []byte, mac []byte, flow, seq int) {
	clear(b)
	copy(b[0:6], mac)
	copy(b[6:12], []byte{0x02, 0, 0, 0, byte(flow >> 8), byte(flow)})
	binary.BigEndian.PutUint16(b[12:], 0x0800)
	ip := b[14:]
	ip[0] = 0x45
	binary.BigEndian.PutUint16(ip[2:], uint16(len(b)-14))
	binary.BigEndian.PutUint16(ip[4:], uint16(seq))
	ip[8], ip[9] = 64, 17
	copy(ip[12:], []byte{10, 0, byte(flow >> 8), byte(flow)})
	copy(ip[16:], []byte{10, 1, byte(flow >> 8), byte(flow)})
	binary.BigEndian.PutUint16(ip[10:], ^fold(sum(0, ip[:20])))
	udp := ip[20:]
	binary.BigEndian.PutUint16(udp[0:], uint16(1024+flow%60000))
	binary.BigEndian.PutUint16(udp[2:], 9)
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	if len(udp) >= 12 {
		binary.BigEndian.PutUint32(udp[8:], uint32(seq))
	}
	c := ^fold(sum(sum(uint32(17)+uint32(len(udp)), ip[12:20]), udp))
	if c == 0 {
		c = 0xffff
	}
	binary.BigEndian.PutUint16(udp[6:], c)
}

func sum(s uint32, b []byte) uint32 {
	for ; len(b) >= 2; b = b[2:] {
		s += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	return s
}

func fold(s uint32) uint16 {
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}

// spread is the device's own flow hash, for a send queue that feeds several
// receive queues: addresses and ports of IPv4, else the MAC addresses.
func spread(k *buffer.Packet) uint32 {
	n := k.SegLen()
	p := k.DataPtr()
	var flat [minFrame]byte
	if n < minFrame && k.Segmented() { // a flow is one however its frames are cut
		if n = min(minFrame, k.Len()); k.CopyToMem(0, flat[:n]) != nil {
			return 0
		}
		p = unsafe.Pointer(&flat)
	}
	var h uint64
	switch {
	case n >= minFrame && *(*uint16)(unsafe.Add(p, 12)) == *(*uint16)(unsafe.Pointer(&etherIPv4[0])):
		h = *(*uint64)(unsafe.Add(p, 26)) ^ uint64(*(*uint32)(unsafe.Add(p, 34)))*0x9e3779b1
	case n >= 12:
		h = *(*uint64)(p) ^ uint64(*(*uint32)(unsafe.Add(p, 8)))*0x9e3779b1
	}
	h *= 0x9e3779b97f4a7c15
	return uint32(h >> 32)
}

var etherIPv4 = [2]byte{0x08, 0x00}
