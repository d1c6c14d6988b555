// SPDX-License-Identifier: Apache-2.0

package pktio_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio"
	_ "github.com/odp-go/godp/platform/loop"
	_ "github.com/odp-go/godp/platform/null"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func newSet(t testing.TB, max int) *worker.Set {
	t.Helper()
	s, err := worker.NewSet(max)
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
	return p
}

func start(t testing.TB, p *pktio.Port) {
	t.Helper()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
}

func TestLoopbackKeepsOrderAndContent(t *testing.T) {
	for _, level := range []pktio.LockLevel{pktio.LockPktio, pktio.LockDevice, pktio.LockQueue, pktio.LockNone} {
		t.Run(level.String(), func(t *testing.T) {
			p := open(t, newSet(t, 4), "loop:order", pktio.Config{LockLevel: level, RxSlots: 64})
			start(t, p)
			w, err := p.Set().Join(worker.KindWorker)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Leave()
			var tx, rx [32]*buffer.Packet
			for round := 0; round < 100; round++ {
				n := p.Pool().AllocPackets(w, tx[:round%32+1], 60+round)
				for i, k := range tx[:n] {
					k.Data()[0], k.Data()[59] = byte(round), byte(i)
				}
				if m, err := p.Out(0).Send(w, tx[:n]); m != n || err != nil {
					t.Fatalf("round %d: Send: %d of %d, %v", round, m, n, err)
				}
				m, err := p.In(0).Recv(w, rx[:])
				if m != n || err != nil {
					t.Fatalf("round %d: Recv: %d of %d, %v", round, m, n, err)
				}
				for i, k := range rx[:m] {
					if k.Data()[0] != byte(round) || k.Data()[59] != byte(i) || k.Len() != 60+round {
						t.Fatalf("round %d packet %d: % x length %d", round, i, k.Data()[:4], k.Len())
					}
					if port, q := k.Input(); port != p.Index() || q != 0 || pktio.ByIndex(port) != p {
						t.Fatalf("input %d queue %d, want %d queue 0", port, q, p.Index())
					}
				}
				buffer.FreePackets(w, rx[:m])
			}
		})
	}
}

func TestStates(t *testing.T) {
	p := open(t, newSet(t, 2), "loop:states", pktio.Config{})
	var b [4]*buffer.Packet
	recv := func() error { _, err := p.In(0).Recv(nil, b[:]); return err }
	if err := recv(); !errors.Is(err, queue.ErrStopped) {
		t.Errorf("before Start: %v", err)
	}
	if p.Stop() == nil {
		t.Error("Stop of a stopped port succeeded")
	}
	start(t, p)
	if p.Start() == nil {
		t.Error("Start of a started port succeeded")
	}
	if err := recv(); err != nil {
		t.Error(err)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := recv(); !errors.Is(err, queue.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := p.Out(0).Send(nil, b[:0]); !errors.Is(err, queue.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if p.Close() != nil {
		t.Error("second Close failed")
	}
}

func TestSecondOpen(t *testing.T) {
	set := newSet(t, 2)
	p := open(t, set, "loop:second", pktio.Config{})
	_, err := pktio.Open(context.Background(), set, "loop:second", pktio.Config{Shared: true, Log: quiet})
	if !errors.Is(err, pktio.ErrBusy) || !strings.Contains(err.Error(), "held by port") {
		t.Errorf("second Open: %v", err)
	}
	if pktio.Lookup("loop:second") != p {
		t.Error("Lookup does not find the port")
	}
	p.Close()
	if pktio.Lookup("loop:second") != nil {
		t.Error("Lookup finds a closed port")
	}
	a := open(t, set, "loop:second?shared=1", pktio.Config{})
	b := open(t, set, "loop:second", pktio.Config{Shared: true})
	start(t, a)
	start(t, b)
	var k [1]*buffer.Packet
	a.Pool().AllocPackets(nil, k[:], 60)
	if n, err := a.Out(0).Send(nil, k[:]); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := b.In(0).Recv(nil, k[:]); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	buffer.FreePackets(nil, k[:])
}

func TestNoneRefusesASecondUser(t *testing.T) {
	p := open(t, newSet(t, 2), "loop:none", pktio.Config{LockLevel: pktio.LockNone})
	start(t, p)
	w1, _ := p.Set().Join(worker.KindWorker)
	w2, _ := p.Set().Join(worker.KindWorker)
	var b [4]*buffer.Packet
	if _, err := p.In(0).Recv(w1, b[:]); err != nil {
		t.Fatal(err)
	}
	_, err := p.In(0).Recv(w2, b[:])
	if !errors.Is(err, queue.ErrFaulted) || !strings.Contains(err.Error(), "worker 0") {
		t.Errorf("second user: %v", err)
	}
	w1.Leave()
	if _, err := p.In(0).Recv(w2, b[:]); err != nil {
		t.Errorf("after the first user left: %v", err)
	}
	w2.Leave()
}

func TestOneDirection(t *testing.T) {
	set := newSet(t, 1)
	in := open(t, set, "loop:dir?shared=1&rx=2&tx=2", pktio.Config{NoOutput: true})
	out := open(t, set, "loop:dir", pktio.Config{Shared: true, NoInput: true})
	if in.NumIn() != 2 || in.NumOut() != 0 || out.NumIn() != 0 || out.NumOut() != 2 {
		t.Fatalf("queues: %d %d, %d %d", in.NumIn(), in.NumOut(), out.NumIn(), out.NumOut())
	}
	start(t, in)
	start(t, out)
	k := packet(t, in, 0, 0)
	if n, err := out.Out(1).Send(nil, k); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := in.In(1).Recv(nil, k); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	buffer.FreePackets(nil, k)
}
