// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// Packets: allocation, lengths, reset, rooms, metadata.

func init() {
	register("PKT",
		Case{"PKT-01", "A pool of one packet gives it with the length asked for and default metadata, nothing more, and again after it was freed.", nil, pktAllocFree},
		Case{"PKT-02", "A burst gets what there is, and one free call takes packets of two pools back to their own.", nil, pktAllocMulti},
		Case{"PKT-03", "A burst of packets of one pool is freed to that pool by name, again and again.", nil, pktFreePool},
		Case{"PKT-04", "Packets of several segments are allocated with the exact length, one by one and in bursts.", nil, pktAllocSegmented},
		Case{"PKT-05", "Packets of the greatest length that the pool was declared with are allocated; longer ones never.", nil, pktAllocMaxLen},
		Case{"PKT-06", "The first segment holds a large segment length that was asked for.", nil, pktMaxSegment},
		Case{"PKT-07", "The data of every packet is aligned as asked for.", nil, pktAlignment},
		Case{"PKT-08", "Flow hash, mark, time stamp and flow id are set, read and cleared; a new packet has data and a pool, and no input.", nil, pktBasicMeta},
		Case{"PKT-09", "A live packet is valid and can be printed with and without its data, and its pool counts it as out.", nil, pktDebug},
		Case{"PKT-10", "Going through the segments gives exactly as many as the packet says, none empty, that add up to its length.", nil, pktSegments},
		Case{"PKT-11", "Length, segment length, headroom, tailroom and buffer length are consistent.", nil, pktLengths},
		Case{"PKT-12", "Reset makes a packet as after its allocation with any length up to the reset limit, and refuses more without a change.", nil, pktReset},
		Case{"PKT-13", "ResetMeta gives metadata its defaults and keeps layout, data and user area.", nil, pktResetMeta},
		Case{"PKT-14", "Touching every segment of a packet ahead of use is harmless.", nil, pktPrefetch},
		Case{"PKT-17", "The user word and the user area keep what is written; a reset clears the word and keeps the area.", nil, pktContext},
		Case{"PKT-18", "The payload offset is read as it was set, within the packet, and can be unset.", nil, pktPayloadOffset},
		Case{"PKT-19", "Conversions between packet and event, single and in bursts, are identities.", nil, pktConversion},
		Case{"PKT-20", "Layer offsets are read as they were set, lead to the right bytes, and are refused beyond the packet.", nil, pktLayerOffsets},
		Case{"PKT-21", "The last segment has no next one.", nil, pktSegmentLast},
		Case{"PKT-22", "Each protocol flag and the user flag is set and cleared alone, and all that can be together are together.", nil, pktFlags},
		Case{"PKT-23", "QinQ means two tags and VLAN one: setting one replaces the other, clearing QinQ leaves no tag.", nil, pktVLANFlags},
		Case{"PKT-24", "A packet that nobody parsed has no error of any layer.", nil, pktErrorFlags},
		Case{"PKT-38", "An offset gives the right bytes up to the end of its segment, and nothing beyond the packet.", nil, pktOffset},
	)
}

const (
	flagVLAN, flagQinQ = buffer.FlagVLAN, buffer.FlagQinQ
	flagARP            = buffer.FlagARP
	flagIPv6           = buffer.FlagIPv6
	flagTCP            = buffer.FlagTCP
	flagSCTP           = buffer.FlagSCTP
	flagICMP           = buffer.FlagICMP
)

// everyFlag is all protocol flags, without errors.
const everyFlag = buffer.FlagL2 | buffer.FlagL3 | buffer.FlagL4 | buffer.FlagEthBcast | buffer.FlagEthMcast | buffer.FlagJumbo |
	flagVLAN | flagQinQ | flagARP | buffer.FlagIPv4 | flagIPv6 | buffer.FlagIPBcast | buffer.FlagIPMcast | buffer.FlagIPFrag |
	buffer.FlagIPOpt | buffer.FlagIPsec | buffer.FlagUDP | flagTCP | flagSCTP | flagICMP

func pktAllocFree(e *Env) {
	p := e.pool(odp.PoolConfig{Num: 1, Size: plainLen})
	for _, w := range []*odp.Worker{nil, e.worker()} {
		for range 2 {
			x := e.alloc(p, w, plainLen)
			e.Must(x != nil, "no packet")
			k := x.Packet()
			e.Check(k.Len() == plainLen, "%d bytes, want %d", k.Len(), plainLen)
			e.Check(e.Ops.PoolOf(x) == p, "a packet of another pool")
			e.sane(k)
			e.defaults(k)
			e.Must(e.alloc(p, w, plainLen) == nil, "a second packet")
			mark(k) // the next owner must not see it
			e.free(w, x)
		}
	}
	e.closePool(p)
}

func pktAllocMulti(e *Env) {
	var ev [6]*odp.Event
	var two [2]*odp.Pool
	for i := range two {
		two[i] = e.pool(odp.PoolConfig{Num: 2, Size: plainLen})
	}
	for range 2 {
		for i, p := range two {
			got := 0
			for range 3 {
				got += e.allocMulti(p, nil, ev[2*i+got:2*i+3], plainLen)
			}
			e.Must(got == 2, "3 packets asked of a pool of 2: got %d", got)
			e.Check(e.allocMulti(p, nil, ev[4:], plainLen) == 0, "a packet of an empty pool")
		}
		e.distinct(ev[:4])
		for _, x := range ev[:4] {
			e.Check(x.Packet().Len() == plainLen && x.UserWord() == 0, "length %d, user word %d", x.Packet().Len(), x.UserWord())
			x.SetUserWord(1)
		}
		e.free(nil, ev[:4]...)
		e.Check(two[0].Available() == 2 && two[1].Available() == 2, "%d and %d came back, want 2 and 2", two[0].Available(), two[1].Available())
	}
}

func pktFreePool(e *Env) {
	const num = 10
	p := e.pool(odp.PoolConfig{Num: num, Size: plainLen})
	w := e.worker()
	for range 2 {
		var pkts [num]*odp.Packet
		n := e.Ops.AllocPackets(p, w, pkts[:], plainLen)
		e.Must(n == num, "%d packets of %d", n, num)
		p.FreePackets(w, pkts[:])
		e.Check(p.Out() == 0, "%d packets did not come back", p.Out())
	}
}

func pktAllocSegmented(e *Env) {
	p := e.packetPool()
	for _, length := range []int{longLen / 2, longLen, p.SegCap() + 1} {
		x := e.alloc(p, nil, length)
		e.Must(x != nil && x.Packet().Len() == length, "no packet of %d bytes", length)
		e.sane(x.Packet())
		e.Check(x.Packet().Segmented(), "%d bytes in one segment of %d", length, p.SegCap())
		var ev [5]*odp.Event
		e.Must(e.allocMulti(p, nil, ev[:], length) == 5, "a burst of 5 packets of %d bytes", length)
		for _, x := range ev {
			e.Check(x.Packet().Len() == length, "%d bytes, want %d", x.Packet().Len(), length)
			e.sane(x.Packet())
			e.defaults(x.Packet())
		}
		e.free(nil, append(ev[:], x)...)
	}
	e.Check(p.Out() == 0, "%d segments did not come back", p.Out())
}

func pktAllocMaxLen(e *Env) {
	const length = 9000
	p := e.pool(odp.PoolConfig{Num: 5 * 32, Size: plainLen, MaxLen: length})
	var ev []*odp.Event
	for range 5 {
		x := e.alloc(p, nil, length)
		e.Must(x != nil && x.Packet().Len() == length, "no packet of the greatest length")
		e.sane(x.Packet())
		ev = append(ev, x)
	}
	e.free(nil, ev...)
	e.Check(e.alloc(p, nil, length+1) == nil, "a packet longer than the pool allows")
	e.Check(e.alloc(p, nil, -1) == nil, "a packet of negative length")
}

func pktMaxSegment(e *Env) {
	const size = 60 * 1024
	p := e.pool(odp.PoolConfig{Num: 2, Size: size, MaxLen: size})
	k := e.newPacket(p, size)
	e.Check(k.SegLen() == size && k.NumSegs() == 1, "the first segment has %d bytes of %d", k.SegLen(), size)
	e.holds(k, count(0, size), "a segment of %d bytes", size)
	e.free(nil, &k.Event)
}

func pktAlignment(e *Env) {
	for _, align := range []int{256, 64, 8, buffer.MaxAlign} {
		p := e.pool(odp.PoolConfig{Num: 100, Size: plainLen, Align: align})
		ev := e.allocAll(p, nil, plainLen, 100)
		e.Must(len(ev) == 100, "%d packets of 100", len(ev))
		for _, x := range ev {
			e.Must(uintptr(x.Packet().DataPtr())%uintptr(align) == 0, "data at %#x, want a multiple of %d", x.Packet().DataPtr(), align)
		}
		e.free(nil, ev...)
		e.closePool(p)
	}
}

func pktBasicMeta(e *Env) {
	p := e.packetPool()
	k := e.newPacket(p, plainLen)
	e.Check(k.DataPtr() != nil && len(k.Data()) == plainLen && e.Ops.PoolOf(&k.Event) == p, "no data or no pool")
	port, _ := k.Input()
	e.Check(port == -1, "input port %d of a packet that nobody received", port)
	k.SetFlowHash(0)
	h, ok := k.FlowHash()
	e.Check(ok && h == 0, "flow hash 0 was set: %d, %v", h, ok)
	k.SetFlowHash(0xfeedf00d)
	h, ok = k.FlowHash()
	e.Check(ok && h == 0xfeedf00d, "flow hash %#x, %v", h, ok)
	k.ClearFlowHash()
	_, ok = k.FlowHash()
	e.Check(!ok, "the flow hash is there after it was cleared")
	e.Check(k.Mark() == 0 && k.Flow() == 0, "mark %d, flow %d", k.Mark(), k.Flow())
	k.SetMark(9)
	k.SetFlow(10)
	e.Check(k.Mark() == 9 && k.Flow() == 10, "mark %d, flow %d; want 9, 10", k.Mark(), k.Flow())
	k.SetTime(123456789)
	ns, ok := k.Time()
	e.Check(ok && ns == 123456789, "time %d, %v", ns, ok)
	k.ClearTime()
	_, ok = k.Time()
	e.Check(!ok, "the time stamp is there after it was cleared")
	e.free(nil, &k.Event)
}

func pktDebug(e *Env) {
	p := e.packetPool()
	k := e.newPacket(p, longLen)
	e.Check(k.Valid(), "a live packet is not valid")
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		e.Check(s.Valid(), "a segment of a live packet is not valid")
	}
	e.Check(p.Leaks() != "" && p.Out() == k.NumSegs(), "report %q, %d out, %d segments", p.Leaks(), p.Out(), k.NumSegs())
	d := k.Dump(64)
	e.Check(strings.Contains(d, p.Name()) && strings.Contains(d, "5000 bytes") && strings.Count(d, "\n") == 2+4, "the dump does not name pool and length, or does not show 64 bytes:\n%s", d)
	e.Check(strings.Count(k.Dump(0), "\n") == 2, "the dump without data has data:\n%s", k.Dump(0))
	e.free(nil, &k.Event)
	e.Check(p.Leaks() == "", "report %q after all were freed", p.Leaks())
}

func pktSegments(e *Env) {
	p := e.packetPool()
	for _, length := range []int{1, plainLen, longLen} {
		k := e.newPacket(p, length)
		e.sane(k)
		e.Check(k.BufLen() >= length, "%d bytes of buffers, %d of data", k.BufLen(), length)
		e.Check(&k.FirstSeg().Event == &k.Event, "the first segment is not the packet")
		e.holds(k, count(0, length), "new packet")
		e.free(nil, &k.Event)
	}
}

func pktLengths(e *Env) {
	p := e.packetPool()
	for _, length := range []int{1, plainLen, longLen} {
		k := e.newPacket(p, length)
		e.Check(k.Len() == length && k.SegLen() <= length && k.SegLen() == len(k.Data()), "length %d, segment %d, data %d", k.Len(), k.SegLen(), len(k.Data()))
		e.Check(k.Headroom() >= p.Headroom() && k.Tailroom() >= 0, "headroom %d of at least %d, tailroom %d", k.Headroom(), p.Headroom(), k.Tailroom())
		e.Check(k.BufLen() >= k.Len()+k.Headroom()+k.Tailroom(), "%d bytes of buffers for %d + %d + %d", k.BufLen(), k.Headroom(), k.Len(), k.Tailroom())
		e.free(nil, &k.Event)
	}
}

func pktReset(e *Env) {
	p := e.packetPool()
	for _, length := range []int{300, longLen} {
		k := e.newPacket(p, length)
		headroom, first := k.Headroom(), head(k)
		most := k.ResetMaxLen()
		e.Must(most >= min(length, p.SegCap()), "the reset limit is %d", most)
		mark(k)
		k.SetValue("value")
		e.Ops.PushHead(k, 8)
		e.Ops.PullHead(k, 20)
		e.Ops.PushTail(k, 8)
		for _, n := range []int{min(length, most), most, 1, 100, most} {
			e.NoError(e.Ops.Reset(k, nil, n), "Reset(%d)", n)
			e.sane(k)
			e.Check(k.Len() == n && k.Headroom() == headroom && head(k) == first, "Reset(%d): length %d, headroom %d (was %d), head %#x (was %#x)", n, k.Len(), k.Headroom(), headroom, head(k), first)
			e.Check(k.Tailroom() == k.BufLen()-k.Headroom()-n, "Reset(%d): tailroom %d in a buffer of %d", n, k.Tailroom(), k.BufLen())
			e.Check(string(k.UserArea()) == "user area bytes!", "the user area was changed: %q", k.UserArea())
			e.defaults(k)
			mark(e.atLeast(k, 4))
		}
		was := layoutOf(k)
		e.Check(e.Ops.Reset(k, nil, most+1) != nil && e.Ops.Reset(k, nil, -1) != nil, "Reset beyond the limit is no error")
		e.Check(layoutOf(k) == was, "a refused Reset changed the packet")
		e.free(nil, &k.Event)
		e.Check(p.Out() == 0, "%d segments did not come back", p.Out())
	}
}

// atLeast makes the packet n bytes long if it is shorter, so that mark can set offsets.
func (e *Env) atLeast(k *odp.Packet, n int) *odp.Packet {
	if d := n - k.Len(); d > 0 {
		k.PushTail(d)
	}
	return k
}

func pktResetMeta(e *Env) {
	p := e.packetPool()
	k := e.newPacket(p, longLen)
	e.Ops.PushHead(k, 8)
	want := content(k)
	mark(k)
	k.SetValue(1)
	was := layoutOf(k)
	e.Ops.ResetMeta(k)
	e.Check(layoutOf(k) == was, "the layout changed from %+v to %+v", was, layoutOf(k))
	e.defaults(k)
	e.Check(string(k.UserArea()) == "user area bytes!", "the user area was changed: %q", k.UserArea())
	e.holds(k, want, "ResetMeta")
	e.free(nil, &k.Event)
}

func pktPrefetch(e *Env) {
	k := e.newPacket(e.packetPool(), longLen)
	was, sum := layoutOf(k), 0
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		for i := 0; i < s.Len(); i += 64 { // Go has no prefetch: a load of each line
			sum += int(s.Data()[i])
		}
	}
	e.Check(sum > 0 && layoutOf(k) == was, "reading changed the packet")
	e.free(nil, &k.Event)
}

func pktContext(e *Env) {
	p := e.packetPool()
	k := e.newPacket(p, plainLen)
	for _, v := range []uint64{1, 0, ^uint64(0), 0xdead} {
		k.SetUserWord(v)
		e.Check(k.UserWord() == v, "user word %#x, want %#x", k.UserWord(), v)
	}
	k.SetValue(e)
	e.Check(k.Value() == e, "the value is another")
	a := e.Ops.UserArea(&k.Event)
	e.Must(len(a) >= areaLen, "user area of %d bytes, want %d", len(a), areaLen)
	copy(a, "abcdefghijklmnop")
	e.NoError(e.Ops.Reset(k, nil, plainLen), "Reset")
	e.Check(k.UserWord() == 0 && k.Value() == nil, "after a reset: user word %d, value %v", k.UserWord(), k.Value())
	e.Check(string(e.Ops.UserArea(&k.Event)) == "abcdefghijklmnop", "after a reset the user area holds %q", a)
	e.free(nil, &k.Event)
	none := e.newPacket(e.pool(odp.PoolConfig{Num: 1}), 1)
	e.Check(e.Ops.UserArea(&none.Event) == nil, "a user area in a pool without")
	e.free(nil, &none.Event)
}

func pktPayloadOffset(e *Env) {
	k := e.newPacket(e.packetPool(), plainLen)
	for _, off := range []int{42, 0, plainLen - 1, -1} {
		e.Check(k.SetPayloadOffset(off) && k.PayloadOffset() == off, "set to %d, read %d", off, k.PayloadOffset())
	}
	k.SetPayloadOffset(7)
	for _, off := range []int{plainLen, plainLen + 1, -2} {
		e.Check(!k.SetPayloadOffset(off) && k.PayloadOffset() == 7, "offset %d in a packet of %d was accepted", off, plainLen)
	}
	e.free(nil, &k.Event)
}

func pktConversion(e *Env) {
	p := e.packetPool()
	var pkts []*odp.Packet
	for range 4 {
		pkts = append(pkts, e.newPacket(p, plainLen))
	}
	ev := odp.EventsOf(pkts)
	back := odp.PacketsOf(ev)
	for i, k := range pkts {
		e.Check(ev[i] == &k.Event && back[i] == k && k.Event.Packet() == k && buffer.FromID(k.ID()).Packet() == k, "packet %d became another", i)
		e.Check(ev[i].Type() == packets, "type %v", ev[i].Type())
		e.holds(k, count(0, plainLen), "after the conversion")
	}
	e.free(nil, ev...)
}

func pktLayerOffsets(e *Env) {
	k := e.newPacket(e.packetPool(), longLen)
	set := []func(int) bool{k.SetL2Offset, k.SetL3Offset, k.SetL4Offset}
	get := []func() uint16{k.L2Offset, k.L3Offset, k.L4Offset}
	view := []func() []byte{k.L2, k.L3, k.L4}
	for i := range set {
		e.Check(set[i](5), "an offset of 5 is refused")
	}
	a := addr(k.L2())
	for i := range set {
		v := view[i]()
		e.Must(len(v) > 0 && addr(v) == a, "layer %d: equal offsets give different bytes", i+2)
	}
	for i, off := range []int{0, 14, longLen - 1} {
		e.Check(set[i](off) && int(get[i]()) == off, "layer %d: set to %d, read %d", i+2, off, get[i]())
		v := view[i]()
		e.Must(len(v) > 0 && v[0] == byte(off%251), "layer %d: offset %d leads to other bytes", i+2, off)
	}
	for i := range set {
		e.Check(!set[i](longLen) && !set[i](-1), "layer %d: an offset beyond the packet is accepted", i+2)
		e.Check(set[i](buffer.NoOffset) && view[i]() == nil && get[i]() == buffer.NoOffset, "layer %d: it can't be unset", i+2)
	}
	e.free(nil, &k.Event)
}

func pktSegmentLast(e *Env) {
	p := e.packetPool()
	for _, length := range []int{plainLen, longLen} {
		k := e.newPacket(p, length)
		last := k.LastSeg()
		e.Check(last.Next() == nil, "the last segment has a next one")
		e.Check(k.Segmented() == (last != k.FirstSeg()), "first and last segment")
		e.free(nil, &k.Event)
	}
}

func pktFlags(e *Env) {
	k := e.newPacket(e.packetPool(), plainLen)
	n := 0
	for f := buffer.Flags(1); f != 0 && f <= everyFlag; f <<= 1 {
		if everyFlag&f == 0 {
			continue
		}
		n++
		e.Ops.ResetMeta(k)
		e.Check(!k.Has(f), "flag %#x is set after a reset", f)
		e.Ops.SetFlag(k, f, true)
		e.Check(k.Has(f), "flag %#x is not set", f)
		e.Check(k.Flags() == f || f == flagQinQ, "setting %#x set %#x", f, k.Flags())
		e.Ops.SetFlag(k, f, false)
		e.Check(k.Flags() == 0, "clearing %#x leaves %#x", f, k.Flags())
	}
	e.Check(n == 20, "%d protocol flags, want 20", n)
	e.Check(!k.UserFlag(), "the user flag is set")
	k.SetUserFlag(true)
	e.Check(k.UserFlag(), "the user flag is not set")
	k.SetUserFlag(false)
	e.Check(!k.UserFlag(), "the user flag is not cleared")
	all := everyFlag &^ (flagQinQ | flagARP | flagIPv6 | flagTCP | flagSCTP | flagICMP)
	e.Ops.SetFlag(k, all, true)
	e.Check(k.Has(all), "set together: %#x of %#x", k.Flags(), all)
	for _, has := range []struct {
		name string
		got  bool
	}{{"L2", k.HasL2()}, {"L3", k.HasL3()}, {"L4", k.HasL4()}, {"broadcast", k.HasEthBcast()}, {"multicast", k.HasEthMcast()}, {"jumbo", k.HasJumbo()},
		{"VLAN", k.HasVLAN()}, {"IPv4", k.HasIPv4()}, {"IP broadcast", k.HasIPBcast()}, {"IP multicast", k.HasIPMcast()}, {"fragment", k.HasIPFrag()},
		{"options", k.HasIPOpt()}, {"IPsec", k.HasIPsec()}, {"UDP", k.HasUDP()}} {
		e.Check(has.got, "the getter of %s does not see its flag", has.name)
	}
	e.Check(!k.HasARP() && !k.HasIPv6() && !k.HasTCP() && !k.HasSCTP() && !k.HasICMP() && !k.HasQinQ(), "a flag that was not set is set: %#x", k.Flags())
	e.Ops.SetFlag(k, all, false)
	e.Check(k.Flags() == 0, "cleared together: %#x", k.Flags())
	e.free(nil, &k.Event)
}

func pktVLANFlags(e *Env) {
	k := e.newPacket(e.packetPool(), plainLen)
	e.Ops.SetFlag(k, flagQinQ, true)
	e.Check(k.HasVLAN() && k.HasQinQ(), "QinQ was set: VLAN %v, QinQ %v", k.HasVLAN(), k.HasQinQ())
	e.Ops.SetFlag(k, flagQinQ, false)
	e.Check(!k.HasVLAN() && !k.HasQinQ(), "QinQ was cleared: VLAN %v, QinQ %v", k.HasVLAN(), k.HasQinQ())
	e.Ops.SetFlag(k, flagQinQ, true)
	e.Ops.SetFlag(k, flagVLAN, true)
	e.Check(k.HasVLAN() && !k.HasQinQ(), "VLAN was set: VLAN %v, QinQ %v", k.HasVLAN(), k.HasQinQ())
	e.Ops.SetFlag(k, flagQinQ, true)
	e.Ops.ResetMeta(k)
	e.Check(!k.HasVLAN() && !k.HasQinQ(), "after a reset: VLAN %v, QinQ %v", k.HasVLAN(), k.HasQinQ())
	e.free(nil, &k.Event)
}

func pktErrorFlags(e *Env) {
	p := e.packetPool()
	for _, length := range []int{plainLen, longLen} {
		k := e.newPacket(p, length)
		e.Check(!k.HasError() && !k.HasL2Error() && !k.HasL3Error() && !k.HasL4Error(), "errors %v, %v, %v, %v", k.HasError(), k.HasL2Error(), k.HasL3Error(), k.HasL4Error())
		for i, f := range []buffer.Flags{buffer.FlagErrL2, buffer.FlagErrL3, buffer.FlagErrL4} {
			e.Ops.SetFlag(k, f, true)
			e.Check(k.HasError() && []bool{k.HasL2Error(), k.HasL3Error(), k.HasL4Error()}[i], "an error of layer %d is not seen", i+2)
			e.Ops.SetFlag(k, f, false)
			e.Check(!k.HasError(), "an error of layer %d stays", i+2)
		}
		e.free(nil, &k.Event)
	}
}

func pktOffset(e *Env) {
	p := e.packetPool()
	for _, length := range []int{plainLen, longLen} {
		k := e.newPacket(p, length)
		seg := k.SegLen()
		e.Check(addr(k.Offset(0)) == uintptr(k.DataPtr()) && len(k.Offset(0)) == seg, "offset 0 is not the data")
		e.Check(addr(k.Offset(1)) == uintptr(k.DataPtr())+1 && len(k.Offset(1)) == seg-1, "offset 1")
		e.Check(addr(k.Offset(seg-1)) == uintptr(k.DataPtr())+uintptr(seg)-1 && len(k.Offset(seg-1)) == 1, "last byte of the first segment")
		e.Check(len(k.Offset(length-1)) == 1, "%d bytes are left at the last byte", len(k.Offset(length-1)))
		for off := range length {
			if b := k.Offset(off); len(b) == 0 || b[0] != byte(off%251) {
				e.Fatalf("offset %d leads to other bytes", off)
			}
		}
		for _, off := range []int{length, length + 1, -1, 1 << 40} {
			e.Check(k.Offset(off) == nil, "offset %d in a packet of %d gives bytes", off, length)
		}
		e.free(nil, &k.Event)
	}
}
