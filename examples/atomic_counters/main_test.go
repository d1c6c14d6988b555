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

// Every packet is counted once, in its flow, by any number of workers, although
// the counters are plain memory (the race detector watches); each flow keeps its order.
func TestCounts(t *testing.T) {
	for _, c := range []struct{ workers, queues int }{{1, 1}, {4, 16}, {3, 64}, {8, 5}} {
		const flows, each = 37, 40
		dev := odptest.NewDevice(t, odptest.DeviceConfig{PoolPackets: 4096})
		for seq := range each {
			for f := range flows {
				dev.Inject(odptest.Frame{Flow: f, Seq: uint32(seq)}.Bytes())
			}
		}
		var out, errs bytes.Buffer
		args := fmt.Sprintf("-i %s -n %d -c %d -q %d", dev.Name(), flows*each, c.workers, c.queues)
		if rc := Main(strings.Fields(args), &out, &errs); rc != 0 {
			t.Fatalf("%s: exit status %d: %s", args, rc, errs.String())
		}
		want := fmt.Sprintf("%d packets of %d flows, in %d queues, by %d workers; %d received, 0 without a place\n", flows*each, flows, c.queues, c.workers, flows*each)
		if out.String() != want {
			t.Errorf("%s:\n got %swant %s", args, out.String(), want)
		}
		next := map[int]uint32{}
		for _, b := range dev.Frames() {
			f, err := odptest.ParseFrame(b)
			if err != nil {
				t.Fatal(err)
			}
			if f.Seq != next[f.Flow] {
				t.Fatalf("%s: flow %d: number %d, want %d", args, f.Flow, f.Seq, next[f.Flow])
			}
			next[f.Flow]++
		}
		if len(next) != flows {
			t.Errorf("%s: frames of %d flows left, want %d", args, len(next), flows)
		}
	}
}

// A table that is full counts what finds no place.
func TestTableFull(t *testing.T) {
	var tb table
	for i := range uint32(20) {
		tb.count(i, 60) // all want one place: the upper bits are equal
	}
	tb.count(3, 60)
	if tb.full != 4 || tb.flows[3].packets != 2 || tb.flows[3].bytes != 120 {
		t.Errorf("full %d, want 4; %+v", tb.full, tb.flows[:20])
	}
}

func TestBadOptions(t *testing.T) {
	for args, want := range map[string]int{"-h": 0, "-q 65": 2, "-c 0": 2, "-i nodev:0": 1} {
		var out, errs bytes.Buffer
		if rc := Main(strings.Fields(args), &out, &errs); rc != want || (rc != 0) != (errs.Len() > 0) {
			t.Errorf("%s: exit status %d, want %d: %s", args, rc, want, errs.String())
		}
	}
}
