// SPDX-License-Identifier: Apache-2.0

package loop_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/loop"
	"github.com/odp-go/godp/worker"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func newSet(t testing.TB) *worker.Set {
	t.Helper()
	s, err := worker.NewSet(4)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t testing.TB, set *worker.Set, name string, cfg pktio.Config) *pktio.Port {
	t.Helper()
	cfg.Log = quiet
	p, err := pktio.Open(context.Background(), set, name, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func newPool(t testing.TB, set *worker.Set, num int) *buffer.Pool {
	t.Helper()
	p, err := buffer.NewPool(set, buffer.PoolConfig{Name: "test", Num: num, Cache: -1})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func recvAll(t testing.TB, p *pktio.Port) (all []*buffer.Packet) {
	t.Helper()
	var b [64]*buffer.Packet
	for i := range p.NumIn() {
		for {
			n, err := p.In(i).Recv(nil, b[:])
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				break
			}
			all = append(all, b[:n]...)
		}
	}
	return all
}

func TestSeedFramesAreValid(t *testing.T) {
	for _, c := range []struct {
		opts         string
		count, n     int
		flows, input int
	}{
		{"seed=1", 1, 60, 1, 1}, {"seed=512", 512, 60, 64, 1}, {"seed=100&len=61&flows=7", 100, 61, 7, 1},
		{"seed=64&len=1500&flows=64&rx=4&tx=4", 64, 1500, 64, 4}, {"seed=300&flows=300", 300, 60, 300, 1},
	} {
		p := open(t, newSet(t), "loop:seed?"+c.opts, pktio.Config{Hash: pktio.HashToeplitz})
		frames := recvAll(t, p)
		hashes := map[uint32]bool{}
		for i, k := range frames {
			if k.Len() != c.n {
				t.Fatalf("%s: frame %d has %d bytes", c.opts, i, k.Len())
			}
			want := meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP | meta.HasHash
			if k.Flags() != want {
				t.Fatalf("%s: frame %d parses as %b, want %b: % x", c.opts, i, k.Flags(), want, k.Data()[:60])
			}
			b := k.Data()
			if s := onesSum(0, b[14:34]); s != 0xffff {
				t.Fatalf("%s: frame %d: IP checksum wrong (%#x)", c.opts, i, s)
			}
			pseudo := uint32(17 + len(b) - 34)
			if s := onesSum(pseudo, append(append([]byte(nil), b[26:34]...), b[34:]...)); s != 0xffff {
				t.Fatalf("%s: frame %d: UDP checksum wrong (%#x)", c.opts, i, s)
			}
			if !bytes.Equal(b[:6], p.MAC()) {
				t.Errorf("%s: frame %d is for % x", c.opts, i, b[:6])
			}
			h, _ := k.FlowHash()
			hashes[h] = true
		}
		if len(frames) != c.count || len(hashes) != c.flows {
			t.Errorf("%s: %d frames of %d flows, want %d of %d", c.opts, len(frames), len(hashes), c.count, c.flows)
		}
		if p.NumIn() != c.input {
			t.Errorf("%s: %d queues", c.opts, p.NumIn())
		}
		buffer.FreePackets(nil, frames)
		// a second Start seeds nothing
		p.Stop()
		p.Start()
		if again := recvAll(t, p); len(again) != 0 {
			t.Errorf("%s: %d frames after a second Start", c.opts, len(again))
		}
		p.Close()
	}
}

func onesSum(s uint32, b []byte) uint32 {
	for i, c := range b {
		s += uint32(c) << (8 * uint(1-i%2))
	}
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return s
}

func TestNamesAndOptions(t *testing.T) {
	for name, want := range map[string]string{
		"loop:0?seed=65537":         "from 0 to 65536",
		"loop:0?len=59":             "from 60 to 1500",
		"loop:0?len=1501":           "from 60 to 1500",
		"loop:0?flows=0":            "from 1 to 65536",
		"loop:0?full=wait":          "block, drop",
		"loop:0?depth=1":            "seed=0..65536",
		"loop:0?seed=1x":            "from 0 to 65536",
		"loop:0?seed=1.5&len=-60":   "from 60 to 1500",
		"loop:0?slots=70000":        "from 1 to 65536",
		"loop:0?seed=8&packets=4":   "",
		"loop:0?seed=8&full=block":  "",
		"loop:any name, even this!": "",
	} {
		p, err := pktio.Open(context.Background(), newSet(t), name, pktio.Config{Log: quiet})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if err == nil {
			p.Close()
		}
	}
}

// Packets of the device's pool come back as the same packets; those of another
// pool are copied and freed; every length and layout arrives whole.
func TestByReferenceAndByCopy(t *testing.T) {
	set := newSet(t)
	own, other := newPool(t, set, 256), newPool(t, set, 256)
	p := open(t, set, "loop:copy", pktio.Config{Pool: own})
	for _, pool := range []*buffer.Pool{own, other} {
		for _, n := range []int{1, 59, 60, 1514, own.SegCap(), own.SegCap() + 1, 9000, 65535} {
			k := pool.AllocPacket(nil, n)
			if k == nil {
				t.Fatal("no packet of", n)
			}
			i := 0
			for s := k.FirstSeg(); s != nil; s = s.Next() {
				for j := range s.Data() {
					s.Data()[j] = byte(i * 7)
					i++
				}
			}
			if m, err := p.Out(0).Send(nil, []*buffer.Packet{k}); m != 1 || err != nil {
				t.Fatal(m, err)
			}
			got := recvAll(t, p)
			if len(got) != 1 || got[0].Len() != n || !got[0].InPool(own) {
				t.Fatalf("%d bytes: received %d packets", n, len(got))
			}
			if same := got[0] == k; same != (pool == own) {
				t.Errorf("%d bytes: by reference: %v", n, same)
			}
			i = 0
			for s := got[0].FirstSeg(); s != nil; s = s.Next() {
				for j, c := range s.Data() {
					if c != byte(i*7) {
						t.Fatalf("%d bytes: byte %d of a segment is %d", n, j, c)
					}
					i++
				}
			}
			if i != n {
				t.Errorf("%d bytes: %d in segments", n, i)
			}
			buffer.FreePackets(nil, got)
			if own.Out() != 0 || other.Out() != 0 {
				t.Fatalf("%d bytes: %d and %d packets out", n, own.Out(), other.Out())
			}
		}
	}
	p.Close()
	if err := errors.Join(own.Close(), other.Close()); err != nil {
		t.Error(err)
	}
}

func TestFullBlocksOrDrops(t *testing.T) {
	for _, full := range []string{"block", "drop"} {
		for _, queues := range []string{"rx=1&tx=1", "rx=2&tx=1"} {
			p := open(t, newSet(t), "loop:full?slots=64&packets=512&full="+full+"&"+queues, pktio.Config{})
			var b [200]*buffer.Packet
			p.Pool().AllocPackets(nil, b[:], 60)
			for _, k := range b { // all of one flow
				copy(k.Data(), make([]byte, 60))
			}
			n, err := p.Out(0).Send(nil, b[:])
			if err != nil {
				t.Fatal(err)
			}
			drops := p.Stats().Drops()["tx_ring_full"]
			if full == "block" && (n != 64 || drops != 0) || full == "drop" && (n != 200 || drops != 136) {
				t.Errorf("%s %s: Send took %d, dropped %d", full, queues, n, drops)
			}
			buffer.FreePackets(nil, b[n:])
			got := recvAll(t, p)
			if len(got) != 64 {
				t.Errorf("%s %s: received %d", full, queues, len(got))
			}
			buffer.FreePackets(nil, got)
			if out := p.Pool().Out(); out != 0 {
				t.Errorf("%s %s: %d packets out", full, queues, out)
			}
			p.Close()
		}
	}
}

// A frame longer than the MTU is freed and counted, and the rest goes through; a
// copy that finds no memory stays with the sender, or is dropped under full=drop.
func TestOddPackets(t *testing.T) {
	for _, full := range []string{"block", "drop"} {
		set := newSet(t)
		own, other := newPool(t, set, 4), newPool(t, set, 64)
		p := open(t, set, "loop:odd?full="+full, pktio.Config{Pool: own, MaxLen: 1000})
		b := []*buffer.Packet{other.AllocPacket(nil, 60), other.AllocPacket(nil, 1001), own.AllocPacket(nil, 61), other.AllocPacket(nil, 1000)}
		if n, err := p.Out(0).Send(nil, b); n != 4 || err != nil {
			t.Errorf("Send: %d, %v", n, err)
		}
		got := recvAll(t, p)
		if len(got) != 3 || got[0].Len() != 60 || got[1].Len() != 61 || got[2].Len() != 1000 || p.Stats().Drops()["tx_too_long"] != 1 {
			t.Errorf("received %d, drops %v", len(got), p.Stats().Drops())
		}
		// one packet of the pool is left
		c := []*buffer.Packet{other.AllocPacket(nil, 60), other.AllocPacket(nil, 60)}
		n, err := p.Out(0).Send(nil, c)
		drops := p.Stats().Drops()["tx_pool_empty"]
		if err != nil || full == "block" && (n != 1 || drops != 0) || full == "drop" && (n != 2 || drops != 1) {
			t.Errorf("%s: Send with an empty pool: %d, %v, dropped %d", full, n, err, drops)
		}
		buffer.FreePackets(nil, c[n:])
		buffer.FreePackets(nil, append(got, recvAll(t, p)...))
		if own.Out() != 0 || other.Out() != 0 {
			t.Errorf("%d and %d packets out", own.Out(), other.Out())
		}
		p.Close()
		if err := errors.Join(own.Close(), other.Close()); err != nil {
			t.Error(err)
		}
	}
}

// With fewer send queues than receive queues, flows spread and stay together.
func TestSpreadByFlow(t *testing.T) {
	p := open(t, newSet(t), "loop:flows?seed=256&flows=32&rx=4&tx=1", pktio.Config{})
	if !p.Info().HWHash {
		t.Error("Info does not say that the device spreads flows")
	}
	frames := recvAll(t, p)
	if n, err := p.Out(0).Send(nil, frames); n != 256 || err != nil {
		t.Fatal(n, err)
	}
	where := map[uint32]int{}
	var b [64]*buffer.Packet
	used := 0
	for q := range p.NumIn() {
		for first := true; ; first = false {
			n, _ := p.In(q).Recv(nil, b[:])
			if n == 0 {
				break
			}
			if first {
				used++
			}
			for _, k := range b[:n] {
				h := pktio.FlowHash(k, pktio.HashToeplitz)
				if w, ok := where[h]; ok && w != q {
					t.Fatalf("flow %#x came out of queues %d and %d", h, w, q)
				}
				where[h] = q
			}
			buffer.FreePackets(nil, b[:n])
		}
	}
	if used < 3 || len(where) != 32 {
		t.Errorf("%d flows came out of %d of 4 queues", len(where), used)
	}
}

func TestManySendQueues(t *testing.T) {
	p := open(t, newSet(t), "loop:many?rx=2&tx=5", pktio.Config{})
	for i := range p.NumOut() {
		k := p.Pool().AllocPacket(nil, 60+i)
		if n, err := p.Out(i).Send(nil, []*buffer.Packet{k}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	var b [8]*buffer.Packet
	for q, want := range [][]int{{60, 62, 64}, {61, 63}} {
		n, _ := p.In(q).Recv(nil, b[:])
		if n != len(want) {
			t.Errorf("queue %d: %d packets, want %d", q, n, len(want))
		}
		for _, k := range b[:n] {
			if (k.Len()-60)%2 != q {
				t.Errorf("queue %d got a packet of send queue %d", q, k.Len()-60)
			}
		}
		buffer.FreePackets(nil, b[:n])
	}
}

// Loop devices of a set without a pool share one, which goes with the last.
func TestSharedPool(t *testing.T) {
	set := newSet(t)
	a, b := open(t, set, "loop:a", pktio.Config{}), open(t, set, "loop:b", pktio.Config{})
	if a.Pool() != b.Pool() || a.Info().MemID != b.Info().MemID {
		t.Error("two loop devices have two pools")
	}
	if other := open(t, newSet(t), "loop:c", pktio.Config{}); other.Pool() == a.Pool() {
		t.Error("devices of two sets share a pool")
	}
	if _, err := pktio.Open(t.Context(), set, "loop:d", pktio.Config{PoolPackets: 1 << 20, Strict: true, Log: quiet}); err == nil {
		t.Error("Strict: a larger pool than the shared one was granted")
	}
	pool := a.Pool()
	k := pool.AllocPacket(nil, 60)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := b.Close(); !errors.Is(err, driver.ErrPacketsOut) {
		t.Errorf("Close with a packet out: %v", err)
	}
	k.Data()[0] = 1
	buffer.FreePacket(nil, k)
	if c := open(t, set, "loop:e", pktio.Config{}); c.Pool() == pool {
		t.Error("the old pool was not closed when its packet came back")
	}
}

func TestFrameLengths(t *testing.T) {
	for n := 42; n < 130; n++ {
		b := make([]byte, n)
		loop.FillFrame(b, []byte{2, 0, 0, 0, 0, 1}, n, n)
		if s := onesSum(uint32(17+n-34), append(append([]byte(nil), b[26:34]...), b[34:]...)); s != 0xffff {
			t.Errorf("%d bytes: UDP checksum wrong", n)
		}
	}
}
