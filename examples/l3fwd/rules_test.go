// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, text string) string {
	t.Helper()
	f := filepath.Join(t.TempDir(), "rules.cfg")
	if err := os.WriteFile(f, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestRuleFile(t *testing.T) {
	got, err := readRules(write(t, "# DPDK's form\n\nR198.18.0.0/24 0\nR10.1.2.3/8\t 2  \r\n   \nR0.0.0.0/0 255\n"), true)
	want := []route{{netip.MustParsePrefix("198.18.0.0/24"), 0}, {netip.MustParsePrefix("10.0.0.0/8"), 2}, {netip.MustParsePrefix("0.0.0.0/0"), 255}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	six, err := readRules(write(t, "R2001:200:0:1::/64 1\nR::/0 3"), false)
	if err != nil || len(six) != 2 || six[1].port != 3 {
		t.Errorf("%v, %v", six, err)
	}
	for text, where := range map[string]string{
		"R198.18.0.0/24 0\nx\n":    ":2:",
		"R198.18.0.0/24\n":         ":1:",
		"R198.18.0.0/33 1\n":       ":1:",
		"R198.18.0/24 1\n":         ":1:",
		"R198.18.0.0 1\n":          ":1:",
		"\n\nR198.18.0.0/24 256\n": ":3:",
		"R198.18.0.0/24 -1\n":      ":1:",
		"R198.18.0.0/24 1 2\n":     ":1:",
		"R 198.18.0.0/24 1\n":      ":1:",
		"R2001::/16 1\n":           ":1:",
		"#\n@198.18.0.0/24 1\n":    ":2:",
		"# nothing\n":              "no route",
		"":                         "no route",
		"R1.0.0.0/8 1\nR" + strings.Repeat("9", 1<<17): ":2:",
	} {
		if _, err := readRules(write(t, text), true); err == nil || !strings.Contains(err.Error(), where) || !strings.Contains(err.Error(), "rules.cfg") {
			t.Errorf("%.40q: %v, want the place %s", text, err, where)
		}
	}
	if _, err := readRules("/nowhere/rules.cfg", true); err == nil {
		t.Error("a missing file is no error")
	}
}

// Each built-in and sample route is hit by an address of its own (LP-08).
func TestEachRouteIsHit(t *testing.T) {
	o := defaults()
	o.setup(&allCases[0])
	for len(o.ifs) < 16 {
		o.ifs = append(o.ifs, "template:x")
	}
	o.mask = 1<<16 - 1
	tb, err := newTables(&o, func(string, ...any) {}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tb.close()
	for i := range 16 {
		if h := tb.v4.Lookup(198<<24 | 18<<16 | uint32(i)<<8 | 7); int(h) != i {
			t.Errorf("198.18.%d.7 leads to %d", i, h)
		}
		a := netip.AddrFrom16([16]byte{0x20, 1, 2, 0, 0, 0, 0, byte(i), 15: 9})
		if best, out := longest(o.routes6, a); best != 64 || out != i {
			t.Errorf("%v leads to %d", a, out)
		}
	}
	if h := tb.v4.Lookup(1); int(h) != len(o.ifs)+dropNoRoute {
		t.Errorf("without a route: %d", h)
	}
}

func longest(routes []route, a netip.Addr) (best, out int) {
	for _, r := range routes {
		if r.prefix.Contains(a) && r.prefix.Bits() > best {
			best, out = r.prefix.Bits(), r.port
		}
	}
	return best, out
}

// Routes to ports that are not enabled are told and not installed.
func TestDisabledPorts(t *testing.T) {
	four := write(t, "R10.0.0.0/8 0\nR11.0.0.0/8 1\nR12.0.0.0/8 200\n")
	six := write(t, "R2001::/16 1\n")
	o, _, err := parseOptions([]string{"-i", "null:a,null:b", "-p", "1", "--rule_ipv4=" + four, "-rule_ipv6", six}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	tb, err := newTables(&o, func(f string, a ...any) { text.WriteString(strings.ReplaceAll(f, "%", "")) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tb.close()
	if tb.skipped != 3 || strings.Count(text.String(), "not installed") != 3 || tb.v4.Lookup(11<<24) != uint16(2+dropNoRoute) || tb.v4.Lookup(10<<24) != 0 {
		t.Errorf("%d skipped: %s", tb.skipped, text.String())
	}
}

func TestOptions(t *testing.T) {
	for args, word := range map[string]string{
		"-lookup acl -i null:a": "not supported", "-lookup em -i null:a": "not supported", "-lookup x -i null:a": "lpm or fib",
		"-simd=avx512 -i null:a": "not supported", "-simd=avx2": "not supported", "-simd x": "off, auto",
		"-i null:a -p 0": "mask", "-i null:a -p 3": "mask", "-i null:a -p x": "mask", "-i null:a,null:a": "twice", "-i a": "KIND:DEVICE",
		"-i null:a -rule_ipv4 x": "both", "-i null:a -rule_ipv4 /nowhere/x -rule_ipv6 y": "nowhere",
		"-i null:a -config (0,0)": "looks like", "-i null:a -config (1,0,0)": "port 1", "-i null:a -config (0,0,1),(0,0,2)": "twice",
		"-i null:a -config (0,1,0)": "gaps", "-i null:a -config (0,0,1)x": "comma", "-i null:a -config 0,0,1": "brackets", "-i null:a -p 1 -config (0,64,1)": "0 to 63",
		"-i null:a -mode event -config (0,0,1)": "scheduler", "-i null:a -eventq-sched atomic": "-mode event", "-i null:a -mode x": "poll",
		"-i null:a -eth-dest 1,02:00:00:00:00:01": "port 1", "-i null:a -eth-dest 0,02:00": "PORT,MAC", "-i null:a -rx-burst 257": "1 to 256", "-i null:a -tx-burst 0": "1 to 256",
		"-check x": "rfc1812", "-p 1": "needs -i", "-cases X": "IPV4-CONT-BURST", "-i null:a -cases X": "-cases", "-parse-ptype": "not supported", "-t -1": "seconds", "x": "unexpected",
	} {
		_, _, err := parseOptions(strings.Fields(args), io.Discard)
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want %q", args, err, word)
		}
	}
	o, _, err := parseOptions(strings.Fields("-i null:a,null:b,null:c --config (0,0,7),(1,0,3),(2,0,7) -p 0x7 --eth-dest=2,02:aa:00:00:00:01"), io.Discard)
	if err != nil || o.workers != 2 || !slices.Equal(o.config, [][3]int{{0, 0, 1}, {1, 0, 0}, {2, 0, 1}}) || o.pattern(2, nil)[1] != 0xaa {
		t.Errorf("%v: %+v", err, o.config)
	}
	var many []string
	for i := range 65 {
		many = append(many, "null:"+strings.Repeat("x", i+1))
	}
	if _, _, err := parseOptions([]string{"-i", strings.Join(many, ",")}, io.Discard); err == nil || !strings.Contains(err.Error(), "at most 64") {
		t.Error(err)
	}
}
