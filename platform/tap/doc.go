// SPDX-License-Identifier: Apache-2.0

// Package tap opens tap interfaces of Linux: the program is the wire at the other end
// of an interface of the host. What the host sends out of tap0 is received here, and
// what is sent here comes in there.
//
//	tap:tap0               made when it is opened, gone when it is closed
//	tap:tap0?rx=4          with four queues; the kernel spreads flows over them
//
//	 host's stack ──▶ [tap0] ──read──▶ godp
//	              ◀──        ◀─write──
//
// An interface that was made before (ip tuntap add dev tap0 mode tap user NAME
// [multi_queue]) stays when it is closed, and needs no rights to be opened by its
// user. Making one needs CAP_NET_ADMIN.
//
// The host is asked for frames as large as 64 KiB and with unfinished checksums, since
// one read then brings many segments; what is handed out is what would be on a wire.
//
// # Options
//
//	vnet=0    let the kernel cut frames and finish checksums
//	up=0      leave the interface down
//
// The first of the receive and send queues is of one descriptor, and so on; send
// queues beyond the number of receive queues share descriptors.
package tap
