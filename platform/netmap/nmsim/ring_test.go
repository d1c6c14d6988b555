// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// clock is a World's clock that a test moves.
type clock struct{ d time.Duration }

func (c *clock) now() time.Duration { return c.d }

func indices(r *abi.Ring) string { return fmt.Sprint(r.Head(), r.Cur(), r.Tail()) }

// Section 9, worked examples 1 to 4, n = 8.
func TestTxExamples(t *testing.T) {
	c := &clock{}
	w := testWorld(t, Config{Mem: tiny, Now: c.now})
	must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8, TxDelay: 10}))
	k := open(t, w, "eth0")
	r := k.txr(0)
	f := frame(1, 60)
	step := func(n int, what, want string) {
		t.Helper()
		if got := indices(r); got != want {
			t.Errorf("%d %s: head cur tail %s, want %s", n, what, got, want)
		}
	}
	step(1, "after open", "0 0 7")
	k.send(r, f, f, f)
	step(2, "filled", "3 3 7")
	k.txsync()
	step(2, "nothing sent yet", "3 3 7")
	c.d = 10
	step(3, "no sync, no move", "3 3 7")
	k.txsync()
	step(3, "all three complete", "3 3 2")
	if avail(r) != 7 {
		t.Errorf("3: avail %d", avail(r))
	}
	if n := k.send(r, f, f, f); n != 3 {
		t.Errorf("4: sent %d", n)
	}
	if n := k.send(r, f, f, f, f, f); n != 4 || r.Head() != r.Tail() {
		t.Errorf("4: %d more, %s", n, indices(r))
	}
	step(4, "full", "2 2 2")
}

// Section 9, worked examples 5, 7, 8 and 9, n = 8.
func TestRxExamples(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
	k := open(t, w, "eth0")
	r := k.rxr(0)
	inject := func(n int) (in int) {
		for i := 0; i < n; i++ {
			if w.Inject("eth0", frame(byte(i), 60)) {
				in++
			}
		}
		return in
	}
	inject(5)
	if indices(r) != "0 0 0" {
		t.Errorf("frames without a sync: %s", indices(r))
	}
	k.rxsync()
	if indices(r) != "0 0 5" {
		t.Errorf("7: %s", indices(r))
	}
	r.SetHead(3)
	k.rxsync() // gives 0, 1, 2 back
	if in := inject(9); in != 5 {
		t.Errorf("8: %d of 9 fit, want 5", in)
	}
	k.rxsync()
	if indices(r) != "3 3 2" || avail(r) != 7 {
		t.Errorf("8: %s avail %d", indices(r), avail(r))
	}
	if m := w.Report("eth0").RxMissed; m != 4 {
		t.Errorf("8: missed %d", m)
	}
	// 9: cur ahead of head sleeps until there is more
	r.SetHeadCur(3, 2)
	if p := k.poll(abi.PollIn, 0); p != 0 {
		t.Errorf("9: poll %#x with nothing new behind cur", p)
	}
	r.SetHeadCur(3, 5)
	if p := k.poll(abi.PollIn, 0); p != abi.PollIn {
		t.Errorf("9: poll %#x", p)
	}
	if data(r, 3)[20] != frame(3, 60)[20] {
		t.Error("9: the frames held back changed")
	}
}

// Section 9: bad values. The sync answers 0, nothing is sent, the ring is set back.
func TestBadIndices(t *testing.T) {
	for _, c := range []struct {
		name      string
		head, cur uint32
		want      string // indices after the sync
	}{
		{"head out of range", 8, 8, "2 2 7"},
		{"cur out of range", 3, 99, "2 2 7"},
		{"head past tail", 0, 0, "0 0 7"}, // in range but wrong: taken over
		{"head backwards", 1, 1, "1 1 7"},
		{"cur behind head", 5, 4, "5 4 7"},
		{"legal", 3, 5, "3 5 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := testWorld(t, Config{Mem: tiny})
			must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8, TxDelay: time.Hour, Sink: &SinkConfig{}}))
			k := open(t, w, "eth0")
			r := k.txr(0)
			k.send(r, frame(1, 60), frame(2, 60))
			k.txsync()
			r.SetHeadCur(c.head, c.cur)
			before := w.Report("eth0")
			if e := k.txsync(); e != 0 {
				t.Errorf("errno %v", e)
			}
			if got := indices(r); got != c.want {
				t.Errorf("indices %s, want %s", got, c.want)
			}
			after := w.Report("eth0")
			if bad := c.name != "legal"; after.TxFrames != before.TxFrames || (after.Reinits > before.Reinits) != bad {
				t.Errorf("before %+v after %+v", before, after)
			}
		})
	}
	t.Run("poll says POLLERR", func(t *testing.T) {
		w := testWorld(t, Config{Mem: tiny})
		must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
		k := open(t, w, "eth0")
		k.txr(0).SetHead(8)
		if p := k.poll(abi.PollOut, 0); p&abi.PollErr == 0 {
			t.Errorf("tx: %#x", p)
		}
		k.rxr(0).SetHead(5)
		if p := k.poll(abi.PollIn, 0); p&abi.PollErr == 0 {
			t.Errorf("rx: %#x", p)
		}
	})
	t.Run("tail is restored", func(t *testing.T) {
		w := testWorld(t, Config{Mem: tiny})
		must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
		k := open(t, w, "eth0")
		k.txr(0).SetTail(3)
		k.txsync()
		if got := indices(k.txr(0)); got != "0 0 7" {
			t.Error(got)
		}
	})
}

func TestBadSlots(t *testing.T) {
	for _, c := range []struct {
		name string
		idx  uint32
		n    uint16
		want string
	}{
		{"index 0", 0, 60, "0 0"},
		{"index 1", 1, 60, "0 0"},
		{"index beyond", 512, 60, "0 0"},
		{"length over the buffer", 0xffffffff, 2049, "same 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := testWorld(t, Config{Mem: tiny})
			must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8, Sink: &SinkConfig{}}))
			k := open(t, w, "eth0")
			r := k.txr(0)
			idx, _, _ := r.Slot(0).Load()
			bad := c.idx
			if bad == 0xffffffff {
				bad = idx
			}
			r.Slot(0).Store(bad, c.n, abi.SlotBufChanged)
			r.SetHead(1)
			if e := k.txsync(); e != 0 || r.Tail() != 7 {
				t.Errorf("errno %v, tail %d", e, r.Tail())
			}
			gi, gn, _ := r.Slot(0).Load()
			if got := fmt.Sprint(gi, " ", gn); got != c.want && !(c.want == "same 0" && gi == idx && gn == 0) {
				t.Errorf("slot is %s, want %s", got, c.want)
			}
			k.txsync() // the emptied slot passes, unsent
			if rep := w.Report("eth0"); r.Tail() != 0 || rep.TxFrames != 0 || rep.TxBad != 1 {
				t.Errorf("tail %d, %+v", r.Tail(), rep)
			}
		})
	}
	t.Run("rx", func(t *testing.T) {
		w := testWorld(t, Config{Mem: tiny})
		must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
		k := open(t, w, "eth0")
		r := k.rxr(0)
		w.Inject("eth0", frame(1, 60))
		k.rxsync()
		r.Slot(0).Store(1, 60, abi.SlotBufChanged)
		r.SetHead(1)
		if p := k.poll(abi.PollIn, 0); p&abi.PollErr == 0 {
			t.Errorf("poll %#x", p)
		}
		if idx, n, _ := r.Slot(0).Load(); idx != 0 || n != 0 {
			t.Errorf("slot %d %d", idx, n)
		}
	})
}

// A ring that another thread syncs is skipped: 0, nothing moves.
func TestBusyRing(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	must(t, w.NIC("eth0", NICConfig{TxRings: 2, RxRings: 2, TxSlots: 8, RxSlots: 8}))
	k := open(t, w, "eth0")
	k.send(k.txr(0), frame(1, 60))
	k.send(k.txr(1), frame(1, 60))
	w.ports["eth0"].tx[0].lock()
	if e := k.txsync(); e != 0 || k.txr(0).Tail() != 7 || k.txr(1).Tail() != 0 {
		t.Errorf("errno %v, tails %d %d", e, k.txr(0).Tail(), k.txr(1).Tail())
	}
	if p := k.poll(abi.PollOut, 0); p != abi.PollOut {
		t.Errorf("poll %#x", p)
	}
	w.ports["eth0"].tx[0].unlock()
	if k.txsync(); k.txr(0).Tail() != 0 {
		t.Errorf("tail %d", k.txr(0).Tail())
	}
}

// Two descriptors on one ring share its indices.
func TestSharedRing(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
	a, b := open(t, w, "eth0"), open(t, w, "eth0")
	if a.m.Off() != b.m.Off() || a.reg.Offset == b.reg.Offset || a.txr(0) != b.txr(0) {
		t.Error("not the same ring in the same mapping")
	}
	a.send(a.txr(0), frame(1, 60))
	b.txsync()
	if a.txr(0).Tail() != 0 {
		t.Errorf("tail %d", a.txr(0).Tail())
	}
	a.close()
	b.send(b.txr(0), frame(1, 60))
	b.txsync()
	if b.txr(0).Tail() != 1 {
		t.Errorf("after the other closed: tail %d", b.txr(0).Tail())
	}
	b.close()
	noLeak(t, w)
}

func TestLinkDownUpRemove(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
	k := open(t, w, "eth0")
	r := k.txr(0)
	must(t, w.SetLink("eth0", false))
	k.send(r, frame(1, 60))
	if e := k.txsync(); e != 0 || r.Tail() != 7 {
		t.Errorf("no carrier: %v, tail %d", e, r.Tail())
	}
	must(t, w.SetLink("eth0", true))
	if k.txsync(); r.Tail() != 0 {
		t.Errorf("carrier again: tail %d", r.Tail())
	}
	must(t, w.SetUp("eth0", false))
	if e := k.txsync(); e != syscall.EIO {
		t.Errorf("down: %v", e)
	}
	if p := k.poll(abi.PollIn, time.Hour); p&abi.PollErr == 0 {
		t.Errorf("down: poll %#x", p)
	}
	must(t, w.SetUp("eth0", true))
	k.send(r, frame(1, 60))
	if e := k.txsync(); e != 0 || r.Tail() != 1 {
		t.Errorf("up again: %v, tail %d", e, r.Tail())
	}
	must(t, w.Remove("eth0"))
	if e := k.rxsync(); e != syscall.EIO {
		t.Errorf("removed: %v", e)
	}
	if p := k.poll(abi.PollIn|abi.PollOut, time.Hour); p&abi.PollErr == 0 {
		t.Errorf("removed: poll %#x", p)
	}
	n := newConn(t, w)
	if e := n.register("eth0"); e != syscall.ENXIO {
		t.Errorf("register: %v", e)
	}
	must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
	if e := n.register("eth0"); e != 0 {
		t.Errorf("another card of that name: %v", e)
	}
	n.close()
	k.close()
	noLeak(t, w)
}

// Linux since 2021: a sync of an interface that is down sleeps until it is up.
func TestBlockWhenDown(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny, BlockWhenDown: true})
	must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
	k := open(t, w, "eth0")
	for _, end := range []struct {
		f    func() error
		want syscall.Errno
	}{
		{func() error { return w.SetUp("eth0", true) }, 0},
		{func() error { return w.Remove("eth0") }, syscall.EIO},
	} {
		must(t, w.SetUp("eth0", false))
		got := make(chan syscall.Errno, 1)
		go func() { got <- k.txsync() }()
		select {
		case e := <-got:
			t.Fatalf("did not sleep: %v", e)
		case <-time.After(20 * time.Millisecond):
		}
		must(t, end.f())
		select {
		case e := <-got:
			if e != end.want {
				t.Errorf("errno %v, want %v", e, end.want)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("sleeps on")
		}
	}
}
