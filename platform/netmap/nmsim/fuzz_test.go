// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"encoding/binary"
	"testing"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// program is what the fuzzer's bytes say: calls of clients that keep no rules. Words
// are small numbers, indices around the limits, or anything.
type program struct {
	b      []byte
	limits []uint32
}

func (p *program) byte() byte {
	if len(p.b) == 0 {
		return 0
	}
	v := p.b[0]
	p.b = p.b[1:]
	return v
}

func (p *program) word() uint32 {
	v := p.byte()
	switch v >> 6 {
	case 0:
		return uint32(v)
	case 1:
		return p.limits[int(v)%len(p.limits)] + uint32(v>>3&7) - 4
	case 2:
		return uint32(v&63)<<8 | uint32(p.byte())
	}
	var w [4]byte
	p.b = p.b[copy(w[:], p.b):]
	return binary.LittleEndian.Uint32(w[:])
}

// fuzzMem is made anew in each run.
var fuzzMem = Geometry{IfNum: 4, RingNum: 24, RingSize: 512, BufSize: 256, BufNum: 160}

// The worlds that ring programs run in.
var ringWorlds = []struct {
	names []string
	mode  uint32
	make  func(w *World) error
}{
	{[]string{"eth0", "eth1"}, abi.ModeAllNIC, func(w *World) error {
		c := NICConfig{MoreFrag: true, TxSlots: 8, RxSlots: 9, TxRings: 2, RxRings: 2, Source: &SourceConfig{Frags: 2, Len: 100}, Sink: &SinkConfig{}}
		return both(w, c, false)
	}},
	{[]string{"eth0", "eth1"}, abi.ModeAllNIC, func(w *World) error {
		return both(w, NICConfig{MoreFrag: true, TxSlots: 8, RxSlots: 9, TxRings: 2, RxRings: 2}, true)
	}},
	{[]string{"eth0", "eth1"}, abi.ModeAllNIC, func(w *World) error {
		return both(w, NICConfig{TxSlots: 8, RxSlots: 9, TxDelaySyncs: 2}, true)
	}},
	{[]string{"eth0", "eth0"}, abi.ModeSW, func(w *World) error { return both(w, NICConfig{TxSlots: 8, RxSlots: 9}, false) }},
	{[]string{"x{1", "x}1"}, abi.ModeAllNIC, func(w *World) error { return nil }},
	{[]string{"vale0:a", "vale0:b"}, abi.ModeAllNIC, func(w *World) error { return nil }},
}

func both(w *World, c NICConfig, cable bool) error {
	for _, n := range []string{"eth0", "eth1"} {
		if err := w.NIC(n, c); err != nil {
			return err
		}
	}
	if cable {
		return w.Cable("eth0", "eth1")
	}
	return nil
}

// FuzzRings writes whatever the fuzzer says into rings, slots, lists and buffers of two
// ports, and syncs: the kernel's side must stay inside the region, keep its own indices in
// range, go on working for a port that is opened anew, and account for what it took.
func FuzzRings(f *testing.F) {
	for world := range ringWorlds {
		f.Add([]byte{byte(world), 4, 0, 0, 60, 7, 0, 8, 1, 5, 1, 9, 0})
		f.Add([]byte{byte(world), 4, 0, 2, 60, 0, 0, 1, 65, 60, 1, 4, 0, 7, 200, 7, 0, 6, 1, 0xff, 1, 2, 3, 4, 7, 1, 8, 0})
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 4 || len(b) > 2000 {
			return
		}
		p := &program{b: b[1:]}
		world := ringWorlds[int(b[0])%len(ringWorlds)]
		w := NewWorld(Config{Mem: fuzzMem, Private: fuzzMem})
		defer w.Close()
		if err := world.make(w); err != nil {
			t.Fatal(err)
		}
		ports, ok := openAll(t, w, world.names, world.mode, b[0]&0x80 != 0)
		if !ok {
			return
		}
		mem := w.regions[ports[0].reg.MemID]
		p.limits = []uint32{0, 8, 9, uint32(mem.geo.BufNum), abi.FirstBuf, uint32(mem.geo.BufSize), 14, 60}
		for len(p.b) > 0 {
			runRings(t, p, ports, mem)
		}
		for _, c := range ports {
			if e := c.k.Close(c.fd); e != 0 {
				t.Fatalf("close: %v", e)
			}
			c.m.Unmap()
		}
		if ports, ok = openAll(t, w, world.names, world.mode, false); !ok {
			t.Fatal("the ports can't be opened again")
		}
		for _, c := range ports {
			c.txsync()
			c.rxsync()
			c.k.Close(c.fd)
			c.m.Unmap()
		}
	})
}

func openAll(t *testing.T, w *World, names []string, mode uint32, offsets bool) (ports []*conn, ok bool) {
	for i, name := range names {
		c := newConn(t, w)
		if e := c.register(name, extra(3), slots(8, 9), func(r *abi.Register) {
			r.Mode = mode
			if mode == abi.ModeSW { // one descriptor a direction
				r.Flags |= []uint64{abi.FlagTxRingsOnly, abi.FlagRxRingsOnly}[i]
			}
			if offsets {
				o := (*abi.OptionOffsets)(c.call.AddOption(abi.OptOffsets, 0))
				o.MaxOffset, o.InitialOffset = 64, 16
			}
		}); e != 0 {
			for _, c := range ports {
				c.k.Close(c.fd)
				c.m.Unmap()
			}
			return nil, false
		}
		c.mmap()
		ports = append(ports, c)
	}
	return ports, true
}

// bound lists the rings that a descriptor sees.
func (c *conn) bound() (rings []*abi.Ring) {
	for i := range c.ifp.Entries() {
		if c.ifp.RingOfs(i) != 0 {
			rings = append(rings, c.ring(i))
		}
	}
	return rings
}

func runRings(t *testing.T, p *program, ports []*conn, mem *region) {
	c := ports[int(p.byte())%len(ports)]
	rings := c.bound()
	r := rings[int(p.byte())%len(rings)]
	n := r.NumSlots()
	s := r.Slot(p.word() % n)
	switch p.byte() % 12 {
	case 0:
		s.Store(p.word(), uint16(p.word()), uint16(p.word()))
	case 1:
		idx, _, fl := s.Load()
		s.Store(idx, uint16(p.word()), fl|abi.SlotMoreFrag)
	case 2:
		r.SetHead(p.word())
	case 3:
		r.SetHeadCur(p.word(), p.word())
	case 4: // frames as they should be
		for h, k := r.Head(), p.word()%n; h < n && k > 0; k-- {
			idx, _, fl := r.Slot(h).Load()
			r.Slot(h).Store(idx, uint16(p.word()), fl)
			h = abi.Next(h, n)
			r.SetHead(h)
		}
	case 5:
		r.SetHead(r.Tail())
	case 6:
		r.SetTail(p.word())
	case 7:
		c.txsync()
	case 8:
		c.rxsync()
	case 9:
		c.k.Poll(c.fd, int16(p.byte()), 0)
	case 10:
		s.SetPtr(uint64(p.word())<<32 | uint64(p.word()))
		r.SetFlags(p.word())
	case 11:
		c.ifp.SetBufsHead(p.word())
		*(*uint32)(mem.buf(p.word() % uint32(mem.geo.BufNum))) = p.word()
	}
	for _, k := range ringsOf(c) {
		if k.hwcur >= k.n || k.hwtail >= k.n || k.txDone >= k.n || k.rhead >= k.n || k.rtail >= k.n || k.rcur >= k.n {
			t.Fatalf("%s ring %d of %d slots: the kernel's own indices are %d %d %d, %d %d %d", k.port.name, k.num, k.n, k.hwcur, k.hwtail, k.txDone, k.rhead, k.rcur, k.rtail)
		}
		for i, idx := range k.dma[:k.n] {
			if !k.validBuf(idx) {
				t.Fatalf("%s ring %d: the hardware has buffer %d for slot %d", k.port.name, k.num, idx, i)
			}
		}
	}
}

func ringsOf(c *conn) []*kring { return c.k.(*kernel).world().file(c.fd).bind.Load().all() }

// A chain whose first slot is empty has no addresses to choose a receive ring by.
func TestEmptyHeadOfChain(t *testing.T) {
	w := testWorld(t, Config{Mem: tiny})
	if err := both(w, NICConfig{MoreFrag: true, TxSlots: 8, RxSlots: 9, TxRings: 2, RxRings: 2}, true); err != nil {
		t.Fatal(err)
	}
	a, b := open(t, w, "eth0"), open(t, w, "eth1")
	r := a.txr(0)
	i0, _, _ := r.Slot(0).Load()
	i1, _, _ := r.Slot(1).Load()
	r.Slot(0).Store(i0, 0, abi.SlotMoreFrag)
	r.Slot(1).Store(i1, 60, 0)
	r.SetHead(2)
	a.txsync()
	b.rxsync()
	if n := len(b.recv(b.rxr(0))) + len(b.recv(b.rxr(1))); n != 1 {
		t.Errorf("%d frames came", n)
	}
	a.close()
	b.close()
}
