// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/odp-go/godp/odptest"
)

func TestMain(m *testing.M) { odptest.Main(m) }

// What is counted are whole rounds of the frames, UDP and ARP, and nothing else.
func TestReflect(t *testing.T) {
	for _, args := range []string{"-n 2000", "-n 2000 -c 1", "-n 2000 -c 3"} {
		var out, errs bytes.Buffer
		if rc := Main(strings.Fields(args), &out, &errs); rc != 0 || errs.Len() > 0 {
			t.Fatalf("%s: exit status %d: %s", args, rc, errs.String())
		}
		var n [4]int
		if _, err := fmt.Sscanf(out.String(), "udp %d, tcp %d, arp %d, other %d\n", &n[0], &n[1], &n[2], &n[3]); err != nil {
			t.Fatalf("%s: %q: %v", args, out.String(), err)
		}
		if n[0]+n[2] < 2000 || n[0] == 0 || n[2] == 0 || n[1] != 0 || n[3] != 0 {
			t.Errorf("%s: %s", args, out.String())
		}
	}
}

func TestBadOptions(t *testing.T) {
	for args, want := range map[string]int{"-h": 0, "-x": 2, "-i nodev:0": 1, "rest": 2} {
		var out, errs bytes.Buffer
		if rc := Main(strings.Fields(args), &out, &errs); rc != want {
			t.Errorf("%s: exit status %d, want %d: %s", args, rc, want, errs.String())
		}
	}
}
