// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"encoding/binary"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// Section 4: options and what becomes of their status.
func TestOptions(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{}))
	type opt struct {
		typ  uint32
		want syscall.Errno
	}
	for _, c := range []struct {
		name string
		opts []opt
		want syscall.Errno
	}{
		{"extmem", []opt{{abi.OptExtmem, syscall.EOPNOTSUPP}}, syscall.EOPNOTSUPP},
		{"csb", []opt{{abi.OptCSB, syscall.EOPNOTSUPP}}, syscall.EOPNOTSUPP},
		{"unknown", []opt{{6, syscall.EOPNOTSUPP}}, syscall.EOPNOTSUPP},
		{"type 0", []opt{{0, syscall.EINVAL}}, syscall.EINVAL},
		{"twice", []opt{{abi.OptOffsets, syscall.EINVAL}, {abi.OptOffsets, syscall.EINVAL}}, syscall.EINVAL},
		{"offsets", []opt{{abi.OptOffsets, 0}}, 0},
		{"offsets and another", []opt{{abi.OptOffsets, 0}, {abi.OptCSB, syscall.EOPNOTSUPP}}, syscall.EOPNOTSUPP},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newConn(t, w)
			_, r, _ := k.call.Register("eth0")
			r.Mode = abi.ModeAllNIC
			var heads []*abi.Option
			for _, o := range c.opts {
				heads = append(heads, (*abi.Option)(k.call.AddOption(o.typ, max(0, 24-abi.OptionSize(o.typ)))))
			}
			if e := k.k.Ioctl(k.fd, k.num.Ctrl, k.call.Arg()); e != c.want {
				t.Errorf("errno %v, want %v", e, c.want)
			}
			for i, o := range c.opts {
				if got := syscall.Errno(heads[i].Status); got != o.want {
					t.Errorf("status of option %d: %v, want %v", i, got, o.want)
				}
			}
			k.close()
		})
	}
	t.Run("loop", func(t *testing.T) {
		k := newConn(t, w)
		h, r, _ := k.call.Register("eth0")
		r.Mode = abi.ModeAllNIC
		o := (*abi.Option)(k.call.AddOption(abi.OptCSB, 0))
		o.Next = h.Options
		if e := k.k.Ioctl(k.fd, k.num.Ctrl, k.call.Arg()); e != syscall.EINVAL { // found twice
			t.Errorf("errno %v", e)
		}
		o.ReqType = 50 // a type that is not known is not counted
		if e := k.k.Ioctl(k.fd, k.num.Ctrl, k.call.Arg()); e != syscall.EMSGSIZE {
			t.Errorf("errno %v", e)
		}
		k.close()
	})
	t.Run("too long", func(t *testing.T) {
		k := newConn(t, w)
		_, r, _ := k.call.Register("eth0")
		r.Mode = abi.ModeAllNIC
		o := (*abi.Option)(k.call.AddOption(abi.OptSyncKloopEventf, 0))
		o.Size = 4090
		if e := k.k.Ioctl(k.fd, k.num.Ctrl, k.call.Arg()); e != syscall.EMSGSIZE {
			t.Errorf("errno %v", e)
		}
		k.close()
	})
	noLeak(t, w)
}

func (c *conn) offsets(name string, o abi.OptionOffsets) syscall.Errno {
	_, r, _ := c.call.Register(name)
	r.Mode = abi.ModeAllNIC
	p := (*abi.OptionOffsets)(c.call.AddOption(abi.OptOffsets, 0))
	o.Option = p.Option
	*p = o
	e := c.k.Ioctl(c.fd, c.num.Ctrl, c.call.Arg())
	c.reg = *r
	return e
}

// Section 11.5.
func TestOffsets(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{}))
	must(t, w.NIC("eth1", NICConfig{}))
	must(t, w.NIC("no", NICConfig{NoOffsets: true}))
	must(t, w.Cable("eth0", "eth1"))
	for _, c := range []struct {
		name string
		port string
		o    abi.OptionOffsets
		want syscall.Errno
	}{
		{"refused", "no", abi.OptionOffsets{}, syscall.EOPNOTSUPP},
		{"over the buffer", "eth0", abi.OptionOffsets{MaxOffset: 2049}, syscall.EINVAL},
		{"initial over max", "eth0", abi.OptionOffsets{MaxOffset: 64, InitialOffset: 65}, syscall.EINVAL},
		{"max over the bits", "eth0", abi.OptionOffsets{MaxOffset: 64, OffsetBits: 6}, syscall.EINVAL},
		{"bits", "eth0", abi.OptionOffsets{MaxOffset: 64, OffsetBits: 65}, syscall.EINVAL},
	} {
		k := newConn(t, w)
		if e := k.offsets(c.port, c.o); e != c.want {
			t.Errorf("%s: %v, want %v", c.name, e, c.want)
		}
		k.close()
	}
	a, b := newConn(t, w), newConn(t, w)
	want := abi.OptionOffsets{MaxOffset: 256, InitialOffset: 128, OffsetBits: 16}
	if e := a.offsets("eth0", want); e != 0 {
		t.Fatal(e)
	}
	if e := b.offsets("eth1", want); e != 0 {
		t.Fatal(e)
	}
	other := newConn(t, w)
	if e := other.offsets("eth0", abi.OptionOffsets{MaxOffset: 128}); e != syscall.EBUSY {
		t.Errorf("users that do not agree: %v", e)
	}
	other.close()
	a.mmap()
	b.mmap()
	tx, rx := a.txr(0), b.rxr(0)
	if tx.OffsetMask() != 0xffff || rx.Slot(3).Ptr() != 128 {
		t.Errorf("mask %#x, ptr %d", tx.OffsetMask(), rx.Slot(3).Ptr())
	}
	f := frame(1, 100)
	idx, _, _ := tx.Slot(0).Load()
	tx.Slot(0).Store(idx, 100+200, 0)
	copy(data(tx, 0)[200:], f)
	tx.Slot(0).Store(idx, 100, 0)
	tx.Slot(0).SetPtr(200 | 7<<16)
	tx.SetHead(1)
	a.txsync()
	b.rxsync()
	ri, n, _ := rx.Slot(0).Load()
	rx.Slot(0).Store(ri, n+128, 0)
	if got := data(rx, 0)[128:]; n != 100 || string(got) != string(f) {
		t.Errorf("%d bytes at the offset: %x", n, got)
	}
	// an offset that does not fit: the ring is set back, nothing is sent
	tx.Slot(1).Store(idx, 60, 0)
	tx.Slot(1).SetPtr(257)
	tx.SetHead(2)
	if a.txsync(); tx.Tail() != 0 {
		t.Errorf("tail %d moved past a bad offset", tx.Tail())
	}
	if p := a.poll(abi.PollOut, 0); p&abi.PollErr != 0 {
		t.Errorf("the emptied slot did not pass: %#x", p)
	}
}

// Section 11.4.
func TestExtraBuffers(t *testing.T) {
	w := testWorld(t, Config{Mem: Geometry{BufNum: 4096}})
	must(t, w.NIC("eth0", NICConfig{TxSlots: 64, RxSlots: 64}))
	walk := func(c *conn) (l []uint32) {
		m := w.regions[1]
		for i := c.ifp.BufsHead(); i != 0; i = *(*uint32)(m.buf(i)) {
			l = append(l, i)
		}
		return l
	}
	relink := func(c *conn, l []uint32) {
		m := w.regions[1]
		head := uint32(0)
		for _, i := range l {
			*(*uint32)(m.buf(i)) = head
			head = i
		}
		c.ifp.SetBufsHead(head)
	}
	t.Run("granted and given back", func(t *testing.T) {
		c := open(t, w, "eth0", extra(100))
		l := walk(c)
		if c.reg.ExtraBufs != 100 || len(l) != 100 || l[0] < l[99] {
			t.Errorf("granted %d, list of %d from %d", c.reg.ExtraBufs, len(l), l[0])
		}
		c.close()
		noLeak(t, w)
	})
	t.Run("fewer than asked", func(t *testing.T) {
		c := open(t, w, "eth0", extra(100000))
		if want := uint32(4096 - 2 - 128); c.reg.ExtraBufs != want || len(walk(c)) != int(want) {
			t.Errorf("granted %d, want %d", c.reg.ExtraBufs, want)
		}
		c.close()
		noLeak(t, w)
	})
	t.Run("fewer on demand", func(t *testing.T) {
		must(t, w.GrantFewer("eth0", 30))
		c := open(t, w, "eth0", extra(40))
		if c.reg.ExtraBufs != 10 || len(walk(c)) != 10 {
			t.Errorf("granted %d", c.reg.ExtraBufs)
		}
		c.close()
		must(t, w.GrantFewer("eth0", 0))
		noLeak(t, w)
	})
	t.Run("none asked", func(t *testing.T) {
		c := open(t, w, "eth0")
		if c.ifp.BufsHead() != 0 {
			t.Error("a stale head")
		}
		c.close()
	})
	t.Run("swapped into a ring", func(t *testing.T) {
		c := open(t, w, "eth0", extra(3))
		l := walk(c)
		s := c.txr(0).Slot(5)
		old, n, _ := s.Load()
		s.Store(l[0], n, abi.SlotBufChanged)
		l[0] = old
		relink(c, l)
		c.close()
		noLeak(t, w)
	})
	for _, bad := range []struct {
		name string
		f    func(c *conn, l []uint32)
		want Leaks
	}{
		{"kept", func(c *conn, l []uint32) { relink(c, l[:6]) }, Leaks{Leaked: 4}},
		{"head cleared", func(c *conn, l []uint32) { c.ifp.SetBufsHead(0) }, Leaks{Leaked: 10}},
		{"one twice", func(c *conn, l []uint32) {
			relink(c, l)
			*(*uint32)(w.regions[1].buf(l[0])) = l[9]
		}, Leaks{DoubleFree: 1}},
		{"one that is in a ring", func(c *conn, l []uint32) {
			i, _, _ := c.rxr(0).Slot(0).Load()
			relink(c, append(append([]uint32{}, l...), i))
		}, Leaks{DoubleFree: 1, Leaked: 10}},
		{"no buffer index", func(c *conn, l []uint32) {
			relink(c, l)
			*(*uint32)(w.regions[1].buf(l[0])) = 1 << 30
		}, Leaks{Foreign: 1}},
	} {
		t.Run(bad.name, func(t *testing.T) {
			before := w.Leaks()
			c := open(t, w, "eth0", extra(10))
			bad.f(c, walk(c))
			c.close()
			got := w.Leaks()
			got = Leaks{got.Leaked - before.Leaked, got.DoubleFree - before.DoubleFree, got.Foreign - before.Foreign, got.Ungranted - before.Ungranted}
			if got != bad.want {
				t.Errorf("%+v, want %+v", got, bad.want)
			}
			c = open(t, w, "eth0", extra(100000)) // idle regions start afresh
			if c.reg.ExtraBufs != 4096-2-128 {
				t.Errorf("after it: %d buffers", c.reg.ExtraBufs)
			}
			c.close()
		})
	}
}

// What a client writes must never lead the kernel out of the request's memory.
func FuzzRequest(f *testing.F) {
	seed := make([]byte, 1024)
	h := (*abi.Header)(unsafe.Pointer(&seed[0]))
	h.Version, h.ReqType, h.Body, h.Options = abi.API, abi.ReqRegister, 128, 256
	h.SetName("eth0")
	seed[128+36] = 1
	binary.NativeEndian.PutUint32(seed[256+8:], abi.OptOffsets)
	f.Add(seed)
	loop := append([]byte{}, seed...)
	binary.NativeEndian.PutUint64(loop[256:], 256)
	f.Add(loop)
	pipe := append([]byte{}, seed...)
	copy(pipe[8:], "eth0{1\x00")
	f.Add(pipe)
	for r := uint16(0); r < 17; r++ {
		b := append([]byte{}, seed...)
		(*abi.Header)(unsafe.Pointer(&b[0])).ReqType = r
		copy(b[8:], "vale0:eth0\x00")
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		mem := make([]uint64, 1024)
		n := copy(unsafe.Slice((*byte)(unsafe.Pointer(&mem[0])), 8192), b)
		if n < 88 {
			return
		}
		// addresses are offsets; what is not 8 aligned or not inside does not exist
		user := func(addr, n uint64) (unsafe.Pointer, bool) {
			if addr%8 != 0 || addr > 8192 || n > 8192-addr {
				return nil, false
			}
			return unsafe.Pointer(&mem[min(addr/8, 1023)]), true
		}
		w := NewWorld(Config{Mem: Geometry{BufNum: 256}, Private: Geometry{BufNum: 64, RingSize: 512}})
		defer w.Close()
		w.NIC("eth0", NICConfig{TxSlots: 16, RxSlots: 16})
		k := w.Kernel()
		fd, _ := k.Open()
		file := w.file(fd)
		q := &request{}
		arg := unsafe.Pointer(&mem[0])
		e := q.copyIn(arg, user)
		if e == 0 {
			hdr := q.hdr
			if r := (*abi.Register)(unsafe.Pointer(&q.body[0])); hdr.ReqType == abi.ReqRegister && (r.TxSlots > 64 || r.RxSlots > 64 || r.TxRings > 4 || r.RxRings > 4 || r.ExtraBufs > 64) {
				return // only a question of memory
			}
			e = file.serve(q)
		}
		q.copyOut(arg, e, true)
		if e == 0 && file.bind.Load() != nil {
			k.Ioctl(fd, k.Numbers().TxSync, nil)
			k.Ioctl(fd, k.Numbers().RxSync, nil)
		}
		k.Close(fd)
		if l := w.Leaks(); l != (Leaks{}) {
			t.Errorf("%+v", l)
		}
	})
}

// A cable in the options may be named again once both its ends are closed, and not before.
func TestCableAgain(t *testing.T) {
	w := NewWorld(Config{})
	opts := map[string]string{"cable": "again1", "rings": "2"}
	for range 3 {
		if err := w.Configure("again0", opts); err != nil {
			t.Fatal(err)
		}
		if w.ports["again0"].peer != w.ports["again1"] || w.ports["again1"].peer != w.ports["again0"] {
			t.Fatal("the ports are not joined")
		}
	}
	w.ports["again1"].fds++ // somebody has it open
	if err := w.Configure("again0", opts); err == nil || !strings.Contains(err.Error(), "joined already") {
		t.Errorf("the other end is open: %v", err)
	}
	w.ports["again1"].fds--
	opts["cable"] = "elsewhere"
	if err := w.Configure("again0", opts); err == nil || !strings.Contains(err.Error(), "joined already") {
		t.Errorf("joined to another port: %v", err)
	}
}
