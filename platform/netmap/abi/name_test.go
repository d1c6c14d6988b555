// SPDX-License-Identifier: Apache-2.0

package abi

import (
	"errors"
	"strings"
	"testing"
)

// TestParseName holds the table of the reference parser.
func TestParseName(t *testing.T) {
	bad := Spec{}
	for _, c := range []struct {
		in   string
		want Spec
	}{
		{"netmap:eth0", Spec{Port: "eth0", Mode: ModeAllNIC}},
		{"netmap:14", Spec{Port: "14", Mode: ModeAllNIC}},
		{"nmsim:eth0", Spec{Port: "eth0", Mode: ModeAllNIC}},
		{"eth0", Spec{Port: "eth0", Mode: ModeAllNIC}},
		{"em0.123", Spec{Port: "em0.123", Mode: ModeAllNIC}},
		{"netmap:eth0-1", Spec{Port: "eth0", Mode: ModeOneNIC, Ring: 1}},
		{"netmap:eth0-4094", Spec{Port: "eth0", Mode: ModeOneNIC, Ring: 4094}},
		{"netmap:eth0-", bad}, {"netmap:eth0-4095", bad}, {"netmap:eth0-x", bad}, {"eth0-1x", bad}, {"eth0-99999999999999999999", bad},
		{"netmap:eth0^", Spec{Port: "eth0", Mode: ModeSW}},
		{"eth0^3", Spec{Port: "eth0", Mode: ModeOneSW, Ring: 3}},
		{"eth0*", Spec{Port: "eth0", Mode: ModeNICSW}},
		{"eth0*1", bad}, {"eth0^^", bad}, {"eth0^3-1", bad}, {"eth0*-1", bad},
		{"netmap:eth0/x", Spec{Port: "eth0", Mode: ModeAllNIC, Flags: FlagExclusive}},
		{"eth0/z", Spec{Port: "eth0", Mode: ModeAllNIC, Flags: FlagZcopyMon}},
		{"eth0/r", Spec{Port: "eth0", Mode: ModeAllNIC, Flags: FlagMonitorRX}},
		{"eth0/t", Spec{Port: "eth0", Mode: ModeAllNIC, Flags: FlagMonitorTX}},
		{"eth0/tr", Spec{Port: "eth0", Mode: ModeAllNIC, Flags: FlagMonitorTX | FlagMonitorRX}},
		{"netmap:eth0-2/Tx", Spec{Port: "eth0", Mode: ModeOneNIC, Ring: 2, Flags: FlagTxRingsOnly | FlagExclusive}},
		{"eth0/q", bad}, {"eth0/TR", bad},
		{"netmap:eth0@2", Spec{Port: "eth0", Mode: ModeAllNIC, MemID: 2}},
		{"eth0@2/R", Spec{Port: "eth0", Mode: ModeAllNIC, MemID: 2, Flags: FlagRxRingsOnly}},
		{"eth0@2/R@2", Spec{Port: "eth0", Mode: ModeAllNIC, MemID: 2, Flags: FlagRxRingsOnly}},
		{"netmap:eth0@2/R@3", bad}, {"netmap:eth0@", bad}, {"eth0@0", bad}, {"eth0@65536", bad}, {"eth0@2x", bad},
		{"netmap:eth0@netmap:lo/R", Spec{Port: "eth0", Mode: ModeAllNIC, Option: "netmap:lo/R"}},
		{"eth0/R@opt", Spec{Port: "eth0", Mode: ModeAllNIC, Flags: FlagRxRingsOnly, Option: "opt"}},
		{"netmap:", bad}, {"netmap:^", bad}, {"netmap:{", bad}, {"", bad}, {"-1", bad}, {"@1", bad},
		{"netmap:pipe{0", Spec{Port: "pipe{0", Mode: ModeAllNIC}},
		{"pipe}in", Spec{Port: "pipe}in", Mode: ModeAllNIC}},
		{"pipe{in-7", Spec{Port: "pipe{in", Mode: ModeOneNIC, Ring: 7}},
		{"netmap:pipe{1}2", bad}, {"pipe{1^", bad},
		{"vale0:0", Spec{Port: "vale0:0", Mode: ModeAllNIC}},
		{"netmap:vale0:0", Spec{Port: "vale0:0", Mode: ModeAllNIC}},
		{"vale:0", Spec{Port: "vale:0", Mode: ModeAllNIC}},
		{"valeXXX:YYY-4", Spec{Port: "valeXXX:YYY", Mode: ModeOneNIC, Ring: 4}},
		{"vale0:0{0", Spec{Port: "vale0:0{0", Mode: ModeAllNIC}},
		{"vale0:", bad}, {"vale0:a^", bad}, {"vale0:a.b", bad}, {"vale0:abcdefghij", bad}, {"vale0:a:b", bad},
		{"vale0:abcdefghi", Spec{Port: "vale0:abcdefghi", Mode: ModeAllNIC}},
		{"abcdefghijklmno", Spec{Port: "abcdefghijklmno", Mode: ModeAllNIC}},
		{"abcdefghijklmnop", bad},
		{strings.Repeat("a", 62) + "{1", bad},
	} {
		got, err := ParseName(c.in)
		if c.want == bad {
			var ne *NameError
			if !errors.As(err, &ne) || ne.Name != c.in || ne.Want == "" {
				t.Errorf("%q: got %+v, %v; want a NameError", c.in, got, err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%q: got %+v, %v; want %+v", c.in, got, err, c.want)
		}
		if again, err := ParseName(got.String()); err != nil || again != got {
			t.Errorf("%q: its String %q parses to %+v, %v", c.in, got.String(), again, err)
		}
	}
}

func TestFromOptions(t *testing.T) {
	s, err := FromOptions("br-lan", map[string]string{"mode": "ring", "ring": "2", "mem": "3", "flags": "Rx"})
	want := Spec{Port: "br-lan", Mode: ModeOneNIC, Ring: 2, MemID: 3, Flags: FlagRxRingsOnly | FlagExclusive}
	if err != nil || s != want {
		t.Fatalf("got %+v, %v; want %+v", s, err, want)
	}
	if s, err := FromOptions("eth0-1", nil); err != nil || s.Mode != ModeOneNIC {
		t.Fatalf("without mode the name is parsed: %+v, %v", s, err)
	}
	for _, o := range []map[string]string{
		{"mode": "x"}, {"mode": "nic", "ring": "-1"}, {"mode": "nic", "mem": "0"}, {"mode": "nic", "flags": "?"}, {"mode": "nic", "flags": "TR"},
	} {
		if s, err := FromOptions("eth0", o); err == nil {
			t.Errorf("%v: accepted as %+v", o, s)
		}
	}
}

func TestKind(t *testing.T) {
	for name, k := range map[string]Kind{"eth0": KindNIC, "vale0:a": KindVALE, "eth0{1": KindPipe, "vale0:a}1": KindPipe, "valet": KindNIC} {
		if s, err := ParseName(name); err != nil || s.Kind() != k {
			t.Errorf("%q: kind %v, %v; want %v", name, s.Kind(), err, k)
		}
	}
}

// FuzzName: a name that is accepted means the same when it is written out and read
// again; what stands behind a '?' are options, which may make a name of their own.
func FuzzName(f *testing.F) {
	for _, s := range []string{"netmap:eth0-1/x@3", "vale0:a{1", "^", "eth0*@opt", "eth0?mode=nic&ring=1&mem=2&flags=zx", "a-b?mode=host"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		name, rest, _ := strings.Cut(in, "?")
		s, err := ParseName(name)
		if err == nil {
			if again, err := ParseName(s.String()); err != nil || again != s {
				t.Fatalf("%q: %+v; %q: %+v, %v", name, s, s.String(), again, err)
			}
		}
		opts := map[string]string{}
		for kv := range strings.SplitSeq(rest, "&") {
			k, v, _ := strings.Cut(kv, "=")
			opts[k] = v
		}
		if s, err := FromOptions(name, opts); err == nil {
			if s.Port == "" || len(s.Port) >= NameSize {
				t.Fatalf("%q: accepted as %+v", in, s)
			}
		}
	})
}
