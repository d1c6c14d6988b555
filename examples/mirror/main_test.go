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

func TestDefaults(t *testing.T) {
	var out, errs bytes.Buffer
	if rc := Main(nil, &out, &errs); rc != 0 || out.String() != "64 received, 64 sent to null:a, 64 to null:b\n" {
		t.Errorf("exit status %d: %s%s", rc, out.String(), errs.String())
	}
}

// Both devices get every frame, also those of several segments; copies may differ.
func TestBoth(t *testing.T) {
	for _, copied := range []bool{false, true} {
		in, a, b := odptest.NewDevice(t, odptest.DeviceConfig{}), odptest.NewDevice(t, odptest.DeviceConfig{}), odptest.NewDevice(t, odptest.DeviceConfig{})
		frames := odptest.Frames(100, odptest.Frame{})
		frames = append(frames, odptest.Frames(3, odptest.Frame{Len: 9000})...)
		in.Inject(frames...)
		var out, errs bytes.Buffer
		args := []string{"-i", in.Name(), "-a", a.Name(), "-b", b.Name(), "-n", "103", fmt.Sprintf("-copy=%v", copied)}
		if rc := Main(args, &out, &errs); rc != 0 || !strings.HasPrefix(out.String(), "103 received, 103 sent to ") {
			t.Fatalf("%v: exit status %d: %s%s", args, rc, out.String(), errs.String())
		}
		a.Expect(frames...)
		if copied {
			for i, f := range frames {
				frames[i] = bytes.Join([][]byte{f[6:12], f[:6], f[12:]}, nil)
			}
		}
		b.Expect(frames...)
	}
}

// A device that is full costs its own packets only, and no memory.
func TestFull(t *testing.T) {
	in, a, b := odptest.NewDevice(t, odptest.DeviceConfig{}), odptest.NewDevice(t, odptest.DeviceConfig{}), odptest.NewDevice(t, odptest.DeviceConfig{})
	frames := odptest.Frames(32, odptest.Frame{})
	in.Inject(frames...)
	b.SetRoom(5)
	var out, errs bytes.Buffer
	if rc := Main([]string{"-i", in.Name(), "-a", a.Name(), "-b", b.Name(), "-n", "32"}, &out, &errs); rc != 0 {
		t.Fatalf("exit status %d: %s", rc, errs.String())
	}
	a.Expect(frames...)
	b.Expect(frames[:5]...)
	if !strings.Contains(out.String(), "32 received, 32 sent to "+a.Name()+", 5 to "+b.Name()) {
		t.Error(out.String())
	}
}

func TestBadOptions(t *testing.T) {
	for args, want := range map[string]int{"-h": 0, "-x": 2, "-b nodev:0": 1} {
		var out, errs bytes.Buffer
		if rc := Main(strings.Fields(args), &out, &errs); rc != want || (rc != 0) != (errs.Len() > 0) {
			t.Errorf("%s: exit status %d, want %d: %s", args, rc, want, errs.String())
		}
	}
}
