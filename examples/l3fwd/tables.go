// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"

	"github.com/odp-go/godp/lookup"
)

// tables are the routes of both families, and what is made of them at set-up. A
// table's answer is an output, or behind those a reason to drop, or back.
type tables struct {
	v4      *lookup.V4[uint16]
	v6      *lookup.V6
	back    uint32 // answer of -miss=back: the output of the packet's own input
	skipped int    // routes to ports that are not there or not enabled
}

// newTables installs the routes whose port is enabled, and says which are not: so no
// packet is asked whether its output is in use.
func newTables(o *options, say func(string, ...any), grace func(context.Context) error) (t *tables, err error) {
	n := uint32(len(o.ifs))
	t = &tables{back: n + numDrops}
	miss := n + dropNoRoute
	if o.missBack {
		miss = t.back
	}
	cfg := lookup.Config{Name: "ipv4", Default: miss, MaxHop: t.back, Routes: len(o.routes4), Groups: 256, Grace: grace}
	blocks := map[[3]byte]bool{}
	for _, r := range o.routes4 {
		if a := r.prefix.Addr().As4(); r.prefix.Bits() > 24 {
			blocks[[3]byte(a[:3])] = true
		}
	}
	cfg.Groups = min(cfg.Groups+len(blocks), 65535-int(t.back))
	if t.v4, err = lookup.NewV4[uint16](cfg); err != nil {
		return nil, err
	}
	cfg.Name, cfg.Routes, cfg.Groups = "ipv6", len(o.routes6), 1024+2*len(o.routes6)
	if t.v6, err = lookup.NewV6(cfg); err != nil {
		t.close()
		return nil, err
	}
	for _, list := range [][]route{o.routes4, o.routes6} {
		for _, r := range list {
			if !o.enabled(r.port) {
				t.skipped++
				if !o.builtin(r) {
					say("route %v to port %d is not installed: the port is not enabled (-p) or not there\n", r.prefix, r.port)
				}
				continue
			}
			if r.prefix.Addr().Is4() {
				err = t.v4.Add(r.prefix, uint16(r.port))
			} else {
				err = t.v6.Add(r.prefix, uint32(r.port))
			}
			if err != nil {
				t.close()
				return nil, err
			}
			if len(list) <= 64 {
				say("LPM: Adding route %v (%d) [%s]\n", r.prefix, r.port, o.ifs[r.port])
			}
		}
	}
	return t, nil
}

func (t *tables) close() error {
	var err error
	if t.v4 != nil {
		err = t.v4.Close()
	}
	if t.v6 != nil {
		if e := t.v6.Close(); err == nil {
			err = e
		}
	}
	return err
}

// hops makes the list that a table's answers lead to, for packets of one input: the
// addresses to write are joined once for each output.
func (t *tables) hops(o *options, macs []net.HardwareAddr, in int) []hop {
	n := len(o.ifs)
	list := make([]hop, n+numDrops+1)
	for out := range n {
		list[out] = hop{macs: o.pattern(out, macs[out]), out: uint16(out)}
	}
	for r := range numDrops {
		list[n+r].out = uint16(n + r)
	}
	list[t.back] = list[in]
	return list
}

func (t *tables) String() string {
	a, b := t.v4.Info(), t.v6.Info()
	return fmt.Sprintf("IPv4: %d routes, %d MiB (%s); IPv6: %d routes, %d MiB", a.Routes, a.Bytes>>20, a.Memory, b.Routes, b.Bytes>>20)
}
