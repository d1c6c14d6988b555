// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/odp-go/godp/internal/meta"
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

func goTool(t *testing.T) string {
	t.Helper()
	if testing.Short() || raceEnabled || checked {
		t.Skip("the compiler's work is looked at in the plain build, not under -short")
	}
	path, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	return path
}

// What the forwarding path calls for each packet must not be a call.
func TestInlined(t *testing.T) {
	out, err := exec.Command(goTool(t), "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Skipf("go build: %v", err)
	}
	for _, f := range []string{
		"(*Packet).Data", "(*Packet).DataPtr", "(*Packet).Len", "(*Packet).SegLen", "(*Packet).SetParse", "(*Packet).SetFlowHash", "(*Packet).SetData", "(*Packet).SetInput",
		"(*Packet).Has", "(*Packet).HasIPv4", "(*Packet).Flags", "(*Packet).L3Offset", "(*Packet).PullHead", "(*Packet).PushHead", "(*Packet).Headroom", "(*Packet).Exchangeable", "(*Packet).Input",
		"(*Packet).FlowHash", "(*Event).ID", "FromID", "(*Event).Type", "(*Event).Packet", "(*Event).Buf", "(*Event).SwapBuf", "(*Event).InPool", "(*Event).PoolOf",
		"PacketsOf", "EventsOf", "(*Buffer).Data", "(*Pool).AllocBuffer", "(*Pool).FreePackets", "(*Pool).FreeBuffers", "(*Pool).FreePacket", "(*Segment).Data", "(*Segment).Next",
		"(*Pool).cacheOf", "(*Pool).fresh", "(*Pool).owns",
	} {
		if !strings.Contains(string(out), "can inline "+f+"\n") {
			t.Errorf("%s is not inlined", f)
		}
	}
	// the bursts of the callers must stay on their stacks
	for _, f := range regexp.MustCompile(`leaking param: (ev|pkts|bufs|dst|w|k)\b.*`).FindAllString(string(out), -1) {
		if !strings.Contains(f, "result") && !strings.Contains(f, "content") {
			t.Logf("%s", f)
		}
	}
}

// Inside the cache there is no locked instruction.
func TestNoLockedInstructions(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("amd64 only")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	out, err := exec.Command(goTool(t), "tool", "objdump", "-s", `buffer\.\(\*Pool\)\.(get|put|getOne|putOne|AllocPackets|AllocPacket|freeWords|plain)$`, exe).Output()
	if err != nil {
		t.Skipf("objdump: %v", err)
	}
	found := map[string]bool{}
	name := ""
	for line := range strings.Lines(string(out)) {
		if f, ok := strings.CutPrefix(line, "TEXT "); ok {
			name, _, _ = strings.Cut(f, "(SB)")
			found[name] = true
			continue
		}
		if strings.Contains(line, "LOCK") || strings.Contains(line, "XCHG") {
			t.Errorf("%s: %s", name, line)
		}
	}
	if len(found) < 7 {
		t.Errorf("only %v were found", found)
	}
}
