// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"net"
	"unsafe"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/worker"
)

// SinkConfig is a far end that receives from a NIC port and checks every frame. It
// is computed inside the txsync of the ring that sends it.
type SinkConfig struct {
	// DstMAC and SrcMAC, when set, must be the frame's.
	DstMAC, SrcMAC net.HardwareAddr
	// PortOrder checks the order of a flow, and finds duplicates, over all rings of the
	// port and not per ring. The rings then share a lock for the time of the check.
	PortOrder bool
}

// flowTable is what one ring, or all rings of a port, know of the flows that arrived.
type flowTable struct {
	shared bool
	mu     relax.Uint32 // lock, when it is shared
	byID   [][]flowState
	from   []*source // the sources of byID
}

func (t *flowTable) lock() {
	var s worker.Spin
	for !t.mu.CAS(0, 1) {
		s.Wait()
	}
}

func (t *flowTable) unlock() { t.mu.StoreRel(0) }

// flowState is what a sink knows of one flow of one source.
type flowState struct {
	next uint64 // the number expected next
	gaps *gaps  // what is missing below next; nil while nothing was
}

// sink checks the frames of one transmit ring. Under the lock of its ring.
type sink struct {
	w        *World
	dst, src uint64 // expected addresses as words; valid when their flag is set
	anyDst   bool
	anySrc   bool
	last     uint32      // source id of flows
	from     *source     // source of flows, nil = none yet
	flows    []flowState // of source last
	table    *flowTable
	frame    []byte // a chain of slots, joined
	touched  uint64 // keeps the early reads of runBatch
	credits  uint64 // frames to give back to the window of the source at hand

	delivered relax.Uint64 // intact, first time
	reordered relax.Uint64 // of these: after a later one of the same flow
	duplicate relax.Uint64
	corrupt   relax.Uint64
	wrongMAC  relax.Uint64 // of the delivered
}

// tally is the sum of one sync, added to the counters once.
type tally struct{ delivered, reordered, duplicate, corrupt, wrongMAC, bytes uint64 }

func newSink(w *World, c *SinkConfig, t *flowTable) *sink {
	s := &sink{w: w, table: t}
	t.shared = c.PortOrder
	s.expect(c.DstMAC, c.SrcMAC)
	return s
}

func (s *sink) expect(dst, src net.HardwareAddr) {
	s.dst, s.anyDst = macWord(dst)
	s.src, s.anySrc = macWord(src)
}

func macWord(m net.HardwareAddr) (v uint64, none bool) {
	if len(m) != 6 {
		return 0, true
	}
	for i := 5; i >= 0; i-- {
		v = v<<8 | uint64(m[i])
	}
	return v, false
}

// run takes the frames in slots [i, end) of the ring.
func (s *sink) run(k *kring, i, end uint32) {
	var t tally
	if s.from != nil && (s.table.shared || s.w.sources.at(s.last) != s.from) {
		s.from = nil // the table may have moved, or the source is gone
	}
	if s.table.shared {
		s.table.lock()
	}
	if k.port.cfg.MoreFrag {
		s.runChains(k, i, end, &t)
	} else {
		for i != end {
			i = s.runBatch(k, i, end, &t)
		}
	}
	if s.table.shared {
		s.table.unlock()
	}
	s.credit()
	addTally(s, k, &t)
}

const sinkBatch = 16

// runBatch takes up to sinkBatch frames of one slot each. It first touches them all, so
// that the misses of the cache overlap.
func (s *sink) runBatch(k *kring, i, end uint32, t *tally) uint32 {
	var at [sinkBatch]unsafe.Pointer
	var ln [sinkBatch]uint32
	var touch uint64
	n := 0
	for n < sinkBatch && i != end {
		info := k.info[i]
		p := unsafe.Add(k.buf(k.dma[i]), uintptr(info>>32))
		touch |= *at64(p, 0)
		at[n], ln[n] = p, uint32(info&0xffff)
		n++
		if i++; i == k.n {
			i = 0
		}
	}
	s.touched = touch
	for j := 0; j < n; j++ {
		if ln[j] >= 14 { // shorter ones were counted when they were taken
			t.bytes += uint64(ln[j])
			s.frameIn(at[j], ln[j], t)
		}
	}
	return i
}

// runChains is run for frames of several slots.
func (s *sink) runChains(k *kring, i, end uint32, t *tally) {
	for i != end {
		info := k.info[i]
		n := uint32(info & 0xffff)
		p := unsafe.Add(k.buf(k.dma[i]), uintptr(info>>32))
		if info&infoMore != 0 {
			p, n, i = s.join(k, i, end)
		}
		i = k.next(i)
		if n >= 14 {
			t.bytes += uint64(n)
			s.frameIn(p, n, t)
		}
	}
}

func addTally(s *sink, k *kring, t *tally) {
	if n := t.delivered + t.duplicate + t.corrupt; n > 0 {
		add(&k.c.frames, n)
		add(&k.c.bytes, t.bytes)
		add(&s.delivered, t.delivered)
		if t.reordered|t.duplicate|t.corrupt|t.wrongMAC != 0 {
			add(&s.reordered, t.reordered)
			add(&s.duplicate, t.duplicate)
			add(&s.corrupt, t.corrupt)
			add(&s.wrongMAC, t.wrongMAC)
		}
	}
}

// join copies the slots of a chain behind each other; it returns the last slot.
func (s *sink) join(k *kring, i, end uint32) (unsafe.Pointer, uint32, uint32) {
	s.frame = s.frame[:0]
	for {
		info := k.info[i]
		s.frame = append(s.frame, k.bytes(i)...)
		if nx := k.next(i); info&infoMore == 0 || nx == end {
			break
		}
		i = k.next(i)
	}
	n := uint32(len(s.frame))
	s.frame = append(s.frame, make([]byte, 64)...)
	return unsafe.Pointer(&s.frame[0]), n, i
}

// frameIn checks one frame of n >= 14 bytes at p, where 64 bytes can be read.
func (s *sink) frameIn(p unsafe.Pointer, n uint32, t *tally) {
	if n < minFrame {
		t.corrupt++
		return
	}
	w := (*[frameWords]uint64)(p)
	w5, seq := w[5], w[6]
	id, flow := uint32(w5>>32)&0xffff, uint32(w5>>48)
	if s.from == nil || id != s.last {
		if w5>>16&0xffff != frameMagic || !s.choose(id) {
			t.corrupt++
			return
		}
	}
	src := s.from
	if flow >= uint32(len(src.tmpl)) {
		t.corrupt++
		return
	}
	m := &src.tmpl[flow]
	ttl := (w[2] ^ m[2]) | (w[3] ^ m[3])
	bad := (w[1]^m[1])>>32 | (w[2]^m[2])&^(0xff<<48) | (w[3]^m[3])&^0xffff | (w[4] ^ m[4]) | (w5^m[5])>>16
	bad |= uint64(uint32(w[7]) ^ check(w5, seq, n))
	if bad != 0 || (ttl != 0 && !headerSum(p)) || (n > 64 && !checkPattern(p, w[7]<<32|seq&0xffffffff, n)) {
		t.corrupt++
		return
	}
	if (w[0]<<16>>16 != s.dst && !s.anyDst) || (w[0]>>48|w[1]<<32>>16 != s.src && !s.anySrc) {
		t.wrongMAC++
	}
	if src.cfg.Window > 0 {
		s.credits++
	}
	f := &s.flows[flow]
	if seq == f.next {
		f.next = seq + 1
		t.delivered++
		return
	}
	s.outOfTurn(f, seq, t)
}

// outOfTurn handles a number that is not the next one.
func (s *sink) outOfTurn(f *flowState, seq uint64, t *tally) {
	if seq > f.next {
		if f.gaps == nil {
			f.gaps = new(gaps)
		}
		f.gaps.open(f.next, seq)
		f.next = seq + 1
		t.delivered++
		return
	}
	if f.gaps != nil && f.gaps.close(seq) {
		t.delivered++
		t.reordered++
		return
	}
	t.duplicate++
}

// choose makes id the source whose flows are at hand.
func (s *sink) choose(id uint32) bool {
	src := s.w.sources.at(id)
	if src == nil {
		return false
	}
	s.credit()
	t := s.table
	for uint32(len(t.byID)) <= id {
		t.byID, t.from = append(t.byID, nil), append(t.from, nil)
	}
	if t.from[id] != src {
		t.byID[id], t.from[id] = make([]flowState, len(src.tmpl)), src
	}
	s.last, s.from, s.flows = id, src, t.byID[id]
	return true
}

// credit wakes who waits for room in the window of the source at hand.
func (s *sink) credit() {
	if s.credits > 0 {
		s.from.returned.Add(s.credits)
		s.credits = 0
		s.from.ring.notify()
	}
}

// headerSum verifies the IPv4 header checksum.
func headerSum(p unsafe.Pointer) bool {
	return onesSum(unsafe.Slice((*byte)(unsafe.Add(p, 14)), 20)) == 0xffff
}

// gaps remembers the numbers of a flow that have not come, as ranges [lo, hi),
// oldest first. A range that falls out is given up.
type gaps struct {
	r []gap
}

type gap struct{ lo, hi uint64 }

const maxGaps = 256

func (g *gaps) open(lo, hi uint64) {
	if len(g.r) == maxGaps {
		copy(g.r, g.r[1:])
		g.r = g.r[:maxGaps-1]
	}
	g.r = append(g.r, gap{lo, hi})
}

// close reports whether seq was missing, and that it is not any more.
func (g *gaps) close(seq uint64) bool {
	for i := len(g.r) - 1; i >= 0; i-- {
		x := &g.r[i]
		if seq < x.lo || seq >= x.hi {
			continue
		}
		switch {
		case x.lo+1 == x.hi:
			g.r = append(g.r[:i], g.r[i+1:]...)
		case seq == x.lo:
			x.lo++
		case seq == x.hi-1:
			x.hi--
		default:
			hi := x.hi
			x.hi = seq
			g.open(seq+1, hi)
		}
		return true
	}
	return false
}
