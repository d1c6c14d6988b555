// SPDX-License-Identifier: Apache-2.0

package odptest_test

import (
	"fmt"
	"net/netip"

	"github.com/odp-go/godp/odptest"
)

func ExampleFrame() {
	b := odptest.Frame{VLAN: []uint16{5}, Flow: 3, Seq: 7, Len: 100}.Bytes()
	fmt.Println(odptest.Describe(b))
	f, err := odptest.ParseFrame(b)
	fmt.Println(f.Seq, err)
	b[90] ^= 1
	fmt.Println(odptest.Describe(b))
	fmt.Println(odptest.Frame{DstIP: netip.MustParseAddr("fd01::1")})
	// Output:
	// 02:00:00:00:00:01 > 02:00:00:00:00:02 vlan 5 10.0.0.3:1027 > 10.1.0.3:9 ttl 64 flow 3 seq 7 len 100
	// 7 <nil>
	// frame of 100 bytes: wrong UDP checksum
	// 02:00:00:00:00:01 > 02:00:00:00:00:02 [fd00::]:1024 > [fd01::1]:9 ttl 64 flow 0 seq 0 len 74
}
