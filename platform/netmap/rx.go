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

// rxQueue receives from one or more rings. One caller at a time.
//
// Zero copy: a packet of the region's pool comes with a buffer; the slot's buffer
// and the packet's change places, and the slot says BUF_CHANGED:
//
//	before  slot: buffer 70, frame     packet: buffer 9, free
//	after   slot: buffer 9, CHANGED    packet: buffer 70, data = frame
type rxQueue struct {
	d       *device
	bufs    bufMap
	pool    *buffer.Pool // where packets come from
	zero    bool         // pool is the region's
	own     *regionPool  // nil when !zero
	head    uint32       // headroom of packets, copying
	segCap  uint32       // bytes that one segment of the pool holds, copying
	rings   []ring
	next    int    // ring to begin with
	used    uint32 // slots consumed since the last sync
	half    uint32 // sync when more than this were
	fds     []int
	eio     int                          // syncs in a row that failed
	failed  error                        // sticky: what Recv returns from now on
	chain   [abi.MaxFrags]*buffer.Packet // segments of a frame in several slots
	scratch [1]*buffer.Packet

	// Written by the owner, read by anybody.
	_        relax.Pad
	syncs    relax.Uint64 // RXSYNC calls
	moved    relax.Uint64 // frames received by exchange
	copied   relax.Uint64 // frames received by a copy
	chains   relax.Uint64 // frames that came in several slots
	starved  relax.Uint64 // the pool was empty: frames stayed in the ring
	empty    relax.Uint64 // slots of length 0
	badSlot  relax.Uint64 // slots with a bad index, length or offset
	tooLong  relax.Uint64 // frames of more than 64 slots
	noRoom   relax.Uint64 // frames longer than the pool's packets can be
	resets   relax.Uint64 // rings that the kernel put back
	syncErrs relax.Uint64
	_        relax.Pad
}

// add adds n to a counter that only the caller writes.
func add(c *relax.Uint64, n uint64) { c.StoreRel(c.LoadAcq() + n) }

// Recv implements driver.RxQueue. Visible slots come first; the kernel is asked
// when they do not fill pkts, or when more than half of a ring was consumed and not
// yet returned.
func (q *rxQueue) Recv(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if st := q.d.state.LoadAcq(); st != stateRunning || q.failed != nil {
		if st == stateClosed {
			return 0, queue.ErrClosed
		}
		return 0, q.failed
	}
	n := q.visible(w, pkts)
	if n == len(pkts) && q.used <= q.half || q.failed != nil {
		return n, q.report(n)
	}
	if b := q.d.blocked.LoadAcq(); b != 0 {
		if b == blockedGone && n == 0 {
			q.failed = q.d.removed(nil, "rx")
		}
		return n, q.report(n)
	}
	q.sync()
	if n < len(pkts) && q.failed == nil {
		n += q.visible(w, pkts[n:])
	}
	return n, q.report(n)
}

// report gives the sticky error when there is nothing else to give.
func (q *rxQueue) report(n int) error {
	if n > 0 {
		return nil
	}
	return q.failed
}

// visible serves what earlier syncs made visible, ring by ring.
func (q *rxQueue) visible(w *worker.Worker, pkts []*buffer.Packet) int {
	n := 0
	for range q.rings {
		g := &q.rings[q.next]
		avail, bad := g.slots()
		if bad != "" {
			add(&q.resets, 1)
			q.fail(g, bad, 0)
			return n
		}
		if avail > 0 && n < len(pkts) {
			if q.zero {
				n += q.take(g, avail, w, pkts[n:])
			} else {
				n += q.copyOut(g, avail, w, pkts[n:])
			}
		}
		if n == len(pkts) {
			break // this ring may have more: begin with it next time
		}
		if q.next++; q.next == len(q.rings) {
			q.next = 0
		}
	}
	return n
}

// take receives by exchange up to len(pkts) frames of avail visible slots.
func (q *rxQueue) take(g *ring, avail uint32, w *worker.Worker, pkts []*buffer.Packet) int {
	want := min(len(pkts), int(avail))
	got := q.pool.AllocPackets(w, pkts[:want], 0)
	if got < want {
		add(&q.starved, 1)
	}
	pkts = pkts[:got]
	var (
		bufs = q.bufs
		flag = changedRx
		head = g.head
		left = avail
		n    = 0
	)
	for left > 0 && n < len(pkts) {
		s := g.slot(head)
		idx, ln, fl := s.Load()
		if fl&abi.SlotMoreFrag != 0 || ln == 0 || !bufs.ok(idx) || uint32(ln) > bufs.size || g.mask != 0 || g.skip {
			used, frames := q.slow(g, head, left, w, pkts[n:])
			if used == 0 {
				break
			}
			n += frames
			left -= used
			head = abi.Advance(head, used, g.n)
			continue
		}
		k := pkts[n]
		_, ext := k.SwapBuf(bufs.at(idx), idx)
		k.SetData(0, uint32(ln))
		s.Store(ext, ln, flag)
		n++
		left--
		if head++; head == g.n {
			head = 0
		}
	}
	if n < got {
		q.pool.FreePackets(w, pkts[n:])
	}
	q.consumed(g, head, avail-left)
	add(&q.moved, uint64(n))
	return n
}

// consumed publishes a new head after n slots.
func (q *rxQueue) consumed(g *ring, head, n uint32) {
	if n == 0 {
		return
	}
	q.used += n
	if !g.ahead || g.head != head {
		g.publish(head)
	}
}

// slow handles one frame, or one slot, that is not plain. pkts[0] is an allocated
// packet. It returns how many slots were used up (0: wait for more), and whether
// pkts[0] is a frame now.
func (q *rxQueue) slow(g *ring, head, left uint32, w *worker.Worker, pkts []*buffer.Packet) (used uint32, frames int) {
	s := g.slot(head)
	idx, ln, fl := s.Load()
	if fl&abi.SlotMoreFrag != 0 || g.skip {
		return q.join(g, head, left, w, pkts)
	}
	off, ok := q.check(g, s, idx, ln)
	switch {
	case !ok:
		q.drop(g, s, idx, ln, w)
		return 1, 0
	case ln == 0:
		add(&q.empty, 1)
		g.empty(s, idx, 0, 0)
		return 1, 0
	}
	q.move(g, s, idx, ln, off, pkts[0])
	return 1, 1
}

// check tells whether a slot may be followed, and where its data starts.
func (q *rxQueue) check(g *ring, s *abi.Slot, idx uint32, ln uint16) (off uint32, ok bool) {
	if g.mask != 0 {
		o := s.Ptr() & g.mask
		if o > uint64(q.bufs.size) {
			return 0, false
		}
		off = uint32(o)
	}
	return off, q.bufs.ok(idx) && off+uint32(ln) <= q.bufs.size
}

// move exchanges the buffers of a checked slot and a packet.
func (q *rxQueue) move(g *ring, s *abi.Slot, idx uint32, ln uint16, off uint32, k *buffer.Packet) {
	_, ext := k.SwapBuf(q.bufs.at(idx), idx)
	k.SetData(off, uint32(ln))
	g.empty(s, ext, ln, changedRx)
}

// drop counts a bad slot. A bad length leaves the buffer where it is. A bad index
// is not followed: whatever buffer was there is lost, and the slot gets another one,
// since the kernel would stop at an index that it does not accept.
func (q *rxQueue) drop(g *ring, s *abi.Slot, idx uint32, ln uint16, w *worker.Worker) {
	add(&q.badSlot, 1)
	if q.bufs.ok(idx) {
		g.empty(s, idx, 0, 0)
		return
	}
	ext := q.d.replace(w)
	if ext == 0 {
		q.fail(g, "a slot has no valid buffer, and there is none to put there", 0)
		return
	}
	g.empty(s, ext, 0, changedRx)
}

// sync asks the kernel for frames, and returns slots to it.
func (q *rxQueue) sync() {
	d := q.d
	for _, fd := range q.fds {
		if errno := d.c.k.Ioctl(fd, d.num.RxSync, nil); errno != 0 {
			add(&q.syncErrs, 1)
			if q.eio++; !d.wentDown(errno, q.eio) {
				q.fail(nil, syncReason(errno), errno)
			}
			return
		}
	}
	add(&q.syncs, uint64(len(q.fds)))
	q.used, q.eio = 0, 0
}

// copyOut receives by copying, into packets of a pool that is not the region's.
func (q *rxQueue) copyOut(g *ring, avail uint32, w *worker.Worker, pkts []*buffer.Packet) int {
	want := min(len(pkts), int(avail))
	got := q.pool.AllocPackets(w, pkts[:want], 0)
	if got < want {
		add(&q.starved, 1)
	}
	pkts = pkts[:got]
	head, left, n := g.head, avail, 0
	for left > 0 && n < len(pkts) {
		s := g.slot(head)
		idx, ln, fl := s.Load()
		if fl&abi.SlotMoreFrag != 0 || g.skip || uint32(ln) > q.segCap {
			used, frames := q.copyLong(g, head, left, w, pkts[n:])
			if used == 0 {
				break
			}
			n += frames
			left -= used
			head = abi.Advance(head, used, g.n)
			continue
		}
		off, ok := q.check(g, s, idx, ln)
		switch {
		case !ok:
			q.drop(g, s, idx, ln, w)
		case ln == 0:
			add(&q.empty, 1)
			g.empty(s, idx, 0, 0)
		default:
			k := pkts[n]
			k.SetData(q.head, uint32(ln))
			copy(k.Data(), arena.Bytes(uint64(q.bufs.at(idx))<<6+uint64(off), int(ln)))
			g.empty(s, idx, ln, 0)
			n++
		}
		left--
		if head++; head == g.n {
			head = 0
		}
	}
	if n < got {
		buffer.FreePackets(w, pkts[n:])
	}
	q.consumed(g, head, avail-left)
	add(&q.copied, uint64(n))
	return n
}

// Drops implements driver.RxQueue.
func (q *rxQueue) Drops() map[string]uint64 {
	return map[string]uint64{
		"bad_slot": q.badSlot.LoadAcq(), "zero_length": q.empty.LoadAcq(),
		"too_many_slots": q.tooLong.LoadAcq(), "longer_than_packet": q.noRoom.LoadAcq(),
	}
}
