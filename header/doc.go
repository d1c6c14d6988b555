// SPDX-License-Identifier: Apache-2.0

// Package header reads and writes protocol headers in frames: a fast parser, views
// over bytes, checksums, and the hashes that spread flows.
//
// # Views
//
// A view is a named []byte: Ethernet, VLAN, ARP, IPv4, IPv6, UDP, TCP, ICMP, SCTP.
// Converting costs nothing and copies nothing. Call IsValid first: it checks
// lengths, and after it the accessors don't fail. An accessor on bytes that are too
// short panics, as indexing does.
//
//	ip := header.IPv4(frame[14:])
//	if !ip.IsValid() {
//		return // drop it
//	}
//	ip.SetTTL(ip.TTL() - 1)
//
// # The fast path
//
// Parse, FlowHash, SetMACs and the checksums take pointers and lengths that the
// packet layer has checked. Parse fills in what a packet's header keeps: flags and
// offsets. Nothing here allocates.
package header
