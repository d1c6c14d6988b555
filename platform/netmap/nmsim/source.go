// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"math/rand/v2"
	"net/netip"

	"github.com/odp-go/godp/internal/relax"
)

// SourceConfig is a far end that sends to a NIC port. The frames are made inside the
// rxsync of the ring that receives them: no goroutine, no core of their own.
type SourceConfig struct {
	// PPS is the rate of the port in frames per second, by the World's clock; it
	// is shared among its rings. 0 = saturating: every rxsync finds frames.
	PPS float64
	// FIFO is how many frames the card holds, paced sources only, when the ring is full;
	// what comes on top is missed. 0 = what fits 512 KiB, as on an 82599; -1 = none.
	FIFO int
	// Len is the frame length without FCS, at least 60 (default 60). A frame longer
	// than a buffer takes several slots and needs NICConfig.MoreFrag.
	Len int
	// Frags > 1 cuts each frame into as many slots. Needs NICConfig.MoreFrag.
	Frags int
	// Flows is the number of flows per ring, taken in turn (default 16, at most 65536).
	Flows int
	// Burst is the largest number of frames that one rxsync finds (default 256).
	Burst int
	// Window > 0: at most so many frames per ring between this source and the sinks, so that
	// nothing is ever dropped.
	Window int
	// Count > 0: so many frames per ring, then silence.
	Count uint64
	// Shuffle > 1 sends each run of so many frames in an order drawn from Seed: for
	// a proof that a sink sees it.
	Shuffle int
	Seed    uint64
	// CorruptEvery, DupEvery and ZeroEvery > 0: one frame in so many has a wrong byte, is
	// sent twice, or is preceded by a slot of length zero.
	CorruptEvery, DupEvery, ZeroEvery int
	// CutChains shows the first slots of a chain one rxsync before the rest.
	CutChains bool
	// SrcIP and DstIP are the addresses of flow 0; each flow adds one (default
	// 10.N.0.0 and 198.18.0.0).
	SrcIP, DstIP netip.Addr
}

func (c SourceConfig) filled() SourceConfig {
	def := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&c.Len, minFrame)
	def(&c.Frags, 1)
	def(&c.Flows, 16)
	def(&c.Burst, 256)
	c.Len, c.Flows = max(c.Len, minFrame), min(c.Flows, 65536)
	if c.FIFO == 0 {
		c.FIFO = 512 << 10 / (c.Len + 4)
	}
	c.FIFO = max(0, c.FIFO)
	return c
}

// odd reports whether the frames need more than the plain loop.
func (c *SourceConfig) odd(bufSize uint32) bool {
	return c.Frags > 1 || uint32(c.Len+7)&^7 > bufSize || c.Shuffle > 1 || c.CorruptEvery > 0 ||
		c.DupEvery > 0 || c.ZeroEvery > 0 || c.CutChains
}

// source makes the frames of one receive ring. It belongs to the port and outlives
// an open: sequence numbers go on. Under the lock of its ring.
type source struct {
	id    uint16
	cfg   SourceConfig
	pps   float64 // of this ring
	tmpl  [][frameWords]uint64
	flow  uint32
	seq   uint64
	made  uint64 // frames that are made or missed, with duplicates
	begun int64  // clock of the first rxsync, -1 = not yet
	dueN  uint64 // frames of a paced source that came due and were made or missed
	odd   oddState

	injected relax.Uint64 // made and missed, for readers
	missed   relax.Uint64
	stop     relax.Uint32 // 1 = no more frames
	_        relax.Pad
	returned relax.Uint64 // frames that reached a sink; kept with a window only
	ring     *kring       // whom a returned frame may wake
}

type oddState struct {
	rng     *rand.Rand
	perm    []uint64
	at      int
	dup     bool
	pending int // slots of a cut chain that are written but not shown
}

func newSource(id uint16, p *port, k *kring) *source {
	c := p.cfg.Source.filled()
	s := &source{id: id, cfg: c, begun: -1, ring: k}
	s.pps = c.PPS / float64(max(1, p.cfg.RxRings))
	s.tmpl = make([][frameWords]uint64, c.Flows)
	for f := range s.tmpl {
		template(&s.tmpl[f], &c, id, uint32(f), p.cfg.MAC, p.cfg.PeerMAC, c.Len)
	}
	s.odd.rng = rand.New(rand.NewPCG(c.Seed, uint64(id)))
	return s
}

// due returns how many frames may be made now, without regard to the ring.
func (s *source) due(w *World, k *kring) uint64 {
	if s.stop.LoadAcq() != 0 || k.port.linkDown.LoadAcq() != 0 {
		s.begun = -1
		return 0
	}
	n := uint64(s.cfg.Burst)
	if s.pps > 0 {
		n = s.clockDue(w.now())
	}
	if s.cfg.Count > 0 {
		n = min(n, s.cfg.Count-min(s.cfg.Count, s.made))
	}
	if s.cfg.Window > 0 {
		n = min(n, s.windowRoom())
	}
	return n
}

func (s *source) windowRoom() uint64 {
	out := s.made - s.missed.LoadAcq() - s.returned.LoadAcq()
	if int64(out) >= int64(s.cfg.Window) {
		return 0
	}
	return uint64(int64(s.cfg.Window) - int64(out))
}

// clockDue is the number of frames that came due and were not handled yet.
func (s *source) clockDue(now int64) uint64 {
	if s.begun < 0 {
		s.begun, s.dueN = now, 0
	}
	total := uint64(float64(now-s.begun) * 1e-9 * s.pps)
	return total - min(total, s.dueN)
}

// nextDue is how many nanoseconds away the next frame of a paced source is.
func (s *source) nextDue(now int64) int64 {
	if s.begun < 0 {
		return 1
	}
	at := s.begun + int64(float64(s.dueN+1)/s.pps*1e9)
	return max(1, at-now)
}

// fill is the far end's part of an rxsync.
func (s *source) fill(k *kring) {
	n := s.due(k.port.w, k)
	if n == 0 && s.odd.pending == 0 && !s.odd.dup {
		return
	}
	free := k.dist(k.hwtail, k.prev(k.hwcur))
	if s.cfg.odd(k.bufSize) || k.offMask != 0 {
		s.fillOdd(k, uint32(min(n, 1<<30)), free)
		return
	}
	take := min(uint32(min(n, uint64(free))), uint32(max(s.cfg.Burst, 1)))
	if s.pps > 0 { // what is due and not taken stays due, as far as the card holds it
		if over := n - uint64(take); over > uint64(s.cfg.FIFO) {
			s.miss(k, over-uint64(s.cfg.FIFO))
			s.dueN += over - uint64(s.cfg.FIFO)
		}
		s.dueN += uint64(take)
	}
	s.fillPlain(k, take)
}

// fillPlain writes n frames of one slot each.
func (s *source) fillPlain(k *kring, n uint32) {
	ln := uint32(s.cfg.Len)
	i, flow, seq := k.hwtail, s.flow, s.seq
	flows := uint32(len(s.tmpl))
	for m := n; m > 0; m-- {
		writeFrame(k.buf(k.dma[i]), &s.tmpl[flow], seq, ln)
		slot := k.ring.Slot(i)
		idx, _, _ := slot.Load()
		slot.Store(idx, uint16(ln), 0)
		if flow++; flow == flows {
			flow = 0
			seq++
		}
		if i++; i == k.n {
			i = 0
		}
	}
	k.hwtail, s.flow, s.seq = i, flow, seq
	s.count(k, uint64(n), uint64(n)*uint64(ln))
}

func (s *source) count(k *kring, n, bytes uint64) {
	if n == 0 {
		return
	}
	s.made += n
	s.injected.StoreRel(s.made)
	add(&k.c.frames, n)
	add(&k.c.bytes, bytes)
}

// miss passes over n frames that found no slot: they were sent and the card lost them.
func (s *source) miss(k *kring, n uint64) {
	at := s.seq*uint64(len(s.tmpl)) + uint64(s.flow) + n
	s.seq, s.flow = at/uint64(len(s.tmpl)), uint32(at%uint64(len(s.tmpl)))
	s.made += n
	s.injected.StoreRel(s.made)
	add(&s.missed, n)
	add(&k.c.missed, n)
}
