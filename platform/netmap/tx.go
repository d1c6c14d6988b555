// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// minFrame is the shortest frame without FCS that hardware takes; shorter ones are
// padded with zeroes on NIC ports.
const minFrame = 60

// txQueue sends to one or more rings (more than one only for all host rings of a
// port, where the first is used). One caller at a time.
//
// Zero copy: the packet's buffer goes into the slot, the slot's old buffer to the
// packet, which is then freed. So a frame in flight holds no packet, and there is
// no completion to wait for.
type txQueue struct {
	d      *device
	bufs   bufMap
	own    *buffer.Pool // packets of it are exchanged; nil = none
	multi  bool         // the port carries frames of several slots
	most   uint32       // bytes of the longest frame
	pad    bool
	floor  bool // the receiver reads no lower than the offset that a slot comes with (pipes)
	g      ring
	synced uint32 // head when the kernel last took what was published
	eio    int    // syncs in a row that failed
	failed error  // sticky: what Send returns from now on
	plan   [abi.MaxFrags]*buffer.Segment

	// Written by the owner, read by anybody.
	_        relax.Pad
	syncs    relax.Uint64 // TXSYNC calls
	moved    relax.Uint64 // frames sent by exchange
	copied   relax.Uint64 // frames sent by a copy
	chains   relax.Uint64 // frames sent in several slots
	full     relax.Uint64 // bursts that met a full ring
	padded   relax.Uint64
	tooLong  relax.Uint64 // dropped: longer than a buffer, and the port carries no chains
	tooMany  relax.Uint64 // dropped: more than 64 slots, or than the ring has
	noData   relax.Uint64 // dropped: length 0
	unsent   relax.Uint64 // dropped: accepted, and the kernel never took them
	badSlot  relax.Uint64
	resets   relax.Uint64
	syncErrs relax.Uint64
	_        relax.Pad
}

// Send implements driver.TxQueue. One TXSYNC follows each burst that queued frames,
// and one more is made when the ring is full.
func (q *txQueue) Send(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if st := q.d.state.LoadAcq(); st != stateRunning || q.failed != nil {
		if st == stateClosed {
			return 0, queue.ErrClosed
		}
		return 0, q.failed
	}
	if b := q.d.blocked.LoadAcq(); b != 0 {
		if b == blockedGone {
			q.failed = q.d.removed(nil, "tx")
		}
		return 0, q.failed
	}
	n := q.fill(w, pkts)
	if n == len(pkts) {
		if n > 0 {
			q.sync()
		}
		return n, nil
	}
	if q.failed == nil {
		add(&q.full, 1)
		q.sync()
	}
	if q.failed == nil {
		if more := q.fill(w, pkts[n:]); more > 0 {
			n += more
			q.sync()
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, q.failed
}

// fill puts packets into free slots, publishes them, and frees the packets. It
// returns how many it took.
func (q *txQueue) fill(w *worker.Worker, pkts []*buffer.Packet) int {
	g := &q.g
	left, bad := g.slots()
	if bad != "" {
		add(&q.resets, 1)
		q.fail(bad, 0)
		return 0
	}
	var (
		bufs    = q.bufs
		own     = q.own
		flag    = changedTx
		head    = g.head
		n       = 0
		zc      = 0
		started = head
	)
	for n < len(pkts) && left > 0 {
		k := pkts[n]
		ln := uint32(k.Len())
		s := g.slot(head)
		idx, _, _ := s.Load()
		if own == nil || !k.InPool(own) || !k.Exchangeable() || ln > bufs.size || ln == 0 || ln > 0xffff ||
			k.DataOff() != 0 || q.pad && ln < minFrame || !bufs.ok(idx) || g.mask != 0 {
			used, took := q.slow(head, left, w, k)
			if !took {
				break
			}
			n++
			left -= used
			head = abi.Advance(head, used, g.n)
			continue
		}
		_, ext := k.SwapBuf(bufs.at(idx), idx)
		s.Store(ext, uint16(ln), flag)
		n++
		zc++
		left--
		if head++; head == g.n {
			head = 0
		}
	}
	if head != started {
		g.publish(head)
	}
	if n > 0 {
		buffer.FreePackets(w, pkts[:n])
	}
	add(&q.moved, uint64(zc))
	return n
}

// slow sends one packet that is not plain. took is false when there is no room
// now. used is 0 when the packet was dropped (and counted).
func (q *txQueue) slow(head, left uint32, w *worker.Worker, k *buffer.Packet) (used uint32, took bool) {
	total := uint32(k.Len())
	short := q.pad && total < minFrame
	switch {
	case total > q.most:
		add(&q.tooLong, 1)
		return 0, true
	case total == 0:
		add(&q.noData, 1)
		return 0, true
	case k.NumSegs() == 1 && total <= q.bufs.size && total <= 0xffff:
		return q.one(head, w, k)
	case total <= q.bufs.size && total <= 0xffff && (!q.multi || short):
		return q.copyJoin(head, w, k, total)
	case !q.multi:
		add(&q.tooLong, 1)
		return 0, true
	}
	return q.sendChain(head, left, w, k)
}

// one sends a packet of one segment in one slot, by exchange where that is possible.
func (q *txQueue) one(head uint32, w *worker.Worker, k *buffer.Packet) (used uint32, took bool) {
	ln := uint32(k.Len())
	s := q.g.slot(head)
	if !q.canMove(k, q.lowest(s), max(ln, q.minLen())) {
		return q.copyJoin(head, w, k, ln)
	}
	idx, ok := q.slotBuf(s, w)
	if !ok {
		return 0, false
	}
	off := k.DataOff()
	if q.pad && ln < minFrame {
		clear(arena.Bytes(arena.Off(k.DataPtr())+uint64(ln), int(minFrame-ln))) // canMove looked for room
		ln = minFrame
		add(&q.padded, 1)
	}
	_, ext := k.SwapBuf(q.bufs.at(idx), idx)
	q.place(s, ext, ln, off, changedTx)
	add(&q.moved, 1)
	return 1, true
}

func (q *txQueue) minLen() uint32 {
	if q.pad {
		return minFrame
	}
	return 0
}

// lowest returns the smallest offset that data in a slot may have. The kernel raises
// the offset of a pipe's slot to what the receiver gave it back with, and does not move
// the data.
func (q *txQueue) lowest(s *abi.Slot) uint32 {
	if !q.floor || q.g.mask == 0 {
		return 0
	}
	return uint32(min(s.Ptr()&q.g.mask, uint64(q.bufs.size/2)))
}

// canMove reports whether a segment's buffer can go into a slot with n bytes of data
// that start no lower than low.
func (q *txQueue) canMove(k *buffer.Packet, low, n uint32) bool {
	return q.own != nil && k.InPool(q.own) && k.FirstSeg().Exchangeable() && k.DataOff() >= low && q.fits(k.DataOff(), n)
}

func (q *txQueue) fits(off, n uint32) bool {
	return (off == 0 || uint64(off)&^q.g.mask == 0) && off+n <= q.bufs.size
}

// slotBuf reads the buffer of a free slot. One that is not valid is not followed:
// the slot gets another.
func (q *txQueue) slotBuf(s *abi.Slot, w *worker.Worker) (idx uint32, ok bool) {
	idx, _, _ = s.Load()
	if q.bufs.ok(idx) {
		return idx, true
	}
	add(&q.badSlot, 1)
	if idx = q.d.replace(w); idx == 0 {
		q.fail("a slot has no valid buffer, and there is none to put there", 0)
		return 0, false
	}
	s.Store(idx, 0, changedTx)
	return idx, true
}

// place writes a slot.
func (q *txQueue) place(s *abi.Slot, idx, ln, off uint32, flags uint16) {
	if q.g.mask != 0 {
		s.SetPtr(s.Ptr()&^q.g.mask | uint64(off))
	}
	s.Store(idx, uint16(ln), flags)
}

// copyJoin copies all segments into the buffer of one slot.
func (q *txQueue) copyJoin(head uint32, w *worker.Worker, k *buffer.Packet, total uint32) (used uint32, took bool) {
	s := q.g.slot(head)
	low := q.lowest(s)
	if total > q.bufs.size-low {
		add(&q.tooLong, 1)
		return 0, true
	}
	idx, ok := q.slotBuf(s, w)
	if !ok {
		return 0, false
	}
	dst := arena.Bytes(uint64(q.bufs.at(idx))<<6+uint64(low), int(q.bufs.size-low))
	ln := 0
	for seg := k.FirstSeg(); seg != nil; seg = seg.Next() {
		ln += copy(dst[ln:], seg.Data())
	}
	if q.pad && ln < minFrame {
		clear(dst[ln:minFrame])
		ln = minFrame
		add(&q.padded, 1)
	}
	_, _, fl := s.Load()
	q.place(s, idx, uint32(ln), low, fl&abi.SlotBufChanged)
	add(&q.copied, 1)
	return 1, true
}

// sync sends what is published and looks for completed slots.
func (q *txQueue) sync() {
	d := q.d
	if errno := d.c.k.Ioctl(q.g.fd, d.num.TxSync, nil); errno != 0 {
		add(&q.syncErrs, 1)
		if q.eio++; !d.wentDown(errno, q.eio) {
			q.fail(syncReason(errno), errno)
		}
		return
	}
	add(&q.syncs, 1)
	q.eio = 0
	q.synced = q.g.head
}

// countUnsent counts, when the port is closed, the frames that were accepted and that no
// sync has told the kernel of: the interface was down, or the ring faulted.
func (q *txQueue) countUnsent() {
	for i := q.synced; i != q.g.head && i < q.g.n; i = abi.Next(i, q.g.n) {
		if _, _, fl := q.g.r.Slot(i).Load(); fl&abi.SlotMoreFrag == 0 {
			add(&q.unsent, 1)
		}
	}
	q.synced = q.g.head
}

// Drops implements driver.TxQueue.
func (q *txQueue) Drops() map[string]uint64 {
	return map[string]uint64{
		"longer_than_buffer": q.tooLong.LoadAcq(), "too_many_slots": q.tooMany.LoadAcq(), "no_data": q.noData.LoadAcq(),
		"unsent_at_close": q.unsent.LoadAcq(),
	}
}
