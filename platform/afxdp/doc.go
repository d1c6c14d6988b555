// SPDX-License-Identifier: Apache-2.0

// Package afxdp opens Linux network interfaces through AF_XDP sockets (kernel 5.10 or
// later): a small XDP program, made here without a compiler, redirects what the
// interface receives to the program, past the kernel's network stack.
//
//	afxdp:eth0               one receive and one send queue, whatever the NIC has
//	afxdp:eth0?rx=4&tx=2     four and two
//
// # Memory
//
// Devices of one worker set share a UMEM, so that receiving, forwarding and sending
// copy nothing in this program. Frames change places with packets' buffers, as netmap's do:
//
//	received   descriptor: frame 70        packet: frame 9       (free)
//	           frame 9 goes to the fill ring, the packet has frame 70
//	sent       packet: frame 70            spare: frame 12
//	           frame 70 goes to the send ring, the packet has frame 12 and is freed at
//	           once; 70 is spare when the kernel completes it
//
// So no packet is ever with the kernel, and none has to be waited for.
// granted frames = in packets + spare + with the kernel.
//
// Whether the kernel copies depends on the NIC's driver. Tried are: zero copy (frames are
// written by the NIC), native with a copy (veth), generic with a copy (any interface). Info
// says what was granted; Strict refuses anything but zero copy.
//
// # What stays with the kernel
//
// Nothing of what the interface receives, while the port is started. Stopped, the
// program passes everything on. The program is attached by a link, which the kernel takes
// back when the process ends, however it ends. A program of somebody else is named and
// not replaced.
//
// XDP sees frames before checksums that the sender left to hardware are finished, and
// this matters where there is no hardware: between containers (veth) turn them off at the
// other end (ethtool -K DEV tx off), or use afpacket, which finishes them.
//
// # Options
//
//	mode=auto|native|generic   where the program runs (default auto: native, else generic)
//	zerocopy=0                 do not ask the driver for zero copy
//
// Frames of up to 3818 bytes of MTU fit in one buffer; longer ones are refused when the
// port is opened.
package afxdp
