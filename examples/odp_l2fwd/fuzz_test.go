// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/odp-go/godp/examples/internal/opt"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/internal/sys"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/nmsim"
)

// FuzzText gives any text to everything that reads one: the command line, the options of
// devices, CPU masks and lists, addresses, what FreeBSD says of the CPUs. What is accepted
// must read back the same where it can be written; what is refused must say so as a usage
// error, where the caller's exit status follows from that.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		"-i loop:0,loop:1 -m queue -c 4 -O loop:1,loop:0", "-i loop:0?seed=3,null:in=a,out=b -r 02:00:00:00:00:01,02:00:00:00:00:02",
		"-h", "-t 99999999999999999999", "0xf0", "0-3,8", "0x", "02:00:00:00:00:01", "src=flows=3&rings=2", "rings=2&source=1&sink=1&cable=eth1&mac=02:00:00:00:00:01",
		`<groups><group level="1"><cpu count="2">0, 1</cpu><flags><flag name="SMT">SMT</flag></flags></group></groups>`,
		"device", "none", "1", "on", "007", "all",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var usage *opt.UsageError
		if _, _, err := parseOptions(strings.Fields(s), io.Discard); err != nil && !errors.As(err, &usage) {
			t.Fatalf("%q: %v is no usage error", s, err)
		}
		if _, err := opt.Interfaces("i", s); err != nil && !errors.As(err, &usage) {
			t.Fatalf("%q: %v is no usage error", s, err)
		}
		for _, parse := range []func(string) (odp.Mask, error){odp.ParseMask, odp.ParseList} {
			if m, err := parse(s); err == nil {
				if p, err := odp.ParseMask(m.String()); err != nil || p != m {
					t.Fatalf("%q: %s does not read back: %v", s, m, err)
				}
			}
		}
		if c, err := sys.ParseCPUs(s); err == nil {
			if again, err := sys.ParseCPUs(c.String()); err != nil || again != c {
				t.Fatalf("%q: %s does not read back: %v", s, c, err)
			}
		}
		if m, err := header.ParseMAC(s); err == nil {
			if again, err := header.ParseMAC(m.String()); err != nil || again != m {
				t.Fatalf("%q: %s does not read back: %v", s, m, err)
			}
		}
		_, _ = sys.ParseTopologySpec(s)
		_ = pktio.CheckName(s)
		if l, err := pktio.ParseLockLevel(s); err == nil && l.String() != s {
			t.Fatalf("lock level %q is %v", s, l)
		}
		_, _ = pktio.ParseHash(s)
		_, _ = pktio.ParseDepth(s)
		_, _ = driver.ParseBool(s)
		if v, err := driver.ParseUint(s, 1000); err == nil && v > 1000 {
			t.Fatalf("%q: %d is above 1000", s, v)
		}
		opts := map[string]string{}
		for kv := range strings.SplitSeq(s, "&") {
			k, v, _ := strings.Cut(kv, "=")
			opts[k] = v
		}
		_, _, _ = nmsim.ParseOptions(opts)
	})
}
