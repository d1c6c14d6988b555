// SPDX-License-Identifier: Apache-2.0

package pktio_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// echo sends one frame through a loop and returns it as received.
func echo(t *testing.T, p *pktio.Port, k *buffer.Packet) *buffer.Packet {
	t.Helper()
	b := []*buffer.Packet{k}
	if n, err := p.Out(0).Send(nil, b); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	b[0] = nil
	if n, err := p.In(0).Recv(nil, b); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	return b[0]
}

func TestParseDepth(t *testing.T) {
	set := newSet(t, 1)
	for depth, want := range map[pktio.Parse]struct {
		f      meta.Flags
		l3, l4 uint16
	}{
		pktio.ParseNone:    {0, meta.NoOffset, meta.NoOffset},
		pktio.ParseL2:      {meta.L2, 14, meta.NoOffset},
		pktio.ParseL3:      {meta.L2 | meta.L3 | meta.IPv4, 14, 34},
		pktio.ParseL4:      {meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP, 14, 34},
		pktio.ParseDefault: {meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP, 14, 34},
	} {
		for _, hash := range []pktio.Hash{pktio.HashNone, pktio.HashSymmetric, pktio.HashToeplitz} {
			p := open(t, set, "loop:depth", pktio.Config{Parse: depth, Hash: hash})
			start(t, p)
			k := packet(t, p, 0, 0)[0]
			frame(k, 5, 0)
			// what an earlier owner left must not be seen
			k.SetParse(meta.TCP|meta.ErrL4, 77, 88)
			k.SetUserFlag(true)
			k.SetFlowHash(1234)
			k.SetTime(99)
			k.SetValue("old")
			k = echo(t, p, k)
			f := want.f
			if hash != pktio.HashNone {
				f |= meta.HasHash
			}
			if k.Flags() != f || k.L3Offset() != want.l3 || k.L4Offset() != want.l4 || k.Value() != nil {
				t.Errorf("depth %s hash %s: flags %b l3 %d l4 %d value %v, want %b %d %d", depth, hash, k.Flags(), k.L3Offset(), k.L4Offset(), k.Value(), f, want.l3, want.l4)
			}
			b := k.Data()
			ports := append(append([]byte(nil), b[26:34]...), b[34:38]...)
			h, ok := k.FlowHash()
			switch hash {
			case pktio.HashNone:
				if ok {
					t.Errorf("hash %#x without a hash", h)
				}
			case pktio.HashToeplitz:
				if want := header.NewToeplitz(&header.MicrosoftKey).Sum(ports); h != want {
					t.Errorf("toeplitz %#x, want %#x", h, want)
				}
			case pktio.HashSymmetric:
				if want := header.NewToeplitz(&header.SymmetricKey).Sum(ports); h != want {
					t.Errorf("symmetric %#x, want %#x", h, want)
				}
			}
			buffer.FreePacket(nil, k)
			p.Close()
		}
	}
}

func TestTimestamps(t *testing.T) {
	p := open(t, newSet(t, 1), "loop:stamps", pktio.Config{Timestamps: true})
	start(t, p)
	var last uint64
	for range 5 {
		k := echo(t, p, packet(t, p, 0, 0)[0])
		ns, ok := k.Time()
		if !ok || ns < last {
			t.Errorf("time %d %v after %d", ns, ok, last)
		}
		last = ns
		buffer.FreePacket(nil, k)
	}
}

func TestPlainQueueMode(t *testing.T) {
	p := open(t, newSet(t, 1), "loop:plain", pktio.Config{})
	start(t, p)
	var in queue.Source = p.In(0)
	var out queue.Dest = p.Out(0)
	bufs, err := buffer.NewPool(p.Set(), buffer.PoolConfig{Name: "bufs", Type: buffer.TypeBuffer, Num: 4, Size: 64})
	if err != nil {
		t.Fatal(err)
	}
	defer bufs.Close()
	b := bufs.AllocBuffer(nil)
	k := packet(t, p, 0, 0)[0]
	ev := []*buffer.Event{&k.Event, &b.Event}
	if n, err := out.Enqueue(nil, ev); n != 1 || err != nil {
		t.Errorf("Enqueue of a packet and a buffer: %d, %v", n, err)
	}
	if n, err := out.Enqueue(nil, ev[1:]); n != 0 || err != nil || p.Out(0).Stats().Refused != 2 {
		t.Errorf("Enqueue of a buffer: %d, %v, refused %d", n, err, p.Out(0).Stats().Refused)
	}
	bufs.FreeBuffer(nil, b)
	if n, err := in.Dequeue(nil, ev); n != 1 || err != nil || ev[0].Type() != buffer.TypePacket {
		t.Errorf("Dequeue: %d, %v", n, err)
	}
	buffer.FreeEvents(nil, ev[:1])
}

// dest is a queue that takes a limited number of events.
type dest struct {
	room int
	got  []*buffer.Packet
}

func (d *dest) Enqueue(w *worker.Worker, ev []*buffer.Event) (int, error) {
	n := min(d.room, len(ev))
	d.room -= n
	d.got = append(d.got, buffer.PacketsOf(ev)[:n]...)
	return n, nil
}

func TestSpreadToQueues(t *testing.T) {
	for _, hash := range []pktio.Hash{pktio.HashNone, pktio.HashToeplitz} {
		p := open(t, newSet(t, 1), "loop:spread", pktio.Config{PoolPackets: 512})
		start(t, p)
		d := []*dest{{room: 1000}, {room: 1000}, {room: 5}}
		s, err := pktio.NewSpread(p.In(0), []queue.Dest{d[0], d[1], d[2]}, hash)
		if err != nil {
			t.Fatal(err)
		}
		const flows, rounds = 24, 10
		var b [flows]*buffer.Packet
		for seq := range rounds {
			p.Pool().AllocPackets(nil, b[:], 60)
			for flow, k := range b {
				frame(k, flow, seq)
			}
			p.Out(0).Send(nil, b[:])
			if n, err := s.Poll(nil); n != flows || err != nil {
				t.Fatal(n, err)
			}
		}
		where := map[int]int{}
		total := 0
		for i := range d {
			next := map[int]int{}
			for _, k := range d[i].got {
				flow, seq := frameOf(k)
				if w, ok := where[flow]; ok && w != i {
					t.Errorf("flow %d is in queues %d and %d", flow, w, i)
				}
				where[flow] = i
				if seq != next[flow] && i < 2 {
					t.Errorf("flow %d: packet %d, want %d", flow, seq, next[flow])
				}
				next[flow] = seq + 1
			}
			total += len(d[i].got)
			if len(d[i].got) == 0 {
				t.Errorf("queue %d got nothing", i)
			}
			buffer.FreePackets(nil, d[i].got)
		}
		if s.Drops() == 0 || total+int(s.Drops()) != flows*rounds || p.Pool().Out() != 0 {
			t.Errorf("%d delivered, %d dropped, %d out, of %d", total, s.Drops(), p.Pool().Out(), flows*rounds)
		}
		p.Close()
	}
	p := open(t, newSet(t, 1), "loop:spread", pktio.Config{})
	if _, err := pktio.NewSpread(p.In(0), nil, 0); err == nil {
		t.Error("a spread over nothing was made")
	}
	if _, err := pktio.NewSpread(p.In(0), []queue.Dest{&dest{}}, 9); err == nil {
		t.Error("a spread with an unknown hash was made")
	}
}

func TestBind(t *testing.T) {
	p := open(t, newSet(t, 2), "loop:bind", pktio.Config{LockLevel: pktio.LockNone})
	start(t, p)
	if err := p.In(0).Bind("queue a"); err != nil {
		t.Fatal(err)
	}
	if err := p.In(0).Bind("queue b"); err == nil || !bytes.Contains([]byte(err.Error()), []byte("queue a")) {
		t.Errorf("second Bind: %v", err)
	}
	for range 2 { // under a token the workers take turns
		run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
			run(t, p.Set(), 1, func(_ int, w2 *worker.Worker) {
				var b [1]*buffer.Packet
				for _, x := range []*worker.Worker{w, w2} {
					if _, err := p.In(0).Recv(x, b[:]); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
	p.In(0).Unbind()
	if err := p.In(0).Bind("queue b"); err != nil {
		t.Error(err)
	}
}

func TestStatsOfBursts(t *testing.T) {
	p := open(t, newSet(t, 1), "loop:bursts", pktio.Config{LockStats: true})
	start(t, p)
	var b [64]*buffer.Packet
	for _, n := range []int{1, 2, 3, 4, 31, 32, 64} {
		p.Pool().AllocPackets(nil, b[:n], 100)
		p.Out(0).Send(nil, b[:n])
		p.In(0).Recv(nil, b[:])
		buffer.FreePackets(nil, b[:n])
	}
	p.In(0).Recv(nil, b[:])
	s := p.In(0).Stats()
	if want := []uint64{1, 1, 2, 1, 0, 1, 1, 1}; !slices.Equal(s.Bursts[:8], want) {
		t.Errorf("bursts %v, want %v", s.Bursts[:8], want)
	}
	if s.Polls != 8 || s.Empty != 1 || s.Packets != 137 || s.Bytes != 13700 || s.MeanBurst() != 137.0/7 {
		t.Errorf("%+v, mean %v", s, s.MeanBurst())
	}
	if o := p.Out(0).Stats(); o.Calls != 7 || o.Short != 0 || o.Packets != 137 || o.Bytes != 13700 || o.LockHeld == 0 || s.LockHeld == 0 {
		t.Errorf("%+v", o)
	}
}

// In the steady state nothing is allocated, at any level, also when waiting.
func TestNoAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	for _, level := range []pktio.LockLevel{pktio.LockPktio, pktio.LockDevice, pktio.LockQueue, pktio.LockNone} {
		for _, hash := range []pktio.Hash{pktio.HashNone, pktio.HashSymmetric} {
			p := open(t, newSet(t, 1), "loop:allocs?seed=64", pktio.Config{LockLevel: level, Hash: hash})
			start(t, p)
			run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
				b := make([]*buffer.Packet, 32)
				forward := func() {
					n, err := p.In(0).Recv(w, b)
					if m, err2 := p.Out(0).Send(w, b[:n]); n != 32 || m != n || err != nil || err2 != nil {
						t.Errorf("%d %d %v %v", n, m, err, err2)
					}
				}
				if n := testing.AllocsPerRun(200, forward); n != 0 {
					t.Errorf("level %s, hash %s: %v allocations per burst", level, hash, n)
				}
			})
			p.Close()
		}
	}
	g := &guard{maxRx: 1, maxTx: 1}
	p, pairs := openAll(t, newSet(t, 2), newGuard("allocs", g), pktio.Config{}, 2)
	run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
		b := make([]*buffer.Packet, 32)
		n := p.Pool().AllocPackets(w, b, 60)
		for i, k := range b[:n] {
			frame(k, i, 0)
		}
		pairs[0].Out.Send(w, b[:n])
		spread := func() {
			n, _ := pairs[0].In.Recv(w, b)
			pairs[0].Out.Send(w, b[:n])
		}
		if n := testing.AllocsPerRun(200, spread); n != 0 {
			t.Errorf("spread: %v allocations per burst", n)
		}
		for n > 0 {
			n, _ = pairs[0].In.Recv(w, b)
			buffer.FreePackets(w, b[:n])
		}
		if n := testing.AllocsPerRun(3, func() { pairs[0].In.RecvWait(w, b, 200e3) }); n > 0 {
			t.Errorf("waiting: %v allocations", n)
		}
	})
}

func TestControl(t *testing.T) {
	p := open(t, newSet(t, 1), "loop:control", pktio.Config{Promisc: true, MaxLen: 1514})
	if p.MTU() != 1514 || p.SetMTU(59) == nil || p.SetMTU(65536) == nil || p.SetMTU(9000) != nil || p.MTU() != 9000 {
		t.Errorf("MTU %d", p.MTU())
	}
	if on, err := p.Promisc(); !on || err != nil || p.SetPromisc(false) != nil {
		t.Error("promiscuous mode", on, err)
	}
	if on, _ := p.Promisc(); on {
		t.Error("promiscuous mode is still on")
	}
	if m := p.MAC(); len(m) != 6 || m[0] != 2 {
		t.Errorf("MAC %v", m)
	}
	if l := p.Link(); !l.Up || !l.Known {
		t.Errorf("link %+v", l)
	}
	if c := p.Capability(); c.MaxRxQueues < 1 || c.MinMTU > 60 {
		t.Errorf("%+v", c)
	}
	if i := p.Info(); i.Name != "loop:control" || i.LockLevel != pktio.LockQueue || i.OneLock || i.Started || i.Handles != 1 {
		t.Errorf("%+v", i)
	}
	j := open(t, p.Set(), newGuard("joint-info", &guard{joint: true}), pktio.Config{})
	if i := j.Info(); !i.OneLock || len(i.Notes) == 0 {
		t.Errorf("Info does not say that receive and send share a lock: %+v", i)
	}
}

// Shutdown waits for packets of the device's own pool and names what is out.
func TestShutdownWaitsForPackets(t *testing.T) {
	set := newSet(t, 1)
	p := open(t, set, "loop:out?seed=4", pktio.Config{})
	start(t, p)
	var b [1]*buffer.Packet
	if n, _ := p.In(0).Recv(nil, b[:]); n != 1 {
		t.Fatal("no packet")
	}
	ctx, cancel := contextFor(t)
	defer cancel()
	err := p.Shutdown(ctx)
	if err == nil || !bytes.Contains([]byte(err.Error()), []byte("1 of ")) {
		t.Errorf("Shutdown with a packet out: %v", err)
	}
	b[0].Data()[0] = 1 // its memory is still there
	buffer.FreePackets(nil, b[:])
	q := open(t, set, "loop:out", pktio.Config{})
	if q.Pool().Out() != 0 {
		t.Error("the pool of a new device has packets out")
	}
	if err := q.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
