// SPDX-License-Identifier: Apache-2.0

package header

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// compile builds the package with a compiler flag and returns what the compiler says.
func compile(t *testing.T, flag string) string {
	t.Helper()
	gobin, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	cmd := exec.Command(gobin, "build", "-gcflags="+flag, ".")
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestInlined: what is called once a packet costs no call.
func TestInlined(t *testing.T) {
	out := compile(t, "-m")
	for _, f := range []string{"SetMACs", "SwapMACs", "DecTTL", "Update16", "be16", "be64", "Ethernet.Dst", "Ethernet.SetDst", "IPv4.TTL", "IPv4.Dst", "IPv6.Dst", "UDP.DstPort"} {
		if !strings.Contains(out, "can inline "+f+"\n") {
			t.Errorf("%s is not inlined", f)
		}
	}
	for l := range strings.Lines(out) {
		for _, f := range []string{"parse.go", "flowhash.go", "verify.go", "mac.go", "load.go"} {
			if strings.Contains(l, "/"+f) || strings.HasPrefix(l, f) || strings.HasPrefix(l, "./"+f) {
				if strings.Contains(l, "escapes to heap") || strings.Contains(l, "moved to heap") {
					t.Error(l)
				}
			}
		}
	}
}

// TestNoBoundsChecks: no index is checked on the way of a packet.
func TestNoBoundsChecks(t *testing.T) {
	out := compile(t, "-d=ssa/check_bce")
	if !strings.Contains(out, "Found") {
		t.Fatalf("the compiler reported nothing at all: %s", out)
	}
	for l := range strings.Lines(out) {
		for _, f := range []string{"parse.go", "flowhash.go", "mac.go", "load.go", "checksum.go", "verify.go"} {
			if strings.Contains(l, f+":") && strings.Contains(l, "Found IsInBounds") {
				t.Error(l)
			}
		}
	}
}
