// SPDX-License-Identifier: Apache-2.0

package afxdp

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/platform/internal/nic"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

func add(c *relax.Uint64, n uint64) { c.StoreRel(c.LoadAcq() + n) }

// rxQueue receives from one or more sockets: all queues of the interface, dealt out.
// One caller at a time.
type rxQueue struct {
	d      *device
	socks  []*xsk
	next   int
	pool   *buffer.Pool // where packets come from
	zero   bool         // pool is the UMEM's
	head   uint32       // headroom of packets, copying
	failed error

	_       relax.Pad
	moved   relax.Uint64 // frames received by exchange
	copied  relax.Uint64
	starved relax.Uint64 // the pool was empty: frames stayed in the ring
	bad     relax.Uint64 // descriptors outside of the UMEM, or of frames that the socket has not
	tooLong relax.Uint64 // longer than a packet of the pool can be
	_       relax.Pad
}

// Recv implements driver.RxQueue.
func (q *rxQueue) Recv(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if st := q.d.State.LoadAcq(); st != nic.StateRunning || q.failed != nil {
		if st == nic.StateClosed {
			return 0, queue.ErrClosed
		}
		return 0, q.failed
	}
	n := 0
	for range q.socks {
		n += q.recv(w, q.socks[q.next], pkts[n:])
		if n == len(pkts) {
			break
		}
		if q.next++; q.next == len(q.socks) {
			q.next = 0
		}
	}
	if n == 0 && q.d.Blocked.LoadAcq() == nic.BlockedGone {
		q.failed = q.d.Removed()
	}
	if n > 0 {
		return n, nil
	}
	return 0, q.failed
}

// recv receives from one socket.
func (q *rxQueue) recv(w *worker.Worker, s *xsk, pkts []*buffer.Packet) int {
	avail := min(int(s.rx.filled()), len(pkts))
	if avail == 0 {
		if s.fill.wants() {
			s.wakeRx()
		}
		if s.unsent() {
			s.wakeTx()
		}
		return 0
	}
	got := q.pool.AllocPackets(w, pkts[:avail], 0)
	if got < avail {
		add(&q.starved, 1)
	}
	u, n := s.u, 0
	for i := 0; i < avail && n < got; i++ {
		d := s.rx.descr(s.rx.own)
		addr, ln := d.Addr, d.Len
		s.rx.own++
		f, off := uint32(addr>>u.shift), uint32(addr)&(u.size-1)
		if addr>>u.shift >= uint64(u.total) || ln > u.size-off || u.holder[f] != s.id {
			add(&q.bad, 1)
			continue
		}
		k := pkts[n]
		back := f
		if q.zero {
			_, back = k.SwapBuf(u.at(f), f)
			k.SetData(off, ln)
			u.holder[f], u.holder[back] = 0, s.id
			n++
		} else if q.copyIn(w, pkts[n:n+1], arena.Bytes(u.mem.Off+addr, int(ln))) {
			n++
		}
		*s.fill.addr(s.fill.own) = uint64(back) << u.shift
		s.fill.own++
	}
	s.rx.release()
	s.fill.publish()
	if s.fill.wants() {
		s.wakeRx()
	}
	if n < got {
		buffer.FreePackets(w, pkts[n:got])
	}
	if q.zero {
		add(&q.moved, uint64(n))
	} else {
		add(&q.copied, uint64(n))
	}
	return n
}

// copyIn copies a frame into the packet in one[0], or a longer one.
func (q *rxQueue) copyIn(w *worker.Worker, one []*buffer.Packet, b []byte) bool {
	k := one[0]
	if len(b) > q.pool.SegCap() {
		if len(b) > q.pool.MaxLen() {
			add(&q.tooLong, 1)
			return false
		}
		if k = q.pool.AllocPacket(w, len(b)); k == nil {
			add(&q.tooLong, 1)
			return false
		}
		buffer.FreePackets(w, one)
		one[0] = k
	} else {
		k.SetData(q.head, uint32(len(b)))
	}
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		b = b[copy(s.Data(), b):]
	}
	return true
}

// Arm implements driver.Waiter.
func (q *rxQueue) Arm(func()) (fd int, due time.Duration, ready bool) {
	if q.failed != nil || q.d.State.LoadAcq() != nic.StateRunning || q.d.Blocked.LoadAcq() == nic.BlockedGone {
		return -1, 0, true
	}
	for _, s := range q.socks {
		if s.rx.filled() > 0 {
			return -1, 0, true
		}
	}
	if q.d.Blocked.LoadAcq() != 0 {
		return -1, 10 * time.Millisecond, false
	}
	unix.GetsockoptInt(q.socks[0].fd, unix.SOL_SOCKET, unix.SO_ERROR) // a pending error would end every sleep
	if len(q.socks) > 1 {
		return q.socks[0].fd, time.Millisecond, false
	}
	return q.socks[0].fd, 0, false
}

// Disarm implements driver.Waiter.
func (q *rxQueue) Disarm() {}

// Drops implements driver.RxQueue.
func (q *rxQueue) Drops() map[string]uint64 {
	m := map[string]uint64{"bad_descriptor": q.bad.LoadAcq(), "longer_than_packet": q.tooLong.LoadAcq()}
	for _, s := range q.socks {
		st := q.d.statistics(s)
		m["kernel"] += st.Rx_dropped
		m["ring_full"] += st.Rx_ring_full
		m["no_frames"] += st.Rx_fill_ring_empty_descs
	}
	return m
}

// txQueue sends through one socket. One caller at a time.
type txQueue struct {
	d      *device
	s      *xsk
	failed error

	_       relax.Pad
	moved   relax.Uint64 // frames sent by exchange
	copied  relax.Uint64
	kicks   relax.Uint64
	full    relax.Uint64
	noData  relax.Uint64 // dropped: shorter than an Ethernet header
	tooLong relax.Uint64 // dropped: longer than the MTU, or than a frame
	_       relax.Pad
}

// Send implements driver.TxQueue.
func (q *txQueue) Send(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if st := q.d.State.LoadAcq(); st != nic.StateRunning || q.failed != nil {
		if st == nic.StateClosed {
			return 0, queue.ErrClosed
		}
		return 0, q.failed
	}
	if b := q.d.Blocked.LoadAcq(); b != 0 {
		if b == nic.BlockedGone {
			q.failed = q.d.Removed()
		}
		return 0, q.failed
	}
	q.complete()
	n := q.queue(pkts)
	q.kick()
	if n < len(pkts) && q.failed == nil {
		q.complete()
		if m := q.queue(pkts[n:]); m > 0 {
			n += m
			q.kick()
		}
	}
	if n < len(pkts) {
		add(&q.full, 1)
	}
	buffer.FreePackets(w, pkts[:n])
	if n > 0 {
		return n, nil
	}
	return 0, q.failed
}

// complete takes back frames that were sent.
func (q *txQueue) complete() {
	s := q.s
	n := s.comp.filled()
	for range n {
		addr := *s.comp.addr(s.comp.own)
		s.comp.own++
		f := addr >> s.u.shift
		if f < uint64(s.u.total) && s.u.holder[f] == s.id {
			s.u.holder[f] = 0
			s.free = append(s.free, uint32(f))
		}
	}
	if n > 0 {
		s.comp.release()
	}
}

// queue puts packets into the send ring, by exchange or by a copy, and returns how many
// it took.
func (q *txQueue) queue(pkts []*buffer.Packet) (n int) {
	s, u := q.s, q.s.u
	room := s.tx.room()
	limit := q.d.LastMTU() + ethHeader + 4 // with a tag, as the kernel allows
	moved, copied := uint64(0), uint64(0)
	for ; n < len(pkts) && room > 0 && len(s.free) > 0; n++ {
		k := pkts[n]
		ln := k.Len()
		switch {
		case ln < ethHeader:
			add(&q.noData, 1)
			continue
		case ln > limit || ln > int(u.size):
			add(&q.tooLong, 1)
			continue
		}
		f := s.free[len(s.free)-1]
		s.free = s.free[:len(s.free)-1]
		off := uint32(0)
		if k.InPool(u.pool) && k.Exchangeable() {
			off = k.DataOff()
			_, f = k.SwapBuf(u.at(f), f)
			moved++
		} else {
			dst := arena.Bytes(u.mem.Off+uint64(f)<<u.shift, int(u.size))
			at := 0
			for seg := k.FirstSeg(); seg != nil; seg = seg.Next() {
				at += copy(dst[at:], seg.Data())
			}
			copied++
		}
		u.holder[f] = s.id
		*s.tx.descr(s.tx.own) = unix.XDPDesc{Addr: uint64(f)<<u.shift + uint64(off), Len: uint32(ln)}
		s.tx.own++
		room--
	}
	s.tx.publish()
	add(&q.moved, moved)
	add(&q.copied, copied)
	return n
}

// kick makes the kernel send. With copies it sends a few descriptors a call and says
// EAGAIN while there are more, so it is asked until nothing is left, or it has no room
// now. What then stays in the ring goes with the next send, or when the socket's receive
// side is polled or slept on.
func (q *txQueue) kick() {
	s := q.s
	for stalls := 0; stalls < 3 && s.unsent(); {
		before := s.tx.consumer.LoadAcq()
		add(&q.kicks, 1)
		switch errno := s.wakeTx(); errno {
		case 0, unix.EAGAIN, unix.EBUSY, unix.EINTR, unix.ENOBUFS, unix.ENOMEM:
			if s.tx.consumer.LoadAcq() == before {
				stalls++
				q.complete() // the completion ring may be what is full
			}
		case unix.ENETDOWN:
			return
		default:
			if q.d.Blocked.LoadAcq() != nic.BlockedDown {
				q.failed = q.d.Fault("sending failed", errno)
			}
			return
		}
	}
}

// Drops implements driver.TxQueue.
func (q *txQueue) Drops() map[string]uint64 {
	return map[string]uint64{"too_short": q.noData.LoadAcq(), "longer_than_mtu": q.tooLong.LoadAcq(), "kernel": q.d.statistics(q.s).Tx_invalid_descs}
}
