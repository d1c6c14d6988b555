// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/odp-go/godp/odptest"
)

var seconds = flag.Float64("idle.seconds", 0, "measure so long, and hold the CPU share against the promised 2 %")

func TestMain(m *testing.M) { odptest.Main(m) }

// Each way to wait gets every frame. One that sleeps uses little CPU time; how long
// a wake-up takes depends on the machine's load and is not judged here.
func TestWays(t *testing.T) {
	took, limit := 0.3, 0.25 // of CPU time: other programs don't add to it
	if *seconds > 0 {
		took, limit = *seconds, 0.02
	}
	for _, c := range []string{
		"-m queue -idle adaptive", "-m burst -idle adaptive", "-m queue -idle adaptive -c 3", "-m queue -idle busy", "-m burst -idle busy",
		"-m queue -idle adaptive -i nmsim:idle0?cable=idle1 -x nmsim:idle1", "-m burst -idle adaptive -i nmsim:idle0?cable=idle1 -x nmsim:idle1",
	} {
		var out, errs bytes.Buffer
		if rc := Main(strings.Fields(fmt.Sprintf("-json -n 20 -t %v %s", took, c)), &out, &errs); rc != 0 {
			t.Errorf("%s: exit status %d: %s", c, rc, errs.String())
			continue
		}
		var r result
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Errorf("%s: %v in %s", c, err, out.String())
			continue
		}
		if r.Received != 20 || r.Wakeups != 20 || r.Median <= 0 || r.P99 < r.Median || r.Slowest < r.P99 || r.Seconds != took {
			t.Errorf("%s: %s", c, out.String())
		}
		if r.Idle == "adaptive" && r.CPU > limit {
			t.Errorf("%s: %.1f %% of a core used without traffic, allowed %.1f %%", c, 100*r.CPU, 100*limit)
		}
		t.Logf("%s: %s", c, out.String())
	}
}

func TestText(t *testing.T) {
	var out, errs bytes.Buffer
	if rc := Main(strings.Fields("-t 0.01 -n 3"), &out, &errs); rc != 0 || !strings.Contains(out.String(), "loop:0, queue mode, adaptive, 1 workers: ") {
		t.Errorf("exit status %d: %s%s", rc, out.String(), errs.String())
	}
}

func TestBadOptions(t *testing.T) {
	for args, want := range map[string]int{
		"-h": 0, "-idle lazy": 2, "-m plain": 2, "-t 0": 2, "-n 0": 2, "-c 2 -m burst": 2, "-i nodev:0": 1, "-x nodev:0": 1, "-i loop:a -x loop:b -t 0.01": 1,
	} {
		var out, errs bytes.Buffer
		if rc := Main(strings.Fields(args), &out, &errs); rc != want || (rc != 0) != (errs.Len() > 0) {
			t.Errorf("%s: exit status %d, want %d: %s", args, rc, want, errs.String())
		}
	}
}
