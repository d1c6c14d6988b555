// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/odp-go/godp/odptest"
)

func TestMain(m *testing.M) { odptest.Main(m) }

// Without arguments it prints the eight packets that circulate in a loop device.
func TestDefaults(t *testing.T) {
	var out, errs bytes.Buffer
	if rc := Main(nil, &out, &errs); rc != 0 || errs.Len() > 0 {
		t.Fatalf("exit status %d: %s", rc, errs.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 9 || lines[8] != "8 packets, 480 bytes" || !strings.Contains(lines[0], "IPv4 [") {
		t.Errorf("%s", out.String())
	}
}

// Every frame is printed with what is in it, and the end comes after -n of them.
func TestFrames(t *testing.T) {
	dev := odptest.NewDevice(t, odptest.DeviceConfig{})
	dev.Inject(odptest.Frames(50, odptest.Frame{Flow: 3, Len: 100})...)
	dev.Inject([]byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5})
	dev.Inject(odptest.Frame{}.Bytes())
	var out, errs bytes.Buffer
	if rc := Main([]string{"-i", dev.Name(), "-n", "51"}, &out, &errs); rc != 0 {
		t.Fatalf("exit status %d: %s", rc, errs.String())
	}
	const ip = "02:00:00:00:00:01 > 02:00:00:00:00:02 type 0x0800, 100 bytes, IPv4 [10 0 0 3] > [10 1 0 3] protocol 17\n"
	want := strings.Repeat(ip, 50) + "02:00:00:00:00:01 > 02:00:00:00:00:02 type 0x88b5, 14 bytes\n51 packets, 5014 bytes\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if n := dev.Pending(); n != 1 {
		t.Errorf("%d frames are left in the device, want 1: the program took more than it was asked to", n)
	}
}

func TestBadOptions(t *testing.T) {
	for args, want := range map[string]int{"-h": 0, "-x": 2, "-i nodev:0": 1, "rest": 2} {
		var out, errs bytes.Buffer
		if rc := Main(strings.Fields(args), &out, &errs); rc != want || (rc != 0) != (errs.Len() > 0) {
			t.Errorf("%s: exit status %d, want %d: %s", args, rc, want, errs.String())
		}
	}
}
