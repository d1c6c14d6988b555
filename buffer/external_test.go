// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"strings"
	"testing"

	"github.com/odp-go/godp/internal/arena"
)

func TestExternalPool(t *testing.T) {
	set, ws := kit(t, 2)
	mem, err := arena.New(arena.Config{Name: "platform", Size: 64 * 2048})
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	p, err := NewExternalPool(set, ExternalConfig{Name: "ext", Num: 40, BufSize: 2048})
	if err != nil {
		t.Fatal(err)
	}
	if p.AllocPacket(ws[0], 60) != nil || p.Attached() != 0 || p.Out() != 0 {
		t.Fatal("a pool without buffers")
	}
	bufAt := func(n uint32) uint32 { return uint32((mem.Off + uint64(n)*2048) >> 6) }
	for i := range 40 {
		p.Attach(i, bufAt(uint32(i)), uint32(1000+i))
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("two buffers for one header")
			}
		}()
		p.Attach(3, bufAt(3), 3)
	}()
	pk := make([]*Packet, 50)
	if n := p.AllocPackets(ws[0], pk, 60); n != 40 {
		t.Fatalf("%d packets", n)
	}
	seen := map[uint32]bool{}
	for _, k := range pk[:40] {
		buf, size, ext := k.Buf()
		if seen[ext] || size != 2048 || buf != bufAt(ext-1000) || k.Headroom() != 0 || k.DataOff() != 0 || k.Len() != 60 || !k.Exchangeable() || !k.InPool(p) {
			t.Fatalf("packet: buf %d size %d ext %d headroom %d", buf, size, ext, k.Headroom())
		}
		seen[ext] = true
	}
	// exchange with a buffer of the platform, as a driver does
	k := pk[0]
	_, _, ext := k.Buf()
	if ob, oe := k.SwapBuf(bufAt(50), 1050); oe != ext || ob != bufAt(ext-1000) {
		t.Fatalf("swap gave %d %d", ob, oe)
	}
	k.SetData(32, 100)
	if k.Len() != 100 || k.DataOff() != 32 || k.Headroom() != 32 || k.Tailroom() != 2048-132 {
		t.Fatalf("len %d off %d", k.Len(), k.DataOff())
	}
	p.FreePackets(ws[0], pk[:30])
	p.FreePackets(ws[1], pk[30:38])
	got := map[uint32]bool{}
	take := func(buf, ext uint32) {
		if got[ext] || buf != bufAt(ext-1000) {
			t.Errorf("detached %d at %d", ext, buf)
		}
		got[ext] = true
	}
	if err := p.Detach(take); err == nil || !strings.Contains(err.Error(), "2 of 40 packets are still out") {
		t.Fatalf("Detach with 2 out: %v", err)
	}
	if err := p.Close(); err == nil {
		t.Fatal("Close with 2 out")
	}
	if p.AllocPacket(ws[0], 60) != nil {
		t.Fatal("a packet after Detach")
	}
	FreePackets(ws[1], pk[38:40])
	if err := p.Detach(take); err != nil || p.Attached() != 0 {
		t.Fatalf("Detach: %v", err)
	}
	if len(got) != 40 || !got[1050] || got[ext] {
		t.Fatalf("%d buffers came back", len(got))
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestExternalErrors(t *testing.T) {
	set, _ := kit(t, 1)
	for _, c := range []ExternalConfig{{Num: 1}, {Num: 1, BufSize: 63}, {BufSize: 2048}, {Num: 1, BufSize: 2048, Headroom: 2048}, {Num: 1, BufSize: 1 << 40}} {
		if _, err := NewExternalPool(set, c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
	p := newPool(t, set, PoolConfig{Num: 1})
	if err := p.Detach(func(_, _ uint32) {}); err == nil {
		t.Error("Detach of an ordinary pool")
	}
}
