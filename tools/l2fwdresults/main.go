// SPDX-License-Identifier: Apache-2.0

// Command l2fwdresults measures odp_l2fwd as docs/results reports it: each mode is run in
// turn with burst mode (A B A B ...), ratios are taken pair by pair, and medians are printed
// with their spread as a table and as JSON. Run it from the top of the repository, on
// an otherwise quiet machine:
//
//	(cd tools && GOWORK=off go build -o ../bin/l2fwdresults ./l2fwdresults)
//	bin/l2fwdresults -n 5 -t 2 -json docs/results/l2fwd.json > docs/results/l2fwd.md
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// run is what odp_l2fwd -json prints of one run.
type run struct {
	Seconds    float64 `json:"seconds"`
	Packets    float64 `json:"packets"`
	PPS        float64 `json:"pps_avg"`
	TxDrops    float64 `json:"tx_drops"`
	MeanBurst  float64 `json:"mean_burst"`
	EmptyPolls float64 `json:"empty_polls"`
	Lost       float64 `json:"lost"`
	Reordered  float64 `json:"reordered"`
	Corrupt    float64 `json:"corrupt"`
	ZeroCopy   bool    `json:"zero_copy"`
}

// delivered is the rate without what was dropped on send.
func (r run) delivered() float64 { return (r.Packets - r.TxDrops) / r.Packets * r.PPS }

func (r run) emptyShare() float64 {
	full := r.Packets / max(r.MeanBurst, 1)
	return r.EmptyPolls / max(1, r.EmptyPolls+full)
}

// spread is a median with its extremes.
type spread struct{ Median, Min, Max float64 }

func of(v []float64) spread {
	s := slices.Clone(v)
	slices.Sort(s)
	return spread{s[len(s)/2], s[0], s[len(s)-1]}
}

// row is one line of the table.
type row struct {
	Mode, Lock       string
	Workers          int
	Mpps, BurstMpps  spread
	Ratio            spread // of the delivered rates, pair by pair
	MeanBurst        float64
	EmptyPolls       float64 // share of all polls
	TxDropShare      float64
	Lost, Reordered  float64
	Corrupt          float64
	LockWait, LockIn float64 `json:",omitempty"` // shares of the workers' time
}

// result is the whole report.
type result struct {
	Date, Machine, Kernel, Go, Commit, Command string
	Repetitions                                int
	Seconds                                    float64
	Rows                                       []row
	Loop                                       []row
}

var l2fwd = "bin/odp_l2fwd"

func main() {
	n := flag.Int("n", 5, "repetitions")
	t := flag.Int("t", 1, "seconds of each run")
	out := flag.String("json", "", "also write JSON there")
	flag.Parse()
	if err := measure(*n, *t, *out); err != nil {
		fmt.Fprintln(os.Stderr, "l2fwdresults:", err)
		os.Exit(1)
	}
}

func measure(n, t int, out string) error {
	if b, err := exec.Command("go", "build", "-o", l2fwd, "./examples/odp_l2fwd").CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %s", err, b)
	}
	r := result{Date: time.Now().UTC().Format("2006-01-02 15:04 UTC"), Machine: machine(), Kernel: output("uname", "-sr"), Go: runtime.Version(),
		Commit: output("git", "rev-parse", "--short", "HEAD"), Command: strings.Join(os.Args, " "), Repetitions: n, Seconds: float64(t)}
	for _, lock := range []string{"queue", "device", "pktio"} {
		for _, workers := range []int{1, 2, 4} {
			modes := []string{"atomic", "parallel", "ordered"}
			if lock == "pktio" {
				modes = modes[:1]
			}
			for _, mode := range modes {
				far := fmt.Sprintf("?far=source&sink=1&rings=%d", (workers+1)/2) // the same rings for both modes
				w, err := pairs("nmsim:r0"+far+",nmsim:r1"+far, mode, lock, workers, n, t)
				if err != nil {
					return err
				}
				r.Rows = append(r.Rows, w)
				fmt.Fprintf(os.Stderr, "%s %s %d: %.2f\n", mode, lock, workers, w.Ratio.Median)
			}
		}
	}
	for _, mode := range []string{"atomic", "parallel", "ordered", "plain"} {
		w, err := pairs("loop:r0?seed=512,loop:r1?seed=512", mode, "queue", 1, n, t)
		if err != nil {
			return err
		}
		r.Loop = append(r.Loop, w)
	}
	print(r)
	if out == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Clean(out), append(b, '\n'), 0o644)
}

// pairs runs burst mode and a mode in turn.
func pairs(ifs, mode, lock string, workers, n, t int) (row, error) {
	w := row{Mode: mode, Lock: lock, Workers: workers}
	var a, b, ratio []float64
	var emptyB, burstB, drops []float64
	for range n {
		x, _, err := once(ifs, "burst", lock, workers, t)
		if err != nil {
			return w, err
		}
		y, text, err := once(ifs, mode, lock, workers, t)
		if err != nil {
			return w, err
		}
		a, b, ratio = append(a, x.delivered()/1e6), append(b, y.delivered()/1e6), append(ratio, y.delivered()/x.delivered())
		burstB, emptyB = append(burstB, min(x.MeanBurst, y.MeanBurst)), append(emptyB, max(x.emptyShare(), y.emptyShare()))
		drops = append(drops, max(x.TxDrops/x.Packets, y.TxDrops/y.Packets))
		w.Lost += x.Lost + y.Lost
		w.Corrupt += x.Corrupt + y.Corrupt
		w.Reordered += y.Reordered
		w.LockWait, w.LockIn = shares(text)
	}
	w.BurstMpps, w.Mpps, w.Ratio = of(a), of(b), of(ratio)
	w.MeanBurst, w.EmptyPolls, w.TxDropShare = of(burstB).Min, of(emptyB).Max, of(drops).Median
	return w, nil
}

func once(ifs, mode, lock string, workers, t int) (run, string, error) {
	cmd := exec.Command(l2fwd, "-i", ifs, "-m", mode, "-lock", lock, "-c", strconv.Itoa(workers), "-t", strconv.Itoa(t), "-json")
	if lock == "pktio" {
		cmd.Args = append(cmd.Args, "-v") // measures the lock, and says so on standard error
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	b, err := cmd.Output()
	if err != nil {
		return run{}, "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, errs.String())
	}
	var rep struct{ Runs []run }
	if err := json.Unmarshal(b, &rep); err != nil {
		return run{}, "", err
	}
	return rep.Runs[0], errs.String(), nil
}

var lockLine = regexp.MustCompile(`lock_wait=([0-9.]+)% lock_held=([0-9.]+)%`)

func shares(text string) (wait, held float64) {
	if m := lockLine.FindStringSubmatch(text); m != nil {
		wait, _ = strconv.ParseFloat(m[1], 64)
		held, _ = strconv.ParseFloat(m[2], 64)
	}
	return wait, held
}

func print(r result) {
	fmt.Printf("Measured %s on %s, %s, %s, commit %s, by\n`%s`: %d pairs of %.0f s each, medians (min–max).\n\n", r.Date, r.Machine, r.Kernel, r.Go, r.Commit, r.Command, r.Repetitions, r.Seconds)
	fmt.Println("| interfaces | lock | workers | mode | Mpps | burst mode, Mpps | ratio to burst mode | burst | empty polls | dropped on send | lost | reordered | waiting for / inside the lock |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	table := func(name string, rows []row) {
		for _, w := range rows {
			lock := "–"
			if w.Lock == "pktio" {
				lock = fmt.Sprintf("%.0f %% / %.0f %%", w.LockWait, w.LockIn)
			}
			fmt.Printf("| %s | %s | %d | %s | %s | %s | **%.2f** (%.2f–%.2f) | %.1f | %.1f %% | %.1f %% | %.0f | %.0f | %s |\n", name, w.Lock, w.Workers, w.Mode, show(w.Mpps), show(w.BurstMpps),
				w.Ratio.Median, w.Ratio.Min, w.Ratio.Max, w.MeanBurst, 100*w.EmptyPolls, 100*w.TxDropShare, w.Lost, w.Reordered, lock)
		}
	}
	table("2 nmsim NIC ports", r.Rows)
	table("2 loops", r.Loop)
}

func show(s spread) string { return fmt.Sprintf("%.1f (%.1f–%.1f)", s.Median, s.Min, s.Max) }

func output(name string, args ...string) string {
	b, err := exec.Command(name, args...).Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(b))
}

// machine names the processor and how many of it there are.
func machine() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	name := "unknown processor"
	for _, l := range strings.Split(string(b), "\n") {
		if k, v, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(k) == "model name" {
			name = strings.TrimSpace(v)
			break
		}
	}
	return fmt.Sprintf("%s, %d CPUs", name, runtime.NumCPU())
}
