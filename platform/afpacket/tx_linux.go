// SPDX-License-Identifier: Apache-2.0

package afpacket

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/platform/internal/nic"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

const (
	maxMsgs = 64   // messages of one call
	maxIovs = 1024 // pieces of one call; also the kernel's limit for one message
)

// iovec, msghdr and mmsghdr are the kernel's structures, with addresses as numbers:
// what they point to is packet memory, and arrays of the queue itself.
type iovec struct{ base, len uintptr }

type msghdr struct {
	name                              uintptr
	nameLen                           uint32
	iov, iovLen, control, controllLen uintptr
	flags                             int32
}

type mmsghdr struct {
	msghdr
	len uint32
}

// txQueue sends through one socket. One caller at a time.
type txQueue struct {
	d      *device
	fd     int
	failed error
	msgs   [maxMsgs]mmsghdr
	iovs   [maxIovs]iovec

	_       relax.Pad
	calls   relax.Uint64 // sendmmsg
	full    relax.Uint64 // bursts that the kernel did not take whole
	tooLong relax.Uint64 // dropped: longer than the MTU allows
	noData  relax.Uint64 // dropped: shorter than an Ethernet header
	tooMany relax.Uint64 // dropped: more segments than a message may have
	refused relax.Uint64 // dropped: the kernel does not send such a frame
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
	done, more := 0, true
	for more && done < len(pkts) {
		var n int
		if m := q.prepare(pkts[done:]); m > 0 {
			n, more = q.push(m)
		} else {
			n = 1 // the first can never be sent, and is counted
		}
		done += n
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

// prepare describes packets from the front, up to one that can't be sent.
func (q *txQueue) prepare(pkts []*buffer.Packet) int {
	pkts = pkts[:min(len(pkts), maxMsgs)]
	used := 0
	for i, k := range pkts {
		segs := k.NumSegs()
		bad := &q.noData
		if segs > maxIovs {
			bad = &q.tooMany
		}
		if k.Len() < ethHeader || segs > maxIovs {
			if i == 0 {
				add(bad, 1)
			}
			return i
		}
		if segs > maxIovs-used {
			return i
		}
		m := &q.msgs[i]
		m.iov, m.iovLen = uintptr(unsafe.Pointer(&q.iovs[used])), uintptr(segs)
		if segs == 1 {
			q.iovs[used] = iovec{uintptr(k.DataPtr()), uintptr(k.SegLen())}
			used++
			continue
		}
		for s := k.FirstSeg(); s != nil; s = s.Next() {
			q.iovs[used] = iovec{uintptr(unsafe.Pointer(unsafe.SliceData(s.Data()))), uintptr(s.Len())}
			used++
		}
	}
	return len(pkts)
}

// push sends the first m messages. more is false when the kernel takes no more now.
func (q *txQueue) push(m int) (done int, more bool) {
	for done < m {
		add(&q.calls, 1)
		r, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(q.fd), uintptr(unsafe.Pointer(&q.msgs[done])), uintptr(m-done), unix.MSG_DONTWAIT, 0, 0)
		if errno == 0 {
			done += int(r)
			continue
		}
		switch errno {
		case unix.EINTR:
		case unix.EAGAIN, unix.ENOBUFS, unix.ENOMEM, unix.ENETDOWN:
			return done, false
		case unix.EMSGSIZE:
			add(&q.tooLong, 1)
			done++
		case unix.EINVAL:
			add(&q.refused, 1)
			done++
		default:
			why := "sending failed"
			if isGone(errno) {
				why = "the interface was removed"
			}
			q.failed = q.d.Fault(why, errno)
			return done, false
		}
	}
	return done, true
}

// Drops implements driver.TxQueue.
func (q *txQueue) Drops() map[string]uint64 {
	return map[string]uint64{
		"longer_than_mtu": q.tooLong.LoadAcq(), "too_short": q.noData.LoadAcq(), "too_many_segments": q.tooMany.LoadAcq(),
		"refused": q.refused.LoadAcq(),
	}
}
