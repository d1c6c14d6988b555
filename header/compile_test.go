// SPDX-License-Identifier: Apache-2.0

package header

import (
	"testing"

	"github.com/odp-go/godp/internal/testkit"
)

// What is called once a packet costs no call, no check of an index and no allocation.
func TestCompiledCode(t *testing.T) {
	f := testkit.CompileFacts(t, ".")
	f.Inlined(t, "SetMACs", "SwapMACs", "DecTTL", "Update16", "be16", "be64", "Ethernet.Dst", "Ethernet.SetDst", "IPv4.TTL", "IPv4.Dst", "IPv6.Dst", "UDP.DstPort")
	f.Files(t, "parse.go", "flowhash.go", "verify.go", "mac.go", "load.go", "checksum.go")
}
