// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/odp-go/godp/examples/internal/opt"
	"github.com/odp-go/godp/pktio"
)

// options is the command line, checked.
type options struct {
	ifs       []string           // -i
	out       []int              // -O, resolved: where interface i sends to
	mode      opt.Mode           // -m
	outQueue  bool               // -o 1: send through the output's event queue
	workers   int                // -c; 0 = all
	seconds   int                // -t; 0 = for ever
	interval  int                // -a; 0 = no reports
	dstChange bool               // -d
	srcChange bool               // -s
	dstMACs   []net.HardwareAddr // -r
	errCheck  bool               // -e
	groups    int                // -g
	rxQueues  int                // -q
	burst     int                // -b
	copyPkts  bool               // -p
	packets   int                // -n
	promisc   int                // -P
	touch     int                // -F
	verbose   bool               // -v

	lock     string // -lock
	share    string // -share
	idle     string // -idle
	drain    time.Duration
	json     bool
	zeroCopy bool
	takeOver bool // -take-over
	demo     bool // no -i: the demonstration

	// until ends a run that has no time limit when it answers true; asked each 5 ms.
	until func() bool
	// started is called with the run before its workers start.
	started func(*run)
}

const maxBurst = 256

func bit(name string, v int) (bool, error) {
	if v != 0 && v != 1 {
		return false, opt.Usage("-%s %d: 0 or 1", name, v)
	}
	return v == 1, nil
}

// parseOptions reads the command line. help is true when -h was given.
func parseOptions(args []string, out io.Writer) (o options, help bool, err error) {
	fs := flag.NewFlagSet("odp_l2fwd", flag.ContinueOnError)
	var (
		ifs, mode, outMap, dst               string
		outMode, dstCh, srcCh, errCh, copyCh int
	)
	fs.StringVar(&ifs, "i", "", "")
	fs.StringVar(&mode, "m", "0", "")
	fs.IntVar(&outMode, "o", 0, "")
	fs.StringVar(&outMap, "O", "", "")
	fs.IntVar(&o.workers, "c", 1, "")
	fs.IntVar(&o.seconds, "t", 0, "")
	fs.IntVar(&o.interval, "a", 1, "")
	fs.IntVar(&dstCh, "d", 1, "")
	fs.IntVar(&srcCh, "s", 1, "")
	fs.StringVar(&dst, "r", "", "")
	fs.IntVar(&errCh, "e", 0, "")
	fs.IntVar(&o.groups, "g", 0, "")
	fs.IntVar(&o.rxQueues, "q", 0, "")
	fs.IntVar(&o.burst, "b", 32, "")
	fs.IntVar(&copyCh, "p", 0, "")
	fs.IntVar(&o.packets, "n", 16384, "")
	fs.IntVar(&o.promisc, "P", 0, "")
	fs.IntVar(&o.touch, "F", 0, "")
	fs.BoolVar(&o.verbose, "v", false, "")
	fs.StringVar(&o.lock, "lock", "queue", "")
	fs.StringVar(&o.share, "share", "queues", "")
	fs.StringVar(&o.idle, "idle", "busy", "")
	fs.DurationVar(&o.drain, "drain", 2*time.Second, "")
	fs.BoolVar(&o.json, "json", false, "")
	fs.BoolVar(&o.zeroCopy, "zerocopy", true, "")
	fs.BoolVar(&o.takeOver, "take-over", false, "")
	opt.Refuse(fs, refusedLetters)

	if help, err = opt.Parse(fs, args, out, usage); help || err != nil {
		return o, help, err
	}
	if o.mode, err = opt.ParseMode(mode); err != nil {
		return o, false, err
	}
	for _, b := range []struct {
		name string
		v    int
		to   *bool
	}{{"o", outMode, &o.outQueue}, {"d", dstCh, &o.dstChange}, {"s", srcCh, &o.srcChange}, {"e", errCh, &o.errCheck}, {"p", copyCh, &o.copyPkts}} {
		if *b.to, err = bit(b.name, b.v); err != nil {
			return o, false, err
		}
	}
	if o.burst == 0 {
		o.burst = 32
	}
	for _, r := range []struct {
		name      string
		v, lo, hi int
	}{
		{"c", o.workers, 0, 128}, {"t", o.seconds, 0, 1 << 30}, {"a", o.interval, 0, 1 << 30}, {"g", o.groups, -1, 32},
		{"q", o.rxQueues, 0, 64}, {"b", o.burst, 1, maxBurst}, {"n", o.packets, 64, 1 << 24}, {"P", o.promisc, 0, 1}, {"F", o.touch, 0, 32},
	} {
		if r.v < r.lo || r.v > r.hi {
			return o, false, opt.Usage("-%s %d: allowed %d to %d", r.name, r.v, r.lo, r.hi)
		}
	}
	if o.drain < 0 {
		return o, false, opt.Usage("-drain %v: a time that is not negative, such as 2s", o.drain)
	}
	for _, c := range []struct {
		name, v string
		allowed []string
	}{
		{"lock", o.lock, []string{"pktio", "device", "queue", "none"}},
		{"share", o.share, []string{"queues", "handles"}},
		{"idle", o.idle, []string{"busy", "adaptive"}},
	} {
		if !slices.Contains(c.allowed, c.v) {
			return o, false, opt.Usage("-%s %q: one of %v", c.name, c.v, c.allowed)
		}
	}
	return o, false, o.interfaces(fs, ifs, outMap, dst)
}

// interfaces checks -i, -O and -r against each other.
func (o *options) interfaces(fs *flag.FlagSet, ifs, outMap, dst string) (err error) {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if !given["i"] {
		for _, needs := range []string{"m", "o", "O", "r", "q", "g", "share", "zerocopy"} {
			if given[needs] {
				return opt.Usage("-%s needs -i (without -i the demonstration runs, which chooses it itself): for example -i loop:0?seed=512,loop:1?seed=512", needs)
			}
		}
		o.demo = true
		return nil
	}
	if o.ifs, err = opt.Interfaces("i", ifs); err != nil {
		return err
	}
	for _, n := range o.ifs {
		if err := pktio.CheckName(n); err != nil {
			return opt.Usage("%v", err)
		}
	}
	switch { // what would have no effect
	case o.groups != 0 && !o.mode.Scheduled():
		return opt.Usage("-g %d with -m %s: groups are of the scheduler; they need -m parallel, atomic or ordered", o.groups, o.mode)
	case o.rxQueues != 0 && !o.mode.Scheduled():
		return opt.Usage("-q %d with -m %s: an interface has a receive queue for each of its workers there (-c); -q needs -m parallel, atomic or ordered", o.rxQueues, o.mode)
	case o.rxQueues > 1 && o.share == "handles":
		return opt.Usage("-q %d with -share handles: each handle has one receive queue; use -share queues", o.rxQueues)
	}
	for i, n := range o.ifs {
		if slices.Contains(o.ifs[:i], n) {
			return opt.Usage("-i names %q twice: to give an interface more workers use -c with -share", n)
		}
	}
	o.out = defaultMap(len(o.ifs))
	if given["O"] {
		names, err := opt.Interfaces("O", outMap)
		if err != nil {
			return err
		}
		if len(names) != len(o.ifs) {
			return opt.Usage("-O names %d interfaces, -i %d: one output for each input", len(names), len(o.ifs))
		}
		for i, n := range names {
			j := slices.IndexFunc(o.ifs, func(in string) bool { // with or without its options
				bare, _, _ := strings.Cut(in, "?")
				return n == in || n == bare
			})
			if j < 0 {
				return opt.Usage("-O names %q, which is not in -i; allowed are %s", n, strings.Join(o.ifs, ", "))
			}
			o.out[i] = j
		}
	}
	if dst != "" {
		if !o.dstChange {
			return opt.Usage("-r needs -d 1: destination addresses are not written with -d 0")
		}
		if o.dstMACs, err = opt.MACs(dst, len(o.ifs)); err != nil {
			return err
		}
	}
	return nil
}

// defaultMap pairs 0 with 1, 2 with 3, …; an odd number goes round.
func defaultMap(n int) []int {
	m := make([]int, n)
	for i := range m {
		if n%2 == 0 {
			m[i] = i ^ 1
		} else {
			m[i] = (i + 1) % n
		}
	}
	return m
}

// refusedLetters are odp_l2fwd's options that have no counterpart here.
var refusedLetters = map[string]string{
	"k": "checksum offload needs a device that computes checksums; none of the platforms does",
	"G": "-g puts interfaces into groups round robin and every worker joins all of them",
	"I": "all interfaces have the default priority here; set PortConfig.Priority in a program of your own",
	"y": "packets move without copy only inside one memory region, so the interfaces share a pool",
	"R": "reading packet data is a benchmark's load; see odp_l2fwd_perf for measuring",
	"E": "copying extra memory is a benchmark's load",
	"W": "waiting per burst is a benchmark's load",
	"u": "packets are handed over in arrays, not in vector events",
	"w": "see -u",
	"x": "see -u",
	"z": "see -u",
	"M": "set the MTU in the device's name or with the system's own tool (ip link set DEV mtu N)",
	"l": "the packet length comes from the device's memory region",
	"L": "the segment length comes from the device's memory region",
	"f": "the scheduler knows queues, not flows; spread flows over queues with -q",
	"T": "input time stamps are PortConfig.Timestamps in a program of your own",
	"C": "no platform reports transmit completion per packet",
	"X": "flow control is a setting of the NIC's driver (ethtool -A)",
	"V": "printing every packet: use a capturing device around the interface",

	"cache_stash":       "a hint to cache hardware that Go programs can't give",
	"schedule_prefetch": "the scheduler prefetches a stash by itself",
	"wait_link":         "ports wait for their link when they are opened",
}
