// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/odp-go/godp/cmd/odp/internal/bench"
	"github.com/odp-go/godp/cmd/odp/internal/cli"
	"github.com/odp-go/godp/odptest"
	_ "github.com/odp-go/godp/platform/loop"
)

// The test binary is our own program for the rows that the tests run: with this in the
// environment its arguments are those of odp.
const asProgram = "GODP_COMPARE_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		if err := bench.Run(context.Background(), os.Args[2:], "test", os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	odptest.Main(m)
}

// script writes a program that prints a file, and returns its directory.
func script(t *testing.T, name, print string, status int) string {
	t.Helper()
	dir := t.TempDir()
	file, err := filepath.Abs(print)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("#!/bin/sh\ncat %s\nexit %d\n", file, status)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

func row(t *testing.T, id string) Row {
	t.Helper()
	for _, r := range Rows() {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("no row %q", id)
	return Row{}
}

func finder(t *testing.T, dir string) *Finder {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Finder{ODPDir: dir, Self: self, SelfEnv: []string{asProgram + "=1"}}
}

// Ours and the peer run as often as they are told, and the ratio is that of each pair.
func TestRow(t *testing.T) {
	r := row(t, "pool-buffer-b32-c1")
	f := finder(t, script(t, "odp_pool_perf", "testdata/odp_pool_c1.txt", 0))
	o, err := f.runRow(context.Background(), &r, 2, 5e6)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Pairs) != 2 || o.Peer.Median != 860.093e6 || o.Failed != "" || o.Absent != "" || o.Met == nil || !o.Valid {
		t.Fatalf("%+v", o)
	}
	for _, p := range o.Pairs {
		if p.Ours <= 0 || p.Ratio != p.Ours/p.Peer {
			t.Errorf("%+v", p)
		}
	}
}

// What a latency row takes of ours is the average of the high priority.
func TestLatencyRow(t *testing.T) {
	r := row(t, "latency-atomic-c2")
	r.Ours = append(r.Ours[:0:0], "latency", "-c", "1", "-w", "1", "-l", "1", "-m", "1", "-t", "1")
	f := finder(t, script(t, "odp_sched_latency", "testdata/odp_latency_c2.txt", 0))
	o, err := f.runRow(context.Background(), &r, 1, 20e6)
	if err != nil {
		t.Fatal(err)
	}
	if o.Peer.Median != 826 || o.Ours.Median <= 0 || o.Unit != "ns" {
		t.Errorf("%+v", o)
	}
}

// A peer that is not there, fails, prints nothing, or runs fewer workers than it was told
// is named as that, and nothing is reported for it.
func TestPeerFaults(t *testing.T) {
	r := row(t, "pool-buffer-b32-c1")
	two := row(t, "pool-buffer-b32-c2")
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		row    *Row
		dir    string
		absent string
		failed string
	}{
		"absent":      {&r, t.TempDir(), "odp_pool_perf", ""},
		"fails":       {&r, script(t, "odp_pool_perf", "testdata/odp_pool_c1.txt", 3), "", "exit status 3"},
		"no result":   {&r, script(t, "odp_pool_perf", empty, 0), "", "no result"},
		"one of two":  {&two, script(t, "odp_pool_perf", "testdata/odp_pool_c1.txt", 0), "", "1 workers of 2"},
		"no such row": {&r, script(t, "odp_pool_perf", "testdata/odp_l2fwd_c2.txt", 0), "", "no result"},
	} {
		o, err := finder(t, c.dir).runRow(context.Background(), c.row, 1, 5e6)
		if err != nil || o.Absent != c.absent || !strings.Contains(o.Failed, c.failed) || (c.failed == "") != (o.Failed == "") || len(o.Pairs) != 0 {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
}

// Every row can be run: its id is unique, its options are those of our benchmark, its
// output has a reader.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rows() {
		if seen[r.ID] || r.Work == "" || r.read == nil || len(r.Peer) < 2 || r.Workers < 1 {
			t.Errorf("%+v", r)
		}
		seen[r.ID] = true
		if err := bench.Check(r.Ours); err != nil {
			t.Errorf("%s: odp bench %s: %v", r.ID, strings.Join(r.Ours, " "), err)
		}
		if r.Workers == 2 && strings.HasPrefix(r.Peer[0], "odp_") && (r.Changed == "" || !strings.Contains(r.peerCommand(), "ODP_ALL_WORKERS")) {
			t.Errorf("%s: two workers without the change that they need", r.ID)
		}
	}
}

// sample is a report with a row of each kind.
func sample() *Report {
	yes, no := true, false
	return &Report{
		Peers: []PeerVersion{{"OpenDataPlane", "odp-linux-1.50"}},
		Rows: []Outcome{
			{ID: "sched-q16-b32-c1-parallel", Work: "w1", Unit: "M/s", Want: ">= 1.4", Met: &yes, Valid: true, CPU: 1, Pairs: []Pair{{4e6, 2e6, 2}},
				Ours: bench.Spread{Median: 4e6, Min: 3e6, Max: 5e6}, Peer: bench.Spread{Median: 2e6, Min: 2e6, Max: 2e6}, Ratio: bench.Spread{Median: 2, Min: 1.5, Max: 2.5}, Note: "note one"},
			{ID: "latency-ordered-c2", Work: "w2", Unit: "ns", Want: "<= 0.9", Met: &no, Valid: false, CPU: 0.5, Pairs: []Pair{{200, 100, 2}},
				Ours: bench.Spread{Median: 200, Min: 200, Max: 200}, Peer: bench.Spread{Median: 100, Min: 100, Max: 100}, Ratio: bench.Spread{Median: 2, Min: 2, Max: 2}, Note: "note one", Changed: "a; b"},
			{ID: "queue-mt-b1-c1", Work: "w3", Unit: "M/s", Want: ">= 1.2", Absent: "odp_queue_perf"},
			{ID: "pool-buffer-b1-c1", Work: "w4", Unit: "M/s", Want: "-", Failed: "it broke"},
		},
	}
}

func TestReport(t *testing.T) {
	dir := t.TempDir()
	r := sample()
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	back, err := Load(dir)
	if err != nil || len(back.Rows) != 4 || back.Rows[0].Ratio != r.Rows[0].Ratio || *back.Rows[1].Met {
		t.Fatalf("%+v, %v", back, err)
	}
	if err := os.Remove(filepath.Join(dir, "compare.md")); err != nil {
		t.Fatal(err)
	}
	if err := Run(context.Background(), []string{"-report", "-out", dir}, io.Discard); err != nil {
		t.Fatal(err)
	}
	md := r.Markdown()
	if again, err := os.ReadFile(filepath.Join(dir, "compare.md")); err != nil || string(again) != md {
		t.Errorf("%v: not the same table: %s", err, again)
	}
	for _, want := range []string{"| w1 [1] |", "| w2 [2, 3, 1] |", "**2.00**", "met |", "not met; machine not quiet", "odp_queue_perf absent", "it broke", "[2] The peer is changed: a.", "odp-linux-1.50"} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in\n%s", want, md)
		}
	}
	// A picture: well-formed, with a mark for each row that was measured.
	svg := r.SVG()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
	}
	if n := strings.Count(svg, "<circle"); n != 2 {
		t.Errorf("%d marks, want 2", n)
	}
	// Twice as slow lies left of 1, twice as fast right of it.
	text := strings.Split(r.Text(), "\n")
	fast, slow := regexp.MustCompile(`#`).FindStringIndex(text[1]), regexp.MustCompile(`#`).FindStringIndex(text[2])
	if fast == nil || slow == nil || fast[0] <= slow[0] || !strings.Contains(text[1], "sched-q16") || !strings.Contains(text[1], "w") {
		t.Errorf("%s", r.Text())
	}
}

// A row measured again takes the place of the old one, the others stay.
func TestAdd(t *testing.T) {
	r := sample()
	r.Add([]Outcome{{ID: "queue-mt-b1-c1", Work: "again"}, {ID: "queue-mt-b32-c1", Work: "new"}})
	var ids []string
	for _, o := range r.Rows {
		ids = append(ids, o.ID+" "+o.Work)
	}
	want := []string{"sched-q16-b32-c1-parallel w1", "queue-mt-b1-c1 again", "queue-mt-b32-c1 new", "pool-buffer-b1-c1 w4", "latency-ordered-c2 w2"}
	if strings.Join(ids, ",") != strings.Join(want, ",") {
		t.Errorf("%q", ids)
	}
}

func TestCommandLine(t *testing.T) {
	for args, want := range map[string]string{"-rows [": "missing closing", "-rows nothing-like-it": "matches none", "-pairs 0": "-pairs 1", "-report": "needs -out", "more": "unexpected argument"} {
		err := Run(context.Background(), strings.Fields(args), io.Discard)
		var usage *cli.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	var out bytes.Buffer
	if err := Run(context.Background(), []string{"-list"}, &out); err != nil || !strings.Contains(out.String(), "sched-q1-b1-c2-ordered") {
		t.Errorf("%v: %s", err, out.String())
	}
}
