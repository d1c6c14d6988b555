// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/odptest"
)

func TestMain(m *testing.M) { odptest.Main(m) }

// Whatever the number of workers: all packets leave, worked on, in their order.
func TestOrder(t *testing.T) {
	for _, mode := range []string{"ordered", "atomic"} {
		for _, workers := range []string{"1", "2", "4", "7"} {
			const n = 2000
			dev := odptest.NewDevice(t, odptest.DeviceConfig{})
			var out, errs bytes.Buffer
			if rc := Main([]string{"-o", dev.Name(), "-n", fmt.Sprint(n), "-c", workers, "-m", mode}, &out, &errs); rc != 0 {
				t.Fatalf("%s, %s workers: exit status %d: %s", mode, workers, rc, errs.String())
			}
			if !strings.Contains(out.String(), ": 0 out of order") {
				t.Errorf("%s, %s workers: %s", mode, workers, out.String())
			}
			frames := dev.Frames()
			if len(frames) != n {
				t.Fatalf("%s, %s workers: %d frames left, want %d", mode, workers, len(frames), n)
			}
			for i, f := range frames {
				if seq := binary.BigEndian.Uint32(f[14:]); seq != uint32(i) {
					t.Fatalf("%s, %s workers: frame %d is number %d", mode, workers, i, seq)
				}
				if got, want := binary.BigEndian.Uint32(f[60:]), header.CRC32(f[:60], 0); got != want {
					t.Fatalf("%s, %s workers: frame %d: checksum %#x, want %#x: the first stage did not work on it", mode, workers, i, got, want)
				}
			}
		}
	}
}

// A parallel first stage loses no packet either.
func TestParallel(t *testing.T) {
	dev := odptest.NewDevice(t, odptest.DeviceConfig{})
	var out, errs bytes.Buffer
	if rc := Main([]string{"-o", dev.Name(), "-n", "2000", "-m", "parallel"}, &out, &errs); rc != 0 {
		t.Fatalf("exit status %d: %s", rc, errs.String())
	}
	seen := map[uint32]bool{}
	for _, f := range dev.Frames() {
		seen[binary.BigEndian.Uint32(f[14:])] = true
	}
	if len(seen) != 2000 {
		t.Errorf("%d different packets left, want 2000", len(seen))
	}
}

func TestBadOptions(t *testing.T) {
	for args, want := range map[string]int{"-h": 0, "-m fast": 2, "-n 0": 2, "-c 0": 2, "-o nodev:0": 1} {
		var out, errs bytes.Buffer
		if rc := Main(strings.Fields(args), &out, &errs); rc != want || (rc != 0) != (errs.Len() > 0) {
			t.Errorf("%s: exit status %d, want %d: %s", args, rc, want, errs.String())
		}
	}
}
