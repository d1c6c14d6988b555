// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/platform/template"
)

// verify routes numFrames frames of each port, keeps what is sent, and compares it
// with what a slow and simple router makes of each frame: every byte, the output, and the
// order between each input and output.
func verify(ctx context.Context, o options, c *trafficCase) error { return compare(ctx, o, &o, c) }

// compare routes as o says and expects what a router with the options of expect sends.
func compare(ctx context.Context, o options, expect *options, c *trafficCase) error {
	in := make([][][]byte, numPorts)
	for p := range numPorts {
		in[p] = c.frames(&o, p)[:numFrames]
		if err := template.Set(portName(p), template.Feed{Frames: in[p], Limit: numFrames, Keep: numPorts * numFrames}); err != nil {
			return err
		}
		defer template.Forget(portName(p))
	}
	o.seconds, o.interval, o.plain = 0, 0, false
	r, err := open(ctx, &o, io.Discard)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	go func() { // until all came, which the deadline ends if they don't
		for ctx.Err() == nil {
			if s := r.sum(); s.sent+s.refused+s.dropped() >= numPorts*numFrames {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if err := r.run(ctx); err != nil {
		return err
	}
	want := map[[2]int][][]byte{}
	for p := range in {
		for _, f := range in[p] {
			g := bytes.Clone(f)
			if out := slowRoute(expect, p, g); out >= 0 {
				copy(g[6:12], r.macs[out])
				want[[2]int{p, out}] = append(want[[2]int{p, out}], g)
			}
		}
	}
	for out := range numPorts {
		for _, g := range template.Sent(portName(out)) {
			from := int(binary.BigEndian.Uint16(g[udpAt(g):]))
			key := [2]int{from, out}
			if len(want[key]) == 0 {
				return fmt.Errorf("%s: port %d sent a frame too many: % x", c.name, out, g)
			}
			if !bytes.Equal(g, want[key][0]) {
				return fmt.Errorf("%s: port %d sent\n% x, expected\n% x", c.name, out, g, want[key][0])
			}
			want[key] = want[key][1:]
		}
	}
	for key, list := range want {
		if len(list) > 0 {
			return fmt.Errorf("%s: %d frames from port %d to port %d are missing", c.name, len(list), key[0], key[1])
		}
	}
	return nil
}

func udpAt(g []byte) int {
	if binary.BigEndian.Uint16(g[12:]) == 0x86dd {
		return 54
	}
	return 34
}

// slowRoute does to a good frame what the router does, the obvious way, but for the
// source address. It returns the output, -1 for none.
func slowRoute(o *options, in int, g []byte) int {
	v6 := binary.BigEndian.Uint16(g[12:]) == 0x86dd
	routes, a := o.routes4, netip.AddrFrom4([4]byte(g[30:34]))
	if v6 {
		routes, a = o.routes6, netip.AddrFrom16([16]byte(g[38:54]))
	}
	best, out := -1, -1
	for _, r := range routes {
		if r.prefix.Bits() >= best && r.prefix.Contains(a) && o.enabled(r.port) {
			best, out = r.prefix.Bits(), r.port
		}
	}
	if out < 0 {
		if out = -1; o.missBack {
			out = in
		}
	}
	if out < 0 {
		return out
	}
	p := o.pattern(out, nil)
	copy(g[:6], p[:6])
	switch {
	case v6 && o.check != "dpdk":
		g[21]--
	case !v6:
		ip := header.IPv4(g[14:])
		g[22]--
		ip.UpdateChecksum()
	}
	return out
}
