// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	goflag "flag"
	"sync"
	"testing"
	"time"

	"github.com/odp-go/godp/platform/netmap/abi"
	"pgregory.net/rapid"
)

// Random operations of a client that keeps the rules: indices stay in order, and every
// buffer is in exactly one place.
func TestPropertyBuffersAndIndices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := rapid.IntRange(0, 3).Draw(t, "delay")
		w := NewWorld(Config{Mem: tiny})
		defer w.Close()
		kind := rapid.SampledFrom([]string{"nic", "cable", "pipe"}).Draw(t, "kind")
		n := rapid.IntRange(3, 20).Draw(t, "slots")
		names := []string{"eth0", "eth1"}
		cfg := NICConfig{TxSlots: n, RxSlots: n + 1, TxDelaySyncs: delay}
		switch kind {
		case "nic":
			cfg.Source, cfg.Sink = &SourceConfig{Burst: 5, Flows: 3}, &SinkConfig{}
			w.NIC("eth0", cfg)
			w.NIC("eth1", cfg)
		case "cable":
			w.NIC("eth0", cfg)
			w.NIC("eth1", cfg)
			w.Cable("eth0", "eth1")
		case "pipe":
			names = []string{"x{1", "x}1"}
		}
		var c []*conn
		for _, name := range names {
			k := &conn{t: new(testing.T), k: w.Kernel(), num: w.Kernel().Numbers()}
			k.fd, _ = k.k.Open()
			k.call, _ = abi.NewCall()
			defer k.call.Close()
			if e := k.register(name, extra(4), slots(uint32(n), uint32(n))); e != 0 {
				t.Fatalf("register %s: %v", name, e)
			}
			k.mmap()
			c = append(c, k)
		}
		mem := w.regions[c[0].reg.MemID]
		var mine []uint32 // extra buffers in hand
		for _, k := range c {
			for i := k.ifp.BufsHead(); i != 0; i = *(*uint32)(mem.buf(i)) {
				mine = append(mine, i)
			}
			k.ifp.SetBufsHead(0)
		}
		for step := rapid.IntRange(1, 60).Draw(t, "steps"); step > 0; step-- {
			k := c[rapid.IntRange(0, 1).Draw(t, "port")]
			o := c[rapid.IntRange(0, 1).Draw(t, "other")]
			switch rapid.IntRange(0, 5).Draw(t, "op") {
			case 0:
				k.txsync()
			case 1:
				k.rxsync()
			case 2:
				k.poll(abi.PollIn|abi.PollOut, 0)
			case 3:
				swapForward(k.rxr(0), o.txr(0), rapid.IntRange(0, 25).Draw(t, "n"), false, false)
			case 4: // an extra buffer into a slot of mine
				r := k.rxr(0)
				if r.Head() != r.Tail() && len(mine) > 0 {
					s := r.Slot(r.Head())
					i, n, _ := s.Load()
					s.Store(mine[0], n, abi.SlotBufChanged)
					mine[0] = i
				}
			case 5:
				r := k.txr(0)
				for m := rapid.IntRange(0, 8).Draw(t, "n"); m > 0; m-- {
					k.send(r, frame(byte(m), 60))
				}
			}
			for _, x := range c {
				for _, r := range []*abi.Ring{x.txr(0), x.rxr(0)} {
					n := r.NumSlots()
					if abi.Avail(r.Head(), r.Cur(), n) > abi.Avail(r.Head(), r.Tail(), n) || r.Tail() >= n {
						t.Fatalf("%s: indices %s", kind, indices(r))
					}
				}
			}
			if r := w.ReportAll(); r.Reinits != 0 {
				t.Fatalf("%s: a ring was set back", kind)
			}
		}
		// who holds what: the slots of the rings (of a pipe: see dropPipe) and the hand
		where := map[uint32]string{}
		put := func(i uint32, s string) {
			if where[i] != "" {
				t.Fatalf("%s: buffer %d in %s and %s", kind, i, where[i], s)
			}
			where[i] = s
		}
		for _, i := range mine {
			put(i, "hand")
		}
		if kind != "pipe" {
			for _, x := range c {
				for _, r := range []*abi.Ring{x.txr(0), x.rxr(0)} {
					for i := uint32(0); i < r.NumSlots(); i++ {
						idx, _, _ := r.Slot(i).Load()
						put(idx, "ring")
					}
				}
			}
		}
		head := uint32(0)
		for _, i := range mine {
			*(*uint32)(mem.buf(i)) = head
			head = i
		}
		c[0].ifp.SetBufsHead(head)
		for _, x := range c {
			x.m.Unmap()
			x.k.Close(x.fd)
		}
		l := w.Leaks()
		if l.Ungranted = 0; l != (Leaks{}) { // all in the list of one: allowed
			t.Fatalf("%s: %+v", kind, l)
		}
	})
}

// Four goroutines forward, others send, poll, look and change things: nothing is lost.
func TestConcurrent(t *testing.T) {
	w := testWorld(t, Config{Mem: Geometry{RingNum: 32, RingSize: 4096, BufNum: 2048}})
	src := SourceConfig{Flows: 4, Window: 60}
	cfg := NICConfig{TxRings: 2, RxRings: 2, TxSlots: 64, RxSlots: 64}
	twoPorts(t, w, src, cfg)
	must(t, w.NIC("l0", NICConfig{TxSlots: 32, RxSlots: 32}))
	must(t, w.NIC("l1", NICConfig{TxSlots: 32, RxSlots: 32}))
	must(t, w.Cable("l0", "l1"))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	run := func(f func()) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
					f()
				}
			}
		}()
	}
	for i := uint32(0); i < 2; i++ { // one worker per ring pair and direction
		for _, dir := range [][2]string{{"eth0", "eth1"}, {"eth1", "eth0"}} {
			a := open(t, w, dir[0], mode(abi.ModeOneNIC, uint16(i)), flags(abi.FlagRxRingsOnly))
			b := open(t, w, dir[1], mode(abi.ModeOneNIC, uint16(i)), flags(abi.FlagTxRingsOnly))
			rx, tx := a.rxr(i), b.txr(i)
			n := 0
			run(func() {
				if n++; n%3 == 0 {
					a.k.Poll(a.fd, abi.PollIn, time.Millisecond)
				} else {
					a.rxsync()
				}
				swapForward(rx, tx, 16, false, false)
				b.txsync()
			})
		}
	}
	x, y := open(t, w, "l0"), open(t, w, "l1")
	f, tx, rx := frame(1, 60), x.txr(0), y.rxr(0)
	run(func() {
		x.send(tx, f)
		x.txsync()
	})
	run(func() {
		y.k.Poll(y.fd, abi.PollIn, time.Millisecond)
		for _, g := range y.recv(rx) {
			if len(g) != 60 || g[30] != f[30] {
				t.Errorf("frame %x", g)
			}
		}
	})
	busy := open(t, w, "eth0") // a second user of the rings: only syncs and polls
	run(func() {
		busy.txsync()
		busy.k.Poll(busy.fd, abi.PollIn, 0)
		busy.k.OnReady(busy.fd, func() {})
		busy.k.OnReady(busy.fd, nil)
	})
	call, err := abi.NewCall()
	must(t, err)
	defer call.Close()
	run(func() {
		w.ReportAll()
		w.SetLink("l0", false)
		w.SetLink("l0", true)
		fd, e := w.Kernel().Open()
		if e != 0 {
			t.Errorf("open: %v", e)
			return
		}
		_, r, _ := call.Register("l1")
		r.Mode, r.ExtraBufs = abi.ModeSW, 3
		if e := w.Kernel().Ioctl(fd, w.Kernel().Numbers().Ctrl, call.Arg()); e != 0 {
			t.Errorf("register: %v", e)
		}
		w.HostSend("l1", f)
		w.Kernel().Ioctl(fd, w.Kernel().Numbers().RxSync, nil)
		w.Kernel().Close(fd)
	})
	time.Sleep(150 * time.Millisecond)
	close(stop)
	wg.Wait()
	r := w.Report("eth0").Add(w.Report("eth1"))
	if r.Corrupt+r.Reordered+r.Duplicate+r.RxMissed+r.Reinits != 0 || r.Delivered == 0 {
		t.Errorf("%+v", r)
	}
}

// A close in the middle of syncs and polls by others ends cleanly.
func TestCloseUnderLoad(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	twoPorts(t, w, SourceConfig{}, NICConfig{TxSlots: 16, RxSlots: 16})
	k := w.Kernel()
	for round := 0; round < 60; round++ {
		c := open(t, w, "eth0")
		m := open(t, w, "p{1", slots(8, 8))
		var wg sync.WaitGroup
		for i := 0; i < 3; i++ {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for k.Ioctl(c.fd, c.num.RxSync, nil) == 0 && k.Ioctl(m.fd, c.num.TxSync, nil) == 0 {
					k.Ioctl(c.fd, c.num.TxSync, nil)
					k.Poll(c.fd, abi.PollIn|abi.PollOut, time.Millisecond)
				}
			}()
		}
		time.Sleep(time.Duration(round%4) * 100 * time.Microsecond)
		c.close()
		m.close()
		wg.Wait()
	}
	if w.Open() != 0 {
		t.Errorf("%d open", w.Open())
	}
	noLeak(t, w)
}

var heavy = goflag.Bool("heavy", false, "ten times as many rounds")

// Opens and closes of each kind leave nothing (NM-22: 10000, with -heavy).
func TestOpenCloseCycles(t *testing.T) {
	n := 1000
	if *heavy {
		n = 10000
	}
	if testing.Short() {
		n = 300
	}
	w := testWorld(t, Config{KeepIdle: true, Mem: Geometry{IfNum: 4, RingNum: 4, RingSize: 512, BufNum: 64},
		Private: Geometry{IfNum: 2, RingNum: 2, RingSize: 512, BufNum: 34}})
	must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8, Source: &SourceConfig{}, Sink: &SinkConfig{}}))
	c := newConn(t, w)
	c.close()
	for i := 0; i < n; i++ {
		for _, name := range []string{"eth0", "p{1", "vale0:a"} {
			if name == "vale0:a" && i%20 != 0 {
				continue // a region of its own each time
			}
			c.fd, _ = c.k.Open()
			if e := c.register(name, extra(2), slots(8, 8)); e != 0 {
				t.Fatalf("cycle %d: %s: %v", i, name, e)
			}
			if c.reg.ExtraBufs != 2 {
				t.Fatalf("cycle %d: %s: %d extra buffers", i, name, c.reg.ExtraBufs)
			}
			c.mmap()
			c.rxsync()
			c.txsync()
			c.close()
		}
	}
	noLeak(t, w)
	if w.Open() != 0 || len(w.regions) != 1 || len(w.bridges)+len(w.pipes) != 0 {
		t.Errorf("left: %d open, %d regions, %d switches, %d pipes", w.Open(), len(w.regions), len(w.bridges), len(w.pipes))
	}
}

// A World gives its memory back at Close, also what clients forgot.
func TestWorldClose(t *testing.T) {
	for i := 0; i < 3; i++ {
		w := NewWorld(Config{Mem: tiny, Private: Geometry{BufNum: 64}})
		must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
		a := open(t, w, "eth0")
		b := open(t, w, "vale0:a", slots(8, 8))
		b.k.Close(b.fd)
		regions := []*region{w.regions[1], b2r(w)}
		w.Close()
		for _, r := range regions {
			if r == nil || r.mem != nil {
				t.Errorf("region %+v keeps its memory", r)
			}
		}
		if w.Open() != 0 {
			t.Errorf("%d open", w.Open())
		}
		a.m.Unmap() // late: nothing
		b.m.Unmap()
		if e := a.txsync(); e == 0 {
			t.Error("a sync after Close")
		}
	}
}

func b2r(w *World) *region { return w.bridges["vale0"].ports[0].mem }
