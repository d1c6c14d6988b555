// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"flag"
	"math/rand/v2"
	"net/netip"

	"github.com/odp-go/godp/lookup"
	"github.com/odp-go/godp/lookup/sample"
	"github.com/odp-go/godp/odp"
)

// Tables of the look-up benchmark.
const (
	tableSmall = iota
	tableLarge
	tableEven6
	tableLarge6
)

var tableNames = [...]string{"router16", "router", "even6", "internet6"}

// lookups is what DPDK's lpm_perf, fib_perf and lpm6_perf tests do: addresses are looked up
// in a table of a router's shape.
type lookups struct {
	table, addrs, entry int
	burst               int

	v4      *lookup.V4[uint16]
	v4wide  *lookup.V4[uint32]
	v6      *lookup.V6
	addrs4  []uint32
	addrs6  []lookup.Addr6
	workers int
}

func newLookups(fs *flag.FlagSet) task {
	l := &lookups{}
	addChoice(fs, &l.table, "table", 0, 0, "`routes`: each 16th of a router's 1 076 806 (lpm_perf as measured here), all of them (fib_perf), 1000 IPv6 routes of even lengths (lpm6_perf), 200 000 IPv6 routes", tableNames[:]...)
	addChoice(fs, &l.addrs, "addrs", 0, 0, "`addresses`", "random", "routes", "ordered")
	addChoice(fs, &l.entry, "entry", 0, 0, "`bytes` of an entry (IPv4)", "2", "4")
	fs.IntVar(&l.burst, "b", 32, "`addresses` in a call; 0 = a call for each")
	return l
}

func (l *lookups) setWorkers(n int) { l.workers = n }

func (l *lookups) check() error {
	return firstErr(within("b", l.burst, 0, maxBurst),
		when(l.table >= tableEven6 && l.addrs == 0, "-addrs random: nearly no IPv6 address has a route: routes or ordered"))
}

func (l *lookups) params() Params {
	p := Params{{"table", tableNames[l.table]}, {"addrs", [...]string{"random", "routes", "ordered"}[l.addrs]}, {"burst", l.burst}}
	if l.table < tableEven6 {
		p = append(p, Param{"entry_bytes", 2 << l.entry})
	}
	return p
}

func (l *lookups) counted() bool { return false }

func (l *lookups) open(*env) (err error) {
	var routes []netip.Prefix
	cfg := lookup.Config{Name: "bench", Groups: 4096}
	switch l.table {
	case tableSmall:
		routes = sample.Router(1, 16)
	case tableLarge:
		routes = sample.Router(1, 1)
		cfg.Groups, cfg.MaxHop = 65000, 500
	case tableEven6:
		routes = sample.Even6(1)
	case tableLarge6:
		routes = sample.IPv6(1, 200_000)
		cfg.Groups = 200_000
	}
	cfg.Routes = len(routes)
	switch {
	case l.table >= tableEven6:
		l.v6, err = lookup.NewV6(cfg)
	case l.entry == 0:
		l.v4, err = lookup.NewV4[uint16](cfg)
	default:
		l.v4wide, err = lookup.NewV4[uint32](cfg)
	}
	for i := 0; i < len(routes) && err == nil; i++ {
		hop := uint32(1 + i%200)
		switch {
		case l.v6 != nil:
			err = l.v6.Add(routes[i], hop)
		case l.v4 != nil:
			err = l.v4.Add(routes[i], uint16(hop))
		default:
			err = l.v4wide.Add(routes[i], hop)
		}
	}
	l.fillAddrs(routes)
	return err
}

// fillAddrs makes the addresses: random ones, or random ones of routes, in random order or
// in the order of the routes as lpm6_perf has them.
func (l *lookups) fillAddrs(routes []netip.Prefix) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 1 << 17
	l.addrs4, l.addrs6 = nil, nil
	for i := range n {
		k := r.IntN(len(routes))
		if l.addrs == 2 {
			k = i * len(routes) / n
		}
		if l.v6 != nil {
			a := sample.Inside(r, routes[k]).As16()
			l.addrs6 = append(l.addrs6, lookup.ToAddr6(a[:]))
			continue
		}
		v := r.Uint32()
		if l.addrs != 0 {
			a := sample.Inside(r, routes[k]).As4()
			v = uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
		}
		l.addrs4 = append(l.addrs4, v)
	}
}

func (l *lookups) work(w *odp.Worker, i int, m *Meter) error {
	switch {
	case l.v6 != nil && l.burst == 0:
		each(m, l.addrs6, l.v6.Lookup)
	case l.v6 != nil:
		bulk(m, l.addrs6, l.burst, l.v6.LookupBulk)
	case l.v4 != nil && l.burst == 0:
		each(m, l.addrs4, l.v4.Lookup)
	case l.v4 != nil:
		bulk(m, l.addrs4, l.burst, l.v4.LookupBulk)
	case l.burst == 0:
		each(m, l.addrs4, l.v4wide.Lookup)
	default:
		bulk(m, l.addrs4, l.burst, l.v4wide.LookupBulk)
	}
	return nil
}

// bulk is the loop for bursts; a call through a function value costs about a ns a burst.
func bulk[A any, H lookup.Hop](m *Meter, addrs []A, burst int, find func([]A, []H)) {
	var hops [maxBurst]H
	var c Counts
	at := 0
	m.Begin()
	for {
		if c.Rounds++; c.Rounds&tickMask == 0 && !m.Tick(c.Events) {
			break
		}
		if at+burst > len(addrs) {
			at = 0
		}
		find(addrs[at:at+burst], hops[:burst])
		at += burst
		c.Events += uint64(burst)
		c.Calls++
	}
	m.Finish(c)
}

// each is the loop for single addresses, in rounds of 32; the call through a function value
// is part of the figure.
func each[A any, H lookup.Hop](m *Meter, addrs []A, find func(A) H) {
	var c Counts
	var sum H
	at := 0
	m.Begin()
	for {
		if c.Rounds++; c.Rounds&tickMask == 0 && !m.Tick(c.Events) {
			break
		}
		if at+32 > len(addrs) {
			at = 0
		}
		for _, a := range addrs[at : at+32] {
			sum += find(a)
		}
		at += 32
		c.Events += 32
		c.Calls += 32
	}
	m.Finish(c)
	if sum == 1 {
		c.Empty++ // keeps the sum in use
	}
}

// closed gives the table back.
func (l *lookups) closed(*Rep) error {
	var err error
	switch {
	case l.v6 != nil:
		err = l.v6.Close()
	case l.v4 != nil:
		err = l.v4.Close()
	case l.v4wide != nil:
		err = l.v4wide.Close()
	}
	l.v4, l.v4wide, l.v6 = nil, nil, nil
	return err
}
