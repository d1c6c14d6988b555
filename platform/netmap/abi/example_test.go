// SPDX-License-Identifier: Apache-2.0

package abi_test

import (
	"fmt"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// The names of netmap's own library.
func ExampleParseName() {
	for _, name := range []string{"eth0", "netmap:eth0-2", "eth0^", "x{1", "vale0:a", "eth0-x"} {
		s, err := abi.ParseName(name)
		fmt.Println(name, s.Port, s.Ring, err != nil)
	}
	// Output:
	// eth0 eth0 0 false
	// netmap:eth0-2 eth0 2 false
	// eth0^ eth0 0 false
	// x{1 x{1 0 false
	// vale0:a vale0:a 0 false
	// eth0-x  0 true
}
