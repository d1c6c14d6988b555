// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// TestABIVersion: 14 and 15 are accepted, their neighbours not, and the version is
// not written back, whatever the header file promises.
func TestABIVersion(t *testing.T) {
	w := newABI(t)
	for v, want := range map[uint16]syscall.Errno{11: syscall.EINVAL, 13: syscall.EINVAL, 14: 0, 15: 0, 16: syscall.EINVAL} {
		r := w.open()
		errno := r.ctrl(abi.ReqPortInfoGet, "", func(_ *abi.Call, h *abi.Header, _ unsafe.Pointer) { h.Version = v })
		if errno != want {
			t.Errorf("version %d: %v, want %v", v, errno, want)
		}
		if r.hdr.Version != v {
			t.Errorf("version %d became %d", v, r.hdr.Version)
		}
	}
}

// TestABIErrno is the table of what the kernel refuses, and with which errno.
func TestABIErrno(t *testing.T) {
	w := newABI(t)
	type edit = func(*abi.Call, *abi.Header, *abi.Register)
	for _, c := range []struct {
		what  string
		port  string
		mode  uint32
		flags uint64
		edit  edit
		want  syscall.Errno
	}{
		{"good", w.a, abi.ModeAllNIC, 0, nil, 0},
		{"one ring", w.a, abi.ModeOneNIC, 0, nil, 0},
		{"no such port", "nosuch0", abi.ModeAllNIC, 0, nil, syscall.ENXIO},
		{"empty name", "", abi.ModeAllNIC, 0, nil, syscall.ENXIO},
		{"library prefix", "netmap:lo", abi.ModeAllNIC, 0, nil, syscall.ENXIO},
		{"loopback", "lo", abi.ModeAllNIC, 0, nil, syscall.EINVAL},
		{"mode 0", w.a, 0, 0, nil, syscall.EINVAL},
		{"mode 5", w.a, 5, 0, nil, syscall.EINVAL},
		{"mode 99", w.a, 99, 0, nil, syscall.EINVAL},
		{"ring out of range", w.a, abi.ModeOneNIC, 0, func(_ *abi.Call, _ *abi.Header, r *abi.Register) { r.RingID = 4000 }, syscall.EINVAL},
		{"host ring out of range", w.a, abi.ModeOneSW, 0, func(_ *abi.Call, _ *abi.Header, r *abi.Register) { r.RingID = 4000 }, syscall.EINVAL},
		{"host rings of a switch port", "vale9:a", abi.ModeSW, 0, nil, syscall.EINVAL},
		{"memory only, without memory", "x", abi.ModeNull, 0, nil, syscall.EINVAL},
		{"unknown memory", w.a, abi.ModeAllNIC, 0, func(_ *abi.Call, _ *abi.Header, r *abi.Register) { r.MemID = 999 }, syscall.EINVAL},
		{"reserved field", w.a, abi.ModeAllNIC, 0, func(_ *abi.Call, h *abi.Header, _ *abi.Register) { h.Reserved = 1 }, syscall.EINVAL},
		{"no body", w.a, abi.ModeAllNIC, 0, func(_ *abi.Call, h *abi.Header, _ *abi.Register) { h.Body = 0 }, syscall.EINVAL},
		{"unknown request", w.a, abi.ModeAllNIC, 0, func(_ *abi.Call, h *abi.Header, _ *abi.Register) { h.ReqType = 99 }, syscall.EINVAL},
		{"request 0", w.a, abi.ModeAllNIC, 0, func(_ *abi.Call, h *abi.Header, _ *abi.Register) { h.ReqType = 0 }, syscall.EINVAL},
		{"option not honoured", w.a, abi.ModeAllNIC, 0, func(c *abi.Call, _ *abi.Header, _ *abi.Register) { c.AddOption(abi.OptSyncKloopMode, 0) }, syscall.EOPNOTSUPP},
		{"option type 0", w.a, abi.ModeAllNIC, 0, func(c *abi.Call, _ *abi.Header, _ *abi.Register) {
			(*abi.Option)(c.AddOption(abi.OptOffsets, 0)).ReqType = 0
		}, syscall.EINVAL},
		{"same option twice", w.a, abi.ModeAllNIC, 0, func(c *abi.Call, _ *abi.Header, _ *abi.Register) {
			c.AddOption(abi.OptOffsets, 0)
			c.AddOption(abi.OptOffsets, 0)
		}, syscall.EINVAL},
		{"options in a loop", w.a, abi.ModeAllNIC, 0, func(c *abi.Call, h *abi.Header, _ *abi.Register) {
			(*abi.Option)(c.AddOption(abi.OptOffsets, 0)).Next = h.Options // found twice
		}, syscall.EINVAL},
		{"unknown options in a loop", w.a, abi.ModeAllNIC, 0, func(c *abi.Call, h *abi.Header, _ *abi.Register) {
			o := (*abi.Option)(c.AddOption(abi.OptOffsets, 0))
			o.ReqType, o.Next = 50, h.Options
		}, syscall.EMSGSIZE},
		{"unknown option", w.a, abi.ModeAllNIC, 0, func(c *abi.Call, h *abi.Header, _ *abi.Register) {
			(*abi.Option)(c.AddOption(abi.OptOffsets, 0)).ReqType = 50
		}, syscall.EOPNOTSUPP},
		{"good after all of this", w.a, abi.ModeAllNIC, abi.FlagExclusive, nil, 0},
	} {
		r := w.open()
		errno := r.ctrl(abi.ReqRegister, c.port, func(call *abi.Call, h *abi.Header, body unsafe.Pointer) {
			q := (*abi.Register)(body)
			q.Mode, q.Flags = c.mode, c.flags
			if c.edit != nil {
				c.edit(call, h, q)
			}
		})
		if errno != c.want {
			t.Errorf("%s: %v, want %v", c.what, errno, c.want)
		}
		r.close()
	}
}

// TestABIUnbound: what a descriptor answers before it is bound, and that a failed
// registration leaves it usable.
func TestABIUnbound(t *testing.T) {
	w := newABI(t)
	r := w.open()
	if e := r.txSync(); e != syscall.ENXIO {
		t.Errorf("txsync: %v", e)
	}
	if e := r.rxSync(); e != syscall.ENXIO {
		t.Errorf("rxsync: %v", e)
	}
	if _, e := r.pools(""); e != syscall.ENXIO {
		t.Errorf("pools info: %v", e)
	}
	if _, e := r.pools(w.a); e != 0 {
		t.Errorf("pools info of a named port: %v", e)
	}
	if rev, e := w.k.Poll(r.fd, abi.PollIn, 0); e != 0 || rev&abi.PollErr == 0 {
		t.Errorf("poll: %#x %v", rev, e)
	}
	if m, e := w.k.Map(r.fd, 4096); e == 0 {
		m.Unmap()
		t.Error("a descriptor that is not bound was mapped")
	}
	if e := r.register("nosuch0", abi.ModeAllNIC, 0, nil); e != syscall.ENXIO {
		t.Errorf("no such port: %v", e)
	}
	if e := r.register(w.a, abi.ModeAllNIC, 0, nil); e != 0 {
		t.Errorf("register after a failed one: %v", e)
	}
	if e := r.register(w.a, abi.ModeAllNIC, 0, nil); e != syscall.EBUSY {
		t.Errorf("register twice: %v", e)
	}
}

// TestABIExclusive: a ring that one has exclusively is nobody else's, per direction.
func TestABIExclusive(t *testing.T) {
	w := newABI(t)
	const rx, tx, x = abi.FlagRxRingsOnly, abi.FlagTxRingsOnly, abi.FlagExclusive
	for _, port := range []string{w.a, "vale7:e"} {
		first := w.bind(port, abi.ModeOneNIC, rx|x, nil)
		if e := w.open().register(port, abi.ModeOneNIC, rx|x, nil); e != syscall.EBUSY {
			t.Errorf("%s: the same ring exclusively again: %v", port, e)
		}
		if e := w.open().register(port, abi.ModeAllNIC, 0, nil); e != syscall.EBUSY {
			t.Errorf("%s: the same ring shared: %v", port, e)
		}
		second := w.open()
		if e := second.register(port, abi.ModeOneNIC, tx|x, nil); e != 0 {
			t.Errorf("%s: the other direction: %v", port, e)
		}
		first.close()
		second.close()
		s1, s2 := w.open(), w.open()
		if e := s1.register(port, abi.ModeAllNIC, 0, nil); e != 0 {
			t.Errorf("%s: shared, after exclusive use: %v", port, e)
		}
		if e := s2.register(port, abi.ModeAllNIC, 0, nil); e != 0 {
			t.Errorf("%s: shared twice: %v", port, e)
		}
		if e := w.open().register(port, abi.ModeAllNIC, x, nil); e != syscall.EBUSY {
			t.Errorf("%s: exclusive while shared: %v", port, e)
		}
	}
}

// TestABILayout: what registration returns and where the rings are.
func TestABILayout(t *testing.T) {
	w := newABI(t)
	for _, c := range []struct {
		port string
		mode uint32
	}{{w.a, abi.ModeAllNIC}, {w.a, abi.ModeNICSW}, {"vale7:l", abi.ModeAllNIC}, {"vale7:l{1", abi.ModeAllNIC}, {"pp}2", abi.ModeAllNIC}} {
		r := w.bind(c.port, c.mode, 0, nil)
		tx, rx := r.nif.Rings()
		htx, hrx := r.nif.HostRings()
		if tx != uint32(r.reg.TxRings) || rx != uint32(r.reg.RxRings) || htx < 1 || hrx < 1 {
			t.Errorf("%s: if has %d %d %d %d rings, the reply %+v", c.port, tx, rx, htx, hrx, r.reg)
		}
		seen := map[uint32]string{}
		check := func(what string, g *abi.Ring, wantTail uint32) {
			if g.Head() != 0 || g.Cur() != 0 || g.Tail() != wantTail {
				t.Errorf("%s %s: head %d cur %d tail %d, want 0 0 %d", c.port, what, g.Head(), g.Cur(), g.Tail(), wantTail)
			}
			for i := uint32(0); i < g.NumSlots(); i++ {
				idx, _, _ := g.Slot(i).Load()
				if o := seen[idx]; idx < abi.FirstBuf || o != "" {
					t.Fatalf("%s %s slot %d: buffer %d (also in %s)", c.port, what, i, idx, o)
				}
				seen[idx] = what
			}
		}
		check("tx", r.tx(0), r.tx(0).NumSlots()-1)
		check("rx", r.rx(0), 0)
		host := c.mode == abi.ModeNICSW
		if bound := r.nif.RingOfs(r.nif.TxEntry(tx)) != 0; bound != host {
			t.Errorf("%s mode %d: host tx ring bound: %v", c.port, c.mode, bound)
		}
		if bound := r.nif.RingOfs(r.nif.RxEntry(rx)) != 0; bound != host {
			t.Errorf("%s mode %d: host rx ring bound: %v", c.port, c.mode, bound)
		}
		// the region is found by the port's name, not by what the descriptor binds
		p, errno := r.pools(c.port)
		if errno != 0 || p.MemID != r.reg.MemID || p.MemSize != r.reg.MemSize || p.BufObjSize != r.rx(0).BufSize() {
			t.Errorf("%s: pools %+v, %v", c.port, p, errno)
		}
		if _, errno = r.pools(""); errno != syscall.ENXIO {
			t.Errorf("%s: pools without a name: %v", c.port, errno)
		}
		g := &region{c: w.v.c, base: r.m.Off(), size: r.reg.MemSize}
		f := iface{f: r.nif}
		f.tx, f.rx = r.nif.Rings()
		f.htx, f.hrx = r.nif.HostRings()
		if err := g.findBuffers(c.port, f); err != nil || g.bufs.total != p.BufObjTotal || uint64(g.bufs.base64)<<6 != r.m.Off()+p.BufOffset {
			t.Errorf("%s: buffers worked out as %+v, the kernel says %+v, %v", c.port, g.bufs, p, err)
		}
		t.Logf("%s: region %d: %d x %d, %d x %d, %d x %d", c.port, p.MemID, p.IfObjTotal, p.IfObjSize, p.RingObjTotal, p.RingObjSize, p.BufObjTotal, p.BufObjSize)
		r.close()
	}
}

// TestABIExtra: extra buffers are granted, chained, in nobody's slots, and come back
// when they are put into the list.
func TestABIExtra(t *testing.T) {
	w := newABI(t)
	for _, port := range []string{w.a, "vale7:x"} {
		keep := w.bind(port, abi.ModeAllNIC, 0, nil)
		for round := range 3 {
			r := w.bind(port, abi.ModeAllNIC, 0, func(q *abi.Register) { q.ExtraBufs = 50 })
			if port == w.a && r.reg.ExtraBufs != 50 {
				t.Errorf("round %d: granted %d of 50", round, r.reg.ExtraBufs)
			}
			seen := map[uint32]bool{}
			for i := uint32(0); i < r.rx(0).NumSlots(); i++ {
				idx, _, _ := r.rx(0).Slot(i).Load()
				seen[idx] = true
			}
			n := uint32(0)
			for idx := r.nif.BufsHead(); idx != 0; n++ {
				if seen[idx] || n > r.reg.ExtraBufs {
					t.Fatalf("%s: extra buffer %d is in use, or the chain has no end", port, idx)
				}
				seen[idx] = true
				idx = *(*uint32)(unsafe.Pointer(unsafe.SliceData(bufOf(r.rx(0), idx))))
			}
			if n != r.reg.ExtraBufs {
				t.Errorf("%s: %d buffers in the chain, %d granted", port, n, r.reg.ExtraBufs)
			}
			r.close()
		}
		keep.close()
	}
}

// TestABINull: a descriptor that binds no port maps a region and owns extra buffers,
// and a list may be given back through another descriptor than it came from.
func TestABINull(t *testing.T) {
	w := newABI(t)
	for _, port := range []string{w.a, "vale7:n"} {
		p := w.bind(port, abi.ModeAllNIC, 0, func(q *abi.Register) { q.ExtraBufs = 20 })
		n := w.bind("anything", abi.ModeNull, 0, func(q *abi.Register) { q.MemID = p.reg.MemID })
		if n.reg.MemID != p.reg.MemID || n.reg.MemSize != p.reg.MemSize {
			t.Errorf("%s: region %d of %d bytes, the port's is %d of %d", port, n.reg.MemID, n.reg.MemSize, p.reg.MemID, p.reg.MemSize)
		}
		if tx, rx := n.nif.Rings(); tx != 0 || rx != 0 {
			t.Errorf("%s: %d and %d rings", port, tx, rx)
		}
		n.nif.SetBufsHead(p.nif.BufsHead())
		p.nif.SetBufsHead(0)
		p.close()
		n.close()
	}
}

// TestABIPollTimeout: a poll without anything to see ends in time.
func TestABIPollTimeout(t *testing.T) {
	w := newABI(t)
	r := w.bind("vale7:t", abi.ModeAllNIC, abi.FlagNoTxPoll, nil)
	start := time.Now()
	rev, e := w.k.Poll(r.fd, abi.PollIn, 20*time.Millisecond)
	if e != 0 || rev != 0 {
		t.Errorf("poll: %#x %v", rev, e)
	}
	if d := time.Since(start); d < 15*time.Millisecond || d > 5*time.Second {
		t.Errorf("poll of 20 ms took %v", d)
	}
}
