// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/odp-go/godp/cmd/odp/internal/bench"
)

// Finder says where the peers' programs are.
type Finder struct {
	ODPDir  string // directory of ODP's test programs, "" = PATH
	TestPMD string // "" = PATH
	Test    string // dpdk-test, "" = PATH
	Self    string // our own program
	SelfEnv []string
	Pause   time.Duration // after each pair
}

// find returns the file of a peer's program.
func (f *Finder) find(program string) (string, error) {
	path := program
	switch {
	case program == "dpdk-testpmd" && f.TestPMD != "":
		path = f.TestPMD
	case program == "dpdk-test" && f.Test != "":
		path = f.Test
	case strings.HasPrefix(program, "odp_") && f.ODPDir != "":
		path = filepath.Join(f.ODPDir, program)
	}
	return exec.LookPath(path)
}

// Pair is one run of each side.
type Pair struct {
	Ours  float64 `json:"ours"`
	Peer  float64 `json:"peer"`
	Ratio float64 `json:"ratio"`
}

// Outcome is a row with what was measured.
type Outcome struct {
	ID      string        `json:"id"`
	Work    string        `json:"work"`
	Unit    string        `json:"unit"` // of the pairs: events per second, or ns
	Ours    bench.Spread  `json:"ours"`
	Peer    bench.Spread  `json:"peer"`
	Ratio   bench.Spread  `json:"ratio"` // ours / peer, over the pairs
	Want    string        `json:"want"`
	Met     *bool         `json:"met,omitempty"`
	Valid   bool          `json:"row_valid"` // two workers: the work was shared as it must be
	Shares  *bench.Shares `json:"shares,omitempty"`
	CPU     float64       `json:"cpu_share"` // least share of its CPU that one of our workers had
	Absent  string        `json:"absent,omitempty"`
	Failed  string        `json:"failed,omitempty"`
	Changed string        `json:"peer_changed,omitempty"`
	Note    string        `json:"note,omitempty"`
	OursCmd string        `json:"ours_command"`
	PeerCmd string        `json:"peer_command"`
	Pairs   []Pair        `json:"pairs,omitempty"`
	Version string        `json:"version"`
	Time    time.Time     `json:"time"`

	row *Row
}

// runRow measures a row. A peer that is absent or fails is told in the outcome; the error
// is for what ends the whole comparison.
func (f *Finder) runRow(ctx context.Context, r *Row, reps int, length time.Duration) (o Outcome, err error) {
	o = Outcome{ID: r.ID, Work: r.Work, Unit: r.Unit.String(), Want: r.want(), Changed: r.Changed, Note: r.Note, Valid: true, CPU: 1,
		OursCmd: "odp bench " + strings.Join(r.Ours, " "), PeerCmd: r.peerCommand(), Time: time.Now().UTC().Truncate(time.Second), row: r}
	program, err := f.find(r.Peer[0])
	if err != nil {
		o.Absent = r.Peer[0]
		return o, nil
	}
	var ours, peer, ratio []float64
	for range reps {
		a, err := f.runOurs(ctx, r, length, &o)
		if err != nil {
			return o, err
		}
		b, err := runPeer(ctx, r, program)
		if ctx.Err() != nil {
			return o, ctx.Err()
		}
		if err != nil {
			o.Failed = err.Error()
			return o, nil
		}
		ours, peer, ratio = append(ours, a), append(peer, b), append(ratio, a/b)
		o.Pairs = append(o.Pairs, Pair{a, b, a / b})
		time.Sleep(f.Pause)
	}
	o.Ours, o.Peer, o.Ratio = bench.SpreadOf(ours), bench.SpreadOf(peer), bench.SpreadOf(ratio)
	if r.Want > 0 {
		met := r.met(o.Ratio.Median)
		o.Met = &met
	}
	return o, nil
}

// runOurs runs our side once, in a process of its own as the peer is.
func (f *Finder) runOurs(ctx context.Context, r *Row, length time.Duration, o *Outcome) (float64, error) {
	args := append([]string{"bench"}, r.Ours...)
	args = append(args, "-reps", "1", "-time", length.String(), "-json")
	cmd := exec.CommandContext(ctx, f.Self, args...)
	cmd.Env = append(os.Environ(), f.SelfEnv...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w: %s", o.OursCmd, err, tail(errs.String()))
	}
	var res struct {
		bench.Result
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(out.Bytes(), &res); err != nil {
		return 0, fmt.Errorf("%s: %w", o.OursCmd, err)
	}
	o.Version = res.Version
	o.CPU = min(o.CPU, res.CPUShare)
	if s := res.Shares; s != nil && (o.Shares == nil || s.Least < o.Shares.Least) {
		o.Shares = s
	}
	if s := res.Shares; s != nil && !s.Counts {
		o.Valid = false
	}
	v := res.EventsPerSec
	switch r.Pick {
	case "cycles":
		v = res.CyclesPerEvent
	case "high":
		v = 0
		for _, l := range res.Latency {
			if l.Priority == r.Pick && l.Thread == "all" {
				v = l.Avg
			}
		}
	}
	if v <= 0 {
		return 0, fmt.Errorf("%s: no result", o.OursCmd)
	}
	return v, nil
}

// runPeer runs the peer once.
func runPeer(ctx context.Context, r *Row, program string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, r.Peer[1:]...)
	cmd.Env = append(os.Environ(), r.Env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if r.Seconds > 0 { // it would go on until it is told to end
		t := time.AfterFunc(time.Duration(r.Seconds)*time.Second, func() { cmd.Process.Signal(syscall.SIGINT) })
		defer t.Stop()
	}
	err := cmd.Wait()
	if err != nil && r.Seconds == 0 {
		return 0, fmt.Errorf("%w: %s", err, tail(out.String()))
	}
	x, err := r.read(out.String())
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w: %s", err, tail(out.String()))
	case x.workers != 0 && x.workers != r.Workers:
		return 0, fmt.Errorf("it ran %d workers of %d: %s", x.workers, r.Workers, changeCPU0)
	case x.value <= 0:
		return 0, errors.New("it reports 0")
	}
	return x.value, nil
}

// tail returns the last lines of an output, for errors.
func tail(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " / ")
}
