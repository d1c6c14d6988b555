// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/odptest"
)

// TestMain lets a test start this binary as the program.
func TestMain(m *testing.M) {
	workerNice = 0
	if args, ok := os.LookupEnv("L2FWD_ARGS"); ok {
		os.Args = append(os.Args[:1], strings.Fields(args)...)
		main()
	}
	odptest.Main(m) // fails when goroutines, descriptors, mappings or packet memory are left
}

func program(args string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "L2FWD_ARGS="+args)
	return cmd
}

// The demonstration prints two results and its proof.
func TestDemo(t *testing.T) {
	var out, errs bytes.Buffer
	if rc := Main(context.Background(), []string{"-t", "1"}, &out, &errs); rc != 0 {
		t.Fatalf("exit status %d: %s\n%s", rc, errs.String(), out.String())
	}
	for _, want := range []string{"== burst mode", "== queue mode (atomic)", "frames injected", "queue mode / burst mode: ", "All frames are accounted for.\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), "TEST RESULT: "); n != 2 {
		t.Errorf("%d results, want 2:\n%s", n, out.String())
	}
}

// -json prints one object with exactly the promised keys, and nothing else.
func TestJSON(t *testing.T) {
	var out, errs bytes.Buffer
	if rc := Main(context.Background(), []string{"-t", "1", "-json"}, &out, &errs); rc != 0 {
		t.Fatalf("exit status %d: %s", rc, errs.String())
	}
	var top map[string]json.RawMessage
	d := json.NewDecoder(&out)
	if err := d.Decode(&top); err != nil || d.More() {
		t.Fatalf("not one JSON object: %v", err)
	}
	var runs []map[string]any
	if err := json.Unmarshal(top["runs"], &runs); err != nil || len(runs) != 2 || len(top) != 2 {
		t.Fatalf("runs: %v, %v", runs, err)
	}
	want := strings.Fields("mode lock workers interfaces seconds packets pps_avg pps_max rx_drops tx_drops drops_by_reason mean_burst empty_polls lost reordered corrupt zero_copy pool_leaked idle")
	for _, r := range runs {
		for _, k := range want {
			if _, ok := r[k]; !ok {
				t.Errorf("no %s in %v", k, r)
			}
		}
		if len(r) != len(want) {
			t.Errorf("%d keys, want %d: %v", len(r), len(want), r)
		}
		if r["lost"] != 0.0 || r["reordered"] != 0.0 || r["corrupt"] != 0.0 || r["packets"].(float64) < 1000 {
			t.Errorf("%v", r)
		}
	}
	var ratio float64
	if err := json.Unmarshal(top["ratio"], &ratio); err != nil || ratio <= 0 {
		t.Errorf("ratio %s", top["ratio"])
	}
}

// On interfaces whose far ends nobody knows, what can't be known is null.
func TestJSONNull(t *testing.T) {
	var out, errs bytes.Buffer
	if rc := Main(context.Background(), strings.Fields("-i loop:j0?seed=64,loop:j1?seed=64 -t 1 -json"), &out, &errs); rc != 0 {
		t.Fatalf("exit status %d: %s", rc, errs.String())
	}
	for _, want := range []string{`"lost": null`, `"reordered": null`, `"corrupt": null`, `"ratio": null`, `"pool_leaked": 0`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
}

// Every other option at work: each run forwards, and all packets come back.
func TestOptionsAtWork(t *testing.T) {
	far := "?far=source&sink=1&rings=2"
	ifs := "-i nmsim:w0" + far + ",nmsim:w1" + far
	runs := []string{
		"-m 0 -p 1", "-m 0 -e 1 -F 2", "-m 2 -g -1 -c 2", "-m 3 -g 2 -q 2 -c 2", "-m 0 -o 1", "-m 1 -o 1 -c 2",
		"-m 0 -d 0", "-m 0 -s 0", "-m 0 -d 0 -s 0", "-m 4 -b 256", "-m 2 -b 1", "-P 1 -v -a 0",
		"-m 0 -idle adaptive -c 2", "-m 2 -idle adaptive", "-O nmsim:w0" + far + ",nmsim:w1" + far,
		"-r 02:aa:00:00:00:01,02:aa:00:00:00:02", "-c 0 -n 2048", "-zerocopy=false -p 1",
	}
	for _, args := range runs {
		t.Run(strings.ReplaceAll(args, far, ""), func(t *testing.T) {
			o, _, err := parseOptions(strings.Fields(ifs+" "+args), io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			var r *run
			o.started = func(x *run) { r = x }
			start := time.Now()
			o.until = func() bool { return sum(r.pubs).packets > 5000 || time.Since(start) > odptest.Patience }
			res, err := forward(context.Background(), &o, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if res.Packets <= 5000 || *res.Lost != 0 || *res.Corrupt != 0 || res.PoolLeaked != 0 {
				t.Errorf("%+v, lost %d, corrupt %d", res, *res.Lost, *res.Corrupt)
			}
		})
	}
}

// Faults: exit status 1, or 2 where the command line is to blame, one message that says
// what to do, no stack.
func TestFaults(t *testing.T) {
	inst, err := odp.Open(context.Background(), odp.Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Close()
	if _, err := inst.OpenPort(context.Background(), "loop:held", odp.PortConfig{}); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{
		"-i nodev:0":            "the kinds in this program are",
		"-i loop:":              "KIND:DEVICE",
		"-i loop:0?sed=512":     "sed",
		"-i loop:0?seed=512x":   "seed",
		"-i loop:held":          "open",
		"-i null:0,null:1 -t 1": "nothing was forwarded",
		"-i loop:0?seed=64 -share handles -c 2 -lock none": "none",
		"-i nmsim:x-9 -t 1":                           "ring",
		"-i nmsim:n0?far=source -c 2 -lock none -t 1": "several workers use",
		"-c 4 -lock none -t 1":                        "-lock none",
		"-i":                                          "needs an argument",
	}
	// what the command line alone tells
	usage := map[string]bool{"-i nodev:0": true, "-i loop:": true, "-i loop:0?seed=64 -share handles -c 2 -lock none": true,
		"-i nmsim:n0?far=source -c 2 -lock none -t 1": true, "-c 4 -lock none -t 1": true, "-i": true}
	if _, err := os.Stat("/dev/netmap"); err != nil && runtime.GOOS == "linux" {
		cases["-i netmap:eth0"] = "netmap"
	}
	for args, word := range cases {
		var out, errs bytes.Buffer
		rc := Main(context.Background(), strings.Fields(args), &out, &errs)
		msg, want := errs.String(), 1
		if usage[args] {
			want = 2
		}
		if rc != want || !strings.Contains(msg, word) {
			t.Errorf("%s: exit status %d, %q: want %d and %q", args, rc, msg, want, word)
		}
		if strings.Contains(msg, "goroutine ") || strings.Contains(msg, ".go:") {
			t.Errorf("%s: a stack trace: %s", args, msg)
		}
	}
}

// SIGINT and SIGTERM end a run without time limit in order, with its result.
func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for _, args := range []string{"-i loop:0?seed=64,loop:1?seed=64 -m 2", "-i nmsim:s0?far=source&sink=1,nmsim:s1?far=source&sink=1 -m 0 -idle adaptive"} {
			cmd := program(args)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var errs bytes.Buffer
			cmd.Stderr = &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(60*time.Second, func() { cmd.Process.Kill() })
			var text []byte
			buf := make([]byte, 4096)
			signalled := false
			for {
				n, err := out.Read(buf)
				text = append(text, buf[:n]...)
				if !signalled && bytes.Contains(text, []byte(" pps, ")) {
					signalled = true
					cmd.Process.Signal(sig)
				}
				if err != nil {
					break
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v, %s: %v: %s%s", sig, args, err, text, errs.String())
			}
			timer.Stop()
			if !bytes.Contains(text, []byte("TEST RESULT: ")) {
				t.Errorf("%v, %s: no result: %s%s", sig, args, text, errs.String())
			}
		}
	}
}

// The names in the JSON are those of the modes.
func TestModesNamed(t *testing.T) {
	var got []string
	for _, m := range []string{"0", "1", "2", "3", "4"} {
		o, _, err := parseOptions([]string{"-i", "loop:0", "-m", m}, &bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, o.mode.String())
	}
	if !slices.Equal(got, []string{"burst", "parallel", "atomic", "ordered", "plain"}) {
		t.Error(got)
	}
}
