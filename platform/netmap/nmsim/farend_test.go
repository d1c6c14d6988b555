// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/odp-go/godp/platform/netmap/abi"
)

func TestPacedSource(t *testing.T) {
	c := &clock{}
	w := testWorld(t, Config{Now: c.now})
	must(t, w.NIC("eth0", NICConfig{RxSlots: 16, Source: &SourceConfig{PPS: 1e6, FIFO: 5}}))
	k := open(t, w, "eth0")
	c.d = time.Second // before the first sync nothing is sent
	k.rxsync()
	r := k.rxr(0)
	for _, s := range []struct {
		after          time.Duration
		tail           uint32
		release        bool
		missed, frames uint64
	}{
		{0, 0, false, 0, 0},
		{999, 0, false, 0, 0},
		{1, 1, false, 0, 1},
		{9500, 10, true, 0, 10},
		{500, 11, false, 0, 11},
		{8 * time.Microsecond, 3, false, 0, 19},
		{15 * time.Microsecond, 9, false, 4, 25}, // 34 came: 15 in the ring, 5 in the card, the others missed
		{0, 9, true, 4, 25},
		{0, 14, true, 4, 30}, // the card's 5 come after
	} {
		c.d += s.after
		k.rxsync()
		rep := w.Report("eth0")
		if r.Tail() != s.tail || rep.RxMissed != s.missed || rep.RxFrames != s.frames {
			t.Errorf("at %v: tail %d missed %d frames %d, want %+v", c.d, r.Tail(), rep.RxMissed, rep.RxFrames, s)
		}
		if s.release {
			r.SetHead(r.Tail())
		}
	}
	if rep := w.Report("eth0"); rep.Injected != rep.RxFrames+rep.RxMissed {
		t.Errorf("%+v", rep)
	}
}

// What is due and more than one sync takes (Burst) comes with the next ones: none of it
// is left out, and none is missed while the card holds it.
func TestPacedBacklog(t *testing.T) {
	c := &clock{}
	w := testWorld(t, Config{Now: c.now})
	must(t, w.NIC("eth0", NICConfig{RxSlots: 64, Source: &SourceConfig{PPS: 1e6, FIFO: 1000, Burst: 8}}))
	k := open(t, w, "eth0")
	k.rxsync() // the clock of the source begins
	c.d += 100 * time.Microsecond
	r := k.rxr(0)
	for i := 1; i <= 13; i++ {
		k.rxsync()
		r.SetHead(r.Tail())
		if rep := w.Report("eth0"); rep.RxFrames != uint64(min(8*i, 100)) || rep.RxMissed != 0 {
			t.Fatalf("sync %d: %d frames shown, %d missed; want %d and 0", i, rep.RxFrames, rep.RxMissed, min(8*i, 100))
		}
	}
}

// Missed frames are a gap in the numbers, not a shift.
func TestMissedFramesAreGaps(t *testing.T) {
	c := &clock{}
	w := testWorld(t, Config{Now: c.now})
	twoPorts(t, w, SourceConfig{PPS: 1e6, Flows: 3, FIFO: -1}, NICConfig{TxSlots: 16, RxSlots: 16})
	a, b := open(t, w, "eth0"), open(t, w, "eth1")
	for i := 0; i < 200; i++ {
		c.d += time.Duration(i%40) * time.Microsecond
		forward(a, b, 30, false, false)
	}
	must(t, w.StopSource("eth0", true))
	must(t, w.StopSource("eth1", true))
	forward(a, b, 1<<30, false, false)
	r := w.ReportAll()
	if r.RxMissed == 0 || r.Lost(0) != 0 || r.Reordered+r.Corrupt+r.Duplicate != 0 || r.Delivered == 0 {
		t.Errorf("%+v lost %d", r, r.Lost(0))
	}
	var missing uint64
	for _, p := range []string{"eth0", "eth1"} {
		for _, f := range w.Flows(p) {
			missing += f.Missing + f.Injected - f.Next
		}
	}
	if missing != r.RxMissed {
		t.Errorf("flows miss %d, missed %d", missing, r.RxMissed)
	}
}

func TestWindowNeverDrops(t *testing.T) {
	w := testWorld(t, Config{})
	twoPorts(t, w, SourceConfig{Window: 20}, NICConfig{TxSlots: 16, RxSlots: 64, TxDelaySyncs: 3})
	a, b := open(t, w, "eth0"), open(t, w, "eth1")
	a.rxsync()
	a.rxsync()
	if n := avail(a.rxr(0)); n != 20 {
		t.Errorf("%d frames out, want 20", n)
	}
	forward(a, b, 20000, false, false)
	must(t, w.StopSource("eth0", true))
	must(t, w.StopSource("eth1", true))
	forward(a, b, 1<<30, false, false)
	if r := w.ReportAll(); r.Lost(0) != 0 || r.RxMissed != 0 || r.Delivered < 20000 || r.Delivered != r.Injected {
		t.Errorf("%+v", r)
	}
}

// The counters of a sink see what a source does wrong on purpose.
func TestSinkSees(t *testing.T) {
	mac := func(b byte) net.HardwareAddr { return net.HardwareAddr{2, 9, 9, 9, 9, b} }
	const n = 5000
	for _, c := range []struct {
		name string
		src  SourceConfig
		nic  NICConfig
		sink SinkConfig
		ok   func(r Report) bool
	}{
		{"nothing wrong", SourceConfig{}, NICConfig{}, SinkConfig{},
			func(r Report) bool { return r.Delivered == n && r.Reordered == 0 }},
		{"one flow", SourceConfig{Flows: 1}, NICConfig{}, SinkConfig{},
			func(r Report) bool { return r.Delivered == n }},
		{"long frames", SourceConfig{Len: 1514}, NICConfig{}, SinkConfig{},
			func(r Report) bool { return r.Delivered == n }},
		{"odd length", SourceConfig{Len: 67}, NICConfig{}, SinkConfig{},
			func(r Report) bool { return r.Delivered == n }},
		{"shuffle", SourceConfig{Shuffle: 32, Seed: 7, Flows: 4}, NICConfig{}, SinkConfig{},
			func(r Report) bool { return r.Delivered == n && r.Reordered > n/4 && r.Duplicate == 0 }},
		{"shuffle of one flow per frame", SourceConfig{Shuffle: 16, Seed: 7, Flows: 16}, NICConfig{}, SinkConfig{},
			func(r Report) bool { return r.Delivered == n && r.Reordered == 0 }},
		{"corrupt", SourceConfig{CorruptEvery: 100}, NICConfig{}, SinkConfig{},
			func(r Report) bool { return r.Corrupt == n/100 && r.Delivered == n-n/100 }},
		{"duplicates", SourceConfig{DupEvery: 100}, NICConfig{}, SinkConfig{},
			func(r Report) bool {
				return r.Duplicate > 50 && r.Duplicate+r.Delivered == r.Injected && r.Reordered == 0
			}},
		{"wrong MAC", SourceConfig{}, NICConfig{PeerMAC: mac(1)}, SinkConfig{SrcMAC: mac(2)},
			func(r Report) bool { return r.Delivered == n && r.WrongMAC == n }},
		{"right MAC", SourceConfig{}, NICConfig{PeerMAC: mac(1), MAC: mac(3)}, SinkConfig{SrcMAC: mac(1), DstMAC: mac(3)},
			func(r Report) bool { return r.Delivered == n && r.WrongMAC == 0 }},
		{"wrong dst MAC", SourceConfig{}, NICConfig{PeerMAC: mac(1)}, SinkConfig{SrcMAC: mac(1), DstMAC: mac(4)},
			func(r Report) bool { return r.Delivered == n && r.WrongMAC == n }},
		{"chains", SourceConfig{Len: 200, Frags: 3}, NICConfig{MoreFrag: true}, SinkConfig{},
			func(r Report) bool { return r.Delivered == n && r.Corrupt == 0 }},
		{"jumbo", SourceConfig{Len: 9014}, NICConfig{MoreFrag: true}, SinkConfig{},
			func(r Report) bool { return r.Delivered == n && r.Corrupt == 0 }},
		{"chains cut at tail", SourceConfig{Len: 200, Frags: 3, CutChains: true}, NICConfig{MoreFrag: true}, SinkConfig{},
			func(r Report) bool { return r.Delivered > n/2 && r.Corrupt == 0 }},
		{"empty slots", SourceConfig{ZeroEvery: 50}, NICConfig{}, SinkConfig{},
			func(r Report) bool { return r.Delivered == n && r.Corrupt == 0 && r.TxBad > n/60 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := testWorld(t, Config{})
			c.src.Count = n
			c.nic.Source = &c.src
			must(t, w.NIC("in", c.nic))
			c.nic.Source, c.nic.Sink = nil, &c.sink
			must(t, w.NIC("out", c.nic))
			a, b := open(t, w, "in"), open(t, w, "out")
			for idle := 0; idle < 20; idle++ {
				a.rxsync()
				moved := swapWhole(a.rxr(0), b.txr(0))
				b.txsync()
				if moved > 0 {
					idle = 0
				}
			}
			if r := w.ReportAll(); !c.ok(r) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// swapWhole is swapForward that never ends inside a chain.
func swapWhole(rx, tx *abi.Ring) int {
	n, whole := 0, 0
	for i := rx.Head(); i != rx.Tail(); i = abi.Next(i, rx.NumSlots()) {
		n++
		if _, _, fl := rx.Slot(i).Load(); fl&abi.SlotMoreFrag == 0 {
			if n > int(avail(tx)) {
				break
			}
			whole = n
		}
	}
	return swapForward(rx, tx, whole, false, false)
}

// A forwarder may change MAC, TTL and header checksum, and nothing else.
func TestSinkTakesARoutersFrame(t *testing.T) {
	w := testWorld(t, Config{})
	twoPorts(t, w, SourceConfig{Count: 4}, NICConfig{})
	a, b := open(t, w, "eth0"), open(t, w, "eth1")
	a.rxsync()
	f := func(i uint32) []byte { return data(a.rxr(0), i) }
	ttl := func(p []byte) {
		p[22]--
		p[24], p[25] = 0, 0
		s := ^onesSum(p[14:34])
		p[24], p[25] = byte(s>>8), byte(s)
	}
	copy(f(0), []byte{2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4})
	ttl(f(0))
	f(1)[22]--    // no new checksum
	ttl(f(2))     //
	f(2)[33]++    // another destination
	f(3)[59] ^= 1 // the check word
	swapForward(a.rxr(0), b.txr(0), 4, false, false)
	b.txsync()
	if r := w.Report("eth1"); r.Delivered != 1 || r.Corrupt != 3 {
		t.Errorf("%+v", r)
	}
}

// The bytes of a frame are read when it leaves, not when it is queued.
func TestReuseBeforeCompletionShows(t *testing.T) {
	w := testWorld(t, Config{})
	twoPorts(t, w, SourceConfig{Count: 1}, NICConfig{TxDelaySyncs: 1})
	a, b := open(t, w, "eth0"), open(t, w, "eth1")
	a.rxsync()
	swapForward(a.rxr(0), b.txr(0), 1, false, false)
	b.txsync()
	data(b.txr(0), 0)[50] ^= 1
	b.txsync()
	if r := w.Report("eth1"); r.Corrupt != 1 || r.Delivered != 0 {
		t.Errorf("%+v", r)
	}
}

func TestSeveralRings(t *testing.T) {
	w := testWorld(t, Config{})
	twoPorts(t, w, SourceConfig{Count: 1000, Flows: 5}, NICConfig{TxRings: 3, RxRings: 3, TxSlots: 64, RxSlots: 128})
	var in, out []*conn
	for i := uint16(0); i < 3; i++ {
		in = append(in, open(t, w, "eth0", mode(abi.ModeOneNIC, i), flags(abi.FlagRxRingsOnly)))
		out = append(out, open(t, w, "eth1", mode(abi.ModeOneNIC, i), flags(abi.FlagTxRingsOnly)))
	}
	for round := 0; round < 100; round++ {
		for i := range in {
			in[i].rxsync()
			swapForward(in[i].rxr(uint32(i)), out[i].txr(uint32(i)), 40, false, false)
			out[i].txsync()
		}
	}
	if r := w.ReportAll(); r.Delivered != 3000 || r.Reordered+r.Corrupt+r.Duplicate != 0 {
		t.Errorf("%+v", r)
	}
	for i := range in {
		in[i].close()
		out[i].close()
	}
	noLeak(t, w)
}

// A cable to several rings keeps each flow on one.
func TestCableSpreadsFlows(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{}))
	must(t, w.NIC("eth1", NICConfig{RxRings: 4, RxSlots: 256}))
	must(t, w.Cable("eth0", "eth1"))
	a, b := open(t, w, "eth0"), open(t, w, "eth1")
	var tm [frameWords]uint64
	rings := map[byte]int{}
	for i := 0; i < 400; i++ {
		flow := uint32(i % 40)
		template(&tm, &SourceConfig{}, 1, flow, make(net.HardwareAddr, 6), make(net.HardwareAddr, 6), 60)
		var buf [16]uint64
		writeFrame(ptr(&buf), &tm, uint64(i), 60)
		f := bytesOf(&buf)[:60]
		a.send(a.txr(0), f)
		a.txsync()
	}
	b.rxsync()
	used := 0
	for i := 0; i < 4; i++ {
		fs := b.recv(b.rxr(uint32(i)))
		if len(fs) > 0 {
			used++
		}
		for _, f := range fs {
			if r, ok := rings[f[46]]; ok && r != i {
				t.Errorf("flow %d on rings %d and %d", f[46], r, i)
			}
			rings[f[46]] = i
		}
	}
	if len(rings) != 40 || used < 3 {
		t.Errorf("%d flows on %d rings", len(rings), used)
	}
}

func TestCableDropsAtReceiver(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{}))
	must(t, w.NIC("eth1", NICConfig{RxSlots: 8}))
	must(t, w.Cable("eth0", "eth1"))
	a := open(t, w, "eth0")
	a.send(a.txr(0), frame(0, 60))
	a.txsync()
	if r := w.Report("eth1"); r.Nowhere != 1 || a.txr(0).Tail() != 0 {
		t.Errorf("to a closed port: %+v", r)
	}
	b := open(t, w, "eth1")
	for i := 0; i < 10; i++ {
		a.send(a.txr(0), frame(byte(i), 60))
	}
	a.txsync()
	if a.txr(0).Tail() != 10 {
		t.Errorf("the sender is held back: tail %d", a.txr(0).Tail())
	}
	b.rxsync()
	if n := len(b.recv(b.rxr(0))); n != 7 || w.Report("eth1").RxMissed != 3 {
		t.Errorf("received %d, missed %d", n, w.Report("eth1").RxMissed)
	}
}

func TestFramesLeftAtClose(t *testing.T) {
	w := testWorld(t, Config{})
	twoPorts(t, w, SourceConfig{Count: 100}, NICConfig{TxDelay: time.Hour})
	a, b := open(t, w, "eth0"), open(t, w, "eth1")
	a.rxsync()
	b.rxsync()
	swapForward(a.rxr(0), b.txr(0), 30, false, false)
	b.txsync()
	must(t, w.SetLink("eth1", false)) // the next sync takes nothing
	swapForward(a.rxr(0), b.txr(0), 10, false, false)
	b.txsync()
	a.close()
	b.close()
	r := w.ReportAll()
	if r.RxUnread != 160 || r.TxUnsent != 40 || r.Lost(0) != 0 {
		t.Errorf("%+v", r)
	}
	if d := r.Drops(); fmt.Sprint(d) != "map[rx_unread_at_close:160 tx_unsent_at_close:40]" {
		t.Errorf("%v", d)
	}
	if z := r.Sub(r); z.Injected != 0 || z.RxUnread != 0 {
		t.Errorf("%+v", z)
	}
	noLeak(t, w)
}

// The kinds of gap, against a plain set.
func TestGaps(t *testing.T) {
	var g gaps
	missing := map[uint64]bool{}
	open := func(lo, hi uint64) {
		g.open(lo, hi)
		for i := lo; i < hi; i++ {
			missing[i] = true
		}
	}
	open(3, 4)
	open(10, 20)
	open(30, 33)
	for _, s := range []uint64{3, 3, 15, 10, 19, 9, 20, 31, 15, 12, 30, 32, 11, 13, 14, 16, 17, 18, 4} {
		if got := g.close(s); got != missing[s] {
			t.Errorf("%d: %v, want %v", s, got, missing[s])
		}
		delete(missing, s)
	}
	if len(g.r) != 0 {
		t.Errorf("left %v", g.r)
	}
}

// Two rings of a port take turns with one flow: in order over the port, with gaps on each.
func TestOrderOverPort(t *testing.T) {
	for _, c := range []struct {
		port, swap bool
		want       Report
	}{
		{false, false, Report{Delivered: 64}},
		{true, false, Report{Delivered: 64}},
		{false, true, Report{Delivered: 64}},
		{true, true, Report{Delivered: 64, Reordered: 32}},
	} {
		w := testWorld(t, Config{Mem: tiny})
		must(t, w.NIC("in", NICConfig{TxSlots: 8, RxSlots: 16, Source: &SourceConfig{Flows: 1, Burst: 2, Count: 64}}))
		must(t, w.NIC("out", NICConfig{TxRings: 2, TxSlots: 16, RxSlots: 8, Sink: &SinkConfig{PortOrder: c.port}}))
		a, b := open(t, w, "in"), open(t, w, "out")
		for i := 0; i < 32; i++ {
			a.rxsync()
			first, second := uint32(0), uint32(1)
			if c.swap { // the later frame leaves first
				first, second = 1, 0
				r := a.rxr(0)
				h := r.Head()
				x, y := r.Slot(h), r.Slot(abi.Next(h, 16))
				xi, xn, _ := x.Load()
				yi, yn, _ := y.Load()
				x.Store(yi, yn, abi.SlotBufChanged)
				y.Store(xi, xn, abi.SlotBufChanged)
			}
			swapForward(a.rxr(0), b.txr(first), 1, false, false)
			b.txsync()
			swapForward(a.rxr(0), b.txr(second), 1, false, false)
			b.txsync()
		}
		r := w.Report("out")
		if r.Delivered != c.want.Delivered || r.Reordered != c.want.Reordered || r.Duplicate+r.Corrupt != 0 {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}

// A port that is made anew is a new source: its numbers start again, and old frames are
// nobody's.
func TestSourceNumbersAreReused(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	for i := 0; i < 50; i++ {
		must(t, w.Configure("eth0", map[string]string{"far": "source", "slots": "16", "burst": "4"}))
		if i == 0 {
			must(t, w.NIC("out", NICConfig{TxSlots: 16, RxSlots: 8, Sink: &SinkConfig{}}))
		}
		a, b := open(t, w, "eth0"), open(t, w, "out")
		a.rxsync()
		swapForward(a.rxr(0), b.txr(0), 4, false, false)
		b.txsync()
		a.close()
		b.close()
	}
	if n := len(*w.sources.list.Load()); n > 2 {
		t.Errorf("%d sources", n)
	}
	if r := w.Report("out"); r.Delivered != 200 || r.Duplicate+r.Corrupt+r.Reordered != 0 {
		t.Errorf("%+v", r)
	}
}
