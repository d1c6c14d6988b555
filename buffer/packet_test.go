// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"bytes"
	"errors"
	"testing"

	"github.com/odp-go/godp/internal/meta"
)

func TestLongPackets(t *testing.T) {
	set, ws := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 200})
	for _, n := range []int{0, 1, p.SegCap() - 1, p.SegCap(), p.SegCap() + 1, 9000, 65535, 65536} {
		pk := make([]*Packet, 3)
		if got := p.AllocPackets(ws[0], pk, n); got != 3 {
			t.Fatalf("%d packets of %d", got, n)
		}
		for _, k := range pk {
			if k.Len() != n || k.Headroom() != 128 || k.Segmented() != (n > p.SegCap()) || k.FirstSeg().Next() == nil == k.Segmented() || k.LastSeg().Next() != nil {
				t.Fatalf("len %d of %d, headroom %d, %d segments", k.Len(), n, k.Headroom(), k.NumSegs())
			}
			if err := k.CopyFromMem(0, pattern(n)); err != nil || !bytes.Equal(content(t, k), pattern(n)) {
				t.Fatalf("len %d: %v", n, err)
			}
		}
		FreePackets(ws[0], pk)
	}
	for _, n := range []int{-1, 65537, 1 << 62} {
		if p.AllocPacket(ws[0], n) != nil || p.AllocPackets(ws[0], make([]*Packet, 2), n) != 0 {
			t.Fatalf("a packet of %d bytes", n)
		}
	}
	// all or nothing: 34 segments are needed, fewer are there
	hold := make([]*Packet, 170)
	if p.AllocPackets(ws[0], hold, 60) != 170 || p.AllocPacket(ws[0], 65536) != nil || p.Out() != 170 {
		t.Fatal("a long packet from an almost empty pool")
	}
	p.FreePackets(ws[0], hold)
}

func TestOffset(t *testing.T) {
	set, _ := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 10, Size: 128, Headroom: -1})
	k := filled(t, p, 300)
	for off := range 300 {
		b := k.Offset(off)
		want := 128 - off%128
		if off >= 256 {
			want = 300 - off
		}
		if len(b) != want || b[0] != byte(off*7) {
			t.Fatalf("offset %d: %d bytes", off, len(b))
		}
	}
	if k.Offset(300) != nil || k.Offset(-1) != nil || k.Offset(1<<40) != nil {
		t.Fatal("outside")
	}
	FreePacket(nil, k)
}

// One byte at a time to 32000 at both ends, then off again.
func TestExtendByBytes(t *testing.T) {
	set, _ := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 40})
	k := p.AllocPacket(nil, 1)
	k.Data()[0] = 0
	for i := 1; i < 32000; i++ {
		if err := k.ExtendTail(nil, 1); err != nil {
			t.Fatal(err)
		}
		s := k.LastSeg().Data()
		s[len(s)-1] = byte(i)
	}
	var err error
	for i := 1; i < 20000; i++ {
		if k, err = k.ExtendHead(nil, 1); err != nil {
			t.Fatal(err)
		}
		k.Data()[0] = byte(-i)
	}
	for i, b := range content(t, k) {
		if b != byte(i-19999) {
			t.Fatalf("byte %d is %d", i, b)
		}
	}
	if k.NumSegs() > 51999/p.Info().Stride+3 {
		t.Fatalf("%d segments", k.NumSegs())
	}
	for k.Len() > 2 {
		if k, err = k.TruncHead(nil, 1); err != nil {
			t.Fatal(err)
		}
		if err = k.TruncTail(nil, 1); err != nil {
			t.Fatal(err)
		}
	}
	if k.NumSegs() > 2 {
		t.Fatalf("%d segments", k.NumSegs())
	}
	FreePacket(nil, k)
}

func TestExtendLimits(t *testing.T) {
	set, _ := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 10, Size: 64, Headroom: -1, MaxLen: 256})
	k := filled(t, p, 256)
	for _, n := range []int{1, 1 << 40, -1, -1 << 62} {
		if r, err := k.ExtendHead(nil, n); !errors.Is(err, ErrTooLong) || r != k {
			t.Errorf("ExtendHead %d: %v", n, err)
		}
		if err := k.ExtendTail(nil, n); !errors.Is(err, ErrTooLong) {
			t.Errorf("ExtendTail %d: %v", n, err)
		}
		if _, err := k.AddData(nil, 100, n); !errors.Is(err, ErrTooLong) {
			t.Errorf("AddData %d: %v", n, err)
		}
		if n < 0 {
			if _, err := k.TruncHead(nil, n); !errors.Is(err, ErrRange) {
				t.Errorf("TruncHead %d: %v", n, err)
			}
			if err := k.TruncTail(nil, n); !errors.Is(err, ErrRange) {
				t.Errorf("TruncTail %d: %v", n, err)
			}
			if k.PushHead(n) != nil || k.PushTail(n) != nil || k.PullHead(n) != nil || k.PullTail(n) {
				t.Errorf("push or pull of %d", n)
			}
			if _, err := k.RemData(nil, 10, n); !errors.Is(err, ErrRange) {
				t.Errorf("RemData %d: %v", n, err)
			}
			if _, err := k.Align(nil, n, 1, 1); !errors.Is(err, ErrRange) {
				t.Errorf("Align %d: %v", n, err)
			}
		}
	}
	if _, err := k.Align(nil, 0, 1, 3); !errors.Is(err, ErrRange) {
		t.Errorf("Align to 3: %v", err)
	}
	if _, err := k.Align(nil, 0, 256, 1); !errors.Is(err, ErrTooLong) {
		t.Errorf("Align of everything: %v", err)
	}
	if !bytes.Equal(content(t, k), pattern(256)) {
		t.Error("an error changed the packet")
	}
	FreePacket(nil, k)
}

// Without headroom a push is refused and ExtendHead puts a segment in front, which
// takes metadata, user area and value with it.
func TestHeadSegmentKeepsMetadata(t *testing.T) {
	set, _ := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 4, Headroom: -1, UserArea: 4})
	k := filled(t, p, 60)
	k.SetInput(3, 2)
	k.SetParse(meta.IPv4|meta.UDP, 14, 34)
	k.SetTime(123)
	k.SetFlowHash(456)
	k.SetUserWord(789)
	k.SetColor(Red)
	k.SetValue("v")
	copy(k.UserArea(), "area")
	if k.PushHead(4) != nil {
		t.Fatal("a push without headroom")
	}
	r, err := k.ExtendHead(nil, 4)
	if err != nil || r == k || r.NumSegs() != 2 || r.SegLen() != 4 {
		t.Fatalf("ExtendHead: %v", err)
	}
	same := func(k *Packet) {
		t.Helper()
		ts, ok := k.Time()
		h, ok2 := k.FlowHash()
		port, q := k.Input()
		if ts != 123 || !ok || h != 456 || !ok2 || port != 3 || q != 2 || k.UserWord() != 789 || k.Color() != Red || k.Value() != "v" || string(k.UserArea()) != "area" ||
			!k.Has(meta.IPv4|meta.UDP) || k.L3Offset() != 14 || k.L4Offset() != 34 {
			t.Fatalf("metadata: %d %d %d %d %d %v %q", ts, h, port, q, k.UserWord(), k.Value(), k.UserArea())
		}
	}
	same(r)
	if r, err = r.TruncHead(nil, 10); err != nil || r != k || r.NumSegs() != 1 {
		t.Fatalf("TruncHead: %v", err)
	}
	same(r)
	if !bytes.Equal(content(t, r), pattern(60)[6:]) {
		t.Fatal("data")
	}
	FreePacket(nil, r)
	if k := p.AllocPacket(nil, 1); k.Value() != nil {
		t.Fatal("the value outlived the packet")
	} else {
		FreePacket(nil, k)
	}
}

func TestMetadata(t *testing.T) {
	set, _ := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 4})
	k := p.AllocPacket(nil, 100)
	defaults := func() {
		t.Helper()
		_, hash := k.FlowHash()
		_, ts := k.Time()
		port, _ := k.Input()
		if k.Flags() != 0 || hash || ts || port != -1 || k.UserWord() != 0 || k.Flow() != 0 || k.Mark() != 0 || k.Trace() != 0 || k.PayloadOffset() != -1 || k.Color() != Green ||
			!k.DropEligible() || k.ShaperAdjust() != 0 || k.UserFlag() || k.HasError() || k.L3Checksum() != ChecksumUnknown || k.L4Checksum() != ChecksumUnknown ||
			k.L2Offset() != NoOffset || k.L3Offset() != NoOffset || k.L4Offset() != NoOffset || k.L2() != nil || k.L3() != nil || k.L4() != nil || k.L3Type() != 0xffff || k.Value() != nil {
			t.Fatal("not at the defaults")
		}
	}
	set1 := func() {
		k.SetMark(1)
		k.SetTrace(2)
		k.SetFlow(3)
		k.SetColor(Yellow)
		k.SetDropEligible(false)
		k.SetShaperAdjust(-4)
		k.SetUserFlag(true)
		k.SetUserWord(5)
		k.SetTime(6)
		k.SetFlowHash(7)
		k.SetInput(8, 9)
		k.SetValue(10)
		if !k.SetPayloadOffset(42) || !k.SetL2Offset(0) || !k.SetL3Offset(14) || !k.SetL4Offset(34) {
			t.Fatal("offsets refused")
		}
		if k.Mark() != 1 || k.Trace() != 2 || k.Flow() != 3 || k.Color() != Yellow || k.DropEligible() || k.ShaperAdjust() != -4 || !k.UserFlag() || k.PayloadOffset() != 42 || len(k.L3()) != k.Len()-14 || len(k.L4()) != k.Len()-34 || len(k.L2()) != k.Len() {
			t.Fatal("set")
		}
	}
	defaults()
	set1()
	k.ResetMeta()
	defaults()
	set1()
	if err := k.Reset(nil, 50); err != nil || k.Len() != 50 {
		t.Fatal(err)
	}
	defaults()
	set1()
	k.ClearTime()
	k.ClearFlowHash()
	if _, ok := k.Time(); ok {
		t.Fatal("time")
	}
	FreePacket(nil, k)
	k = p.AllocPacket(nil, 100)
	defaults()
	for _, off := range []int{100, 1 << 16, -1, 1 << 40} {
		if k.SetL2Offset(off) || k.SetL3Offset(off) || k.SetL4Offset(off) || off != -1 && k.SetPayloadOffset(off) {
			t.Errorf("offset %d is taken", off)
		}
	}
	if !k.SetL3Offset(99) || !k.SetL3Offset(NoOffset) || k.L3() != nil {
		t.Error("unset")
	}
	// the parser's bits leave the others alone
	set1()
	k.SetParse(meta.L2|meta.IPv6|meta.L3Checked|meta.L4Checked|meta.L4OK, 14, 54)
	if _, ok := k.FlowHash(); !ok || !k.UserFlag() || k.UserWord() != 5 || k.Value() != 10 || !k.HasIPv6() || k.L3Type() != 0x86dd || k.L3Checksum() != ChecksumBad || k.L4Checksum() != ChecksumOK || k.L2Offset() != 0 {
		t.Error("SetParse")
	}
	k.SetParse(meta.ErrL3, 14, NoOffset)
	if !k.HasError() || !k.HasL3Error() || k.HasL2Error() || k.HasL4Error() || k.HasIPv6() {
		t.Error("error flags")
	}
	FreePacket(nil, k)
}

func TestFlags(t *testing.T) {
	set, _ := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 1})
	k := p.AllocPacket(nil, 60)
	for _, c := range []struct {
		f   Flags
		has func() bool
	}{
		{meta.L2, k.HasL2}, {meta.L3, k.HasL3}, {meta.L4, k.HasL4}, {meta.EthBcast, k.HasEthBcast}, {meta.EthMcast, k.HasEthMcast}, {meta.Jumbo, k.HasJumbo},
		{meta.VLAN, k.HasVLAN}, {meta.QinQ, k.HasQinQ}, {meta.ARP, k.HasARP}, {meta.IPv4, k.HasIPv4}, {meta.IPv6, k.HasIPv6}, {meta.IPBcast, k.HasIPBcast},
		{meta.IPMcast, k.HasIPMcast}, {meta.IPFrag, k.HasIPFrag}, {meta.IPOpt, k.HasIPOpt}, {meta.IPsec, k.HasIPsec}, {meta.UDP, k.HasUDP}, {meta.TCP, k.HasTCP},
		{meta.SCTP, k.HasSCTP}, {meta.ICMP, k.HasICMP}, {meta.UserFlag, k.UserFlag}, {meta.ErrL2, k.HasL2Error}, {meta.ErrL4, k.HasL4Error},
	} {
		k.SetFlag(c.f, true)
		if !c.has() || k.Flags() != c.f {
			t.Errorf("%x: flags %x", c.f, k.Flags())
		}
		k.SetFlag(c.f, false)
		if c.has() || k.Flags() != 0 {
			t.Errorf("%x cleared: flags %x", c.f, k.Flags())
		}
	}
	k.SetFlag(meta.QinQ, true)
	if !k.HasVLAN() || !k.HasQinQ() {
		t.Error("two tags")
	}
	k.SetFlag(meta.VLAN, true)
	if !k.HasVLAN() || k.HasQinQ() {
		t.Error("one tag")
	}
	k.SetFlag(^Flags(0), true)
	if k.Value() != nil || k.UserWord() != 0 {
		t.Error("private bits can be set")
	}
	FreePacket(nil, k)
}

func TestVector(t *testing.T) {
	set, ws := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 4})
	vp := newPool(t, set, PoolConfig{Type: TypeVector, Num: 1, Size: 3, UserArea: 8})
	if p.AllocVector(nil) != nil || vp.AllocPacket(nil, 1) != nil || vp.AllocPackets(nil, make([]*Packet, 1), 100) != 0 {
		t.Fatal("an event of the wrong kind")
	}
	v := vp.AllocVector(ws[0])
	if v == nil || vp.AllocVector(ws[0]) != nil || v.Len() != 0 || v.Cap() != 3 || len(v.Table()) != 3 || v.UserFlag() || v.Type() != TypeVector || len(v.UserArea()) != 8 {
		t.Fatal("vector of 3")
	}
	pk := make([]*Packet, 4)
	p.AllocPackets(nil, pk, 60)
	if n := v.Append(EventsOf(pk)...); n != 3 || v.Len() != 3 || v.Events()[2] != &pk[2].Event {
		t.Fatalf("append took %d", n)
	}
	v.Table()[0] = &pk[3].Event
	v.SetLen(1)
	v.SetUserFlag(true)
	if len(v.Events()) != 1 || !v.UserFlag() {
		t.Fatal("table edits")
	}
	v.Free(ws[0])
	if p.Out() != 4 || vp.Out() != 0 {
		t.Fatal("Free took the packets too")
	}
	v = vp.AllocVector(ws[0])
	if v.Len() != 0 || v.UserFlag() {
		t.Fatal("not as new")
	}
	v.Append(EventsOf(pk)...)
	FreeEvents(ws[0], []*Event{&pk[3].Event, &v.Event})
	if p.Out() != 0 || vp.Out() != 0 {
		t.Fatalf("out %d and %d", p.Out(), vp.Out())
	}
	defer func() {
		if recover() == nil {
			t.Error("SetLen above Cap")
		}
	}()
	v.SetLen(4)
}

// Events of several kinds and pools in one burst each go back to their own.
func TestMixedFree(t *testing.T) {
	set, ws := kit(t, 1)
	a := newPool(t, set, PoolConfig{Name: "a", Num: 8})
	b := newPool(t, set, PoolConfig{Name: "b", Num: 16, Size: 64, MaxLen: 2000})
	c := newPool(t, set, PoolConfig{Name: "c", Type: TypeBuffer, Num: 8, Size: 64})
	var ev []*Event
	for range 2 {
		ev = append(ev, &a.AllocPacket(ws[0], 60).Event, &b.AllocPacket(ws[0], 500).Event, &c.AllocBuffer(ws[0]).Event, &b.AllocPacket(ws[0], 1).Event)
	}
	ev[0].SetValue(1)
	ev[2].SetValue(2)
	if ev[2].Value() != 2 || ev[6].Value() != nil {
		t.Fatal("value")
	}
	FreeEvents(ws[0], ev)
	for _, p := range []*Pool{a, b, c} {
		if p.Out() != 0 {
			t.Errorf("pool %q: %d out", p.Name(), p.Out())
		}
	}
	for range 8 {
		bf := c.AllocBuffer(ws[0])
		if bf.Value() != nil {
			t.Error("a value outlived the free")
		}
		defer FreeBuffers(ws[0], []*Buffer{bf})
	}
}

func TestCopyErrors(t *testing.T) {
	set, _ := kit(t, 1)
	p := newPool(t, set, PoolConfig{Num: 4, UserArea: 16})
	small := newPool(t, set, PoolConfig{Num: 4, UserArea: 8, Size: 64, MaxLen: 100})
	k := filled(t, p, 1000)
	if _, err := k.Copy(nil, small); !errors.Is(err, ErrTooLong) {
		t.Errorf("smaller user area: %v", err)
	}
	if _, err := k.CopyPart(nil, 0, 101+small.SegCap(), small); !errors.Is(err, ErrTooLong) {
		t.Errorf("longer than MaxLen: %v", err)
	}
	for _, c := range [][2]int{{0, 1001}, {1000, 1}, {-1, 5}, {0, 0}, {5, -1}, {1 << 62, 1 << 62}} {
		if _, err := k.CopyPart(nil, c[0], c[1], nil); !errors.Is(err, ErrRange) {
			t.Errorf("CopyPart %v: %v", c, err)
		}
	}
	if err := k.CopyToMem(999, make([]byte, 2)); !errors.Is(err, ErrRange) {
		t.Error(err)
	}
	if err := k.CopyFromMem(-1, nil); !errors.Is(err, ErrRange) {
		t.Error(err)
	}
	if err := k.CopyFromPacket(0, k, 0, 1001); !errors.Is(err, ErrRange) {
		t.Error(err)
	}
	if err := k.MoveData(1, 0, 1000); !errors.Is(err, ErrRange) {
		t.Error(err)
	}
	if !bytes.Equal(content(t, k), pattern(1000)) {
		t.Error("an error changed the packet")
	}
	FreePacket(nil, k)
}
