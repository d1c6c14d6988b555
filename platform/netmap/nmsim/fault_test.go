// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"syscall"
	"testing"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// Every system call of an open fails in turn; nothing stays.
func TestFailEachCall(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
	k := w.Kernel()
	call, err := abi.NewCall()
	must(t, err)
	defer call.Close()
	try := func() (failed syscall.Errno) {
		fd, e := k.Open()
		if e != 0 {
			return e
		}
		defer k.Close(fd)
		_, r, _ := call.Register("eth0")
		r.Mode, r.ExtraBufs = abi.ModeAllNIC, 5
		if e := k.Ioctl(fd, k.Numbers().Ctrl, call.Arg()); e != 0 {
			return e
		}
		m, e := k.Map(fd, r.MemSize)
		if e != 0 {
			return e
		}
		defer m.Unmap()
		for _, req := range []uintptr{k.Numbers().TxSync, k.Numbers().RxSync} {
			if e := k.Ioctl(fd, req, nil); e != 0 {
				return e
			}
		}
		_, e = k.Poll(fd, abi.PollIn, 0)
		return e
	}
	for n := uint64(1); ; n++ {
		w.FailCall(n, syscall.ENFILE)
		e := try()
		if w.FailPending() {
			if n != 7 || e != 0 {
				t.Errorf("%d calls, the last: %v", n-1, e)
			}
			break
		}
		if e != syscall.ENFILE {
			t.Errorf("call %d: %v", n, e)
		}
		if w.Open() != 0 || w.regions[1].users != 0 {
			t.Fatalf("call %d: %d open, %d users", n, w.Open(), w.regions[1].users)
		}
	}
	w.FailCall(0, 0)
	w.FailMemory(1)
	if e := try(); e != syscall.ENOMEM {
		t.Errorf("no memory: %v", e)
	}
	if e := try(); e != 0 {
		t.Errorf("memory again: %v", e)
	}
	noLeak(t, w)
}

func TestBreakSlotAndReset(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	twoPorts(t, w, SourceConfig{Burst: 4}, NICConfig{TxSlots: 8, RxSlots: 8})
	k := open(t, w, "eth0")
	r := k.rxr(0)
	k.rxsync()
	good, _, _ := r.Slot(0).Load()
	must(t, w.BreakSlot("eth0", false, 0, 1<<20, 60))
	if idx, _, _ := r.Slot(0).Load(); idx != 1<<20 {
		t.Errorf("index %d", idx)
	}
	must(t, w.BreakSlot("eth0", false, 0, good, 5000))
	if _, n, _ := r.Slot(0).Load(); n != 5000 {
		t.Errorf("length %d", n)
	}
	r.SetHead(2)
	must(t, w.ResetRing("eth0", false, 0))
	if got := indices(r); got != "0 0 0" {
		t.Errorf("after a reset: %s", got)
	}
	k.rxsync()
	if avail(r) != 4 {
		t.Errorf("dead after a reset: %s", indices(r))
	}
	tx := k.txr(0)
	must(t, w.SetStuck("eth0", true))
	k.send(tx, frame(1, 60), frame(2, 60))
	k.txsync()
	if tx.Tail() != 7 {
		t.Errorf("stuck: tail %d", tx.Tail())
	}
	must(t, w.ResetRing("eth0", true, 0))
	if got := indices(tx); got != "2 2 1" {
		t.Errorf("after a reset: %s", got)
	}
	if w.BreakSlot("eth0", false, 7, 0, 0) == nil || w.BreakSlot("eth1", false, 0, 0, 0) == nil || w.ResetRing("eth9", true, 0) == nil {
		t.Error("a fault of a ring that is not there")
	}
}

// A client that publishes after its ring was set back: each frame is counted once.
// (Found by the chaos run.)
func TestResetAtSync(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	twoPorts(t, w, SourceConfig{Burst: 4, Count: 4}, NICConfig{TxSlots: 8, RxSlots: 8})
	k := open(t, w, "eth0")
	k.rxsync()
	r := k.rxr(0)
	if avail(r) != 4 {
		t.Fatal(indices(r))
	}
	must(t, w.ResetAtSync("eth0", false, 0))
	r.SetHead(3) // it has read three
	k.rxsync()
	if got, rep := indices(r), w.Report("eth0"); got != "0 0 0" || rep.RxUnread != 1 {
		t.Errorf("%s, %d frames were not read, 1 was not", got, rep.RxUnread)
	}
	tx := k.txr(0)
	must(t, w.SetLink("eth0", false))
	k.send(tx, frame(1, 60), frame(2, 60))
	k.txsync()
	must(t, w.ResetAtSync("eth0", true, 0))
	k.send(tx, frame(3, 60))
	must(t, w.SetLink("eth0", true))
	k.txsync()
	if got, rep := indices(tx), w.Report("eth0"); got != "0 0 7" || rep.TxUnsent != 3 || rep.TxFrames != 0 {
		t.Errorf("%s, %d frames of 3 were not sent, %d were", got, rep.TxUnsent, rep.TxFrames)
	}
	k.send(tx, frame(4, 60))
	must(t, w.BreakAtSync("eth0", true, 0, 1, 60))
	if idx, _, _ := tx.Slot(1).Load(); idx == 1 {
		t.Error("a slot was broken before the sync")
	}
	k.txsync()
	if idx, n, _ := tx.Slot(1).Load(); idx != 1 || n != 60 {
		t.Errorf("the slot is whole: %d %d", idx, n)
	}
	if rep := w.Report("eth0"); rep.TxUnsent != 3 || rep.TxFrames != 1 {
		t.Errorf("after the reset: %d frames were not sent, %d were", rep.TxUnsent, rep.TxFrames)
	}
}

func TestLateTail(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	twoPorts(t, w, SourceConfig{}, NICConfig{TxSlots: 8, RxSlots: 8})
	k := open(t, w, "eth0")
	tx := k.txr(0)
	must(t, w.SetTxDelaySyncs("eth0", 2))
	k.send(tx, frame(1, 60))
	for i, want := range []uint32{7, 7, 0, 0} {
		if k.txsync(); tx.Tail() != want {
			t.Errorf("sync %d: tail %d, want %d", i, tx.Tail(), want)
		}
	}
}

// Whatever stands in the rings, the kernel does not fall over, and a new open works.
func TestScribble(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		w := testWorld(t, Config{Mem: tiny})
		twoPorts(t, w, SourceConfig{Burst: 8}, NICConfig{TxSlots: 16, RxSlots: 16, MoreFrag: seed%2 == 0})
		a, b := open(t, w, "eth0"), open(t, w, "eth1")
		w.Scribble("", seed, 3)
		for i := 0; i < 400; i++ {
			a.k.Poll(a.fd, abi.PollIn|abi.PollOut, 0)
			b.k.Poll(b.fd, abi.PollIn, 0)
			for _, r := range []*abi.Ring{a.rxr(0), b.txr(0), b.rxr(0), a.txr(0)} {
				r.SetHead(r.Tail()) // a client that believes all
			}
			a.txsync()
			b.rxsync()
		}
		if w.ReportAll().Reinits == 0 {
			t.Errorf("seed %d: nothing was scribbled over", seed)
		}
		w.Scribble("", 0, 0)
		a.close()
		b.close()
		c := open(t, w, "eth0")
		if c.rxsync(); avail(c.rxr(0)) != 8 {
			t.Errorf("seed %d: %s after a new open", seed, indices(c.rxr(0)))
		}
		c.close()
	}
}

func TestConfigure(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	opts := func(kv ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = kv[i+1]
		}
		return m
	}
	must(t, w.Configure("eth0", opts("rings", "2", "slots", "16", "far", "source", "pps", "1e6", "len", "100", "sink", "1",
		"sinkdst", "02:00:00:00:00:01", "mem", "3", "txdelay", "10us", "window", "9", "mac", "02:00:00:00:00:07", "dstip", "10.1.2.3")))
	p := w.ports["eth0"]
	c := p.cfg
	if c.TxRings != 2 || c.RxRings != 2 || c.TxSlots != 16 || c.MemID != 3 || c.TxDelay != 10000 || c.MAC[5] != 7 ||
		c.Source == nil || c.Source.PPS != 1e6 || c.Source.Len != 100 || c.Source.Window != 9 || c.Source.DstIP.String() != "10.1.2.3" ||
		c.Sink == nil || c.Sink.DstMAC[5] != 1 {
		t.Errorf("%+v", c)
	}
	k := newConn(t, w)
	if e := k.register("eth0"); e != 0 {
		t.Fatal(e)
	}
	must(t, w.Configure("eth0", nil)) // as it is
	if err := w.Configure("eth0", opts("slots", "32")); err == nil {
		t.Error("options of an open port taken")
	}
	if err := w.Configure("eth0", opts("personality", "freebsd")); err == nil {
		t.Error("personality changed under an open port")
	}
	k.close()
	must(t, w.Configure("eth0", opts("slots", "32", "personality", "freebsd")))
	if w.ports["eth0"].cfg.RxSlots != 32 || w.ports["eth0"].cfg.Source != nil || w.Kernel().Numbers() != abi.FreeBSDNumbers {
		t.Error("not made anew")
	}
	must(t, w.Configure("a", opts("cable", "b")))
	if w.ports["a"].peer != w.ports["b"] {
		t.Error("no cable")
	}
	must(t, w.Configure("vale0:x", nil))
	for _, bad := range []map[string]string{
		opts("ringz", "1"), opts("rings", "x"), opts("rings", "1000"), opts("far", "away"), opts("mac", "1"), opts("pps", "-1"),
		opts("sink", "maybe"), opts("personality", "plan9"), opts("txdelay", "10"), opts("mem", "0"), opts("dstip", "::1"),
		opts("cable", "a"), opts("far", "source", "frags", "2"),
	} {
		if err := w.Configure("new", bad); err == nil {
			t.Errorf("%v taken", bad)
		}
		if w.ports["new"] != nil {
			w.Remove("new")
		}
	}
}
