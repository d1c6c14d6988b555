// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"fmt"
	"syscall"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/platform/netmap/abi"
)

func mode(m uint32, ring uint16) regOpt { return func(r *abi.Register) { r.Mode, r.RingID = m, ring } }
func flags(f uint64) regOpt             { return func(r *abi.Register) { r.Flags |= f } }
func memID(id uint16) regOpt            { return func(r *abi.Register) { r.MemID = id } }
func extra(n uint32) regOpt             { return func(r *abi.Register) { r.ExtraBufs = n } }
func slots(tx, rx uint32) regOpt        { return func(r *abi.Register) { r.TxSlots, r.RxSlots = tx, rx } }
func rings(tx, rx uint16) regOpt        { return func(r *abi.Register) { r.TxRings, r.RxRings = tx, rx } }

// Section 8 and 18 of the reference: which errno, and that nothing stays behind.
func TestRegisterErrno(t *testing.T) {
	const MTU = "mtu"
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{TxRings: 4, RxRings: 2}))
	must(t, w.NIC("nohost", NICConfig{HostRings: -1}))
	must(t, w.NIC("big", NICConfig{TxSlots: 4096}))
	must(t, w.NIC("wide", NICConfig{TxRings: 64, RxRings: 64, TxSlots: 3, RxSlots: 3}))
	must(t, w.NIC("many", NICConfig{TxRings: 8, RxRings: 1}))
	must(t, w.NIC("other", NICConfig{MemID: 2}))
	must(t, w.NIC(MTU, NICConfig{MTU: 9000}))
	must(t, w.NIC("jumbo", NICConfig{MTU: 9000, MoreFrag: true}))
	for _, c := range []struct {
		name, port string
		opts       []regOpt
		want       syscall.Errno
	}{
		{"no such interface", "eth9", nil, syscall.ENXIO},
		{"empty name", "", nil, syscall.ENXIO},
		{"loopback", "lo", nil, syscall.EINVAL},
		{"prefix is not the kernel's", "netmap:eth0", nil, syscall.ENXIO},
		{"mode 0", "eth0", []regOpt{mode(0, 0)}, syscall.EINVAL},
		{"mode 5", "eth0", []regOpt{mode(5, 0)}, syscall.EINVAL},
		{"mode 6", "eth0", []regOpt{mode(6, 0)}, syscall.EINVAL},
		{"mode 99", "eth0", []regOpt{mode(99, 0)}, syscall.EINVAL},
		{"ring beyond both", "eth0", []regOpt{mode(abi.ModeOneNIC, 4)}, syscall.EINVAL},
		{"ring beyond rx only", "eth0", []regOpt{mode(abi.ModeOneNIC, 3)}, 0},
		{"host ring beyond", "eth0", []regOpt{mode(abi.ModeOneSW, 1)}, syscall.EINVAL},
		{"host rings", "eth0", []regOpt{mode(abi.ModeSW, 0)}, 0},
		{"no host rings", "nohost", []regOpt{mode(abi.ModeSW, 0)}, syscall.EINVAL},
		{"no host rings, both", "nohost", []regOpt{mode(abi.ModeNICSW, 0)}, syscall.EINVAL},
		{"null without memory", "", []regOpt{mode(abi.ModeNull, 0)}, syscall.EINVAL},
		{"null with memory", "", []regOpt{mode(abi.ModeNull, 0), memID(1)}, 0},
		{"unknown memory", "eth0", []regOpt{memID(77)}, syscall.EINVAL},
		{"memory of another group", "eth0", []regOpt{memID(2)}, syscall.ENOMEM},
		{"4096 slots in a default ring object", "big", nil, syscall.ENOMEM},
		{"130 entries in a default If", "wide", nil, syscall.ENOMEM},
		{"more slots than buffers", "many", nil, syscall.ENOMEM},
		{"a fraction of the rings fits", "many", []regOpt{mode(abi.ModeOneNIC, 0)}, 0},
		{"MTU over the buffer", MTU, nil, syscall.EINVAL},
		{"MTU does not matter for send only", MTU, []regOpt{flags(abi.FlagTxRingsOnly)}, 0},
		{"MTU with chains", "jumbo", nil, 0},
		{"VALE name without port", "vale0", nil, syscall.EINVAL},
		{"VALE name with bad character", "vale0:a.b", nil, syscall.EINVAL},
		{"VALE name too long", "vale0:abcdefghijk", nil, syscall.EINVAL},
		{"VALE port with the name of an interface", "vale0:eth0", nil, syscall.EINVAL},
		{"pipe without id", "eth0{", nil, syscall.EINVAL},
		{"pipe with two braces", "eth0{1}2", nil, syscall.EINVAL},
		{"monitor", "eth0", []regOpt{flags(abi.FlagMonitorRX)}, syscall.EOPNOTSUPP},
		{"no tx poll and others", "eth0", []regOpt{flags(abi.FlagNoTxPoll | abi.FlagDoRxPoll)}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newConn(t, w)
			if e := k.register(c.port, c.opts...); e != c.want {
				t.Errorf("errno %v, want %v", e, c.want)
			}
			if c.want != 0 { // the descriptor can be used again
				if e := k.register("eth0"); e != 0 {
					t.Errorf("another try: %v", e)
				}
			}
			k.close()
			for id, r := range w.regions {
				if r.users != 0 || r.mem != nil {
					t.Errorf("region %d: %d users left", id, r.users)
				}
			}
		})
	}
	noLeak(t, w)
}

func TestRequestChecks(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{}))
	for _, c := range []struct {
		name string
		f    func(h *abi.Header)
		want syscall.Errno
	}{
		{"API 13", func(h *abi.Header) { h.Version = 13 }, syscall.EINVAL},
		{"API 14", func(h *abi.Header) {}, 0},
		{"API 15", func(h *abi.Header) { h.Version = 15 }, 0},
		{"API 16", func(h *abi.Header) { h.Version = 16 }, syscall.EINVAL},
		{"reserved", func(h *abi.Header) { h.Reserved = 1 }, syscall.EINVAL},
		{"no body", func(h *abi.Header) { h.Body = 0 }, syscall.EINVAL},
		{"body where none belongs", func(h *abi.Header) { h.ReqType = abi.ReqValeDelif }, syscall.EINVAL},
		{"unknown request", func(h *abi.Header) { h.ReqType = 99 }, syscall.EINVAL},
		{"unknown request, no body", func(h *abi.Header) { h.ReqType, h.Body = 99, 0 }, syscall.EINVAL},
		{"body at a bad address", func(h *abi.Header) { h.Body = 4096 }, syscall.EFAULT},
		{"options at a bad address", func(h *abi.Header) { h.Options = 4096 }, syscall.EFAULT},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newConn(t, w)
			h, r, _ := k.call.Register("eth0")
			r.Mode = abi.ModeAllNIC
			c.f(h)
			v := h.Version
			if e := k.k.Ioctl(k.fd, k.num.Ctrl, k.call.Arg()); e != c.want {
				t.Errorf("errno %v, want %v", e, c.want)
			}
			if h.Version != v {
				t.Errorf("version became %d", h.Version)
			}
			if c.want != 0 && r.MemSize != 0 {
				t.Error("body written back on failure")
			}
			k.close()
		})
	}
}

func TestUnboundDescriptor(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{}))
	c := newConn(t, w)
	if e := c.txsync(); e != syscall.ENXIO {
		t.Errorf("txsync: %v", e)
	}
	if e := c.rxsync(); e != syscall.ENXIO {
		t.Errorf("rxsync: %v", e)
	}
	if _, e := c.k.Map(c.fd, 4096); e != syscall.EINVAL {
		t.Errorf("map: %v", e)
	}
	if r := c.poll(abi.PollIn, 0); r != abi.PollErr {
		t.Errorf("poll: %#x", r)
	}
	_, body, _ := c.call.Begin(abi.ReqPoolsInfoGet, "")
	_ = body
	if e := c.k.Ioctl(c.fd, c.num.Ctrl, c.call.Arg()); e != syscall.ENXIO {
		t.Errorf("pools info: %v", e)
	}
	if e := c.k.Ioctl(c.fd, 0x1234, nil); e != syscall.EOPNOTSUPP {
		t.Errorf("unknown ioctl: %v", e)
	}
	if e := c.k.Ioctl(c.fd, c.num.Ctrl, nil); e != syscall.EFAULT {
		t.Errorf("no argument: %v", e)
	}
	c.close()
	if e := c.txsync(); e != syscall.EBADF {
		t.Errorf("closed: %v", e)
	}
	if e := c.k.Close(c.fd); e != syscall.EBADF {
		t.Errorf("closed twice: %v", e)
	}
}

func TestBusy(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{TxRings: 2, RxRings: 2}))
	a := open(t, w, "eth0")
	if e := a.register("eth0"); e != syscall.EBUSY {
		t.Errorf("bound twice: %v", e)
	}
	b := newConn(t, w)
	if e := b.register("eth0", flags(abi.FlagExclusive)); e != syscall.EBUSY {
		t.Errorf("exclusive beside another: %v", e)
	}
	if e := b.register("eth0"); e != 0 {
		t.Errorf("shared: %v", e)
	}
	b.close()
	a.close()
	x := open(t, w, "eth0", flags(abi.FlagExclusive), mode(abi.ModeOneNIC, 1))
	y := newConn(t, w)
	if e := y.register("eth0", mode(abi.ModeOneNIC, 1)); e != syscall.EBUSY {
		t.Errorf("beside an exclusive one: %v", e)
	}
	if e := y.register("eth0", mode(abi.ModeOneNIC, 0)); e != 0 {
		t.Errorf("another ring: %v", e)
	}
	x.close()
	y.close()
	noLeak(t, w)
}

// Section 8: which rings a mode binds, as seen in the table of the If.
func TestRingSelection(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{TxRings: 3, RxRings: 2, HostRings: 2, TxSlots: 16, RxSlots: 32}))
	for _, c := range []struct {
		name   string
		opts   []regOpt
		tx, rx string // a letter per entry, host rings after '|'
	}{
		{"all", nil, "111|00", "11|00"},
		{"host", []regOpt{mode(abi.ModeSW, 0)}, "000|11", "00|11"},
		{"both", []regOpt{mode(abi.ModeNICSW, 0)}, "111|11", "11|11"},
		{"one", []regOpt{mode(abi.ModeOneNIC, 1)}, "010|00", "01|00"},
		{"fallback to ring 0", []regOpt{mode(abi.ModeOneNIC, 2)}, "001|00", "10|00"},
		{"one host", []regOpt{mode(abi.ModeOneSW, 1)}, "000|01", "00|01"},
		{"rx only", []regOpt{flags(abi.FlagRxRingsOnly)}, "000|00", "11|00"},
		{"tx only", []regOpt{flags(abi.FlagTxRingsOnly)}, "111|00", "00|00"},
		{"one, tx only", []regOpt{mode(abi.ModeOneNIC, 2), flags(abi.FlagTxRingsOnly)}, "001|00", "00|00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := open(t, w, "eth0", c.opts...)
			defer k.close()
			got := func(first, nic, all uint32) (s string) {
				for i := uint32(0); i < all; i++ {
					if i == nic {
						s += "|"
					}
					if k.ifp.RingOfs(first+i) != 0 {
						s += "1"
					} else {
						s += "0"
					}
				}
				return s
			}
			if tx := got(k.ifp.TxEntry(0), 3, 5); tx != c.tx {
				t.Errorf("tx %s, want %s", tx, c.tx)
			}
			if rx := got(k.ifp.RxEntry(0), 2, 4); rx != c.rx {
				t.Errorf("rx %s, want %s", rx, c.rx)
			}
			if r := k.reg; r.TxRings != 3 || r.RxRings != 2 || r.HostTxRings != 2 || r.TxSlots != 16 || r.RxSlots != 32 || r.MemID != 1 {
				t.Errorf("reply %+v", r)
			}
		})
	}
}

// Section 5 and 7: the If, the rings and where buffers are.
func TestLayout(t *testing.T) {
	w := NewWorld(Config{}) // netmap's own sizes, but the number of buffers
	t.Cleanup(w.Close)
	must(t, w.NIC("eth0", NICConfig{}))
	c := open(t, w, "eth0")
	tx, rx := c.txr(0), c.rxr(0)
	if want := uint64(7475200 + 2048*32768); c.reg.MemSize != want {
		t.Errorf("memsize %d, want %d", c.reg.MemSize, want)
	}
	for _, r := range []*abi.Ring{tx, rx} {
		off := int64(uintptr(unsafe.Pointer(r)) - uintptr(unsafe.Pointer(c.ifp)) + uintptr(c.reg.Offset))
		if off+r.BufOfs() != 7475200 || (off-102400)%36864 != 0 {
			t.Errorf("ring at %d, buffers at %d", off, off+r.BufOfs())
		}
		seen := map[uint32]bool{}
		for i := uint32(0); i < r.NumSlots(); i++ {
			idx, n, fl := r.Slot(i).Load()
			if idx < abi.FirstBuf || seen[idx] || n != 2048 || fl != 0 {
				t.Fatalf("slot %d: index %d length %d flags %#x", i, idx, n, fl)
			}
			seen[idx] = true
		}
	}
	if tx.Head() != 0 || tx.Cur() != 0 || tx.Tail() != 1023 || rx.Head() != 0 || rx.Tail() != 0 {
		t.Error("indices of fresh rings")
	}
	if c.ifp.Name() != "eth0" || c.ifp.Flags() != 0 || c.ifp.Entries() != 4 {
		t.Errorf("If %q flags %d entries %d", c.ifp.Name(), c.ifp.Flags(), c.ifp.Entries())
	}
	_, body, _ := c.call.Begin(abi.ReqPoolsInfoGet, "eth0")
	if e := c.k.Ioctl(c.fd, c.num.Ctrl, c.call.Arg()); e != 0 {
		t.Fatal(e)
	}
	p := (*abi.PoolsInfo)(body)
	if p.RingOffset != 102400 || p.BufOffset != 7475200 || p.BufObjTotal != 32768 || p.BufObjSize != 2048 || p.IfObjTotal != 100 {
		t.Errorf("pools %+v", *p)
	}
	c.close()
	noLeak(t, w)
}

func TestPortInfo(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{TxRings: 2, MemID: 3}))
	c := newConn(t, w)
	ask := func(name string, mem uint16) (abi.PortInfo, syscall.Errno) {
		_, body, _ := c.call.Begin(abi.ReqPortInfoGet, name)
		p := (*abi.PortInfo)(body)
		p.MemID = mem
		e := c.k.Ioctl(c.fd, c.num.Ctrl, c.call.Arg())
		return *p, e
	}
	if p, e := ask("", 0); e != 0 || p.MemID != 1 || p.MemSize == 0 {
		t.Errorf("memory 1: %+v %v", p, e)
	}
	if _, e := ask("", 9); e != syscall.EINVAL {
		t.Errorf("memory 9: %v", e)
	}
	if p, e := ask("eth0", 0); e != 0 || p.MemID != 3 || p.TxRings != 2 || p.RxRings != 1 || p.TxSlots != 1024 {
		t.Errorf("eth0: %+v %v", p, e)
	}
	if _, e := ask("eth1", 0); e != syscall.ENXIO {
		t.Errorf("eth1: %v", e)
	}
	if p, e := ask("vale0:x", 0); e != 0 || p.TxRings != 1 || p.HostTxRings != 0 {
		t.Errorf("vale0:x: %+v %v", p, e)
	}
	if len(w.bridges) != 0 || len(w.regions) != 2 {
		t.Errorf("the asked port stays: %d switches, %d regions", len(w.bridges), len(w.regions))
	}
	c.close()
}

// Section 7.4: who shares memory with whom, seen in the returned ids.
func TestMemoryIDs(t *testing.T) {
	w := testWorld(t, Config{Private: Geometry{BufNum: 4200, RingNum: 8}})
	must(t, w.NIC("eth0", NICConfig{}))
	must(t, w.NIC("eth1", NICConfig{}))
	must(t, w.NIC("eth2", NICConfig{MemID: 5}))
	ids := func(names ...string) (s string) {
		var open1 []*conn
		for _, n := range names {
			c := open(t, w, n)
			open1 = append(open1, c)
			s += fmt.Sprint(c.reg.MemID, " ")
		}
		for _, c := range open1 {
			c.close()
		}
		return s
	}
	if g := ids("eth0", "eth1", "eth2", "eth2{a", "eth0}b"); g != "1 1 5 5 1 " {
		t.Error(g)
	}
	if g := ids("vale0:a", "vale0:b", "vale0:a{1", "none{1"); g != "2 3 2 4 " {
		t.Error(g)
	}
	a := open(t, w, "vale0:a", memID(1))
	if a.reg.MemID != 1 || a.ifp.Flags()&abi.IfPrivMem != 0 {
		t.Errorf("asked for region 1, got %d", a.reg.MemID)
	}
	a.close()
	n := open(t, w, "", mode(abi.ModeNull, 0), memID(5), extra(7))
	if n.reg.MemID != 5 || n.reg.ExtraBufs != 7 || n.reg.TxRings != 0 {
		t.Errorf("null port %+v", n.reg)
	}
	for idx := n.ifp.BufsHead(); idx != 0; idx = *(*uint32)(w.regions[5].buf(idx)) {
		if idx < abi.FirstBuf {
			t.Fatal("bad list")
		}
	}
	n.close()
	noLeak(t, w)
}
