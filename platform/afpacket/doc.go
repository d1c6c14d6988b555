// SPDX-License-Identifier: Apache-2.0

// Package afpacket opens any Linux network interface through packet sockets
// (AF_PACKET). It needs no driver support, CAP_NET_RAW only, and copies every frame
// once in each direction.
//
//	afpacket:eth0                  one receive and one send queue
//	afpacket:eth0?rx=4&tx=4        four of each; flows are spread by the kernel's
//	                               hash, both directions of a flow to the same queue
//
// The kernel's own network stack goes on seeing every frame: give the interface no
// address, or its host answers too.
//
// # Receiving
//
// One ring in memory shared with the kernel (TPACKET_V2) for each queue:
//
//	slot   status  length  captured  tag  …  address  virtio-net header  frame
//	         ▲ written last by the kernel (frame is there) and by us (slot is free)
//
// What is handed out is what was on the wire: VLAN tags, which the kernel keeps beside
// the frame, are put back with their TPID; checksums that the sender left to hardware are
// finished; frames that the kernel merged (GRO) or did not cut yet (TSO) are cut into
// segments. Frames longer than a slot come by way of the socket, whole. The device's own
// outgoing frames are not received.
//
// # Sending
//
// sendmmsg straight from packet memory, segments gathered, past the queueing
// discipline (so tcpdump on this interface does not see them; qdisc=1 changes that). There is no send
// ring whose slots could wait for a kick: when the call returns a frame has left or is
// still the caller's.
//
// # Options
//
//	fanout=hash|lb|cpu|rnd|qm  how frames are dealt out to several receive queues:
//	                   by flow (default), round robin, by CPU, at random, by the
//	                   interface's own queue
//	defrag=1           fragments of an IPv4 packet are put together before they are dealt
//	                   out. For capturing: the result may be longer than the MTU
//	qdisc=1            send through the queueing discipline
//	vnet=0             no virtio-net header: unfinished checksums stay, merged frames are
//	                   dropped; Info names the offloads to turn off
//
// The idea of one driver for every interface is that of ODP's socket and
// DPDK's net_af_packet drivers.
package afpacket
