// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	workerNice = 0
	os.Exit(m.Run())
}

// Both modes forward, on loops and on the in-process netmap, and say how fast.
func TestMeasure(t *testing.T) {
	for _, ifs := range []string{"loop:p0?seed=64,loop:p1?seed=64", "nmsim:p0?far=source&sink=1,nmsim:p1?far=source&sink=1"} {
		for _, mode := range []string{"burst", "queue", "parallel", "ordered"} {
			for _, workers := range []string{"1", "2"} {
				var out, errs bytes.Buffer
				if rc := Main([]string{"-i", ifs, "-m", mode, "-c", workers, "-t", "0.1"}, &out, &errs); rc != 0 {
					t.Errorf("%s %s %s: exit status %d: %s", ifs, mode, workers, rc, errs.String())
				}
				if !strings.Contains(out.String(), " Mpps, ") {
					t.Errorf("%s %s: output %q", ifs, mode, out.String())
				}
			}
		}
	}
}

func TestBadOptions(t *testing.T) {
	for args, want := range map[string]int{
		"-m plain": 2, "-b 0": 2, "-c 0": 2, "-t 0": 2, "-i nodev:0": 1, "-i null:0 -t 0.01": 1, "-h": 0, "-x": 2,
	} {
		var out, errs bytes.Buffer
		if rc := Main(strings.Fields(args), &out, &errs); rc != want || (rc != 0) != (errs.Len() > 0) {
			t.Errorf("%s: exit status %d, want %d; %s", args, rc, want, errs.String())
		}
	}
}
