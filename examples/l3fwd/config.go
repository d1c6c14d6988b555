// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/odp-go/godp/examples/internal/opt"
)

// parseConfig reads -config "(port,queue,lcore),…": which worker polls which receive
// queue. Lcores are numbers of the user's choice: the workers are those that are named,
// in their order. Without it worker i polls the ports i, i+c, …
func (o *options) parseConfig(s string) error {
	if s == "" {
		if o.event {
			return nil
		}
		for p := range o.ifs {
			if o.enabled(p) {
				o.config = append(o.config, [3]int{p, 0, len(o.config) % o.workers})
			}
		}
		o.workers = min(o.workers, len(o.config))
		return nil
	}
	bad := func(what string) error {
		return opt.Usage("-config %q: %s: it looks like (port,queue,lcore),(port,queue,lcore)", s, what)
	}
	var lcores []int
	for rest := s; rest != ""; {
		end := strings.IndexByte(rest, ')')
		if rest[0] != '(' || end < 0 {
			return bad("brackets")
		}
		var e [3]int
		if n, err := fmt.Sscanf(rest[:end+1], "(%d,%d,%d)", &e[0], &e[1], &e[2]); n != 3 || err != nil {
			return bad(rest[:end+1])
		}
		switch {
		case !o.enabled(e[0]) || e[0] < 0:
			return bad(fmt.Sprintf("port %d is not enabled (-p) or not there", e[0]))
		case e[1] < 0 || e[1] >= 64 || e[2] < 0 || e[2] > 1023:
			return bad("queues are 0 to 63, lcores 0 to 1023")
		case slices.ContainsFunc(o.config, func(x [3]int) bool { return x[0] == e[0] && x[1] == e[1] }):
			return bad(fmt.Sprintf("queue %d of port %d is given twice", e[1], e[0]))
		case len(o.config) == 1024:
			return bad("more than 1024 entries")
		}
		o.config = append(o.config, e)
		lcores = append(lcores, e[2])
		rest = rest[end+1:]
		if rest != "" {
			if rest[0] != ',' || len(rest) == 1 {
				return bad("a comma between two entries")
			}
			rest = rest[1:]
		}
	}
	sort.Ints(lcores)
	lcores = slices.Compact(lcores)
	if o.workers = len(lcores); o.workers > 64 {
		return bad("more than 64 lcores")
	}
	for i := range o.config {
		o.config[i][2], _ = slices.BinarySearch(lcores, o.config[i][2])
	}
	return o.queuesInRow()
}

// queuesInRow refuses queue numbers with gaps: nobody would poll the missing ones.
func (o *options) queuesInRow() error {
	n := map[int]int{}
	for _, e := range o.config {
		n[e[0]]++
	}
	for _, e := range o.config {
		if e[1] >= n[e[0]] {
			return opt.Usage("-config: port %d has %d queues, but queue %d is named: queues are numbered from 0 without gaps", e[0], n[e[0]], e[1])
		}
	}
	return nil
}

// parseCases reads -cases.
func (o *options) parseCases() error {
	if o.cases == "" {
		return nil
	}
	for _, name := range strings.Split(o.cases, ",") {
		if !slices.ContainsFunc(allCases, func(c trafficCase) bool { return c.name == name }) {
			var names []string
			for _, c := range allCases {
				names = append(names, c.name)
			}
			return opt.Usage("-cases %q: names out of %s, separated by commas", o.cases, strings.Join(names, ", "))
		}
		o.onlyCases = append(o.onlyCases, name)
	}
	return nil
}

// refusedOptions are DPDK's that have no counterpart here.
var refusedOptions = map[string]string{
	"E": "exact match is not one of this program's look-ups", "L": "-lookup lpm is the default",
	"parse-ptype": "the program always reads the EtherType itself", "no-numa": "memory is where the system puts it",
	"rx-queue-size": "ring sizes are options of the interface's name (rxslots=N)", "tx-queue-size": "ring sizes are options of the interface's name (txslots=N)",
	"mbcache": "the pool chooses its caches", "max-pkt-len": "the frame size is an option of the interface's name (maxlen=N)",
	"eth-link-speed": "set the link's speed with the system's own tool", "disable-rss": "flows are spread by the device",
	"relax-rx-offload": "no offloads are asked for", "per-port-pool": "each device has a pool of its own",
	"ipv6": "both families are always routed", "event-eth-rxqs": "each port has one queue in event mode",
	"event-vector": "packets are handed over in bursts", "event-vector-size": "packets are handed over in bursts", "event-vector-tmo": "packets are handed over in bursts",
	"alg": "ACL is not supported",
}

func usage(w io.Writer) { fmt.Fprint(w, helpText) }

const helpText = `l3fwd: an IPv4 and IPv6 router that takes bursts through stages

  l3fwd [-check=dpdk] [-cases LIST] [-t SEC] [-json]    measurement: four in-process ports, the five
                                       traffic cases, staged and packet by packet; the output is checked
  l3fwd -i IF,IF[,...] [options]       route between real or in-process interfaces

Options as DPDK's l3fwd (one dash or two):
  -p MASK              ports in use, hexadecimal (default: all of -i; port i is the i-th interface)
  -config (P,Q,L),...  worker L polls receive queue Q of port P (poll mode)
  -rule_ipv4 FILE      routes: lines like R198.18.1.0/24 1; # begins a comment. Both files or none;
  -rule_ipv6 FILE      without: 198.18.i.0/24 and 2001:200:0:i::/64 to port i
  -lookup lpm|fib      both names mean the table of this program; /0 is allowed in it
  -eth-dest P,MAC      destination address for port P (default 02:00:00:00:00:P)
  -rx-burst N          most packets received at once (default 32, at most 256)
  -tx-burst N          packets that leave together (default 32, at most 256)
  -mode poll|event     a worker receives itself, or the scheduler hands bursts out
  -eventq-sched atomic|ordered|parallel
  -P                   promiscuous mode
and beside them:
  -i LIST              interfaces, separated by commas: netmap:eth0, loop:0?seed=64, template:0
  -c N                 workers (default 1)
  -check rfc1812|dpdk  rfc1812: version, length, header checksum, TTL and hop limit, right update
                       (default); dpdk: what DPDK's l3fwd looks at
  -miss drop|back      without a route: drop and count (default), or send back where it came from
  -staged=false        packet by packet
  -simd off|auto       every stage is plain Go; avx2 and avx512 are refused
  -lock auto|none|queue|device|pktio   lock level of the ports
  -t SEC               run so long (default 0: until a signal; measurement: 0.5 for each point)
  -a SEC               seconds between reports (default 1; 0 = none)
  -cases LIST          which cases, separated by commas
  -json                one JSON object on standard output, nothing else there
  -h                   this text

Exit status: 0 good, 1 a run-time fault or wrong output, 2 a wrong command line.
`
