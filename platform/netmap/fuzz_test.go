// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/worker"
)

// handPort is a port whose memory the fuzzer writes: a receive and a send ring, each at
// the end of a range of its own, so that a slot behind the ring is a fault, and buffers in
// a third range.
type handPort struct {
	mem    []*arena.Range
	bufs   bufMap
	p, own *buffer.Pool // the region's, and one of its own
	d      *device
	rx     *rxQueue
	tx     *txQueue
}

const (
	handSlots   = 16
	handPackets = 96
	handBufSize = 256
)

func newHandPort(t *testing.T, set *worker.Set, zero, multi, offsets bool) *handPort {
	h := &handPort{}
	newRange := func(n uint64) *arena.Range {
		m, err := arena.New(arena.Config{Name: "fuzz", Size: n})
		if err != nil {
			t.Fatal(err)
		}
		h.mem = append(h.mem, m)
		return m
	}
	const total = abi.FirstBuf + 2*handSlots + handPackets
	m := newRange(total * handBufSize)
	h.bufs = bufMap{base64: uint32(m.Off >> 6), stride64: handBufSize / 64, total: total, size: handBufSize}
	newRing := func(first uint32) *abi.Ring {
		m := newRange(4096)
		r := (*abi.Ring)(arena.At(m.Off + m.Size - abi.RingSize - handSlots*abi.SlotSize))
		r.Init(0, handSlots, handBufSize, 0, 0, 0)
		for i := range uint32(handSlots) {
			r.Slot(i).Store(first+i, 0, 0)
		}
		return r
	}
	var err error
	if h.p, err = buffer.NewExternalPool(set, buffer.ExternalConfig{Name: "fuzz", Num: handPackets, BufSize: handBufSize, MaxLen: 65000}); err != nil {
		t.Fatal(err)
	}
	if h.own, err = buffer.NewPool(set, buffer.PoolConfig{Name: "fuzz own", Num: 48, Size: 100, MaxLen: 3000, Cache: -1}); err != nil {
		t.Fatal(err)
	}
	for i := range uint32(handPackets) {
		idx := abi.FirstBuf + 2*handSlots + i
		h.p.Attach(int(i), h.bufs.at(idx), idx)
	}
	reg := &region{bufs: h.bufs}
	own := &regionPool{Pool: h.p, reg: reg}
	h.d = &device{c: &conn{k: silent{}, prefix: "hand"}, name: "hand:made", reg: reg, own: own, pool: h.p, multi: multi}
	h.d.state.StoreSeq(stateRunning)
	mask := uint64(0)
	if offsets {
		mask = 0xff
	}
	rx := ring{r: newRing(abi.FirstBuf), n: handSlots, mask: mask, init: 16}
	h.rx = &rxQueue{d: h.d, bufs: h.bufs, pool: h.p, zero: zero, own: own, rings: []ring{rx}, half: handSlots / 2, segCap: handBufSize, fds: []int{3}}
	if !zero {
		h.rx.pool, h.rx.segCap, h.rx.head = h.own, uint32(h.own.SegCap()), uint32(h.own.Headroom())
	}
	tx := ring{r: newRing(abi.FirstBuf + handSlots), n: handSlots, mask: mask}
	h.tx = &txQueue{d: h.d, bufs: h.bufs, own: h.p, multi: multi, pad: !multi, floor: offsets && multi, g: tx}
	h.d.rx, h.d.tx = []*rxQueue{h.rx}, []*txQueue{h.tx}
	return h
}

// end checks that every header is there and names a buffer of the region; then it takes
// everything away. Which buffer it is can't be held against random indices: a slot that
// names one that is elsewhere too is a good slot.
func (h *handPort) end(t *testing.T) {
	if n := h.p.Attached(); n != h.p.Available() {
		t.Fatalf("%d packets have a buffer, %d are in the pool", n, h.p.Available())
	}
	if lost := int(h.d.reg.lost.LoadAcq()); h.p.Attached()+lost < handPackets {
		t.Fatalf("%d of %d packets have a buffer, %d are counted as lost", h.p.Attached(), handPackets, lost)
	}
	if err := h.p.Detach(func(buf, ext uint32) {
		if !h.bufs.ok(ext) || buf != h.bufs.at(ext) {
			t.Fatalf("a header names buffer %d at %#x of %d", ext, buf, h.bufs.total)
		}
	}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*buffer.Pool{h.p, h.own} {
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range h.mem {
		m.Close()
	}
}

// words reads what the fuzzer says.
type words struct{ b []byte }

func (p *words) byte() byte {
	if len(p.b) == 0 {
		return 0
	}
	v := p.b[0]
	p.b = p.b[1:]
	return v
}

func (p *words) word() uint32 {
	switch v := p.byte(); v >> 6 {
	case 0:
		return uint32(v)
	case 1:
		return []uint32{0, handSlots, handBufSize, abi.FirstBuf, abi.FirstBuf + 2*handSlots + handPackets, 60, 0xffff, 1 << 31}[v&7] + uint32(v>>3&7) - 4
	case 2:
		return uint32(v&63)<<8 | uint32(p.byte())
	}
	var w [4]byte
	p.b = p.b[copy(w[:], p.b):]
	return binary.LittleEndian.Uint32(w[:])
}

// FuzzClient writes whatever the fuzzer says into the rings of a port, as a kernel or
// another process could, while the client receives and sends: it touches nothing
// outside the region and loses no packet.
func FuzzClient(f *testing.F) {
	for kind := range byte(8) {
		f.Add([]byte{kind, 0, 5, 60, 0, 1, 2, 200, 1, 1, 4, 8, 9, 3, 60})
		f.Add([]byte{kind, 0, 1, 66, 0, 3, 3, 60, 1, 0, 3, 10, 60, 255, 1, 2, 3, 4, 4, 5, 6, 12, 250, 9, 3, 120, 8, 8, 8})
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 2 || len(b) > 2000 {
			return
		}
		set, w := newSet(t)
		h := newHandPort(t, set, b[0]&1 == 0, b[0]&2 != 0, b[0]&4 != 0)
		p := &words{b[1:]}
		var held []*buffer.Packet
		for len(p.b) > 0 {
			held = h.step(t, p, w, held)
		}
		buffer.FreePackets(w, held)
		if n := h.own.Available(); n != h.own.Num() {
			t.Fatalf("%d of %d packets of the other pool came back", n, h.own.Num())
		}
		h.end(t)
	})
}

func (h *handPort) step(t *testing.T, p *words, w *worker.Worker, held []*buffer.Packet) []*buffer.Packet {
	op := p.byte()
	r := h.rx.rings[0].r
	if op&1 != 0 {
		r = h.tx.g.r
	}
	s := r.Slot(p.word() % handSlots)
	idx, n, fl := s.Load()
	switch op >> 1 % 10 {
	case 0:
		r.SetTail(p.word() % (handSlots + 1))
	case 1:
		s.Store(idx, uint16(p.word()), fl)
	case 2:
		s.Store(idx, n|1, uint16(p.word()))
	case 3:
		s.Store(p.word(), n, fl)
	case 4:
		s.SetPtr(uint64(p.word())<<32 | uint64(p.word()))
	case 5:
		if p.byte()&7 == 0 { // it ends the queue: not too often
			r.SetHeadCur(p.word(), p.word())
		}
	case 6:
		r.SetTail(abi.Advance(r.Tail()%handSlots, p.word()%handSlots, handSlots))
	case 7, 8:
		var pkts [8]*buffer.Packet
		k, err := h.rx.Recv(w, pkts[:1+p.byte()&7])
		if err != nil && k != 0 {
			t.Fatalf("%d packets and %v", k, err)
		}
		for _, k := range pkts[:k] {
			h.inside(t, k)
		}
		held = append(held, pkts[:k]...)
		if len(held) > 64 {
			buffer.FreePackets(w, held)
			held = nil
		}
	case 9:
		held = h.send(t, p, w, held)
	}
	return held
}

// inside checks that a received packet's data lies where it may.
func (h *handPort) inside(t *testing.T, k *buffer.Packet) {
	sum := 0
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		b := s.Data()
		sum += len(b)
		if h.rx.zero && len(b) > 0 && !h.mem[0].Contains(arena.Off(unsafe.Pointer(&b[0])), uint64(len(b))) {
			t.Fatal("data outside the region")
		}
	}
	if sum != k.Len() {
		t.Fatalf("%d bytes in segments, length %d", sum, k.Len())
	}
}

func (h *handPort) send(t *testing.T, p *words, w *worker.Worker, held []*buffer.Packet) []*buffer.Packet {
	if p.byte()&1 == 0 { // what was received, as it is
		k, err := h.tx.Send(w, held)
		if err != nil && k != 0 {
			t.Fatalf("%d packets sent and %v", k, err)
		}
		return held[k:]
	}
	from := h.own
	if p.byte()&1 == 0 {
		from = h.p
	}
	if k := from.AllocPacket(w, int(p.word()%800)); k != nil {
		held = append(held, k)
	}
	return held
}
