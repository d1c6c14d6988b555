// SPDX-License-Identifier: Apache-2.0

// Package vnet is the virtio-net header, which Linux puts before frames of packet
// sockets and tap devices on request: it says which checksum is unfinished, and that
// a frame stands for several (GSO, GRO). What a driver hands to the application
// is always what would be on a wire, so checksums are finished and frames are cut into
// segments here.
//
//	0     flags       1 = the checksum is unfinished
//	1     gso type    1 TCPv4, 3 UDP fragments, 4 TCPv6, 5 UDP, +128 ECN
//	2-3   header length      a hint; not used
//	4-5   segment size       payload bytes of each segment
//	6-7   checksum start     from the start of the frame
//	8-9   checksum offset    from the checksum start
//
// Numbers are in the byte order of the host. The header comes from the kernel, but
// describes a frame that came from anywhere: everything is checked.
package vnet

import (
	"encoding/binary"

	"github.com/odp-go/godp/header"
)

// Size is the length of the header.
const Size = 10

// Kinds of segmentation.
const (
	gsoNone  = 0
	gsoTCPv4 = 1
	gsoUDP   = 3
	gsoTCPv6 = 4
	gsoUDPL4 = 5
	gsoECN   = 0x80

	needsCsum = 1
)

// Header is a virtio-net header.
type Header struct {
	flags, gso                       uint8
	gsoSize, csumStart, csumOffset16 uint16
}

// Parse reads the header at the start of b, which has Size bytes at least.
func Parse(b []byte) Header {
	_ = b[Size-1]
	return Header{b[0], b[1], binary.NativeEndian.Uint16(b[4:]), binary.NativeEndian.Uint16(b[6:]), binary.NativeEndian.Uint16(b[8:])}
}

// Plain reports whether the frame is whole as it is. It reads no more than the two
// first bytes.
func Plain(b []byte) bool { return b[0]&needsCsum == 0 && b[1] == gsoNone }

// GSO reports whether the frame has to be cut into segments.
func (h Header) GSO() bool { return h.gso&^gsoECN != gsoNone }

// Unfinished reports whether the checksum is unfinished.
func (h Header) Unfinished() bool { return h.flags&needsCsum != 0 }

// Shift moves the places in the header by n bytes that were put into the frame before
// the network header (a VLAN tag).
func (h *Header) Shift(n int) { h.csumStart += uint16(n) }

// Finish completes an unfinished checksum; the field holds the sum of the pseudo
// header. false: the header points outside of the frame.
func (h Header) Finish(frame []byte) bool {
	if h.flags&needsCsum == 0 {
		return true
	}
	at, field := int(h.csumStart), int(h.csumStart)+int(h.csumOffset16)
	if field+2 > len(frame) || at < 14 {
		return false
	}
	c := header.Checksum(frame[at:])
	if c == 0 && h.csumOffset16 == 6 { // UDP, where 0 means none
		c = 0xffff
	}
	binary.BigEndian.PutUint16(frame[field:], c)
	return true
}
