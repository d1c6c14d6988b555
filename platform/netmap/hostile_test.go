// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/platform/netmap/nmsim"
	"github.com/odp-go/godp/worker"
)

// handmade is a receive queue over a ring that the test fills by hand, as a kernel
// or another process could.
type handmade struct {
	mem *arena.Range
	r   *abi.Ring
	q   *rxQueue
	d   *device
	p   *buffer.Pool
}

// silent is a kernel whose calls do nothing.
type silent struct{}

func (silent) Name() string                                          { return "hand" }
func (silent) Numbers() abi.Numbers                                  { return abi.LinuxNumbers }
func (silent) Open() (int, syscall.Errno)                            { return 3, 0 }
func (silent) Close(int) syscall.Errno                               { return 0 }
func (silent) Ioctl(int, uintptr, unsafe.Pointer) syscall.Errno      { return 0 }
func (silent) Map(int, uint64) (abi.Mapping, syscall.Errno)          { return nil, syscall.ENOMEM }
func (silent) Poll(int, int16, time.Duration) (int16, syscall.Errno) { return 0, 0 }
func (silent) Descriptor(int) int                                    { return -1 }
func (silent) OnReady(int, func()) (due time.Duration, ready bool)   { return 0, false }

func newHandmade(t *testing.T, set *worker.Set, slots, packets uint32) *handmade {
	t.Helper()
	const bufSize = 256
	total := abi.FirstBuf + slots + packets
	ringBytes := (abi.RingSize + abi.SlotSize*slots + 63) &^ 63
	mem, err := arena.New(arena.Config{Name: "handmade", Size: uint64(ringBytes + total*bufSize)})
	if err != nil {
		t.Fatal(err)
	}
	h := &handmade{mem: mem, r: (*abi.Ring)(arena.At(mem.Off))}
	h.r.Init(int64(ringBytes), slots, bufSize, 0, 0, 0)
	for i := uint32(0); i < slots; i++ {
		h.r.Slot(i).Store(abi.FirstBuf+i, bufSize, 0)
	}
	bufs := bufMap{base64: uint32((mem.Off + uint64(ringBytes)) >> 6), stride64: bufSize / 64, total: total, size: bufSize}
	h.p, err = buffer.NewExternalPool(set, buffer.ExternalConfig{Name: "handmade", Num: int(packets), BufSize: bufSize, MaxLen: 65000})
	if err != nil {
		t.Fatal(err)
	}
	for i := uint32(0); i < packets; i++ {
		h.p.Attach(int(i), bufs.at(abi.FirstBuf+slots+i), abi.FirstBuf+slots+i)
	}
	reg := &region{bufs: bufs}
	own := &regionPool{Pool: h.p, reg: reg}
	h.d = &device{c: &conn{k: silent{}, prefix: "hand"}, name: "hand:made", reg: reg, own: own, pool: h.p}
	h.d.state.StoreSeq(stateRunning)
	h.q = &rxQueue{d: h.d, bufs: bufs, pool: h.p, zero: true, own: own, rings: []ring{{r: h.r, n: slots}}, half: slots / 2, segCap: bufSize, fds: []int{3}}
	h.d.rx = []*rxQueue{h.q}
	t.Cleanup(func() {
		if err := h.p.Detach(func(_, _ uint32) {}); err != nil {
			t.Error(err)
		}
		if err := h.p.Close(); err != nil {
			t.Error(err)
		}
		mem.Close()
	})
	return h
}

// show makes frames of as many slots as told visible, each slot with n bytes.
func (h *handmade) show(n uint16, frames ...int) {
	i, total := h.r.Tail(), h.r.NumSlots()
	for _, slots := range frames {
		for s := range slots {
			idx, _, _ := h.r.Slot(i).Load()
			fl := uint16(slots) << abi.SlotRFragsShift
			if s < slots-1 {
				fl |= abi.SlotMoreFrag
			}
			h.r.Slot(i).Store(idx, n, fl)
			i = abi.Next(i, total)
		}
	}
	h.r.SetTail(i)
}

// TestChainLimits: 64 slots are a frame, 65 and more are dropped whole, and what
// follows is received.
func TestChainLimits(t *testing.T) {
	set, w := newSet(t)
	h := newHandmade(t, set, 200, 300)
	pkts := make([]*buffer.Packet, 32)
	for _, c := range []struct {
		slots         int
		frames, drops int
	}{{1, 2, 0}, {2, 2, 0}, {63, 2, 0}, {64, 2, 0}, {65, 1, 1}, {66, 1, 1}, {128, 1, 1}, {129, 1, 1}, {180, 1, 1}} {
		before := h.q.tooLong.LoadAcq()
		h.show(20, c.slots, 1)
		got, segs := 0, 0
		for range 8 {
			n, err := h.q.Recv(w, pkts)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range pkts[:n] {
				if k.Len() != 20*k.NumSegs() {
					t.Errorf("%d slots: %d bytes in %d segments", c.slots, k.Len(), k.NumSegs())
				}
				segs += k.NumSegs()
			}
			got += n
			buffer.FreePackets(w, pkts[:n])
		}
		if drops := int(h.q.tooLong.LoadAcq() - before); got != c.frames || drops != c.drops {
			t.Errorf("%d slots: %d frames of %d slots, %d dropped", c.slots, got, segs, drops)
		}
		if h.r.Head() != h.r.Tail() {
			t.Errorf("%d slots: head %d, tail %d", c.slots, h.r.Head(), h.r.Tail())
		}
	}
}

// TestChainCut: a frame whose end is not there yet waits with head before it and cur
// at the tail.
func TestChainCut(t *testing.T) {
	set, w := newSet(t)
	h := newHandmade(t, set, 16, 64)
	pkts := make([]*buffer.Packet, 8)
	for round := range 40 {
		h.show(10, 1, 5)
		whole := h.r.Tail()
		cut := abi.Advance(h.r.Head(), 3, 16) // one frame and two slots of the next
		h.r.SetTail(cut)
		first := abi.Next(h.r.Head(), 16)
		for range 3 {
			n, err := h.q.Recv(w, pkts)
			if err != nil || n > 1 {
				t.Fatal(n, err)
			}
			buffer.FreePackets(w, pkts[:n])
			if h.r.Head() != first || h.r.Cur() != cut {
				t.Fatalf("round %d: head %d cur %d, want %d %d", round, h.r.Head(), h.r.Cur(), first, cut)
			}
		}
		if _, _, ready := h.q.Arm(func() {}); ready {
			t.Error("half a frame keeps a worker awake")
		}
		h.r.SetTail(whole)
		n, err := h.q.Recv(w, pkts)
		if n != 1 || err != nil || pkts[0].NumSegs() != 5 || pkts[0].Len() != 50 {
			t.Fatalf("round %d: %d %v", round, n, err)
		}
		buffer.FreePackets(w, pkts[:n])
		if h.r.Head() != whole || h.r.Cur() != whole {
			t.Fatalf("head %d cur %d tail %d", h.r.Head(), h.r.Cur(), whole)
		}
	}
}

// TestHostileSlots shows random slots: nothing is followed that is outside the region,
// every visible slot is used up, and what is received lies in the region.
func TestHostileSlots(t *testing.T) {
	for _, zero := range []bool{true, false} {
		set, w := newSet(t)
		h := newHandmade(t, set, 64, 4000)
		if !zero {
			own, err := buffer.NewPool(set, buffer.PoolConfig{Name: "own", Num: 300, Size: 200, MaxLen: 3000})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := own.Close(); err != nil {
					t.Error(err)
				}
			})
			h.q.zero, h.q.pool, h.q.segCap, h.q.head = false, own, uint32(own.SegCap()), uint32(own.Headroom())
		}
		rng := rand.New(rand.NewPCG(1, 2))
		pkts := make([]*buffer.Packet, 32)
		seen := 0
		for range 3000 {
			i := h.r.Tail()
			for n := rng.IntN(63) - int(abi.Avail(h.r.Head(), i, 64)); n > 0; n-- {
				idx, _, fl := h.r.Slot(i).Load()
				ln := uint16(rng.IntN(257))
				switch rng.IntN(12) {
				case 0:
					ln = uint16(rng.Uint32())
				case 1, 2, 3:
					fl |= abi.SlotMoreFrag
				case 4:
					fl = uint16(rng.Uint32())
				case 5:
					if rng.IntN(20) == 0 {
						idx = rng.Uint32()
					}
				}
				h.r.Slot(i).Store(idx, ln, fl)
				i = abi.Next(i, 64)
			}
			h.r.SetTail(i)
			n, err := h.q.Recv(w, pkts)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range pkts[:n] {
				sum := 0
				for s := k.FirstSeg(); s != nil; s = s.Next() {
					b := s.Data()
					sum += len(b)
					if zero && len(b) > 0 && !h.mem.Contains(arena.Off(unsafe.Pointer(&b[0])), uint64(len(b))) {
						t.Fatal("data outside the region")
					}
				}
				if sum != k.Len() {
					t.Fatalf("%d bytes in segments, length %d", sum, k.Len())
				}
			}
			seen += n
			buffer.FreePackets(w, pkts[:n])
		}
		if seen < 1000 || h.q.badSlot.LoadAcq() == 0 {
			t.Errorf("zero copy %v: %d frames, %d bad slots", zero, seen, h.q.badSlot.LoadAcq())
		}
	}
}

// TestScribble forwards while somebody overwrites rings and slots at random. Frames may
// be lost and queues fault; the process must go on, and ports be opened again.
func TestScribble(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 4
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		sim := nmsim.NewWorld(nmsim.Config{Mem: nmsim.Geometry{BufNum: 4096}})
		for n, c := range map[string]nmsim.NICConfig{
			"a": {MoreFrag: true, RxSlots: 64, TxSlots: 64, Source: &nmsim.SourceConfig{Frags: 2, Len: 200}},
			"b": {MoreFrag: true, RxSlots: 64, TxSlots: 64, Sink: &nmsim.SinkConfig{}},
		} {
			if err := sim.NIC(n, c); err != nil {
				t.Fatal(err)
			}
		}
		set, w := newSet(t)
		v := NewSim("sim", sim)
		sim.Scribble("", seed, 5)
		pkts := make([]*buffer.Packet, 32)
		faults, frames := 0, 0
		for range 10 {
			a, err := v.Open(t.Context(), "a", quiet(driver.Config{Set: set}))
			if err != nil {
				t.Fatal(err)
			}
			b, err := v.Open(t.Context(), "b", quiet(driver.Config{Set: set}))
			if err != nil {
				t.Fatal(err)
			}
			a.Start()
			b.Start()
			for range 2000 {
				n, err := a.Rx(0).Recv(w, pkts)
				m, serr := b.Tx(0).Send(w, pkts[:n])
				buffer.FreePackets(w, pkts[m:n])
				frames += m
				if err != nil || serr != nil {
					faults++
					break
				}
			}
			a.Close() // may name packets that a lost header holds
			b.Close()
		}
		if faults == 0 || frames == 0 {
			t.Errorf("seed %d: %d faults, %d frames", seed, faults, frames)
		}
		sim.Close()
	}
}
