// SPDX-License-Identifier: Apache-2.0

package afpacket

import (
	"encoding/binary"
	"sync"
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

// A slot (struct tpacket2_hdr), written by the kernel but for status, which both
// write: the kernel when the frame is there, we when we have read it.
//
//	 0  status      1 = frame is there, 2 = longer than the slot, the whole is at the socket
//	 4  length      of the frame
//	 8  captured    bytes in the slot
//	12  mac         where the frame starts (16 bit), network header (16 bit)
//	16  time        seconds, nanoseconds
//	24  tag         TCI (16 bit), TPID (16 bit)
//	32  address     struct sockaddr_ll; byte 10 of it = 4: sent by this host
//	    …           virtio-net header, right before the frame
type slot struct {
	status        relax.Uint32 // partner: the kernel
	len, snap     uint32
	mac, _        uint16
	_             [2]uint32
	tci, tpid     uint16
	_             uint32
	_             [10]byte
	pktType, _    uint8
	_             [8]byte
	_, _, _, _, _ uint32 // what comes before the frame is larger than the header
}

const (
	slotHead = 128 // more than comes before a frame
	statUser = unix.TP_STATUS_USER
	statOdd  = unix.TP_STATUS_COPY | unix.TP_STATUS_VLAN_VALID | unix.TP_STATUS_CSUMNOTREADY
)

// rxQueue receives from one ring. One caller at a time.
type rxQueue struct {
	d      *device
	fd     int
	ring   []byte
	base   unsafe.Pointer
	slots  uint32
	size   uint32
	next   uint32 // slot that the kernel fills next, or has filled
	pool   *buffer.Pool
	head   uint32 // headroom of packets
	segCap uint32
	maxLen uint32
	vnet   bool // a virtio-net header stands before each frame
	own    bool // the kernel can't leave our own frames out
	failed error

	seg     vnet.Segmenter // of a frame in scratch
	scratch []byte

	_         relax.Pad
	merged    relax.Uint64 // frames that stood for several
	segments  relax.Uint64 // those
	finished  relax.Uint64
	tagged    relax.Uint64
	long      relax.Uint64 // frames that came by way of the socket
	starved   relax.Uint64 // the pool was empty: frames stayed in the ring
	truncated relax.Uint64 // dropped: longer than the slot, and the socket had no room
	tooLong   relax.Uint64 // dropped: longer than a packet of the pool can be
	noRoom    relax.Uint64 // dropped: it came by way of the socket, and the pool was empty
	badSlot   relax.Uint64 // dropped: the header points outside of the slot or frame
	odd       relax.Uint64 // dropped: merged in a way that can't be undone
	_         relax.Pad

	mu    sync.Mutex // guards what follows
	drops uint64     // frames that found the ring full
	shut  bool       // the socket is closed
}

// slotAt returns a slot of the ring.
func (q *rxQueue) slotAt(i uint32) *slot {
	return (*slot)(unsafe.Add(q.base, uintptr(i)*uintptr(q.size)))
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
	ready, at := 0, q.next
	for ready < len(pkts)-n && q.slotAt(at).status.LoadAcq()&statUser != 0 && ready < int(q.slots) {
		ready++
		if at++; at == q.slots {
			at = 0
		}
	}
	if ready == 0 {
		if n == 0 && q.d.Blocked.LoadAcq() == nic.BlockedGone {
			q.failed = q.d.Removed()
		}
		return n, q.failed
	}
	return n + q.take(w, pkts[n:], ready), nil
}

// take receives from up to ready slots.
func (q *rxQueue) take(w *worker.Worker, pkts []*buffer.Packet, ready int) int {
	free := pkts[:q.pool.AllocPackets(w, pkts[:ready], 0)]
	if len(free) < ready {
		add(&q.starved, 1)
	}
	before := uint32(0)
	if q.vnet {
		before = vnet.Size
	}
	n := 0
	for ; ready > 0 && n < len(free) && !q.seg.Active(); ready-- {
		s := q.slotAt(q.next)
		st, ln, snap, mac := s.status.LoadAcq(), s.len, s.snap, uint32(s.mac)
		p := unsafe.Add(unsafe.Pointer(s), uintptr(mac))
		switch {
		case q.own && s.pktType == unix.PACKET_OUTGOING:
		case mac < 48+before || snap > q.size || mac+snap > q.size:
			add(&q.badSlot, 1)
		case st&statOdd == 0 && snap == ln && ln <= q.segCap && (!q.vnet || vnet.Plain(unsafe.Slice((*byte)(unsafe.Add(p, -vnet.Size)), vnet.Size))):
			k := free[n]
			k.SetData(q.head, ln)
			copy(k.Data(), unsafe.Slice((*byte)(p), ln))
			n++
		default:
			took, ok := q.slow(w, s, st, unsafe.Slice((*byte)(unsafe.Add(p, -int(before))), before+snap), ln, free[n:])
			if !ok {
				ready = 0 // no memory now: the slot stays
				continue
			}
			n += took
		}
		s.status.StoreRel(unix.TP_STATUS_KERNEL)
		if q.next++; q.next == q.slots {
			q.next = 0
		}
	}
	if n < len(free) {
		buffer.FreePackets(w, free[n:])
	}
	if q.seg.Active() && n < len(pkts) {
		n += q.cut(w, pkts[n:])
	}
	return n
}

// slow receives a frame that is not plain. b is the virtio-net header, if there is
// one, and what the slot holds of the frame; ln its length. A packet goes to free[0].
// ok is false when there is no memory now.
func (q *rxQueue) slow(w *worker.Worker, s *slot, st uint32, b []byte, ln uint32, free []*buffer.Packet) (took int, ok bool) {
	if st&unix.TP_STATUS_COPY != 0 {
		// it must be fetched even when it is then dropped, since the next one waits behind it
		if b = q.fetch(); b == nil {
			add(&q.truncated, 1)
			return 0, true
		}
		add(&q.long, 1)
	} else if int(ln) != len(b)-q.before() {
		add(&q.truncated, 1)
		return 0, true
	}
	var h vnet.Header
	if q.vnet {
		if len(b) < vnet.Size {
			add(&q.badSlot, 1)
			return 0, true
		}
		h, b = vnet.Parse(b), b[vnet.Size:]
	}
	if len(b) < 14 {
		add(&q.badSlot, 1)
		return 0, true
	}
	tag := [4]byte{}
	tagLen := 0
	if st&unix.TP_STATUS_VLAN_VALID != 0 {
		tagLen = 4
		binary.BigEndian.PutUint16(tag[:], 0x8100)
		if st&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
			binary.BigEndian.PutUint16(tag[:], s.tpid)
		}
		binary.BigEndian.PutUint16(tag[2:], s.tci)
		h.Shift(4)
		add(&q.tagged, 1)
	}
	if h.GSO() {
		b = q.insert(b, tag[:tagLen])
		if !q.seg.Start(h, b) {
			add(&q.odd, 1)
			return 0, true
		}
		add(&q.merged, 1)
		return 0, true
	}
	total := len(b) + tagLen
	if total > int(q.maxLen) {
		add(&q.tooLong, 1)
		return 0, true
	}
	k := free[0]
	if total <= int(q.segCap) {
		k.SetData(q.head, uint32(total))
		d := k.Data()
		copy(d, b[:12])
		copy(d[12:], tag[:tagLen])
		copy(d[12+tagLen:], b[12:])
		q.finish(h, d)
		return 1, true
	}
	b = q.insert(b, tag[:tagLen])
	q.finish(h, b)
	long := q.pool.AllocPacket(w, total)
	if long == nil {
		// what came by way of the socket can't wait there
		add(&q.starved, 1)
		if st&unix.TP_STATUS_COPY != 0 {
			add(&q.noRoom, 1)
			return 0, true
		}
		return 0, false
	}
	vnet.Fill(long, b)
	buffer.FreePacket(w, k)
	free[0] = long
	return 1, true
}

// fetch takes the next whole frame from the socket, nil when it is not there or too
// long. An error that waits at the socket (the link went down) is told first, once.
func (q *rxQueue) fetch() []byte {
	room := len(q.scratch) - 4 // a tag may come in
	for range 3 {
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(q.fd), uintptr(unsafe.Pointer(unsafe.SliceData(q.scratch))), uintptr(room), unix.MSG_DONTWAIT|unix.MSG_TRUNC, 0, 0)
		switch {
		case errno == unix.EAGAIN:
			return nil
		case errno == 0 && n > uintptr(room):
			return nil
		case errno == 0:
			return q.scratch[:n]
		}
	}
	return nil
}

func (q *rxQueue) before() int {
	if q.vnet {
		return vnet.Size
	}
	return 0
}

// finish completes the checksum; a frame whose header is wrong goes on as it is,
// since the sender made it so.
func (q *rxQueue) finish(h vnet.Header, frame []byte) {
	if h.Unfinished() && h.Finish(frame) {
		add(&q.finished, 1)
	}
}

// insert returns the frame in scratch, with the tag behind the addresses.
func (q *rxQueue) insert(b, tag []byte) []byte {
	d := q.scratch[vnet.Size : vnet.Size+len(b)+len(tag)]
	copy(d[12+len(tag):], b[12:]) // b may be in scratch, at the same place
	copy(d, b[:12])
	copy(d[12:], tag)
	return d
}

// cut makes packets of the segments of a merged frame.
func (q *rxQueue) cut(w *worker.Worker, pkts []*buffer.Packet) int {
	n, how := q.seg.Packets(w, q.pool, pkts)
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
	if q.failed != nil || q.d.State.LoadAcq() != nic.StateRunning || q.seg.Active() || q.slotAt(q.next).status.LoadAcq()&statUser != 0 {
		return -1, 0, true
	}
	switch q.d.Blocked.LoadAcq() {
	case nic.BlockedGone:
		return -1, 0, true
	case nic.BlockedDown: // nothing comes, and the watcher tells nobody when it ends
		return -1, 10 * time.Millisecond, false
	}
	unix.GetsockoptInt(q.fd, unix.SOL_SOCKET, unix.SO_ERROR) // a pending ENETDOWN would end every sleep
	return q.fd, 0, false
}

// Disarm implements driver.Waiter.
func (q *rxQueue) Disarm() {}

// Drops implements driver.RxQueue.
func (q *rxQueue) Drops() map[string]uint64 {
	return map[string]uint64{
		"ring_full": q.kernelDrops(), "truncated": q.truncated.LoadAcq(), "longer_than_packet": q.tooLong.LoadAcq(),
		"pool_empty": q.noRoom.LoadAcq(), "bad_slot": q.badSlot.LoadAcq(), "merged": q.odd.LoadAcq(),
	}
}

// kernelDrops adds up what the kernel counts, which it sets back at each reading.
func (q *rxQueue) kernelDrops() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.shut {
		var st [2]uint32 // packets, drops: struct tpacket_stats
		size := uint32(8)
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(q.fd), unix.SOL_PACKET, unix.PACKET_STATISTICS, uintptr(unsafe.Pointer(&st)), uintptr(unsafe.Pointer(&size)), 0)
		if errno == 0 {
			q.drops += uint64(st[1])
		}
	}
	return q.drops
}

// close gives the ring and the socket back.
func (q *rxQueue) close() {
	q.kernelDrops()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shut = true
	if q.ring != nil {
		unix.Munmap(q.ring)
		q.ring = nil
	}
	unix.Close(q.fd)
}
