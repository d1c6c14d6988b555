// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/odp-go/godp/cmd/odp/internal/bench"
	"github.com/odp-go/godp/cmd/odp/internal/cli"
)

const usage = `odp bench compare [options]

Runs ours and a peer's program in turn, with the same work, and prints the ratio. The
peers are ODP's performance tests and DPDK's test programs; they are looked for on PATH
and where -odp-dir, -dpdk-test and -dpdk-testpmd say. docs/bench.md tells how to build them.`

// Run is "odp bench compare".
func Run(ctx context.Context, args []string, stdout io.Writer) error {
	fs := flag.NewFlagSet("odp bench compare", flag.ContinueOnError)
	var f Finder
	fs.StringVar(&f.ODPDir, "odp-dir", "", "`directory` of ODP's performance tests (test/performance of its build)")
	fs.StringVar(&f.Test, "dpdk-test", "", "`file` of dpdk-test")
	fs.StringVar(&f.TestPMD, "dpdk-testpmd", "", "`file` of dpdk-testpmd")
	pattern := fs.String("rows", "", "only the rows whose id this regular `expression` matches")
	list := fs.Bool("list", false, "list the rows and run none")
	pairs := fs.Int("pairs", 5, "`times` that ours and the peer run in turn")
	length := fs.Duration("time", 300*time.Millisecond, "length of each of our runs; the peer's are counted")
	fs.DurationVar(&f.Pause, "pause", 0, "pause after each pair, for machines where others want to run too")
	dir := fs.String("out", "", "write compare.json, compare.md and compare.svg into this `directory`; rows that are there and were not measured now are kept")

	redo := fs.Bool("report", false, "measure nothing: write the table and the plot of -out anew from its compare.json")
	if done, err := cli.Parse(fs, usage, args, stdout); done || err != nil {
		return err
	}
	re, err := regexp.Compile(*pattern)
	if err != nil {
		return cli.Usage("-rows %q: %v", *pattern, err)
	}
	if *pairs < 1 || *pairs > 1000 || *length < time.Millisecond || *length > time.Minute {
		return cli.Usage("-pairs 1 to 1000, -time 1ms to 1m")
	}
	rows := slices.DeleteFunc(Rows(), func(r Row) bool { return !re.MatchString(r.ID) })
	if len(rows) == 0 {
		return cli.Usage("-rows %q matches none: see -list", *pattern)
	}
	if *list {
		return printList(rows, stdout)
	}
	if f.Self, err = os.Executable(); err != nil {
		return err
	}
	rep := Report{}
	if *dir != "" {
		if rep, err = Load(*dir); err != nil {
			return err
		}
	}
	if *redo {
		if *dir == "" || len(rep.Rows) == 0 {
			return cli.Usage("-report needs -out with the directory of a compare.json")
		}
		return rep.Save(*dir)
	}
	rep.Machine, rep.Peers = bench.ThisMachine(), f.versions(ctx, rep.Peers)
	// Each row is written when it is there: a comparison that is ended early keeps its rows.
	out, err := f.measure(ctx, rows, *pairs, *length, stdout, func(o Outcome) error {
		if rep.Add([]Outcome{o}); *dir == "" {
			return nil
		}
		return rep.Save(*dir)
	})
	now := Report{Rows: out}
	io.WriteString(stdout, now.Text())
	return err
}

// measure runs the rows and tells each result as it comes.
func (f *Finder) measure(ctx context.Context, rows []Row, pairs int, length time.Duration, stdout io.Writer, done func(Outcome) error) (out []Outcome, err error) {
	absent := map[string]bool{}
	for i := range rows {
		o, err := f.runRow(ctx, &rows[i], pairs, length)
		if err != nil {
			return out, err
		}
		switch {
		case o.Absent != "":
			if !absent[o.Absent] {
				fmt.Fprintf(stdout, "%s is absent: its rows are left out\n", o.Absent)
			}
			absent[o.Absent] = true
		case o.Failed != "":
			fmt.Fprintf(stdout, "%s: the peer failed: %s\n", o.ID, o.Failed)
		default:
			u := rows[i].Unit
			fmt.Fprintf(stdout, "%s: ours %s, peer %s %s, ratio %.2f (%.2f–%.2f), wanted %s: %s%s\n", o.ID, spread(u, o.Ours), spread(u, o.Peer), u,
				o.Ratio.Median, o.Ratio.Min, o.Ratio.Max, o.Want, o.verdict(), o.quality())
		}
		out = append(out, o)
		if err := done(o); err != nil {
			return out, err
		}
	}
	return out, nil
}

func printList(rows []Row, stdout io.Writer) error {
	for i := range rows {
		r := &rows[i]
		if _, err := fmt.Fprintf(stdout, "%s: %s, wanted %s\n  odp bench %s\n  %s\n", r.ID, r.Work, r.want(), strings.Join(r.Ours, " "), r.peerCommand()); err != nil {
			return err
		}
		if r.Changed != "" {
			fmt.Fprintf(stdout, "  the peer must be changed: %s\n", r.Changed)
		}
		if r.Note != "" {
			fmt.Fprintf(stdout, "  %s\n", r.Note)
		}
	}
	return nil
}

var (
	odpVersion  = regexp.MustCompile(`(?m)^ODP impl details:\s+(.*)$`)
	dpdkVersion = regexp.MustCompile(`(?m)DPDK ([0-9][0-9.]*)`)
)

// versions asks the peers that are there what they are; of others the old answer stays.
func (f *Finder) versions(ctx context.Context, old []PeerVersion) []PeerVersion {
	ask := func(name, program string, re *regexp.Regexp, args ...string) {
		path, err := f.find(program)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		out, _ := exec.CommandContext(ctx, path, args...).CombinedOutput()
		m := re.FindSubmatch(out)
		if m == nil {
			return
		}
		v := PeerVersion{name, strings.TrimSpace(string(m[1]))}
		if i := slices.IndexFunc(old, func(x PeerVersion) bool { return x.Name == name }); i >= 0 {
			old[i] = v
		} else {
			old = append(old, v)
		}
	}
	ask("OpenDataPlane", "odp_sched_perf", odpVersion, "-s", "1000")
	ask("DPDK", "dpdk-testpmd", dpdkVersion, "-v", "--no-huge", "--no-pci", "-m", "64", "--", "-h")
	return old
}
