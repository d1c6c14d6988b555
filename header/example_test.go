// SPDX-License-Identifier: Apache-2.0

package header_test

import (
	"fmt"
	"net/netip"

	"github.com/odp-go/godp/header"
)

// A view is made by a conversion; after IsValid the accessors don't fail.
func Example() {
	frame := make([]byte, 60)
	eth := header.Ethernet(frame)
	eth.SetDst(header.Broadcast)
	eth.SetType(header.TypeIPv4)

	ip := header.IPv4(eth.Payload())
	ip.Encode(&header.IPv4Fields{Src: [4]byte{10, 0, 0, 1}, Dst: [4]byte{10, 0, 0, 2}, Protocol: header.ProtoUDP, TotalLen: 20 + 8 + 5})
	udp := header.UDP(ip.Payload())
	copy(udp[header.UDPLen:], "hello")
	udp.Encode(1024, 53)
	udp.UpdateChecksum(ip.Pseudo(len(udp)))

	got := header.IPv4(header.Ethernet(frame).Payload())
	if !got.IsValid() || !got.ChecksumOK() {
		fmt.Println("drop it")
		return
	}
	got.DecTTL()
	data := header.UDP(got.Payload())
	fmt.Printf("%v -> %v ttl %d, port %d: %q\n", netip.AddrFrom4(got.Src()), netip.AddrFrom4(got.Dst()), got.TTL(), data.DstPort(), data.Payload())
	fmt.Println(got.ChecksumOK(), data.ChecksumOK(got.Pseudo(len(data))))
	// Output:
	// 10.0.0.1 -> 10.0.0.2 ttl 63, port 53: "hello"
	// true true
}
