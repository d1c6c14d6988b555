// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"math/bits"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
)

// spreadBurst is how many packets one poll of a spread input receives.
const spreadBurst = 64

// spreader receives from one input and enqueues each packet to the scheduled
// queue of its flow. The scheduler polls it; who holds its token is the only caller, so
// that packets of a flow are enqueued in the order in which they came.
type spreader struct {
	in    *In
	qs    []*SchedQueue
	block bool // a full queue stops receiving, instead of losing its packets

	// of the holder of the token
	pkts  [spreadBurst]*buffer.Packet
	bkt   [][]*buffer.Event // by queue, capacity spreadBurst
	used  uint64            // queues with packets in their bucket
	_     relax.Pad
	drops relax.Uint64 // packets lost because their queue was full; written by the holder
	_     relax.Pad
}

func newSpreader(in *In, qs []*SchedQueue, block bool) *spreader {
	s := &spreader{in: in, qs: qs, block: block, bkt: make([][]*buffer.Event, len(qs))}
	mem := make([]*buffer.Event, spreadBurst*len(qs))
	for i := range s.bkt {
		s.bkt[i] = mem[i*spreadBurst : i*spreadBurst : (i+1)*spreadBurst]
	}
	return s
}

// Poll implements schedule.Poller.
func (s *spreader) Poll(w *Worker) (moved int, err error) {
	if s.used != 0 { // only when full queues block
		if moved = s.deliver(w); s.used != 0 {
			return moved, nil
		}
	}
	n, err := s.in.Recv(w, s.pkts[:])
	for _, k := range s.pkts[:n] {
		h, _ := k.FlowHash()
		i := int(uint64(h) * uint64(len(s.qs)) >> 32)
		s.bkt[i] = append(s.bkt[i], &k.Event)
		s.used |= 1 << i
	}
	if n > 0 {
		moved += s.deliver(w)
	}
	return moved, err
}

// deliver enqueues the buckets. What does not fit stays, or is lost.
func (s *spreader) deliver(w *Worker) (moved int) {
	for m := s.used; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		b := s.bkt[i]
		n, err := s.qs[i].Enqueue(w, b)
		moved += n
		switch rest := b[n:]; {
		case len(rest) == 0:
			s.bkt[i] = b[:0]
		case s.block && err == nil:
			s.bkt[i] = b[:copy(b, rest)]
			continue
		default:
			buffer.FreeEvents(w, rest)
			s.drops.StoreRel(s.drops.LoadAcq() + uint64(len(rest)))
			s.bkt[i] = b[:0]
		}
		s.used &^= 1 << i
	}
	return moved
}

// Arm implements schedule.Sleeper by the input's.
func (s *spreader) Arm(wake func()) (fd int, due time.Duration, ready bool) {
	fd, due, ready = s.in.Arm(wake)
	if s.used != 0 && (due == 0 || due > time.Millisecond) {
		due = time.Millisecond // a full queue: look again
	}
	return fd, due, ready
}

// Disarm implements schedule.Sleeper.
func (s *spreader) Disarm() { s.in.Disarm() }

// discard frees what waits in the buckets, after nobody polls any more.
func (s *spreader) discard() (n int) {
	for i, b := range s.bkt {
		n += len(b)
		buffer.FreeEvents(nil, b)
		s.bkt[i] = b[:0]
	}
	s.used = 0
	return n
}
