// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/odptest"
)

// Frames in, frames out, byte for byte, in every mode: what enters one interface
// leaves the other with its MAC addresses changed (-d, -s), and nothing else.
func TestFramesInFramesOut(t *testing.T) {
	var frames [][]byte
	for i := range 40 {
		f := odptest.Frame{Seq: uint32(i), Flow: i % 5, Len: 60 + 37*i}
		if i%4 == 3 {
			f.VLAN = []uint16{uint16(i)}
		}
		frames = append(frames, f.Bytes())
	}
	for _, c := range []struct {
		mode    string
		workers int
		ordered bool
	}{
		{"burst", 1, true}, {"burst", 2, true}, {"plain", 1, true}, {"parallel", 2, false}, {"atomic", 4, true}, {"ordered", 4, true},
	} {
		for _, macs := range []string{"0", "1"} {
			t.Run(fmt.Sprintf("%s/%d/macs=%s", c.mode, c.workers, macs), func(t *testing.T) {
				a := odptest.NewDevice(t, odptest.DeviceConfig{})
				b := odptest.NewDevice(t, odptest.DeviceConfig{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var out, errs bytes.Buffer
				done := make(chan int, 1)
				args := fmt.Sprintf("-i %s,%s -m %s -c %d -d %s -s %s -idle adaptive", a.Name(), b.Name(), c.mode, c.workers, macs, macs)
				go func() { done <- Main(ctx, strings.Fields(args), &out, &errs) }()
				a.Inject(frames...)
				got := b.Collect(len(frames))
				cancel()
				select {
				case rc := <-done:
					if rc != 0 {
						t.Fatalf("exit status %d: %s", rc, errs.String())
					}
				case <-time.After(odptest.Patience):
					t.Fatal("it does not end")
				}
				switch {
				case !c.ordered: // by sequence number
					if len(got) != len(frames) {
						t.Fatalf("%d frames", len(got))
					}
				case macs == "0":
					odptest.Equal(t, got, frames)
				default:
					odptest.Golden(t, "macs", got)
				}
				for _, g := range got {
					if _, err := odptest.ParseFrame(g); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}
