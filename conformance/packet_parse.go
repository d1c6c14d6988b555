// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/odp"
)

// Packets: what the parser finds, wherever in a packet the frame starts.

// parseCase is one kind of frame and what must be found in it; offsets count from
// its first byte, -1 = none.
type parseCase struct {
	what  string
	start uint16
	frame []byte
	flags buffer.Flags
	l3    int
	l4    int
}

const (
	flagL234 = buffer.FlagL2 | buffer.FlagL3 | buffer.FlagL4
	v4       = flagL234 | buffer.FlagIPv4
	v6       = flagL234 | buffer.FlagIPv6
)

// parseCases are the cases PKT-48 to PKT-70, in this order.
func parseCases() []parseCase {
	any4, any6 := [4]byte{192, 168, 1, 2}, [16]byte{0x20, 1, 15: 2}
	uni := header.MAC{2, 0, 0, 0, 0, 1}
	udp, tcp, sctp := make([]byte, 8+26), make([]byte, 20+26), make([]byte, 12+26)
	header.UDP(udp).Encode(1000, 2000)
	header.TCP(tcp).SetHeaderLen(20)
	ah, esp := make([]byte, 24+26), make([]byte, 8+40)
	ah[1] = 4 // length in words - 2
	icmp := make([]byte, 8+26)
	ip := func(proto uint8, pay []byte) []byte {
		return ipv4Of(header.IPv4Fields{Protocol: proto, Dst: any4}, nil, pay)
	}
	ip6 := func(next uint8, pay []byte) []byte { return ipv6Of(next, any6, pay) }
	snap := func(typ uint16, pay []byte) []byte {
		return join(ether(uni, uint16(8+len(pay))), []byte{0xaa, 0xaa, 3, 0, 0, 0, byte(typ >> 8), byte(typ)}, pay)
	}
	arp := make([]byte, header.ARPLen)
	header.ARP(arp).Init(header.ARPRequest)
	arp = append(arp, make([]byte, 18)...) // padded to the least length of a frame
	options := []byte{7, 7, 4, 0, 0, 0, 0, 1}
	return []parseCase{
		{"IPv4 and UDP", 0, join(ether(uni, header.TypeIPv4), ip(header.ProtoUDP, udp)), v4 | buffer.FlagUDP, 14, 34},
		{"IPv4 and UDP behind LLC/SNAP", 0, snap(header.TypeIPv4, ip(header.ProtoUDP, udp)), v4 | buffer.FlagUDP, 22, 42},
		{"IPv4 without a layer 2 header", header.TypeIPv4, ip(header.ProtoUDP, udp), v4&^buffer.FlagL2 | buffer.FlagUDP, 0, 20},
		{"IPv4 and TCP", 0, join(ether(uni, header.TypeIPv4), ip(header.ProtoTCP, tcp)), v4 | buffer.FlagTCP, 14, 34},
		{"IPv6 and UDP", 0, join(ether(uni, header.TypeIPv6), ip6(header.ProtoUDP, udp)), v6 | buffer.FlagUDP, 14, 54},
		{"IPv6 and TCP", 0, join(ether(uni, header.TypeIPv6), ip6(header.ProtoTCP, tcp)), v6 | buffer.FlagTCP, 14, 54},
		{"IPv4 and UDP behind a VLAN tag", 0, join(ether(uni, header.TypeVLAN), tag(header.TypeIPv4), ip(header.ProtoUDP, udp)), v4 | buffer.FlagUDP | buffer.FlagVLAN, 18, 38},
		{"IPv6 and UDP behind a VLAN tag", 0, join(ether(uni, header.TypeVLAN), tag(header.TypeIPv6), ip6(header.ProtoUDP, udp)), v6 | buffer.FlagUDP | buffer.FlagVLAN, 18, 58},
		{"IPv4 and UDP behind two tags", 0, join(ether(uni, header.TypeQinQ), tag(header.TypeVLAN), tag(header.TypeIPv4), ip(header.ProtoUDP, udp)), v4 | buffer.FlagUDP | buffer.FlagVLAN | buffer.FlagQinQ, 22, 42},
		{"ARP to all", 0, join(ether(header.Broadcast, header.TypeARP), arp), buffer.FlagL2 | buffer.FlagL3 | buffer.FlagARP | buffer.FlagEthBcast | buffer.FlagEthMcast, 14, -1},
		{"IPv4 and ICMP", 0, join(ether(uni, header.TypeIPv4), ip(header.ProtoICMP, icmp)), v4 | buffer.FlagICMP, 14, 34},
		{"IPv6 and ICMP", 0, join(ether(uni, header.TypeIPv6), ip6(header.ProtoICMPv6, icmp)), v6 | buffer.FlagICMP, 14, 54},
		{"IPv4 and SCTP", 0, join(ether(uni, header.TypeIPv4), ip(header.ProtoSCTP, sctp)), v4 | buffer.FlagSCTP, 14, 34},
		{"IPv4 and AH", 0, join(ether(uni, header.TypeIPv4), ip(header.ProtoAH, ah)), v4 | buffer.FlagIPsec, 14, 34},
		{"IPv4 and ESP", 0, join(ether(uni, header.TypeIPv4), ip(header.ProtoESP, esp)), v4 | buffer.FlagIPsec, 14, 34},
		{"IPv6 and AH", 0, join(ether(uni, header.TypeIPv6), ip6(header.ProtoAH, ah)), v6 | buffer.FlagIPsec, 14, 54},
		{"IPv6 and ESP", 0, join(ether(uni, header.TypeIPv6), ip6(header.ProtoESP, esp)), v6 | buffer.FlagIPsec, 14, 54},
		{"IPv4 multicast", 0, join(ether(header.MAC{1, 0, 0x5e, 1, 1, 1}, header.TypeIPv4), ipv4Of(header.IPv4Fields{Protocol: header.ProtoUDP, Dst: [4]byte{224, 1, 1, 1}}, nil, udp)), v4 | buffer.FlagUDP | buffer.FlagEthMcast | buffer.FlagIPMcast, 14, 34},
		{"IPv4 broadcast", 0, join(ether(header.Broadcast, header.TypeIPv4), ipv4Of(header.IPv4Fields{Protocol: header.ProtoUDP, Dst: [4]byte{255, 255, 255, 255}}, nil, udp)), v4 | buffer.FlagUDP | buffer.FlagEthBcast | buffer.FlagEthMcast | buffer.FlagIPBcast, 14, 34},
		{"IPv6 multicast", 0, join(ether(header.MAC{0x33, 0x33, 0, 0, 0, 1}, header.TypeIPv6), ipv6Of(header.ProtoUDP, [16]byte{0xff, 2, 15: 1}, udp)), v6 | buffer.FlagUDP | buffer.FlagEthMcast | buffer.FlagIPMcast, 14, 54},
		{"the first fragment of IPv4 and UDP", 0, join(ether(uni, header.TypeIPv4), ipv4Of(header.IPv4Fields{Protocol: header.ProtoUDP, Dst: any4, Flags: header.IPv4MoreFragments}, nil, udp)), v4 | buffer.FlagUDP | buffer.FlagIPFrag, 14, 34},
		{"the last fragment of IPv4 and UDP", 0, join(ether(uni, header.TypeIPv4), ipv4Of(header.IPv4Fields{Protocol: header.ProtoUDP, Dst: any4, FragmentOffset: 1480}, nil, udp)), v4&^buffer.FlagL4 | buffer.FlagUDP | buffer.FlagIPFrag, 14, -1},
		{"IPv4 with options and ICMP", 0, join(ether(uni, header.TypeIPv4), ipv4Of(header.IPv4Fields{Protocol: header.ProtoICMP, Dst: any4}, options, icmp)), v4 | buffer.FlagICMP | buffer.FlagIPOpt, 14, 42},
	}
}

const firstParse = 48

func init() {
	for i, c := range parseCases() {
		register("PKT", Case{fmt.Sprintf("PKT-%02d", firstParse+i), "In " + c.what + " the parser finds these headers and no others, at any offset and over segments.", nil,
			func(e *Env) { pktParse(e, c) }})
	}
	register("PKT", Case{"PKT-71", "All that the parser found, read in one go, agrees with each single getter, for one packet and for a burst.", nil, pktParseResult})
}

func ether(dst header.MAC, typ uint16) []byte {
	b := make(header.Ethernet, header.EthernetLen)
	b.SetDst(dst)
	b.SetSrc(header.MAC{2, 0, 0, 0, 0, 2})
	b.SetType(typ)
	return b
}

func tag(typ uint16) []byte {
	b := make(header.VLAN, header.VLANLen)
	b.SetID(23)
	b.SetType(typ)
	return b
}

// ipv4Of makes a datagram; UDP behind a whole one gets its checksum.
func ipv4Of(f header.IPv4Fields, options, pay []byte) []byte {
	b := make(header.IPv4, header.IPv4MinLen+len(options)+len(pay))
	f.Src = [4]byte{192, 168, 1, 1}
	b.Encode(&f)
	b[0] = 0x40 | byte(header.IPv4MinLen+len(options))/4
	copy(b[header.IPv4MinLen:], options)
	copy(b[header.IPv4MinLen+len(options):], pay)
	b.UpdateChecksum()
	if f.Protocol == header.ProtoUDP && !b.IsFragment() {
		header.UDP(b.Payload()).UpdateChecksum(b.Pseudo(len(pay)))
	}
	return b
}

func ipv6Of(next uint8, dst [16]byte, pay []byte) []byte {
	b := make(header.IPv6, header.IPv6Len+len(pay))
	b.Encode(&header.IPv6Fields{NextHeader: next, Src: [16]byte{0x20, 1, 15: 1}, Dst: dst})
	copy(b[header.IPv6Len:], pay)
	if next == header.ProtoUDP {
		header.UDP(b.Payload()).UpdateChecksum(b.Pseudo(next, len(pay)))
	}
	return b
}

var parseOffsets = []int{0, 2, 8, 12, 19, 36, 64, 120, 207, 0}

// framePool has segments so small that headers cross them.
func (e *Env) framePool(size int) *odp.Pool {
	e.Helper()
	return e.pool(odp.PoolConfig{Num: 128, Size: size, Headroom: 64, MaxLen: 4096})
}

// frameAt makes a packet with the frame at an offset, and other bytes before it.
func (e *Env) frameAt(p *odp.Pool, off int, frame []byte) *odp.Packet {
	e.Helper()
	k := e.newPacket(p, off+len(frame))
	write(k, off, frame)
	return k
}

// found checks what was recorded in the packet for a frame at off.
func (c parseCase) found(e *Env, k *odp.Packet, off int) {
	e.Helper()
	at := func(rel int) uint16 {
		if rel < 0 {
			return buffer.NoOffset
		}
		return uint16(rel + off)
	}
	l2 := at(0)
	if c.start != 0 {
		l2 = buffer.NoOffset
	}
	e.Check(k.Flags() == c.flags, "%s at %d: flags %#x, want %#x", c.what, off, k.Flags(), c.flags)
	e.Check(k.L2Offset() == l2 && k.L3Offset() == at(c.l3) && k.L4Offset() == at(c.l4), "%s at %d: offsets %d, %d, %d; want %d, %d, %d", c.what, off, k.L2Offset(), k.L3Offset(), k.L4Offset(), l2, at(c.l3), at(c.l4))
	typ := uint16(0xffff)
	switch {
	case c.flags&buffer.FlagIPv4 != 0:
		typ = header.TypeIPv4
	case c.flags&buffer.FlagIPv6 != 0:
		typ = header.TypeIPv6
	case c.flags&buffer.FlagARP != 0:
		typ = header.TypeARP
	}
	e.Check(k.L3Type() == typ, "%s: layer 3 type %#x, want %#x", c.what, k.L3Type(), typ)
	e.Check(!k.HasError(), "%s at %d: errors of layers 2 to 4: %v, %v, %v", c.what, off, k.HasL2Error(), k.HasL3Error(), k.HasL4Error())
	e.Check(k.L3Checksum() == buffer.ChecksumUnknown && k.L4Checksum() == buffer.ChecksumUnknown, "%s: checksums %d, %d, nobody asked", c.what, k.L3Checksum(), k.L4Checksum())
}

func pktParse(e *Env, c parseCase) {
	for _, size := range []int{1024, 16} {
		p := e.framePool(size)
		var pkts []*odp.Packet
		for _, off := range parseOffsets {
			pkts = append(pkts, e.frameAt(p, off, c.frame))
		}
		cfg := header.ParseConfig{Start: c.start}
		e.NoError(e.Ops.Parse(pkts[0], parseOffsets[0], cfg), "ParsePacket")
		n, err := header.ParsePackets(pkts[1:], parseOffsets[1:], cfg)
		e.NoError(err, "ParsePackets")
		e.Must(n == len(pkts)-1, "%d of %d packets were parsed", n, len(pkts)-1)
		for i, k := range pkts {
			c.found(e, k, parseOffsets[i])
		}
		for depth, drop := range map[int]buffer.Flags{2: buffer.FlagL3 | buffer.FlagL4, 3: buffer.FlagL4} {
			e.NoError(e.Ops.Parse(pkts[0], 0, header.ParseConfig{Start: c.start, Depth: depth}), "ParsePacket")
			e.Check(pkts[0].Flags()&drop == 0, "depth %d found %#x", depth, pkts[0].Flags()&drop)
		}
		c.checksums(e, pkts[4], parseOffsets[4])
		k := pkts[9]
		e.Ops.ResetMeta(k)
		for _, bad := range []header.ParseConfig{{Start: 0x1234}, {Depth: 1}, {Depth: 5}} {
			e.Check(e.Ops.Parse(k, 0, bad) != nil && k.Flags() == 0, "%+v was accepted", bad)
		}
		e.Check(e.Ops.Parse(k, k.Len(), cfg) != nil && e.Ops.Parse(k, -1, cfg) != nil && k.Flags() == 0, "an offset beyond the packet was accepted")
		e.free(nil, odp.EventsOf(pkts)...)
		e.closePool(p)
	}
}

// checksums checks that right checksums are found right and wrong ones wrong.
func (c parseCase) checksums(e *Env, k *odp.Packet, off int) {
	e.Helper()
	cfg := header.ParseConfig{Start: c.start, Checksums: true}
	e.NoError(e.Ops.Parse(k, off, cfg), "ParsePacket")
	if c.flags&buffer.FlagIPv4 == 0 {
		e.Check(k.L3Checksum() == buffer.ChecksumUnknown, "%s: layer 3 checksum %d, it has none", c.what, k.L3Checksum())
	} else {
		e.Check(k.L3Checksum() == buffer.ChecksumOK && !k.HasL3Error(), "%s: layer 3 checksum %d, want right", c.what, k.L3Checksum())
	}
	whole := k.NumSegs() == 1
	udp := c.flags&buffer.FlagUDP != 0 && c.flags&buffer.FlagIPFrag == 0
	want := buffer.ChecksumUnknown
	if udp && whole {
		want = buffer.ChecksumOK
	}
	if udp || c.flags&buffer.FlagL4 == 0 {
		e.Check(k.L4Checksum() == want, "%s in %d segments: layer 4 checksum %d, want %d", c.what, k.NumSegs(), k.L4Checksum(), want)
	}
	if c.flags&buffer.FlagIPv4 != 0 {
		ttl := off + c.l3 + 8
		k.Offset(ttl)[0]++
		e.NoError(e.Ops.Parse(k, off, cfg), "ParsePacket")
		e.Check(k.L3Checksum() == buffer.ChecksumBad && k.HasL3Error(), "%s: layer 3 checksum %d, want wrong", c.what, k.L3Checksum())
		k.Offset(ttl)[0]--
	}
	if udp && whole {
		k.Offset(k.Len() - 1)[0]++
		e.NoError(e.Ops.Parse(k, off, cfg), "ParsePacket")
		e.Check(k.L4Checksum() == buffer.ChecksumBad && k.HasL4Error(), "%s: layer 4 checksum %d, want wrong", c.what, k.L4Checksum())
	}
}

func pktParseResult(e *Env) {
	p := e.framePool(1024)
	for _, c := range parseCases() {
		k := e.frameAt(p, 0, c.frame)
		e.NoError(e.Ops.Parse(k, 0, header.ParseConfig{Start: c.start}), "ParsePacket")
		f := k.Flags()
		for _, g := range []struct {
			bit buffer.Flags
			got bool
		}{
			{buffer.FlagL2, k.HasL2()}, {buffer.FlagL3, k.HasL3()}, {buffer.FlagL4, k.HasL4()}, {buffer.FlagEthBcast, k.HasEthBcast()}, {buffer.FlagEthMcast, k.HasEthMcast()},
			{buffer.FlagJumbo, k.HasJumbo()}, {flagVLAN, k.HasVLAN()}, {flagQinQ, k.HasQinQ()}, {flagARP, k.HasARP()}, {buffer.FlagIPv4, k.HasIPv4()}, {flagIPv6, k.HasIPv6()},
			{buffer.FlagIPBcast, k.HasIPBcast()}, {buffer.FlagIPMcast, k.HasIPMcast()}, {buffer.FlagIPFrag, k.HasIPFrag()}, {buffer.FlagIPOpt, k.HasIPOpt()}, {buffer.FlagIPsec, k.HasIPsec()},
			{buffer.FlagUDP, k.HasUDP()}, {flagTCP, k.HasTCP()}, {flagSCTP, k.HasSCTP()}, {flagICMP, k.HasICMP()},
			{buffer.FlagErrL2, k.HasL2Error()}, {buffer.FlagErrL3, k.HasL3Error()}, {buffer.FlagErrL4, k.HasL4Error()},
		} {
			e.Check((f&g.bit != 0) == g.got && k.Has(g.bit) == g.got, "%s: flag %#x is %v in one go, its getter says %v", c.what, g.bit, f&g.bit != 0, g.got)
		}
		e.Check(k.HasError() == (f&(buffer.FlagErrL2|buffer.FlagErrL3|buffer.FlagErrL4) != 0), "%s: errors", c.what)
		e.free(nil, &k.Event)
	}
}
