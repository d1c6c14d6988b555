// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/odp-go/godp/cmd/odp/internal/cli"
)

// benchmark is one entry of the list.
type benchmark struct {
	name, mirrors string
	make          func(fs *flag.FlagSet) task // or
	direct        func(ctx context.Context, args []string, version string, stdout io.Writer) error
}

var benchmarks = []benchmark{
	{"sched", "odp_sched_perf: schedule and enqueue", newSched, nil},
	{"queue", "odp_queue_perf: dequeue and enqueue, plain queues", newQueues, nil},
	{"pool", "odp_pool_perf: allocate and free", newPool, nil},
	{"packet", packetMirrors, nil, runCalls},
	{"l2fwd", "odp_l2fwd: forward packets between interfaces", newL2fwd, nil},
	{"sched-pktio", "odp_sched_pktio: interfaces through the scheduler, and a pipeline of queues", newSchedPktio, nil},
	{"latency", "odp_sched_latency: from enqueue to schedule, under load", newLatency, nil},
	{"lookup", "DPDK's lpm_perf, fib_perf, lpm6_perf: longest prefix match", newLookups, nil},
	{"memory", memoryWhat, nil, runMemory},
}

// Usage is the help of "odp bench".
func Usage() string {
	var b strings.Builder
	b.WriteString("odp bench BENCHMARK [options]\n\nEach does the work of one of ODP's performance tests, with its options, on this machine.\n\n")
	for _, x := range benchmarks {
		fmt.Fprintf(&b, "  %-12s %s\n", x.name, x.mirrors)
	}
	fmt.Fprintf(&b, "  %-12s %s\n", "compare", "run ours and a peer's program in turn, and print the ratio")
	b.WriteString("\n\"odp bench BENCHMARK -h\" lists the options.\n")
	return b.String()
}

// Run is "odp bench": args are the name of a benchmark and its options.
func Run(ctx context.Context, args []string, version string, stdout io.Writer) error {
	if len(args) == 0 {
		return cli.Usage("no benchmark given: %s", names())
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		_, err := io.WriteString(stdout, Usage())
		return err
	}
	for _, x := range benchmarks {
		if x.name == args[0] && x.direct != nil {
			return x.direct(ctx, args[1:], version, stdout)
		}
		if x.name == args[0] {
			return x.run(ctx, args[1:], version, stdout)
		}
	}
	return cli.Usage("there is no benchmark %q: %s", args[0], names())
}

func names() string {
	var n []string
	for _, x := range benchmarks {
		n = append(n, x.name)
	}
	return strings.Join(n, ", ")
}

// checker is a task whose options can be wrong.
type checker interface{ check() error }

// run parses the options of a benchmark and runs it.
func (x benchmark) run(ctx context.Context, args []string, version string, stdout io.Writer) error {
	com, t, done, err := x.parse(args, stdout)
	if done || err != nil {
		return err
	}
	return run(ctx, x.name, com, t, version, stdout)
}

// parse reads the options; done: the help was asked for, and printed.
func (x benchmark) parse(args []string, stdout io.Writer) (com *Common, t task, done bool, err error) {
	fs := flag.NewFlagSet("odp bench "+x.name, flag.ContinueOnError)
	com = &Common{}
	addCommon(fs, com)
	t = x.make(fs)
	if done, err := cli.Parse(fs, "odp bench "+x.name+" [options]\n\n"+x.mirrors, args, stdout); done || err != nil {
		return nil, nil, done, err
	}
	if err := com.check(); err != nil {
		return nil, nil, false, err
	}
	if s, ok := t.(interface{ setWorkers(int) }); ok {
		s.setWorkers(com.Workers)
	}
	if c, ok := t.(checker); ok {
		err = c.check()
	}
	return com, t, false, err
}

// Check reports what is wrong with a command line (a benchmark's name and options),
// without running it.
func Check(args []string) error {
	for _, x := range benchmarks {
		if len(args) > 0 && x.name == args[0] && x.make != nil {
			_, _, _, err := x.parse(args[1:], io.Discard)
			return err
		}
	}
	return cli.Usage("no benchmark in %q", args)
}
