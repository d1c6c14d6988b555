// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// exchange sends frames from one port to the other through the client and counts
// those that arrive with other bytes than they were sent with, now or, while they are
// held, later. missing are those that did not arrive in time.
func exchange(t *testing.T, w *worker.Worker, from, to *device, frames int, size func(i int) int) (corrupt, missing int) {
	t.Helper()
	const window, hold = 200, 100
	var (
		sent, got int
		held      []*buffer.Packet
		pkts      = make([]*buffer.Packet, 32)
		end       = time.Now().Add(2 * time.Minute)
		check     = func(k *buffer.Packet, seq int) bool {
			return bytes.Equal(contents(k), testFrame(uint64(seq), size(seq)))
		}
		quiet = time.Now()
		empty int // rounds since the last frame: a starved machine lets time pass without any
	)
	release := func(n int) {
		for i, k := range held[:n] {
			if !check(k, got-len(held)+i) {
				corrupt++
			}
		}
		buffer.FreePackets(w, held[:n])
		held = held[n:]
	}
	for got < frames && time.Now().Before(end) && (time.Since(quiet) < patience(from) || empty < 10_000) {
		empty++
		n := 0
		for n < 16 && sent+n < frames && sent+n-got < window {
			f := testFrame(uint64(sent+n), size(sent+n))
			if from.Pool().AllocPackets(w, pkts[n:n+1], len(f)) == 0 {
				break
			}
			for seg := pkts[n].FirstSeg(); seg != nil; seg = seg.Next() {
				f = f[copy(seg.Data(), f):]
			}
			n++
		}
		m, err := from.Tx(0).Send(w, pkts[:n])
		if err != nil {
			t.Fatal(err)
		}
		buffer.FreePackets(w, pkts[m:n])
		sent += m
		if n, err = to.Rx(0).Recv(w, pkts); err != nil {
			t.Fatal(err)
		}
		for _, k := range pkts[:n] {
			if b := contents(k); got == 0 && !isTest(b) || to.kind == abi.KindNIC && to.c.prefix == "netmap" && !isTest(b) {
				buffer.FreePackets(w, []*buffer.Packet{k}) // what else comes along a real interface
				continue
			}
			quiet, empty = time.Now(), 0
			if !check(k, got) {
				corrupt++
			}
			held = append(held, k)
			got++
		}
		if len(held) > hold {
			release(len(held) - hold)
		}
	}
	release(len(held))
	return corrupt, frames - got
}

// patience is how long no frame may arrive before the rest counts as missing.
func patience(d *device) time.Duration {
	if d.c.prefix == "netmap" {
		return 4 * time.Second
	}
	return 300 * time.Millisecond
}

func contents(k *buffer.Packet) (b []byte) {
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		b = append(b, s.Data()...)
	}
	return b
}

func (w *abiWorld) openPair(t *testing.T, p abiPair, cfg driver.Config) (a, b *device) {
	t.Helper()
	cfg.Promisc = true // test frames go to addresses that no card has
	a, b = openPort(t, w.v, p.a, cfg), openPort(t, w.v, p.b, cfg)
	if w.sim == nil && p.what == "NIC" {
		time.Sleep(200 * time.Millisecond)
	}
	return a, b
}

// TestABIExchange sends and receives by exchange of buffers, holding received packets
// while more come, on every kind of port, in both directions.
func TestABIExchange(t *testing.T) {
	w := newABI(t)
	for _, p := range w.pairs() {
		t.Run(p.what, func(t *testing.T) {
			set, wk := newSet(t)
			a, b := w.openPair(t, p, driver.Config{Set: set, PoolPackets: 1024})
			size := func(i int) int { return 60 + i%1400 }
			for _, d := range [][2]*device{{a, b}, {b, a}} {
				if c, m := exchange(t, wk, d[0], d[1], 3000, size); c != 0 || m != 0 {
					t.Errorf("%s to %s: %d corrupt, %d missing", d[0].name, d[1].name, c, m)
				}
				if n := d[0].Counters(); n["tx_copies"] != 0 || n["rx_copies"] != 0 || n["buffers_lost"] != 0 {
					t.Errorf("%s: %v", d[0].name, n)
				}
			}
			atRest(t, set, wk, a, b)
		})
	}
}

// atRest checks that all packets are back, and so that granted = in headers.
func atRest(t *testing.T, set *worker.Set, w *worker.Worker, ds ...*device) {
	t.Helper()
	set.RequestFlush()
	w.Quiesce()
	for _, d := range ds {
		if p := d.Pool(); p.Available() != p.Num() {
			t.Errorf("%s: %d of %d packets are back", d.name, p.Available(), p.Num())
		}
	}
}

// TestABIFlagMatters leaves BUF_CHANGED out of one kind of slot: the exchange test
// must notice, on ports that keep the address of a buffer as a card does.
func TestABIFlagMatters(t *testing.T) {
	w := newABI(t)
	if w.sim == nil {
		if i, err := w.v.c.sys.Interface(w.a); err != nil || !i.Native {
			t.Skip("emulated ports of the kernel and its switch work without the flag")
		}
	}
	for name, flag := range map[string]*uint16{"receive": &changedRx, "send": &changedTx} {
		t.Run(name, func(t *testing.T) {
			*flag = 0
			defer func() { *flag = abi.SlotBufChanged }()
			set, wk := newSet(t)
			a, b := w.openPair(t, w.pairs()[0], driver.Config{Set: set, PoolPackets: 1024})
			c, m := exchange(t, wk, a, b, 3000, func(i int) int { return 60 + i%1400 })
			switch {
			case c+m > 0:
			case w.sim == nil && name == "send":
				t.Log("this driver loads the address for every frame that it sends (e1000 does)")
			default:
				t.Errorf("nothing was wrong without BUF_CHANGED in %s slots", name)
			}
		})
	}
}

// TestABISegments sends packets of several segments.
func TestABISegments(t *testing.T) {
	w := newABI(t)
	for _, p := range w.pairs()[1:] {
		t.Run(p.what, func(t *testing.T) {
			set, wk := newSet(t)
			a, b := w.openPair(t, p, driver.Config{Set: set, PoolPackets: 1024})
			if !a.Capability().MultiSegment {
				t.Fatal("the port says that it carries no frames of several slots")
			}
			if c, m := exchange(t, wk, a, b, 500, func(i int) int { return 60 + i*37%9000 }); c != 0 || m != 0 {
				t.Errorf("%d corrupt, %d missing", c, m)
			}
			if a.Counters()["tx_chains"] == 0 || b.Counters()["rx_chains"] == 0 {
				t.Error("no frame took several slots")
			}
			atRest(t, set, wk, a, b)
		})
	}
}

// TestABIDrain: Drain gives up at its deadline while the receiver does not read, and
// returns when it does.
func TestABIDrain(t *testing.T) {
	w := newABI(t)
	set, wk := newSet(t)
	a, b := w.openPair(t, abiPair{"pipe", "pd{1", "pd}1", true, true}, driver.Config{Set: set})
	pkts := make([]*buffer.Packet, 20)
	if a.Pool().AllocPackets(wk, pkts, 60) != 20 {
		t.Fatal("no packets")
	}
	for _, k := range pkts {
		clear(k.Data())
	}
	if n, err := a.Tx(0).Send(wk, pkts); n != 20 || err != nil {
		t.Fatal(n, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	err := a.Drain(ctx)
	if e := (*Error)(nil); !errors.As(err, &e) || e.Cure == "" || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("drain into a full pipe: %v", err)
	}
	got := 0
	until(t, "the frames", func() bool {
		n, err := b.Rx(0).Recv(wk, pkts)
		if err != nil {
			t.Fatal(err)
		}
		buffer.FreePackets(wk, pkts[:n])
		got += n
		return got == 20
	})
	b.Rx(0).Recv(wk, pkts) // returns the slots
	ctx, cancel = context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := a.Drain(ctx); err != nil {
		t.Error(err)
	}
}

// TestABIReadThenClosed: what the receiver of a pipe has read is no more pending at
// the sender once the receiver has closed.
func TestABIReadThenClosed(t *testing.T) {
	w := newABI(t)
	set, wk := newSet(t)
	a, b := w.openPair(t, abiPair{"pipe", "pc{1", "pc}1", true, true}, driver.Config{Set: set})
	pkts := make([]*buffer.Packet, 40)
	if a.Pool().AllocPackets(wk, pkts, 60) != 40 {
		t.Fatal("no packets")
	}
	if n, err := a.Tx(0).Send(wk, pkts); n != 40 || err != nil {
		t.Fatal(n, err)
	}
	n, err := b.Rx(0).Recv(wk, pkts) // exactly as many as there are: no sync follows
	if n != 40 || err != nil {
		t.Fatal(n, err)
	}
	buffer.FreePackets(wk, pkts)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := a.Drain(ctx); err != nil {
		t.Error(err)
	}
}

// TestABIReopen opens and closes each kind of port many times: nothing is left, and
// extra buffers come back.
func TestABIReopen(t *testing.T) {
	w := newABI(t)
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	for _, p := range w.pairs() {
		set, wk := newSet(t)
		for i := range rounds {
			d, err := w.v.Open(context.Background(), p.a, quiet(driver.Config{Set: set, PoolPackets: 1000, LinkWait: -1}))
			if err != nil {
				t.Fatalf("%s, round %d: %v", p.what, i, err)
			}
			if n := d.Pool().Num(); n != 1000 {
				t.Fatalf("%s, round %d: %d packets", p.what, i, n)
			}
			if err := d.Start(); err != nil {
				t.Fatal(err)
			}
			pkts := make([]*buffer.Packet, 8)
			n := d.Pool().AllocPackets(wk, pkts, 60)
			m, err := d.Tx(0).Send(wk, pkts[:n])
			buffer.FreePackets(wk, pkts[m:n])
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Close(); err != nil {
				t.Fatalf("%s, round %d: %v", p.what, i, err)
			}
			if err := d.Close(); err != nil {
				t.Fatalf("%s: closed twice: %v", p.what, err)
			}
		}
	}
	if n := len(w.v.c.regions); n != 0 {
		t.Errorf("%d regions are still mapped", n)
	}
}

// TestABIHost: what goes up into the host's stack, and what the host sends.
func TestABIHost(t *testing.T) {
	w := newABI(t)
	set, wk := newSet(t)
	d := openPort(t, w.v, w.a+"*", driver.Config{Set: set})
	if i := d.Info(); i.RxQueues != 2 || i.TxQueues != 2 {
		t.Fatalf("%+v", i)
	}
	h := w.host(t)
	if w.sim == nil {
		time.Sleep(200 * time.Millisecond)
	}
	up, down := testFrame(7, 100), testFrame(8, 200)
	k := d.Pool().AllocPacket(wk, len(up))
	copy(k.Data(), up)
	if n, err := d.Tx(1).Send(wk, []*buffer.Packet{k}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	until(t, "the frame in the host's stack", func() bool { return bytes.Equal(h.recv(), up) })
	h.send(down)
	until(t, "the frame from the host's stack", func() bool {
		pkts := make([]*buffer.Packet, 8)
		n, err := d.Rx(1).Recv(wk, pkts)
		if err != nil {
			t.Fatal(err)
		}
		ok := false
		for _, k := range pkts[:n] {
			ok = ok || bytes.Equal(contents(k), down)
		}
		buffer.FreePackets(wk, pkts[:n])
		return ok
	})
	atRest(t, set, wk, d)
}

// hostSide is the stack behind a port's host rings.
type hostSide struct {
	send func([]byte)
	recv func() []byte // nil = nothing now
}

// TestABIDown: while an interface is down no call blocks, and traffic flows again when
// it is up, without a reopen.
func TestABIDown(t *testing.T) {
	w := newABI(t)
	set, wk := newSet(t)
	p := w.pairs()[0]
	a, b := w.openPair(t, p, driver.Config{Set: set, PoolPackets: 1024})
	size := func(i int) int { return 60 + i%1000 }
	if c, m := exchange(t, wk, a, b, 100, size); c != 0 || m != 0 {
		t.Fatalf("before: %d corrupt, %d missing", c, m)
	}
	for round := range 2 {
		w.setUp(t, p.b, false)
		until(t, "the news", func() bool { return b.blocked.LoadAcq() == blockedDown })
		done := make(chan string, 1)
		go func() {
			pkts := make([]*buffer.Packet, 8)
			for range 50 {
				n, err := b.Rx(0).Recv(wk, pkts)
				buffer.FreePackets(wk, pkts[:n])
				if err != nil {
					done <- err.Error()
					return
				}
				n = b.Pool().AllocPackets(wk, pkts, 60)
				m, err := b.Tx(0).Send(wk, pkts[:n])
				buffer.FreePackets(wk, pkts[m:n])
				if err != nil {
					done <- err.Error()
					return
				}
			}
			done <- ""
		}()
		select {
		case s := <-done:
			if s != "" {
				t.Fatalf("round %d: %s", round, s)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("a call sleeps in the kernel")
		}
		w.setUp(t, p.b, true)
		until(t, "the news", func() bool { return b.blocked.LoadAcq() == 0 && b.Link().Up && a.Link().Up })
		if w.sim == nil {
			time.Sleep(100 * time.Millisecond)
		}
		if c, m := exchange(t, wk, a, b, 100, size); c != 0 || m != 0 {
			t.Fatalf("round %d, after: %d corrupt, %d missing; a %v b %v", round, c, m, a.Counters(), b.Counters())
		}
	}
}

// TestABIRemove: a removed interface makes the port faulted, and it can be closed.
func TestABIRemove(t *testing.T) {
	w := newABI(t)
	name := w.victim(t)
	var d *device
	set, wk := newSet(t)
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	d = openPort(t, w.v, name, driver.Config{Set: set, LinkWait: -1})
	pkts := make([]*buffer.Packet, 8)
	if n, err := d.Rx(0).Recv(wk, pkts); n != 0 || err != nil {
		t.Fatal(n, err)
	}
	w.remove(t, name)
	var rerr, serr error
	until(t, "the fault", func() bool {
		_, rerr = d.Rx(0).Recv(wk, pkts)
		n := d.Pool().AllocPackets(wk, pkts[:1], 60)
		var m int
		m, serr = d.Tx(0).Send(wk, pkts[:n])
		buffer.FreePackets(wk, pkts[m:n])
		return rerr != nil && serr != nil
	})
	if !errors.Is(rerr, queue.ErrFaulted) || !errors.Is(serr, queue.ErrFaulted) {
		t.Errorf("%v\n%v", rerr, serr)
	}
	t.Log(rerr)
}
