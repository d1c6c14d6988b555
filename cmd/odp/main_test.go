// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/odp-go/godp/odptest"
)

func TestMain(m *testing.M) { odptest.Main(m) }

// odp runs the program in this process.
func odp(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = Main(context.Background(), args, &out, &errs)
	return status, out.String(), errs.String()
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		out    string // a part of the standard output
		err    string // a part of the standard error
	}{
		{"", 2, "", "no command given"},
		{"frobnicate", 2, "", `there is no command "frobnicate"`},
		{"help", 0, "conform", ""},
		{"--help", 0, "version", ""},
		{"help conform", 0, "-run expression", ""},
		{"conform --help", 0, "-run expression", ""},
		{"conform -run [", 2, "", "missing closing ]"},
		{"conform -frob", 2, "", "-frob"},
		{"conform more", 2, "", `unexpected argument "more"`},
		{"conform -list -run POOL-01$", 0, "POOL-01", ""},
		{"conform -list -run NONE-01$", 2, "", "no case has such an id"},
		{"conform -i", 2, "", "flag needs an argument"},
		{"conform -i ,", 2, "", "an empty name"},
		{"conform -i=", 2, "", "an empty name"},
		{"conform -i loop:0,loop:1,loop:2", 2, "", "3 devices"},
		{"conform -i loop:0,loop:0", 2, "", "named twice"},
		{"conform -i nothing:0", 2, "", "unknown kind"},
		{"conform -i loop", 2, "", "loop"},
		{"conform -i loop:0?frob=1 -run POOL-01$", 1, "", "frob"},
		{"conform -limit 0s", 2, "", "more than 0"},
		{"conform -run POOL-01$", 0, "1 passed, 0 failed, 0 skipped", ""},
		{"conform -i loop:0 -run POOL-0[12]$", 0, "loop:0: loop, 1 receive", ""},
		{"conform -run SCHED-75$", 1, "a configured number of scheduler groups", "all were skipped"},
		{"conform -chaos 0s", 2, "", "a time above 0"},
		{"conform -chaos 1s -i loop:0", 2, "", "-i is for the suites"},
		{"conform -chaos 1s -seed x", 2, "", "a number from 0"},
		{"conform -chaos 1s -round 3", 2, "", "of a -seed"},
		{"conform -seed 3", 2, "", "a time above 0"},
		{"conform -chaos 1s -seed 1 -round 5", 0, "seed 1, 1 rounds, 0 failed", ""},
		{"version", 0, "odp ", ""},
		{"version -json", 0, `"system"`, ""},
	} {
		status, out, errs := odp(t, strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(out, c.out) || !strings.Contains(errs, c.err) || c.err == "" && errs != "" {
			t.Errorf("odp %s: status %d, want %d\nout: %s\nerr: %s", c.args, status, c.status, out, errs)
		}
		if strings.Contains(errs, "goroutine ") {
			t.Errorf("odp %s: a stack trace: %s", c.args, errs)
		}
	}
}

// The report that a user sends in: what is in it, and that the counts are those of the cases.
func TestConformJSON(t *testing.T) {
	status, out, errs := odp(t, "conform", "-json", "-short", "-i", "loop:json", "-run", "^(POOL-0[1-3]|SCHED-75)$")
	if status != 0 || errs != "" {
		t.Fatalf("status %d, %s", status, errs)
	}
	var r struct {
		Version struct{ Version, Go, System string }
		Machine struct {
			System, Kernel string
			CPUs           int
		}
		Devices []struct {
			Name, Driver string
			RxSlots      int `json:"rx_slots"`
		}
		Short                   bool
		Passed, Failed, Skipped int
		Coverage                struct{ Listed, Cases, Mapped int }
		Cases                   []struct {
			Platform, ID, Area, Objective, State, Lacks string
			Seconds                                     float64
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if r.Version.Version == "" || r.Version.Go != runtime.Version() || r.Machine.System != runtime.GOOS+"/"+runtime.GOARCH ||
		r.Machine.Kernel == "" || r.Machine.CPUs < 1 || !r.Short {
		t.Errorf("%+v", r)
	}
	if len(r.Devices) != 1 || r.Devices[0].Name != "loop:json" || r.Devices[0].RxSlots == 0 {
		t.Errorf("devices %+v", r.Devices)
	}
	if r.Passed != 3 || r.Failed != 0 || r.Skipped != 1 || len(r.Cases) != 4 {
		t.Errorf("%d passed, %d failed, %d skipped, %d cases", r.Passed, r.Failed, r.Skipped, len(r.Cases))
	}
	if r.Coverage.Listed != r.Coverage.Cases+r.Coverage.Mapped || r.Coverage.Cases == 0 {
		t.Errorf("coverage %+v", r.Coverage)
	}
	for _, c := range r.Cases {
		if c.Platform != "loop:json" || c.Area == "" || c.Objective == "" || (c.State == "skip") != (c.Lacks != "") || c.Seconds <= 0 {
			t.Errorf("%+v", c)
		}
	}
}

// A chaos run in JSON: the same round again has the same plan.
func TestChaosJSON(t *testing.T) {
	status, out, errs := odp(t, "conform", "-chaos", "1ms", "-seed", "42", "-json")
	var r struct {
		Seed                uint64
		Rounds              int
		Failed              []struct{ Problems []string }
		Injected, Delivered uint64
		Drops, Actions      map[string]uint64
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != 0 {
		t.Fatalf("status %d, %v: %s", status, err, out)
	}
	if r.Seed != 42 || r.Rounds != 1 || len(r.Failed) != 0 || r.Delivered == 0 || r.Injected < r.Delivered || len(r.Actions) == 0 {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(errs, "-seed 42") {
		t.Errorf("the seed is not told: %s", errs)
	}
}

// A run that is interrupted says so, and fails.
func TestConformInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	if status := Main(ctx, []string{"conform", "-json", "-run", "POOL"}, &out, &errs); status != 1 ||
		!strings.Contains(errs.String(), "interrupted") || !strings.Contains(out.String(), `"interrupted": true`) {
		t.Errorf("status %d\n%s\n%s", status, out.String(), errs.String())
	}
}

func TestBrokenOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range []string{"help", "version", "version -json", "conform -list", "conform -run POOL-01$", "conform -run POOL-01$ -json"} {
		var errs bytes.Buffer
		if status := Main(context.Background(), strings.Fields(args), full, &errs); status != 1 || !strings.Contains(errs.String(), "no space") {
			t.Errorf("odp %s to a full disk: status %d, %s", args, status, errs.String())
		}
	}
}
