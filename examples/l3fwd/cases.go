// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"

	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/lookup/sample"
)

// numPorts and numFrames are those of the measurement: each port receives numFrames
// different frames in turn.
const (
	numPorts  = 4
	numFrames = 256
)

// trafficCase is a kind of traffic: the destination of frame i of port p.
type trafficCase struct {
	name, what string
	v6         func(i int) bool
	to         func(p, i int) int // output port
	cold       bool               // a full table, and destinations out of it at random
}

func always(v bool) func(int) bool { return func(int) bool { return v } }
func pairs(p, _ int) int           { return p ^ 1 }

// allCases are the five of DPDK's commit 96ff445371 of 2014, and one for a full table.
var allCases = []trafficCase{
	{name: "IPV4-CONT-BURST", what: "IPv4, one output for each input", v6: always(false), to: pairs},
	{name: "IPV6-CONT-BURST", what: "IPv6, one output for each input", v6: always(true), to: pairs},
	{name: "IPV4-IPV6-CONT-BURST", what: "the two in turn", v6: func(i int) bool { return i&1 != 0 }, to: pairs},
	{name: "IPV4-4STREAMSX8", what: "IPv4, to four outputs, 8 in a row", v6: always(false), to: func(_, i int) int { return i / 8 % 4 }},
	{name: "IPV4-4STREAMSX1", what: "IPv4, to four outputs in turn", v6: always(false), to: func(_, i int) int { return i % 4 }},
	{name: "IPV4-FULL-TABLE", what: "IPv4, 1.08 M routes, destinations from them at random", v6: always(false), cold: true},
}

// frames builds what port p receives. Each frame carries its port and number, so that
// a check can tell them apart.
func (c *trafficCase) frames(o *options, p int) [][]byte {
	if c.cold {
		return coldFrames(o, p)
	}
	list := make([][]byte, numFrames)
	for i := range list {
		if to := c.to(p, i); c.v6(i) {
			dst := [16]byte{0x20, 1, 2, 0, 0, 0, 0, byte(to), 15: byte(1 + i%250)}
			list[i] = frame6(dst, p, i)
		} else {
			list[i] = frame4([4]byte{198, 18, byte(to), byte(1 + i%250)}, p, i)
		}
	}
	return list
}

// coldFrames takes destinations out of the routes: many more than fit into a cache.
func coldFrames(o *options, p int) [][]byte {
	r := rand.New(rand.NewPCG(uint64(p), 99))
	list := make([][]byte, 16384)
	for i := range list {
		a := sample.Inside(r, o.routes4[r.IntN(len(o.routes4))].prefix)
		list[i] = frame4(a.As4(), p, i)
	}
	return list
}

// coldRoutes is the table of a real router, to four ports at random.
func coldRoutes() []route {
	r := rand.New(rand.NewPCG(1, 1))
	var list []route
	for _, p := range sample.Router(1, 1) {
		list = append(list, route{p, r.IntN(numPorts)})
	}
	return list
}

func ethernet(b []byte, p int, typ uint16) {
	e := header.Ethernet(b)
	e.SetDst(header.MAC{2, 0, 0, 0, 1, byte(p)})
	e.SetSrc(header.MAC{2, 0, 0, 0, 2, byte(p)})
	e.SetType(typ)
}

// frame4 is UDP over IPv4, 60 bytes.
func frame4(dst [4]byte, p, i int) []byte {
	b := make([]byte, 60)
	ethernet(b, p, 0x0800)
	header.IPv4(b[14:]).Encode(&header.IPv4Fields{TotalLen: 46, TTL: 64, Protocol: 17, Src: [4]byte{198, 18, 0, 1}, Dst: dst, ID: uint16(i)})
	udp(b[34:], p, i)
	return b
}

// frame6 is UDP over IPv6, 62 bytes.
func frame6(dst [16]byte, p, i int) []byte {
	b := make([]byte, 62)
	ethernet(b, p, 0x86dd)
	copy(b[14:], []byte{0x60, 0, 0, 0, 0, 8, 17, 64})
	src := netip.MustParseAddr("2001:200::1").As16()
	copy(b[22:], src[:])
	copy(b[38:], dst[:])
	udp(b[54:], p, i)
	return b
}

// udp writes the ports, which say where the frame came in and which one it is.
func udp(b []byte, p, i int) {
	binary.BigEndian.PutUint16(b, uint16(p))
	binary.BigEndian.PutUint16(b[2:], uint16(i))
	binary.BigEndian.PutUint16(b[4:], uint16(min(len(b), 26)))
}
