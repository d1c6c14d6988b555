// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/odp-go/godp/examples/internal/opt"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/pktio"
)

// options is the command line, checked.
type options struct {
	ifs       []string // -i
	mask      uint64   // -p
	config    [][3]int // -config: port, queue, worker
	workers   int      // -c
	routes4   []route  // -rule_ipv4, or built in
	routes6   []route
	given     bool   // rule files were given
	lookup    string // -lookup
	ethDest   map[int]net.HardwareAddr
	rxBurst   int
	txBurst   int
	event     bool   // -mode event
	sched     string // -eventq-sched
	staged    bool
	check     string // -check
	missBack  bool   // -miss back
	promisc   bool   // -P
	seconds   float64
	interval  int
	json      bool
	cases     string // -cases
	demo      bool   // no -i
	plain     bool   // forward without looking
	ownPool   bool   // one pool for all ports
	lock      string
	onlyCases []string
}

func (o *options) enabled(port int) bool {
	return port < len(o.ifs) && port < 64 && o.mask>>port&1 != 0
}

func (o *options) builtin(route) bool { return !o.given }

// pattern is what is written over the addresses of packets that leave through out.
func (o *options) pattern(out int, own net.HardwareAddr) [12]byte {
	dst, ok := o.ethDest[out]
	if !ok {
		dst = net.HardwareAddr{2, 0, 0, 0, 0, byte(out)}
	}
	return header.MACPattern(dst, own)
}

func defaults() options {
	return options{workers: 1, lookup: "lpm", rxBurst: 32, txBurst: 32, staged: true, check: "rfc1812", sched: "atomic", lock: "auto", seconds: 0, interval: 1}
}

// parseOptions reads the command line. help is true when -h was given.
func parseOptions(args []string, out io.Writer) (o options, help bool, err error) {
	o = defaults()
	o.ethDest = map[int]net.HardwareAddr{}
	fs := flag.NewFlagSet("l3fwd", flag.ContinueOnError)
	var ifs, mask, config, rule4, rule6, mode, simd, miss string
	fs.StringVar(&ifs, "i", "", "")
	fs.StringVar(&mask, "p", "", "")
	fs.StringVar(&config, "config", "", "")
	fs.IntVar(&o.workers, "c", 1, "")
	fs.StringVar(&rule4, "rule_ipv4", "", "")
	fs.StringVar(&rule6, "rule_ipv6", "", "")
	fs.StringVar(&o.lookup, "lookup", "lpm", "")
	fs.Func("eth-dest", "", o.parseEthDest)
	fs.IntVar(&o.rxBurst, "rx-burst", 32, "")
	fs.IntVar(&o.txBurst, "tx-burst", 32, "")
	fs.StringVar(&mode, "mode", "poll", "")
	fs.StringVar(&o.sched, "eventq-sched", "atomic", "")
	fs.BoolVar(&o.staged, "staged", true, "")
	fs.StringVar(&simd, "simd", "auto", "")
	fs.StringVar(&o.check, "check", "rfc1812", "")
	fs.StringVar(&miss, "miss", "drop", "")
	fs.BoolVar(&o.promisc, "P", false, "")
	fs.Float64Var(&o.seconds, "t", 0, "")
	fs.IntVar(&o.interval, "a", 1, "")
	fs.BoolVar(&o.json, "json", false, "")
	fs.StringVar(&o.cases, "cases", "", "")
	fs.StringVar(&o.lock, "lock", "auto", "")
	opt.Refuse(fs, refusedOptions)
	if help, err = opt.Parse(fs, args, out, usage); help || err != nil {
		return o, help, err
	}
	set := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { set[f.Name] = true })
	for _, c := range []struct {
		name, v string
		allowed []string
	}{
		{"mode", mode, []string{"poll", "event", "eventdev"}}, {"eventq-sched", o.sched, []string{"atomic", "ordered", "parallel"}},
		{"check", o.check, []string{"rfc1812", "dpdk"}}, {"miss", miss, []string{"drop", "back"}},
		{"lock", o.lock, []string{"auto", "none", "queue", "device", "pktio"}},
	} {
		if !slices.Contains(c.allowed, c.v) {
			return o, false, opt.Usage("-%s %q: one of %s", c.name, c.v, strings.Join(c.allowed, ", "))
		}
	}
	switch o.lookup {
	case "lpm", "fib":
	case "acl", "em":
		return o, false, opt.Usage("-lookup %s is not supported: there are lpm and fib, which are one table here", o.lookup)
	default:
		return o, false, opt.Usage("-lookup %q: lpm or fib", o.lookup)
	}
	switch simd {
	case "auto", "off":
	case "avx2", "avx512":
		return o, false, opt.Usage("-simd=%s is not supported: every stage is plain Go, there is no code for %s in this program (auto and off are the same)", simd, simd)
	default:
		return o, false, opt.Usage("-simd %q: off, auto, avx2 or avx512", simd)
	}
	for _, r := range []struct {
		name      string
		v, lo, hi int
	}{{"rx-burst", o.rxBurst, 1, maxBurst}, {"tx-burst", o.txBurst, 1, maxBurst}, {"c", o.workers, 1, 64}, {"a", o.interval, 0, 1 << 30}} {
		if r.v < r.lo || r.v > r.hi {
			return o, false, opt.Usage("-%s %d: allowed %d to %d", r.name, r.v, r.lo, r.hi)
		}
	}
	if o.seconds < 0 || o.seconds > 1e6 {
		return o, false, opt.Usage("-t %v: seconds, 0 to 1000000", o.seconds)
	}
	o.event, o.missBack = mode != "poll", miss == "back"
	if set["eventq-sched"] && !o.event {
		return o, false, opt.Usage("-eventq-sched needs -mode event")
	}
	if o.event && set["config"] {
		return o, false, opt.Usage("-config says who polls which queue, which the scheduler decides with -mode event: use -c for the number of workers")
	}
	if !set["i"] {
		for _, needs := range []string{"p", "config", "rule_ipv4", "rule_ipv6", "mode", "P", "eth-dest", "staged", "miss"} {
			if set[needs] {
				return o, false, opt.Usage("-%s needs -i (without -i the measurement runs, which chooses it itself): for example -i template:0,template:1", needs)
			}
		}
		o.demo = true
		return o, false, o.parseCases()
	}
	if set["cases"] {
		return o, false, opt.Usage("-cases is for the measurement, which runs without -i")
	}
	return o, false, o.ports(ifs, mask, config, rule4, rule6)
}

// parseEthDest reads PORT,MAC.
func (o *options) parseEthDest(s string) error {
	p, m, _ := strings.Cut(s, ",")
	port, err := strconv.ParseUint(p, 10, 6)
	mac, err2 := net.ParseMAC(m)
	if err != nil || err2 != nil || len(mac) != 6 {
		return opt.Usage("PORT,MAC is wanted: 1,02:00:00:00:00:01")
	}
	o.ethDest[int(port)] = mac
	return nil
}

// ports checks what depends on the interfaces.
func (o *options) ports(ifs, mask, config, rule4, rule6 string) (err error) {
	if o.ifs, err = opt.Interfaces("i", ifs); err != nil {
		return err
	}
	if len(o.ifs) > 64 {
		return opt.Usage("-i names %d interfaces: at most 64, as the bits of -p", len(o.ifs))
	}
	for i, n := range o.ifs {
		if err := pktio.CheckName(n); err != nil {
			return opt.Usage("%v", err)
		}
		if slices.Contains(o.ifs[:i], n) {
			return opt.Usage("-i names %q twice", n)
		}
	}
	all := ^uint64(0) >> (64 - len(o.ifs))
	if o.mask = all; mask != "" {
		o.mask, err = strconv.ParseUint(strings.TrimPrefix(mask, "0x"), 16, 64)
		if err != nil || o.mask == 0 || o.mask&^all != 0 {
			return opt.Usage("-p %q: a hexadecimal mask of the ports in use, for %d interfaces up to %#x", mask, len(o.ifs), all)
		}
	}
	for p := range o.ethDest {
		if p >= len(o.ifs) {
			return opt.Usage("-eth-dest names port %d: there are ports 0 to %d", p, len(o.ifs)-1)
		}
	}
	if err := o.parseConfig(config); err != nil {
		return err
	}
	if (rule4 == "") != (rule6 == "") {
		return opt.Usage("-rule_ipv4 and -rule_ipv6 are given both or not at all (without them built-in routes are used)")
	}
	o.given = rule4 != ""
	if !o.given {
		o.routes4, o.routes6 = builtin(true), builtin(false)
		return nil
	}
	if o.routes4, err = readRules(rule4, true); err == nil {
		o.routes6, err = readRules(rule6, false)
	}
	if err != nil {
		return opt.Usage("%v", err)
	}
	return nil
}

var drainTime = 2 * time.Second
