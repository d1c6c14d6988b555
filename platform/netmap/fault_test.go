// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/platform/netmap/nmsim"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// bench is two NIC ports joined by a cable, in a world that may be left with what a
// fault lost.
type bench struct {
	t    *testing.T
	sim  *nmsim.World
	set  *worker.Set
	w    *worker.Worker
	a, b *device
}

func newBench(t *testing.T, cfg nmsim.Config, nic nmsim.NICConfig) *bench {
	t.Helper()
	cfg.Mem.BufNum = 12288
	x := &bench{t: t, sim: nmsim.NewWorld(cfg)}
	t.Cleanup(x.sim.Close)
	for _, n := range []string{"a", "b"} {
		if err := x.sim.NIC(n, nic); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.sim.Cable("a", "b"); err != nil {
		t.Fatal(err)
	}
	x.set, x.w = newSet(t)
	v := NewSim("sim", x.sim)
	x.a, x.b = openPort(t, v, "a", driver.Config{Set: x.set}), openPort(t, v, "b", driver.Config{Set: x.set})
	return x
}

// send sends test frames first to first+n-1.
func (x *bench) send(first, n int) {
	x.t.Helper()
	for i := first; i < first+n; i++ {
		k := x.a.Pool().AllocPacket(x.w, 100)
		copy(k.Data(), testFrame(uint64(i), 100))
		if m, err := x.a.Tx(0).Send(x.w, []*buffer.Packet{k}); m != 1 || err != nil {
			x.t.Fatalf("send %d: %d %v", i, m, err)
		}
	}
}

// recv receives what is there and returns the numbers of the frames.
func (x *bench) recv() (seqs []int, err error) {
	x.t.Helper()
	pkts := make([]*buffer.Packet, 32)
	for {
		n, err := x.b.Rx(0).Recv(x.w, pkts)
		for _, k := range pkts[:n] {
			f := contents(k)
			seq := int(f[29])
			if !bytes.Equal(f, testFrame(uint64(seq), 100)) {
				x.t.Errorf("frame %d differs: % x", seq, f)
			}
			seqs = append(seqs, seq)
		}
		buffer.FreePackets(x.w, pkts[:n])
		if n == 0 {
			return seqs, err
		}
	}
}

// TestBadSlot: a slot that can't be right is dropped and counted, never followed,
// and the frames around it arrive.
func TestBadSlot(t *testing.T) {
	for _, c := range []struct {
		name string
		idx  uint32 // 0 = leave it as it is
		n    uint16
		lost uint64
	}{
		{"index beyond the region", 1 << 30, 100, 1},
		{"reserved index", 1, 100, 1},
		{"first index behind the region", 12288, 100, 1},
		{"length over the buffer", 0, 2049, 0},
		{"longest length", 0, 65535, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newBench(t, nmsim.Config{}, nmsim.NICConfig{})
			x.send(0, 10)
			x.b.rx[0].sync() // visible, and not yet looked at
			idx := c.idx
			if idx == 0 {
				idx, _, _ = x.b.rx[0].rings[0].r.Slot(0).Load()
			}
			if err := x.sim.BreakSlot("b", false, 0, idx, c.n); err != nil {
				t.Fatal(err)
			}
			seqs, err := x.recv()
			if err != nil || len(seqs) != 9 || seqs[0] != 1 {
				t.Errorf("got %v, %v", seqs, err)
			}
			d := x.b.Counters()
			if d["rx_bad_slots"] != 1 || d["buffers_lost"] != c.lost || x.b.Rx(0).Drops()["bad_slot"] != 1 {
				t.Errorf("counters %v", d)
			}
			// the slot has a valid buffer again: 3 turns of the ring work
			for i := 0; i < 3*1024; i += 16 {
				x.send(i%200, 16)
				if seqs, err := x.recv(); len(seqs) != 16 || err != nil {
					t.Fatalf("after %d frames: %v %v", i, seqs, err)
				}
			}
		})
	}
}

// TestBadTxSlot: a send slot without a valid buffer gets one.
func TestBadTxSlot(t *testing.T) {
	x := newBench(t, nmsim.Config{}, nmsim.NICConfig{})
	if err := x.sim.BreakSlot("a", true, 0, 1<<31, 60000); err != nil {
		t.Fatal(err)
	}
	x.send(0, 5)
	if seqs, err := x.recv(); len(seqs) != 5 || err != nil {
		t.Errorf("got %v %v", seqs, err)
	}
	if c := x.a.Counters(); c["tx_bad_slots"] != 1 || c["buffers_lost"] != 1 {
		t.Errorf("counters %v", c)
	}
}

// TestRingReset and removal make the queue faulted, with a reason, and the port can
// be closed; another Open works.
func TestRingReset(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault func(x *bench)
		tx    bool
	}{
		{"receive ring put back", func(x *bench) {
			x.b.rx[0].rings[0].publish(5) // released, and the kernel does not know yet
			x.sim.ResetRing("b", false, 0)
		}, false},
		{"head overwritten", func(x *bench) { x.b.rx[0].rings[0].r.SetHead(5000) }, false},
		{"tail overwritten", func(x *bench) { x.b.rx[0].rings[0].r.SetTail(5000) }, false},
		{"removed", func(x *bench) { x.sim.Remove("b") }, false},
		{"send head overwritten", func(x *bench) { x.a.tx[0].g.r.SetHead(0) }, true},
		{"send tail overwritten", func(x *bench) { x.a.tx[0].g.r.SetTail(1024) }, true},
		{"send ring removed", func(x *bench) { x.sim.Remove("a") }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newBench(t, nmsim.Config{}, nmsim.NICConfig{})
			x.send(0, 3)
			x.recv()
			x.send(3, 3)
			x.b.rx[0].sync()
			c.fault(x)
			pkts := make([]*buffer.Packet, 4)
			d, call := x.b, func() (int, error) {
				n, err := x.b.Rx(0).Recv(x.w, pkts)
				buffer.FreePackets(x.w, pkts[:n])
				return n, err
			}
			if c.tx {
				d, call = x.a, func() (int, error) {
					k := x.a.Pool().AllocPacket(x.w, 60)
					n, err := x.a.Tx(0).Send(x.w, []*buffer.Packet{k})
					if n == 0 {
						buffer.FreePacket(x.w, k)
					}
					return n, err
				}
			}
			var err error
			until(t, "the fault", func() bool { _, err = call(); return err != nil })
			var f *Fault
			if !errors.Is(err, queue.ErrFaulted) || !errors.As(err, &f) || f.Why == "" {
				t.Fatalf("error %v", err)
			}
			if n, again := call(); n != 0 || again != err {
				t.Errorf("the fault does not stay: %d %v", n, again)
			}
			if d.Counters()["faults"] != 1 {
				t.Errorf("counters %v", d.Counters())
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			if _, err := call(); !errors.Is(err, queue.ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
		})
	}
}

// TestDown: while the interface is down nothing is called that could sleep in the
// kernel, and traffic goes on when it is up.
func TestDown(t *testing.T) {
	x := newBench(t, nmsim.Config{BlockWhenDown: true}, nmsim.NICConfig{})
	x.send(0, 3)
	if seqs, err := x.recv(); len(seqs) != 3 || err != nil {
		t.Fatal(seqs, err)
	}
	for round := range 3 {
		x.sim.SetUp("a", false)
		x.sim.SetUp("b", false)
		until(t, "the news", func() bool { return x.a.blocked.LoadAcq() != 0 && x.b.blocked.LoadAcq() != 0 })
		k := x.a.Pool().AllocPacket(x.w, 60)
		if n, err := x.a.Tx(0).Send(x.w, []*buffer.Packet{k}); n != 0 || err != nil {
			t.Fatalf("send while down: %d %v", n, err)
		}
		buffer.FreePacket(x.w, k)
		if seqs, err := x.recv(); len(seqs) != 0 || err != nil {
			t.Fatal(seqs, err)
		}
		if fd, due, ready := x.b.rx[0].Arm(func() {}); fd >= 0 || due == 0 || ready {
			t.Errorf("arm while down: %d %v %v", fd, due, ready)
		}
		x.b.rx[0].Disarm()
		if l := x.a.Link(); l.Up || !l.Known {
			t.Errorf("link %+v", l)
		}
		if err := x.a.Drain(context.Background()); err != nil {
			t.Errorf("drain with nothing queued: %v", err)
		}
		x.sim.SetUp("a", true)
		x.sim.SetUp("b", true)
		until(t, "the news", func() bool { return x.a.blocked.LoadAcq() == 0 && x.b.blocked.LoadAcq() == 0 })
		x.send(10*round, 5)
		if seqs, err := x.recv(); len(seqs) != 5 || err != nil {
			t.Fatalf("round %d: %v %v", round, seqs, err)
		}
	}
}

// TestDownUnnoticed: a sync that fails because the interface went down a moment ago is
// no fault.
func TestDownUnnoticed(t *testing.T) {
	x := newBench(t, nmsim.Config{}, nmsim.NICConfig{})
	x.sim.SetUp("b", false)
	x.b.blocked.StoreSeq(0) // as if the watcher had not run yet
	for range 3 {
		if seqs, err := x.recv(); len(seqs) != 0 || err != nil {
			t.Fatal(seqs, err)
		}
	}
	x.sim.SetUp("b", true)
	until(t, "traffic", func() bool {
		x.send(1, 1)
		seqs, err := x.recv()
		if err != nil {
			t.Fatal(err)
		}
		return len(seqs) > 0
	})
}

// TestStuck: a card that completes nothing fills the ring; Drain gives up with the
// context, Close works.
func TestStuck(t *testing.T) {
	x := newBench(t, nmsim.Config{}, nmsim.NICConfig{TxSlots: 64})
	x.sim.SetStuck("a", true)
	x.send(0, 63)
	k := x.a.Pool().AllocPacket(x.w, 60)
	if n, err := x.a.Tx(0).Send(x.w, []*buffer.Packet{k}); n != 0 || err != nil {
		t.Errorf("send into a full ring: %d %v", n, err)
	}
	buffer.FreePacket(x.w, k)
	if x.a.Counters()["tx_full"] != 1 {
		t.Error("full ring not counted")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	if err := x.a.Drain(ctx); err == nil || !strings.Contains(err.Error(), "tx 0") {
		t.Errorf("drain: %v", err)
	}
}

// TestDrainReset: Drain does not wait for a ring that was set back. (Found by the chaos run.)
func TestDrainReset(t *testing.T) {
	x := newBench(t, nmsim.Config{}, nmsim.NICConfig{TxSlots: 64})
	x.sim.SetLink("a", false)
	x.send(0, 5)
	x.sim.ResetAtSync("a", true, 0)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := x.a.Drain(ctx); err != nil {
		t.Errorf("drain: %v", err)
	}
	k := x.a.Pool().AllocPacket(x.w, 60)
	if n, err := x.a.Tx(0).Send(x.w, []*buffer.Packet{k}); n != 0 || !errors.Is(err, queue.ErrFaulted) {
		t.Errorf("send: %d %v", n, err)
	}
	buffer.FreePacket(x.w, k)
	if n := x.sim.Report("a").TxUnsent; n != 5 {
		t.Errorf("%d frames counted, 5 were lost", n)
	}
}

// TestUnsentAtClose: frames that were accepted and that the kernel never took are counted
// when the port is closed. (Found by the chaos run.)
func TestUnsentAtClose(t *testing.T) {
	x := newBench(t, nmsim.Config{}, nmsim.NICConfig{TxSlots: 64})
	x.send(0, 60) // the frames cross the end of the ring
	pkts := make([]*buffer.Packet, 7)
	if x.a.Pool().AllocPackets(x.w, pkts, 100) != len(pkts) {
		t.Fatal("no packets")
	}
	for _, k := range pkts {
		clear(k.Data())
	}
	until(t, "room", func() bool { return abi.Avail(x.a.tx[0].g.head, x.a.tx[0].g.r.Tail(), 64) >= 7 })
	x.sim.FailCall(1, syscall.EINVAL)
	if n, err := x.a.Tx(0).Send(x.w, pkts); n != len(pkts) || err != nil {
		t.Fatalf("send: %d %v", n, err)
	}
	if n := x.a.Tx(0).Drops()["unsent_at_close"]; n != 0 {
		t.Errorf("%d counted before the end", n)
	}
	if err := x.a.Close(); err != nil {
		t.Error(err)
	}
	if n := x.a.Tx(0).Drops()["unsent_at_close"]; n != uint64(len(pkts)) {
		t.Errorf("%d frames counted, %d were not sent", n, len(pkts))
	}
}

// TestOpenFails: whichever call fails while a port is opened, nothing is left.
func TestOpenFails(t *testing.T) {
	for _, name := range []string{"a*", "vale0:x", "p{1"} {
		for _, errno := range []syscall.Errno{syscall.ENOMEM, syscall.EINVAL, syscall.EIO} {
			for k := uint64(1); ; k++ {
				w := smallWorld(t, nmsim.Config{})
				if err := w.NIC("a", nmsim.NICConfig{RxRings: 2}); err != nil {
					t.Fatal(err)
				}
				set, err := worker.NewSet(2)
				if err != nil {
					t.Fatal(err)
				}
				w.FailCall(k, errno)
				d, err := NewSim("sim", w).Open(context.Background(), name, quiet(driver.Config{Set: set, RxQueues: 2, Strict: true}))
				pending := w.FailPending()
				w.FailCall(0, 0)
				if err == nil {
					if cerr := d.Close(); cerr != nil {
						t.Error(cerr)
					}
				} else if e := (*Error)(nil); !pending && !errors.As(err, &e) {
					t.Errorf("%s, call %d: %v is no *Error", name, k, err)
				}
				if w.Open() != 0 || w.Leaks() != (nmsim.Leaks{}) {
					t.Fatalf("%s, call %d failed with %v (%v): left %d descriptors, %+v", name, k, errno, err, w.Open(), w.Leaks())
				}
				set.Close()
				if pending {
					break
				}
			}
		}
	}
}
