// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"bytes"
	"testing"
	"time"
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/abi"
)

// TestABIHeadroom: with the OFFSETS option received frames have headroom, and a packet
// whose data is not at the start of its buffer is sent without a copy.
func TestABIHeadroom(t *testing.T) {
	w := newABI(t)
	for _, p := range w.pairs() {
		t.Run(p.what, func(t *testing.T) {
			set, wk := newSet(t)
			a, b := w.openPair(t, p, driver.Config{Set: set, PoolPackets: 1024, Options: map[string]string{"headroom": "64"}})
			if a.tx[0].g.mask == 0 || b.rx[0].rings[0].mask == 0 {
				t.Skipf("offsets are not granted: %q", a.Info().Notes)
			}
			pkts := make([]*buffer.Packet, 8)
			for i := range 300 {
				f := testFrame(uint64(i), 100+i)
				k := a.Pool().AllocPacket(wk, len(f)-6)
				if k.Headroom() != 64 {
					t.Fatalf("headroom %d", k.Headroom())
				}
				copy(k.PushHead(6), f)
				if n, err := a.Tx(0).Send(wk, []*buffer.Packet{k}); n != 1 || err != nil {
					t.Fatal(n, err)
				}
				until(t, "the frame", func() bool {
					n, err := b.Rx(0).Recv(wk, pkts)
					if err != nil {
						t.Fatal(err)
					}
					ok := false
					for _, k := range pkts[:n] {
						if c := contents(k); isTest(c) {
							ok = true
							if !bytes.Equal(c, f) {
								t.Fatalf("frame %d: % x", i, c[:40])
							}
							if k.Headroom() < 64 || k.Headroom() > 64+128 {
								t.Fatalf("frame %d has headroom %d", i, k.Headroom())
							}
						}
					}
					buffer.FreePackets(wk, pkts[:n])
					return ok
				})
			}
			if c := a.Counters(); c["tx_copies"] != 0 {
				t.Errorf("counters %v", c)
			}
			atRest(t, set, wk, a, b)
		})
	}
}

// TestABIWait: an idle queue can be slept on, by its descriptor or by a call.
func TestABIWait(t *testing.T) {
	w := newABI(t)
	for _, p := range w.pairs()[1:] {
		t.Run(p.what, func(t *testing.T) {
			set, wk := newSet(t)
			a, b := w.openPair(t, p, driver.Config{Set: set, PoolPackets: 1024})
			pkts := make([]*buffer.Packet, 8)
			for i := range 10 {
				if n, err := b.Rx(0).Recv(wk, pkts); n != 0 || err != nil {
					t.Fatal(n, err)
				}
				woken := make(chan struct{}, 1)
				q := b.Rx(0).(driver.Waiter)
				fd, _, ready := q.Arm(func() { woken <- struct{}{} })
				if ready {
					t.Fatal("an empty queue says ready")
				}
				if fd >= 0 {
					go func() {
						if rev, _ := w.k.Poll(fd, abi.PollIn, 5*time.Second); rev&abi.PollIn != 0 {
							woken <- struct{}{}
						}
					}()
					time.Sleep(2 * time.Millisecond)
				}
				k := a.Pool().AllocPacket(wk, 60)
				copy(k.Data(), testFrame(uint64(i), 60))
				if n, err := a.Tx(0).Send(wk, []*buffer.Packet{k}); n != 1 || err != nil {
					t.Fatal(n, err)
				}
				select {
				case <-woken:
				case <-time.After(30 * time.Second):
					t.Fatal("nobody was woken")
				}
				q.Disarm()
				n, err := b.Rx(0).Recv(wk, pkts)
				if n != 1 || err != nil {
					t.Fatalf("after the wake: %d %v", n, err)
				}
				buffer.FreePackets(wk, pkts[:n])
			}
			atRest(t, set, wk, a, b)
		})
	}
}

// TestABIMonitor: a port that watches another one gets copies of its frames.
func TestABIMonitor(t *testing.T) {
	w := newABI(t)
	if w.sim != nil {
		t.Skip("nmsim has no monitors")
	}
	set, wk := newSet(t)
	p := w.pairs()[1]
	a, b := w.openPair(t, p, driver.Config{Set: set, PoolPackets: 1024})
	m := openPort(t, w.v, p.b+"/r", driver.Config{Set: set, PoolPackets: 256})
	if i := m.Info(); i.TxQueues != 0 || i.RxQueues != 1 {
		t.Errorf("%+v", i)
	}
	if c, miss := exchange(t, wk, a, b, 50, func(int) int { return 100 }); c != 0 || miss != 0 {
		t.Errorf("%d corrupt, %d missing", c, miss)
	}
	pkts := make([]*buffer.Packet, 64)
	got := 0
	until(t, "the copies", func() bool {
		n, err := m.Rx(0).Recv(wk, pkts)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range pkts[:n] {
			if isTest(contents(k)) {
				got++
			}
		}
		buffer.FreePackets(wk, pkts[:n])
		return got == 50
	})
}

// TestABIForeignOffset: the receiver of a pipe, another program, has asked for offsets;
// what the client sends is where the receiver looks.
func TestABIForeignOffset(t *testing.T) {
	w := newABI(t)
	set, wk := newSet(t)
	r := w.open()
	if e := r.ctrl(abi.ReqRegister, "po}1", func(c *abi.Call, _ *abi.Header, body unsafe.Pointer) {
		(*abi.Register)(body).Mode, (*abi.Register)(body).Flags = abi.ModeAllNIC, abi.FlagNoTxPoll
		o := (*abi.OptionOffsets)(c.AddOption(abi.OptOffsets, 0))
		o.MaxOffset, o.InitialOffset, o.OffsetBits = 2048, 40, 16
	}); e != 0 {
		t.Fatal(e)
	}
	m, errno := w.k.Map(r.fd, r.reg.MemSize)
	if errno != 0 {
		t.Fatal(errno)
	}
	r.m, r.nif = m, (*abi.If)(arena.At(m.Off()+r.reg.Offset))
	d := openPort(t, w.v, "po{1", driver.Config{Set: set, PoolPackets: 256})
	g := r.rx(0)
	t.Logf("mask at the receiver %#x, at the sender %#x", g.OffsetMask(), d.tx[0].g.mask)
	for i := range 1500 {
		n := 60 + i%900
		k := d.Pool().AllocPacket(wk, n)
		copy(k.Data(), testFrame(uint64(i), n))
		if m, err := d.Tx(0).Send(wk, []*buffer.Packet{k}); m != 1 || err != nil {
			t.Fatal(m, err)
		}
		if e := r.rxSync(); e != 0 {
			t.Fatal(e)
		}
		if avail(g) != 1 {
			t.Fatalf("%d slots", avail(g))
		}
		s := g.Slot(g.Head())
		idx, ln, _ := s.Load()
		off := int(s.Ptr() & g.OffsetMask())
		if b := bufOf(g, idx)[off:]; !bytes.Equal(b[:ln], testFrame(uint64(i), n)) {
			t.Fatalf("frame %d at offset %d: % x", i, off, b[:40])
		}
		s.SetPtr(40)
		g.SetHead(abi.Next(g.Head(), g.NumSlots()))
		r.rxSync()
	}
}
