// SPDX-License-Identifier: Apache-2.0

package wrap

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"math"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odptest"
	"github.com/odp-go/godp/pktio"
	_ "github.com/odp-go/godp/platform/loop"
	"github.com/odp-go/godp/worker"
)

func open(t *testing.T, name string) *pktio.Port {
	t.Helper()
	set, err := worker.NewSet(2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := pktio.Open(context.Background(), set, name, pktio.Config{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		set.Close()
	})
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// pass sends n numbered frames through a loop device and returns the frames that come
// out, in order.
func pass(t *testing.T, p *pktio.Port, n int) (out [][]byte) {
	t.Helper()
	recv := func() int {
		var pkts [32]*buffer.Packet
		m, err := p.In(0).Recv(nil, pkts[:])
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range pkts[:m] {
			out = append(out, bytes.Clone(k.Data()))
		}
		buffer.FreePackets(nil, pkts[:m])
		return m
	}
	for i := range n {
		b := odptest.Frame{Seq: uint32(i), Len: 80}.Bytes()
		k := p.Pool().AllocPacket(nil, len(b))
		if k == nil {
			t.Fatal("the pool is empty")
		}
		copy(k.Data(), b)
		if m, err := p.Out(0).Send(nil, []*buffer.Packet{k}); m != 1 || err != nil {
			t.Fatal(m, err)
		}
		if i%20 == 19 {
			recv()
		}
	}
	for last := time.Now(); time.Since(last) < 30*time.Millisecond; {
		if recv() > 0 {
			last = time.Now()
		}
	}
	if o := p.Pool().Out(); o != 0 {
		t.Errorf("%d packets are out", o)
	}
	return out
}

func seqs(t *testing.T, frames [][]byte) (s []int) {
	t.Helper()
	for _, b := range frames {
		f, err := odptest.ParseFrame(b)
		if err != nil {
			t.Fatal(err)
		}
		s = append(s, int(f.Seq))
	}
	return s
}

// about reports whether n is what a share of total may give (6 standard deviations).
func about(n, total int, share float64) bool {
	mean := float64(total) * share
	return math.Abs(float64(n)-mean) <= 6*math.Sqrt(mean*(1-share))+1
}

func TestFaults(t *testing.T) {
	const n = 4000
	for name, check := range map[string]func(t *testing.T, got []int, c map[string]uint64){
		"fault():loop:x": func(t *testing.T, got []int, c map[string]uint64) {
			if len(got) != n || !slices.IsSorted(got) {
				t.Errorf("%d frames without any fault", len(got))
			}
		},
		"fault(loss=10%):loop:x": func(t *testing.T, got []int, c map[string]uint64) {
			if !about(n-len(got), n, 0.1) || int(c["rx_fault_lost"]) != n-len(got) || !slices.IsSorted(got) {
				t.Errorf("%d frames, counters %v", len(got), c)
			}
		},
		"fault(loss=0.1,dir=tx):loop:x": func(t *testing.T, got []int, c map[string]uint64) {
			if !about(n-len(got), n, 0.1) || int(c["tx_fault_lost"]) != n-len(got) {
				t.Errorf("%d frames, counters %v", len(got), c)
			}
		},
		"fault(loss=100%):loop:x": func(t *testing.T, got []int, c map[string]uint64) {
			if len(got) != 0 {
				t.Errorf("%d frames", len(got))
			}
		},
		"fault(dup=5%):loop:x": func(t *testing.T, got []int, c map[string]uint64) {
			if !about(len(got)-n, n, 0.05) || !slices.IsSorted(got) || len(slices.Compact(got)) != n {
				t.Errorf("%d frames, counters %v", len(got), c)
			}
		},
		"fault(dup=5%,dir=tx):loop:x": func(t *testing.T, got []int, c map[string]uint64) {
			if !about(len(got)-n, n, 0.05) || int(c["tx_fault_doubled"]) != len(got)-n {
				t.Errorf("%d frames, counters %v", len(got), c)
			}
		},
		"fault(reorder=10%):loop:x": func(t *testing.T, got []int, c map[string]uint64) {
			far := 0
			for i, s := range got {
				far = max(far, s-i, i-s)
			}
			if slices.IsSorted(got) || far > 50 || !about(int(c["rx_fault_reordered"]), n, 0.1) {
				t.Errorf("sorted: %v, a frame is %d places off, counters %v", slices.IsSorted(got), far, c)
			}
			slices.Sort(got)
			if len(got) != n || len(slices.Compact(got)) != n {
				t.Errorf("%d frames of %d", len(got), n)
			}
		},
		"fault(jitter=2ms):loop:x": func(t *testing.T, got []int, c map[string]uint64) {
			slices.Sort(got)
			if len(got) != n || len(slices.Compact(got)) != n {
				t.Errorf("%d frames of %d", len(got), n)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, name)
			got := seqs(t, pass(t, p, n))
			check(t, got, p.Stats().Device)
			if p.Name() != name || p.Info().Name != name {
				t.Errorf("the port is called %q, %q", p.Name(), p.Info().Name)
			}
		})
	}
}

// Exactly one bit differs in a corrupted frame.
func TestCorrupt(t *testing.T) {
	for _, dir := range []string{"rx", "tx"} {
		p := open(t, "fault(corrupt=25%,seed=3,dir="+dir+"):loop:x")
		bad := 0
		for i, b := range pass(t, p, 400) {
			diff := 0
			for j, c := range (odptest.Frame{Seq: uint32(i), Len: 80}).Bytes() {
				diff += bits.OnesCount8(c ^ b[j])
			}
			if diff > 1 {
				t.Fatalf("frame %d differs in %d bits", i, diff)
			}
			bad += diff
		}
		if !about(bad, 400, 0.25) || int(p.Stats().Device[dir+"_fault_corrupted"]) != bad {
			t.Errorf("%d frames of 400 are damaged: %v", bad, p.Stats().Device)
		}
	}
}

// The same seed gives the same fate, another one another.
func TestSeed(t *testing.T) {
	run := func(seed string) []int {
		p := open(t, "fault(loss=20%,dup=20%,seed="+seed+"):loop:x")
		s := seqs(t, pass(t, p, 300))
		p.Close()
		return s
	}
	if a, b, c := run("5"), run("5"), run("6"); !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Errorf("seed 5 twice: equal %v; seed 6: equal %v", slices.Equal(a, b), slices.Equal(a, c))
	}
}

// A packet that is held back leaves in time though no other comes, also when the
// receiver sleeps.
func TestLoneDelayed(t *testing.T) {
	p := open(t, "fault(delay=20ms):loop:x")
	k := p.Pool().AllocPacket(nil, 60)
	start := time.Now()
	p.Out(0).Send(nil, []*buffer.Packet{k})
	var pkts [4]*buffer.Packet
	n, err := p.In(0).RecvWait(nil, pkts[:], 10*time.Second)
	if d := time.Since(start); n != 1 || err != nil || d < 20*time.Millisecond {
		t.Errorf("%d packets after %v: %v", n, d, err)
	}
	buffer.FreePackets(nil, pkts[:n])
	// one that waits when the port is closed is freed (Cleanup finds it otherwise)
	p.Out(0).Send(nil, []*buffer.Packet{p.Pool().AllocPacket(nil, 60)})
	p.In(0).Recv(nil, pkts[:])
}

// What passed is in the file, both ways; what the device did not take is not.
func TestDump(t *testing.T) {
	for _, ext := range []string{".pcap", ".pcapng"} {
		path := filepath.Join(t.TempDir(), "a"+ext)
		p := open(t, "pcapdump("+path+",dir=tx):loop:x?slots=64")
		var b [100]*buffer.Packet
		for i := range b {
			f := odptest.Frame{Seq: uint32(i), Len: 60 + i}.Bytes()
			b[i] = p.Pool().AllocPacket(nil, len(f))
			copy(b[i].Data(), f)
		}
		n, err := p.Out(0).Send(nil, b[:])
		if n != 64 || err != nil {
			t.Fatal(n, err)
		}
		buffer.FreePackets(nil, b[n:])
		for m, _ := p.In(0).Recv(nil, b[:]); m > 0; m, _ = p.In(0).Recv(nil, b[:]) {
			buffer.FreePackets(nil, b[:m])
		}
		if c := p.Stats().Device["recorded"]; c != 64 {
			t.Errorf("recorded %d", c)
		}
		p.Close()
		q := open(t, "pcapdump("+path+"2):pcapdump("+path+"3,dir=rx):loop:y?seed=4")
		if got := pass(t, q, 3); len(got) != 7 {
			t.Errorf("%d frames", len(got))
		}
		if c := q.Stats().Device["recorded"]; c != 10+7 {
			t.Errorf("recorded %d", c)
		}
		if ext == ".pcap" {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(raw) != 24+64*16+64*60+63*64/2 {
				t.Errorf("the file has %d bytes", len(raw))
			}
		}
	}
}

func TestTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	p := open(t, "trace(file="+path+",max=5):loop:x")
	pass(t, p, 20)
	raw, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if len(lines) != 5 || !strings.Contains(lines[0], " tx0 80 bytes 02:") || !strings.Contains(lines[0], "UDP") || !strings.Contains(lines[0], "type 0800") {
		t.Errorf("%d lines: %s", len(lines), raw)
	}
}

func TestErrors(t *testing.T) {
	set, _ := worker.NewSet(1)
	defer set.Close()
	for name, want := range map[string]string{
		"fault:loop:x":                   "in parentheses",
		"fault(loss=1%:loop:x":           "in parentheses",
		"fault(loss=1%):":                "in parentheses",
		"fault(loss=1%):nosuch:x":        `unknown kind "nosuch"`,
		"fault(loss=101%):loop:x":        "0% to 100%",
		"fault(loss=NaN):loop:x":         "0% to 100%",
		"fault(loss=-1%):loop:x":         "0% to 100%",
		"fault(loss=1%x):loop:x":         "0% to 100%",
		"fault(loss=1%,loss=2%):loop:x":  "twice",
		"fault(lose=1%):loop:x":          `"lose" is unknown: allowed are loss=`,
		"fault(delay=1):loop:x":          "5ms",
		"fault(delay=5ms,dir=tx):loop:x": "can't wait here",
		"fault(dir=up):loop:x":           "rx, tx, both",
		"pcapdump():loop:x":              "no file",
		"pcapdump(/nowhere/a):loop:x":    "no such file",
		"trace(most=4):loop:x":           "max=N",
		"trace(max=4x):loop:x":           "max",
	} {
		p, err := pktio.Open(context.Background(), set, name, pktio.Config{})
		if err == nil {
			p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
