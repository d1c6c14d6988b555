// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// Section 12.5: a pipe holds the sender back and loses nothing.
func TestPipeBlocks(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	m := open(t, w, "x{1", slots(16, 16))
	tx := m.txr(0)
	for i := 0; i < 20; i++ {
		m.send(tx, frame(byte(i), 60))
	}
	m.txsync()
	if avail(tx) != 0 || m.poll(abi.PollOut, 0) != 0 {
		t.Errorf("no receiver: %s", indices(tx))
	}
	s := open(t, w, "x}1")
	rx := s.rxr(0)
	s.rxsync()
	if rx.NumSlots() != 16 || avail(rx) != 15 {
		t.Fatalf("receiver: %d slots, %s", rx.NumSlots(), indices(rx))
	}
	for i := uint32(0); i < 15; i++ {
		ti, _, _ := tx.Slot(i).Load()
		if ri, _, _ := rx.Slot(i).Load(); ri != ti {
			t.Errorf("slot %d: buffers %d and %d", i, ti, ri)
		}
	}
	rx.SetHead(4)
	m.txsync()
	if avail(tx) != 0 {
		t.Error("space before the receiver's sync")
	}
	s.rxsync()
	if m.txsync(); avail(tx) != 4 {
		t.Errorf("space %d after 4 were released", avail(tx))
	}
	want, sent := byte(4), byte(15)
	for round := 0; round < 200; round++ {
		for n := round % 5; n > 0; n-- {
			if m.send(tx, frame(sent, 60)) == 1 {
				sent++
			}
		}
		m.txsync()
		for _, f := range s.recv(rx) {
			if !bytes.Equal(f, frame(want, 60)) {
				t.Fatalf("frame %d: %x", want, f)
			}
			want++
		}
		s.rxsync()
	}
	s.recv(rx)
	if want < 100 {
		t.Errorf("%d frames crossed", want)
	}
	m.close()
	s.close()
	if len(w.pipes) != 0 {
		t.Error("the pipe stays")
	}
	noLeak(t, w)
}

// What the receiver swaps comes back in the sender's slots, marked.
func TestPipeSwap(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	m := open(t, w, "x{1", slots(16, 16))
	s := open(t, w, "x}1", extra(1))
	f := frame(7, 60)
	m.send(m.txr(0), f)
	m.txsync()
	s.rxsync()
	rx := s.rxr(0)
	mine := s.ifp.BufsHead()
	got, n, _ := rx.Slot(0).Load()
	rx.Slot(0).Store(mine, 0, abi.SlotBufChanged)
	s.ifp.SetBufsHead(got)
	*(*uint32)(w.regions[s.reg.MemID].buf(got)) = 0
	rx.SetHead(1)
	s.rxsync()
	m.txsync()
	if idx, _, fl := m.txr(0).Slot(0).Load(); idx != mine || fl&abi.SlotBufChanged == 0 || n != 60 {
		t.Errorf("sender's slot: buffer %d flags %#x, want %d", idx, fl, mine)
	}
	m.close()
	s.close()
	noLeak(t, w)
}

// A swap that the receiver did not sync before it closed is not lost either.
func TestPipeCloseWithSwap(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	m, s := open(t, w, "x{1", slots(16, 16)), open(t, w, "x}1", extra(2))
	m.send(m.txr(0), frame(1, 60), frame(2, 60))
	m.txsync()
	s.rxsync()
	rx := s.rxr(0)
	head := s.ifp.BufsHead()
	second := *(*uint32)(w.regions[s.reg.MemID].buf(head))
	got, _, _ := rx.Slot(1).Load()
	rx.Slot(1).Store(head, 0, abi.SlotBufChanged)
	*(*uint32)(w.regions[s.reg.MemID].buf(got)) = second
	s.ifp.SetBufsHead(got)
	s.close()
	m.close()
	noLeak(t, w)
}

func TestPipeShape(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{TxRings: 2, RxRings: 3, TxSlots: 64, RxSlots: 32}))
	m := open(t, w, "eth0{a")
	s := open(t, w, "eth0}a")
	if r := m.reg; r.TxRings != 2 || r.RxRings != 3 || r.TxSlots != 64 || r.RxSlots != 32 || r.HostTxRings != 0 {
		t.Errorf("master %+v", r)
	}
	if r := s.reg; r.TxRings != 3 || r.RxRings != 2 || r.TxSlots != 32 || r.RxSlots != 64 {
		t.Errorf("slave %+v", r)
	}
	if tx, _ := m.ifp.HostRings(); tx != 1 {
		t.Errorf("fake host rings %d", tx)
	}
	b := open(t, w, "q}b", rings(1, 2), slots(100, 200))
	if r := b.reg; r.TxRings != 1 || r.RxRings != 2 || r.TxSlots != 100 || r.RxSlots != 200 {
		t.Errorf("slave first %+v", r)
	}
	e := newConn(t, w)
	if err := e.register("eth0{a", mode(abi.ModeSW, 0)); err != syscall.EINVAL {
		t.Errorf("host rings of a pipe: %v", err)
	}
	m.close()
	s.close()
	b.close()
	noLeak(t, w)
}

// Only complete frames cross a pipe.
func TestPipeChains(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	m, s := open(t, w, "x{1", slots(16, 16)), open(t, w, "x}1")
	tx := m.txr(0)
	set := func(i uint32, more bool) {
		idx, _, _ := tx.Slot(i).Load()
		fl := uint16(0)
		if more {
			fl = abi.SlotMoreFrag
		}
		tx.Slot(i).Store(idx, 60, fl)
	}
	set(0, false)
	set(1, true)
	set(2, true)
	tx.SetHead(3)
	m.txsync()
	if s.rxsync(); avail(s.rxr(0)) != 1 {
		t.Errorf("half a chain crossed: %d slots", avail(s.rxr(0)))
	}
	set(3, false)
	tx.SetHead(4)
	m.txsync()
	if s.rxsync(); avail(s.rxr(0)) != 4 {
		t.Errorf("the chain did not cross: %d slots", avail(s.rxr(0)))
	}
	if _, _, fl := s.rxr(0).Slot(1).Load(); fl&abi.SlotMoreFrag == 0 {
		t.Error("MOREFRAG is lost")
	}
	ch := make(chan int16, 1)
	go func() { r, _ := m.k.Poll(m.fd, abi.PollOut, 30*time.Second); ch <- r }()
	if r := <-ch; r != abi.PollOut {
		t.Errorf("space: %#x", r)
	}
}

// Section 12.4.
func TestValeSwitch(t *testing.T) {
	w := testWorld(t, Config{Private: Geometry{BufNum: 64}})
	var p []*conn
	for _, n := range []string{"a", "b", "c"} {
		p = append(p, open(t, w, "vale0:"+n, slots(16, 16)))
	}
	addr := func(i int) []byte { return []byte{2, 0, 0, 0, 1, byte(i)} }
	mk := func(dst []byte, src int, n int) []byte {
		f := frame(byte(src), n)
		copy(f, dst)
		copy(f[6:], addr(src))
		return f
	}
	all := []byte{255, 255, 255, 255, 255, 255}
	got := func() (s string) {
		for _, c := range p {
			c.rxsync()
			s += fmt.Sprint(len(c.recv(c.rxr(0))))
			c.rxsync()
		}
		return s
	}
	say := func(from int, f []byte, want, what string) {
		t.Helper()
		p[from].send(p[from].txr(0), f)
		p[from].txsync()
		if g := got(); g != want {
			t.Errorf("%s: received %s, want %s", what, g, want)
		}
	}
	say(0, mk(addr(1), 0, 60), "011", "unknown goes to all but the sender")
	say(1, mk(addr(0), 1, 60), "100", "learnt")
	say(0, mk(addr(1), 0, 60), "010", "learnt the other")
	say(2, mk(all, 2, 60), "110", "broadcast")
	say(0, mk(addr(2), 0, 13), "000", "under 14 bytes")
	say(0, mk(addr(2), 0, 14), "001", "14 bytes")
	say(0, mk(addr(0), 0, 60), "000", "to itself")
	say(2, mk(addr(1), 0, 60), "010", "source moved")
	say(1, mk(addr(0), 1, 60), "001", "is learnt at its new port")
	// a full receiver drops, the sender is not held back
	for i := 0; i < 15; i++ {
		p[0].send(p[0].txr(0), mk(addr(1), 0, 60))
	}
	p[0].txsync()
	for i := 0; i < 5; i++ {
		if p[0].send(p[0].txr(0), mk(addr(1), 0, 60)) != 1 {
			t.Fatal("no space")
		}
	}
	p[0].txsync()
	if g := got(); g != "0"+"15"+"0" {
		t.Errorf("full: %s", g)
	}
	if m := w.Report("vale0:b").RxMissed; m != 5 {
		t.Errorf("missed %d", m)
	}
	for _, c := range p {
		c.close()
	}
	if len(w.bridges) != 0 || len(w.regions) != 1 {
		t.Errorf("left: %d switches, %d regions", len(w.bridges), len(w.regions))
	}
	noLeak(t, w)
}

// Fragments of 2048, 2048 and 500 bytes arrive with flags 0x320, 0x320, 0x300; one alone
// with 0x100.
func TestValeFragments(t *testing.T) {
	w := testWorld(t, Config{Private: Geometry{BufNum: 64}})
	a, b := open(t, w, "vale0:a", slots(16, 16)), open(t, w, "vale0:b", slots(16, 16))
	tx, rx := a.txr(0), b.rxr(0)
	var want []byte
	for i, n := range []uint16{2048, 2048, 500, 60} {
		idx, _, _ := tx.Slot(uint32(i)).Load()
		fl := uint16(0)
		if i < 2 {
			fl = abi.SlotMoreFrag
		}
		tx.Slot(uint32(i)).Store(idx, n, fl)
		copy(data(tx, uint32(i)), frame(byte(i), int(n)))
		want = append(want, data(tx, uint32(i))...)
	}
	tx.SetHead(4)
	a.txsync()
	b.rxsync()
	var fl []string
	var got []byte
	for i := uint32(0); i < avail(rx); i++ {
		_, _, f := rx.Slot(i).Load()
		fl = append(fl, fmt.Sprintf("%#x", f))
		got = append(got, data(rx, i)...)
	}
	if fmt.Sprint(fl) != "[0x320 0x320 0x300 0x100]" || !bytes.Equal(got, want) {
		t.Errorf("flags %v, %d bytes", fl, len(got))
	}
}

func TestValeRequests(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny, Private: Geometry{BufNum: 64}})
	must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
	c := newConn(t, w)
	call := func(req uint16, name string, f func(body []byte)) (string, []uint32, syscall.Errno) {
		h, b, _ := c.call.Begin(req, name)
		if f != nil {
			f(b2(b))
		}
		e := c.k.Ioctl(c.fd, c.num.Ctrl, c.call.Arg())
		if b == nil {
			return h.PortName(), nil, e
		}
		return h.PortName(), u32(b), e
	}
	check := func(what string, got, want syscall.Errno) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	_, _, e := call(abi.ReqValeNewif, "vi0", nil)
	check("newif", e, 0)
	_, _, e = call(abi.ReqValeNewif, "vi0", nil)
	check("newif again", e, syscall.EEXIST)
	_, _, e = call(abi.ReqValeNewif, "eth0", nil)
	check("newif of a card's name", e, syscall.EEXIST)
	_, _, e = call(abi.ReqValeAttach, "vale2:eth0", nil)
	check("attach", e, 0)
	_, _, e = call(abi.ReqValeAttach, "vale2:eth0", nil)
	check("attach again", e, syscall.EBUSY)
	_, _, e = call(abi.ReqValeAttach, "vale2:eth7", nil)
	check("attach nothing", e, syscall.ENXIO)
	_, _, e = call(abi.ReqValeAttach, "vale2:vi0", nil)
	check("attach vi0", e, 0)
	_, _, e = call(abi.ReqValeDelif, "vi0", nil)
	check("delif while attached", e, syscall.EBUSY)
	check("open of an attached card", newConn(t, w).register("eth0"), syscall.EBUSY)
	check("open of its port", newConn(t, w).register("vale2:eth0"), syscall.EBUSY)
	var names []string
	at := uint32(0)
	for {
		name, b, e := call(abi.ReqValeList, "", func(b []byte) { b[4] = byte(at) })
		if e == syscall.ENOENT {
			break
		}
		check("list", e, 0)
		names = append(names, name)
		at = b[1] + 1
	}
	if fmt.Sprint(names) != "[vale2:eth0 vale2:vi0]" {
		t.Errorf("list %v", names)
	}
	_, b, e := call(abi.ReqValeList, "vale2:vi0", nil)
	check("list by name", e, 0)
	if b[1] != 1 {
		t.Errorf("port index %d", b[1])
	}
	_, _, e = call(abi.ReqValeDetach, "vale2:eth0", nil)
	check("detach", e, 0)
	_, _, e = call(abi.ReqValeDetach, "vale2:eth0", nil)
	check("detach again", e, syscall.ENXIO)
	_, _, e = call(abi.ReqValeDetach, "vale2:vi0", nil)
	check("detach vi0", e, 0)
	_, _, e = call(abi.ReqValeDelif, "vi0", nil)
	check("delif", e, 0)
	_, _, e = call(abi.ReqValeDelif, "vi0", nil)
	check("delif again", e, syscall.ENXIO)
	check("open of the card", newConn(t, w).register("eth0"), 0)
	// virtio-net header
	p := open(t, w, "vale0:h", slots(8, 8))
	_, _, e = call(abi.ReqPortHdrSet, "vale0:h", func(b []byte) { b[0] = 11 })
	check("header of 11", e, syscall.EINVAL)
	_, _, e = call(abi.ReqPortHdrSet, "vale0:h", func(b []byte) { b[0] = 12 })
	check("header of 12", e, 0)
	_, b, e = call(abi.ReqPortHdrGet, "vale0:h", nil)
	check("get", e, 0)
	if b[0] != 12 {
		t.Errorf("header %d", b[0])
	}
	_, _, e = call(abi.ReqPortHdrGet, "vale0:x", nil)
	check("header of nothing", e, syscall.ENXIO)
	_, _, e = call(abi.ReqPortHdrGet, "a{1", nil)
	check("header of no pipe", e, syscall.ENODEV)
	check("register without consent", newConn(t, w).register("vale0:h"), syscall.EIO)
	check("register with consent", newConn(t, w).register("vale0:h", flags(abi.FlagAcceptVnetHdr)), 0)
	p.close()
	for i := 0; i < abi.MaxBridges; i++ {
		if x := newConn(t, w); x.register(fmt.Sprintf("vale%c:p", 'A'+i), slots(8, 8)) != 0 {
			return // the limit, with those of above
		}
	}
	t.Error("more switches than allowed")
}

// Section 12.3.
func TestHostRings(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	must(t, w.NIC("eth0", NICConfig{TxSlots: 8, RxSlots: 8}))
	if w.HostSend("eth0", frame(1, 60)) {
		t.Error("taken by a ring that nobody bound")
	}
	k := open(t, w, "eth0", mode(abi.ModeNICSW, 0))
	up, down := k.txr(1), k.rxr(1)
	f, g := frame(1, 60), frame(2, 100)
	k.send(up, f)
	if !w.HostSend("eth0", g) {
		t.Error("host ring takes nothing")
	}
	must(t, w.SetLink("eth0", false)) // the host's side needs no carrier
	k.txsync()
	k.rxsync()
	if got := w.HostRecv("eth0"); !bytes.Equal(got, f) {
		t.Errorf("up: %x", got)
	}
	if got := k.recv(down); len(got) != 1 || !bytes.Equal(got[0], g) {
		t.Errorf("down: %x", got)
	}
	if w.HostRecv("eth0") != nil {
		t.Error("a frame from nowhere")
	}
	for i := 0; i < 20; i++ {
		w.HostSend("eth0", g)
	}
	if m := w.Report("eth0").RxMissed; m == 0 {
		t.Error("a full host ring drops nothing")
	}
	k.close()
	noLeak(t, w)
}
