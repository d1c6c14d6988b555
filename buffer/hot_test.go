// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"testing"

	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/internal/testkit"
)

func TestNoAllocation(t *testing.T) {
	if checked {
		t.Skip("the checks allocate")
	}
	set, ws := kit(t, 2)
	p := newPool(t, set, PoolConfig{Num: 2048})
	b := newPool(t, set, PoolConfig{Type: TypeBuffer, Num: 2048, Size: 64})
	pk, bufs := make([]*Packet, 32), make([]*Buffer, 32)
	w := ws[0]
	for name, f := range map[string]func(){
		"packets":         func() { p.FreePackets(w, pk[:p.AllocPackets(w, pk, 60)]) },
		"packets general": func() { FreePackets(w, pk[:p.AllocPackets(w, pk, 60)]) },
		"packets nil":     func() { FreePackets(nil, pk[:p.AllocPackets(nil, pk, 60)]) },
		"packet":          func() { FreePacket(w, p.AllocPacket(w, 60)) },
		"long packet":     func() { FreePacket(w, p.AllocPacket(w, 65536)) },
		"buffers":         func() { FreeBuffers(w, bufs[:b.AllocBuffers(w, bufs)]) },
		"buffer":          func() { b.FreeBuffer(w, b.AllocBuffer(w)) },
		"spill": func() {
			var all [512]*Packet
			p.FreePackets(w, all[:p.AllocPackets(w, all[:], 60)])
		},
		"edit": func() {
			k := p.AllocPacket(w, 1000)
			k, _ = k.ExtendHead(w, 500)
			_ = k.ExtendTail(w, 5000)
			t, _ := k.Split(w, 700)
			r, _ := t.Ref(w, 10)
			_ = k.Concat(w, t)
			k.SetParse(meta.IPv4, 14, 34)
			k.SetUserWord(1)
			FreePacket(w, k)
			FreePacket(w, r)
		},
	} {
		if n := testing.AllocsPerRun(200, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	if p.Out() != 0 || b.Out() != 0 {
		t.Error("packets leak")
	}
}

// What the forwarding path calls for each packet is no call, the bursts of callers stay
// on their stacks, and inside the cache there is no locked instruction.
func TestCompiledCode(t *testing.T) {
	if checked {
		t.Skip("the checks are in it")
	}
	f := testkit.CompileFacts(t, ".")
	f.Inlined(t,
		"(*Packet).Data", "(*Packet).DataPtr", "(*Packet).Len", "(*Packet).SegLen", "(*Packet).SetParse", "(*Packet).SetFlowHash", "(*Packet).SetData", "(*Packet).SetInput",
		"(*Packet).Has", "(*Packet).HasIPv4", "(*Packet).Flags", "(*Packet).L3Offset", "(*Packet).PullHead", "(*Packet).PushHead", "(*Packet).Headroom", "(*Packet).Exchangeable", "(*Packet).Input",
		"(*Packet).FlowHash", "(*Event).ID", "FromID", "(*Event).Type", "(*Event).Packet", "(*Event).Buf", "(*Event).SwapBuf", "(*Event).InPool", "(*Event).PoolOf",
		"PacketsOf", "EventsOf", "(*Buffer).Data", "(*Pool).AllocBuffer", "(*Pool).FreePackets", "(*Pool).FreeBuffers", "(*Pool).FreePacket", "(*Segment).Data", "(*Segment).Next",
		"(*Pool).cacheOf", "(*Pool).fresh", "(*Pool).owns",
	)
	moves := []string{"(*Pool).get", "(*Pool).put", "(*Pool).getOne", "(*Pool).putOne", "(*Pool).AllocPackets", "(*Pool).AllocPacket", "(*Pool).freeWords", "(*Pool).plain"}
	f.NoEscapes(t, moves...)
	none := map[string]int{}
	for _, name := range moves {
		none[name] = 0
	}
	testkit.Assemble(t, ".", false).MaxRMW(t, none)
}
