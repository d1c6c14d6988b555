// SPDX-License-Identifier: Apache-2.0

package tap

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/platform/internal/nic"
	"github.com/odp-go/godp/platform/internal/vnet"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// iovec is the kernel's structure, with the address as a number: it points to packet
// memory, or to arrays of the queue itself.
type iovec struct{ base, len uintptr }

func add(c *relax.Uint64, n uint64) { c.StoreRel(c.LoadAcq() + n) }

// rxQueue reads from one descriptor. One caller at a time.
//
//	readv   [virtio-net header][the packet's own buffer][rest of a frame that is longer]
type rxQueue struct {
	d      *device
	fd     int
	failed error
	head   uint32
	segCap uint32
	hdr    [vnet.Size]byte
	room   []byte // segCap bytes, then the rest of a long frame
	iov    [3]iovec
	seg    vnet.Segmenter // of a frame in room

	_        relax.Pad
	merged   relax.Uint64
	segments relax.Uint64
	finished relax.Uint64
	starved  relax.Uint64
	noRoom   relax.Uint64 // dropped: longer than one segment, and the pool was empty
	tooLong  relax.Uint64 // dropped: longer than a packet of the pool can be
	bad      relax.Uint64 // dropped: shorter than an Ethernet header
	odd      relax.Uint64 // dropped: merged in a way that can't be undone
	_        relax.Pad
}

func newRx(d *device, fd int) *rxQueue {
	q := &rxQueue{d: d, fd: fd, head: uint32(d.pool.Headroom()), segCap: uint32(d.pool.SegCap())}
	q.room = make([]byte, int(q.segCap)+maxFrameLen+ethHeader)
	q.iov[0] = iovec{uintptr(unsafe.Pointer(&q.hdr)), vnet.Size}
	q.iov[2] = iovec{uintptr(unsafe.Pointer(&q.room[q.segCap])), uintptr(len(q.room)) - uintptr(q.segCap)}
	return q
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
	if q.seg.Active() {
		if n = q.cut(w, pkts); n == len(pkts) || q.seg.Active() {
			return n, nil
		}
	}
	got := q.d.pool.AllocPackets(w, pkts[n:], 0)
	if got == 0 && n < len(pkts) {
		add(&q.starved, 1)
		return n, nil
	}
	free := pkts[n : n+got]
	used := 0
	for used < len(free) && !q.seg.Active() {
		k := free[used]
		k.SetData(q.head, q.segCap)
		ln := q.read(k)
		if ln < 0 {
			break
		}
		if ln <= int(q.segCap) && ln >= ethHeader && vnet.Plain(q.hdr[:]) {
			k.SetData(q.head, uint32(ln))
			used++
			continue
		}
		if q.slow(w, k, ln, free[used:]) {
			used++
		}
	}
	if used < len(free) {
		buffer.FreePackets(w, free[used:])
	}
	n += used
	if q.seg.Active() && n < len(pkts) {
		n += q.cut(w, pkts[n:])
	}
	if n > 0 {
		return n, nil
	}
	return 0, q.failed
}

// read reads one frame into a packet's buffer, and what is longer into room; -1 = there
// is none now.
func (q *rxQueue) read(k *buffer.Packet) int {
	q.iov[1] = iovec{uintptr(k.DataPtr()), uintptr(q.segCap)}
	at, cnt, before := 0, 3, vnet.Size
	if !q.d.vnet {
		at, cnt, before = 1, 2, 0
	}
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_READV, uintptr(q.fd), uintptr(unsafe.Pointer(&q.iov[at])), uintptr(cnt))
		switch errno {
		case 0:
			return max(int(n)-before, 0)
		case unix.EINTR:
			continue
		case unix.EAGAIN:
		case unix.EBADFD:
			q.failed = q.d.Removed()
		default:
			q.failed = q.d.Fault("reading failed", errno)
		}
		return -1
	}
}

// slow handles a frame of ln bytes that is not plain: it becomes free[0], or is left to
// be cut, or is dropped.
func (q *rxQueue) slow(w *worker.Worker, k *buffer.Packet, ln int, free []*buffer.Packet) bool {
	if ln < ethHeader {
		add(&q.bad, 1)
		return false
	}
	var h vnet.Header
	if q.d.vnet {
		h = vnet.Parse(q.hdr[:])
	}
	if ln <= int(q.segCap) && !h.GSO() {
		k.SetData(q.head, uint32(ln))
		q.finish(h, k.Data())
		return true
	}
	copy(q.room, k.Data()[:min(ln, int(q.segCap))])
	b := q.room[:ln]
	if h.GSO() {
		if !q.seg.Start(h, b) {
			add(&q.odd, 1)
		} else {
			add(&q.merged, 1)
		}
		return false
	}
	if ln > q.d.pool.MaxLen() {
		add(&q.tooLong, 1)
		return false
	}
	q.finish(h, b)
	l := q.d.pool.AllocPacket(w, ln)
	if l == nil {
		add(&q.noRoom, 1)
		return false
	}
	vnet.Fill(l, b)
	k.SetData(q.head, 0)
	buffer.FreePacket(w, k)
	free[0] = l
	return true
}

func (q *rxQueue) finish(h vnet.Header, frame []byte) {
	if h.Unfinished() && h.Finish(frame) {
		add(&q.finished, 1)
	}
}

// cut makes packets of the segments of a merged frame.
func (q *rxQueue) cut(w *worker.Worker, pkts []*buffer.Packet) int {
	n, how := q.seg.Packets(w, q.d.pool, pkts)
	switch how {
	case vnet.Empty:
		add(&q.starved, 1)
	case vnet.TooLong:
		add(&q.tooLong, 1)
	}
	add(&q.segments, uint64(n))
	return n
}

// Arm implements driver.Waiter.
func (q *rxQueue) Arm(func()) (fd int, due time.Duration, ready bool) {
	if q.failed != nil || q.d.State.LoadAcq() != nic.StateRunning || q.seg.Active() || q.d.Blocked.LoadAcq() == nic.BlockedGone {
		return -1, 0, true
	}
	return q.fd, 0, false
}

// Disarm implements driver.Waiter.
func (q *rxQueue) Disarm() {}

// Drops implements driver.RxQueue.
func (q *rxQueue) Drops() map[string]uint64 {
	return map[string]uint64{
		"pool_empty": q.noRoom.LoadAcq(), "longer_than_packet": q.tooLong.LoadAcq(), "too_short": q.bad.LoadAcq(), "merged": q.odd.LoadAcq(),
	}
}

const maxIovs = 1024

// txQueue writes to one descriptor. One caller at a time.
type txQueue struct {
	d      *device
	fd     int
	failed error
	zero   [vnet.Size]byte // a header that says nothing
	iov    [maxIovs]iovec

	_       relax.Pad
	full    relax.Uint64
	noData  relax.Uint64 // dropped: shorter than an Ethernet header
	tooMany relax.Uint64 // dropped: more segments than a write may have
	refused relax.Uint64 // dropped: the kernel does not take such a frame
	_       relax.Pad
}

func newTx(d *device, fd int) *txQueue {
	q := &txQueue{d: d, fd: fd}
	q.iov[0] = iovec{uintptr(unsafe.Pointer(&q.zero)), vnet.Size}
	return q
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
	done := 0
	for done < len(pkts) && q.write(pkts[done]) {
		done++
	}
	if done < len(pkts) {
		add(&q.full, 1)
	}
	buffer.FreePackets(w, pkts[:done])
	if done > 0 {
		return done, nil
	}
	return 0, q.failed
}

// write sends one packet, or drops and counts it; false: not now.
func (q *txQueue) write(k *buffer.Packet) bool {
	switch {
	case k.Len() < ethHeader:
		add(&q.noData, 1)
		return true
	case k.NumSegs() >= maxIovs:
		add(&q.tooMany, 1)
		return true
	}
	n := 1
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		q.iov[n] = iovec{uintptr(unsafe.Pointer(unsafe.SliceData(s.Data()))), uintptr(s.Len())}
		n++
	}
	at := 0
	if !q.d.vnet {
		at = 1
	}
	for {
		_, _, errno := unix.RawSyscall(unix.SYS_WRITEV, uintptr(q.fd), uintptr(unsafe.Pointer(&q.iov[at])), uintptr(n-at))
		switch errno {
		case 0:
			return true
		case unix.EINTR:
		case unix.EINVAL, unix.EMSGSIZE:
			add(&q.refused, 1)
			return true
		case unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM, unix.EIO: // EIO: the interface is down
			return false
		case unix.EBADFD:
			q.failed = q.d.Removed()
			return false
		default:
			q.failed = q.d.Fault("writing failed", errno)
			return false
		}
	}
}

// Drops implements driver.TxQueue.
func (q *txQueue) Drops() map[string]uint64 {
	return map[string]uint64{"too_short": q.noData.LoadAcq(), "too_many_segments": q.tooMany.LoadAcq(), "refused": q.refused.LoadAcq()}
}
