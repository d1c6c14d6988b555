// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/platform/netmap/abi"
)

// Geometries that cost little: for rings of 1024 slots, and for rings of a few.
var (
	small = Geometry{RingNum: 24, BufNum: 8192}
	tiny  = Geometry{RingNum: 24, RingSize: 4096, BufNum: 512}
)

func testWorld(t testing.TB, cfg Config) *World {
	t.Helper()
	if cfg.Mem == (Geometry{}) {
		cfg.Mem = small
	}
	w := NewWorld(cfg)
	t.Cleanup(w.Close)
	return w
}

// conn is a minimal client of one descriptor.
type conn struct {
	t    testing.TB
	k    abi.Kernel
	num  abi.Numbers
	fd   int
	call *abi.Call
	reg  abi.Register
	m    abi.Mapping
	ifp  *abi.If
}

type regOpt func(r *abi.Register)

func newConn(t testing.TB, w *World) *conn {
	t.Helper()
	c := &conn{t: t, k: w.Kernel()}
	c.num = c.k.Numbers()
	var e syscall.Errno
	if c.fd, e = c.k.Open(); e != 0 {
		t.Fatalf("open: %v", e)
	}
	call, err := abi.NewCall()
	if err != nil {
		t.Fatal(err)
	}
	c.call = call
	t.Cleanup(func() { call.Close() })
	return c
}

func (c *conn) register(name string, f ...regOpt) syscall.Errno {
	c.t.Helper()
	h, r, err := c.call.Register(name)
	if err != nil {
		c.t.Fatal(err)
	}
	_ = h
	r.Mode = abi.ModeAllNIC
	for _, o := range f {
		o(r)
	}
	e := c.k.Ioctl(c.fd, c.num.Ctrl, c.call.Arg())
	c.reg = *r
	return e
}

// open registers and maps, or fails the test.
func open(t testing.TB, w *World, name string, f ...regOpt) *conn {
	t.Helper()
	c := newConn(t, w)
	if e := c.register(name, f...); e != 0 {
		t.Fatalf("register %s: %v", name, e)
	}
	c.mmap()
	return c
}

func (c *conn) mmap() {
	c.t.Helper()
	m, e := c.k.Map(c.fd, c.reg.MemSize)
	if e != 0 {
		c.t.Fatalf("map: %v", e)
	}
	c.m = m
	c.ifp = (*abi.If)(arena.At(m.Off() + c.reg.Offset))
}

func (c *conn) close() {
	c.t.Helper()
	if c.m != nil {
		c.m.Unmap()
		c.m = nil
	}
	if e := c.k.Close(c.fd); e != 0 {
		c.t.Fatalf("close: %v", e)
	}
}

func (c *conn) ring(entry uint32) *abi.Ring {
	c.t.Helper()
	o := c.ifp.RingOfs(entry)
	if o == 0 {
		c.t.Fatalf("ring entry %d is not bound", entry)
	}
	return (*abi.Ring)(unsafe.Add(unsafe.Pointer(c.ifp), o))
}

func (c *conn) txr(i uint32) *abi.Ring { c.t.Helper(); return c.ring(c.ifp.TxEntry(i)) }
func (c *conn) rxr(i uint32) *abi.Ring { c.t.Helper(); return c.ring(c.ifp.RxEntry(i)) }

func (c *conn) txsync() syscall.Errno { return c.k.Ioctl(c.fd, c.num.TxSync, nil) }
func (c *conn) rxsync() syscall.Errno { return c.k.Ioctl(c.fd, c.num.RxSync, nil) }

func (c *conn) poll(ev int16, d time.Duration) int16 {
	c.t.Helper()
	r, e := c.k.Poll(c.fd, ev, d)
	if e != 0 {
		c.t.Fatalf("poll: %v", e)
	}
	return r
}

func data(r *abi.Ring, i uint32) []byte {
	idx, n, _ := r.Slot(i).Load()
	p := unsafe.Add(unsafe.Pointer(r), uintptr(r.BufOfs())+uintptr(idx)*uintptr(r.BufSize()))
	return unsafe.Slice((*byte)(p), r.BufSize())[:n]
}

func avail(r *abi.Ring) uint32 { return abi.Avail(r.Head(), r.Tail(), r.NumSlots()) }

// send queues frames, as many as fit, and returns how many.
func (c *conn) send(r *abi.Ring, frames ...[]byte) int {
	n := 0
	h := r.Head()
	for _, f := range frames {
		if h == r.Tail() {
			break
		}
		idx, _, fl := r.Slot(h).Load()
		r.Slot(h).Store(idx, uint16(len(f)), fl)
		copy(data(r, h), f)
		h = abi.Next(h, r.NumSlots())
		n++
	}
	r.SetHead(h)
	return n
}

// recv copies out what is visible.
func (c *conn) recv(r *abi.Ring) (out [][]byte) {
	h := r.Head()
	for h != r.Tail() {
		out = append(out, append([]byte(nil), data(r, h)...))
		h = abi.Next(h, r.NumSlots())
	}
	r.SetHead(h)
	return out
}

// swapForward exchanges buffers of up to n frames from rx to tx, and says how many. noRx
// and noTx leave BUF_CHANGED out on that side.
func swapForward(rx, tx *abi.Ring, n int, noRx, noTx bool) int {
	rh, th, done := rx.Head(), tx.Head(), 0
	for done < n && rh != rx.Tail() && th != tx.Tail() {
		rs, ts := rx.Slot(rh), tx.Slot(th)
		ri, ln, fl := rs.Load()
		ti, _, _ := ts.Load()
		rf, tf := uint16(abi.SlotBufChanged), fl&abi.SlotMoreFrag|abi.SlotBufChanged
		if noRx {
			rf = 0
		}
		if noTx {
			tf &^= abi.SlotBufChanged
		}
		rs.Store(ti, 0, rf)
		ts.Store(ri, ln, tf)
		rh, th = abi.Next(rh, rx.NumSlots()), abi.Next(th, tx.NumSlots())
		done++
	}
	rx.SetHead(rh)
	tx.SetHead(th)
	return done
}

func frame(b byte, n int) []byte {
	f := make([]byte, n)
	for i := range f {
		f[i] = b + byte(i)
	}
	copy(f, []byte{2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, b})
	return f
}

func noLeak(t testing.TB, w *World) {
	t.Helper()
	if l := w.Leaks(); l != (Leaks{}) {
		t.Errorf("leaks: %+v", l)
	}
}

func ptr(b *[16]uint64) unsafe.Pointer { return unsafe.Pointer(b) }

func bytesOf(b *[16]uint64) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(b)), 128) }

func b2(p unsafe.Pointer) []byte { return unsafe.Slice((*byte)(p), 8) }

func u32(p unsafe.Pointer) []uint32 { return unsafe.Slice((*uint32)(p), 2) }
