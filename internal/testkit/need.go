// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The groups of tests that need more than an ordinary user has.
const (
	Root  = "root"  // the user is root
	NetNS = "netns" // network namespaces can be made
	Tun   = "tun"   // interfaces whose other end is a program can be made
)

// MustRun names the environment variable that lists the groups which must not be
// skipped ("root,netns"): there a test that lacks what it needs fails. CI sets it.
const MustRun = "GODP_MUST_RUN"

// Need skips the test when what the group needs is missing, with the reason; it
// fails it instead where the group must run.
func Need(t testing.TB, group string) {
	t.Helper()
	why := missing(group)
	switch {
	case why == "":
	case slices.Contains(strings.Split(os.Getenv(MustRun), ","), group):
		t.Fatalf("tests of group %q must run here (%s=%s), but: %s", group, MustRun, os.Getenv(MustRun), why)
	default:
		t.Skipf("group %q: %s", group, why)
	}
}

func missing(group string) string {
	switch group {
	case Root:
		if os.Geteuid() != 0 {
			return "the user is not root"
		}
	case NetNS:
		return missingNetNS()
	case Tun:
		if _, err := os.Stat("/dev/net/tun"); err != nil {
			return err.Error()
		}
	}
	return ""
}
