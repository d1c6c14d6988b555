// SPDX-License-Identifier: Apache-2.0

package loop

import (
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/queue/ring"
	"github.com/odp-go/godp/worker"
)

// rxQueue is a receive queue: it reads the rings that feed it in turn.
type rxQueue struct {
	dev      *device
	index    int
	from     []*ring.SPSC
	next     int
	seeds    []*buffer.Packet // frames that Start made and nobody received yet
	hasSeeds relax.Uint32     // seeds may be read

	bell driver.Bell // partner: txQueue.fence
}

// Recv implements driver.RxQueue.
func (r *rxQueue) Recv(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if r.hasSeeds.LoadAcq() != 0 {
		return r.recvSeeds(pkts), nil
	}
	if len(r.from) == 1 {
		n := r.from[0].DequeueEvents(buffer.EventsOf(pkts))
		buffer.TakeOver(pkts[:n])
		return n, nil
	}
	n := 0
	for range r.from {
		n += r.from[r.next].DequeueEvents(buffer.EventsOf(pkts[n:]))
		if n == len(pkts) {
			break
		}
		if r.next++; r.next == len(r.from) {
			r.next = 0
		}
	}
	buffer.TakeOver(pkts[:n])
	return n, nil
}

func (r *rxQueue) recvSeeds(pkts []*buffer.Packet) int {
	n := copy(pkts, r.seeds)
	r.seeds = r.seeds[n:]
	if len(r.seeds) == 0 {
		r.seeds = nil
		r.hasSeeds.StoreRel(0)
	}
	return n
}

// Drops implements driver.RxQueue: what a loop loses, it loses on the send side.
func (r *rxQueue) Drops() map[string]uint64 { return map[string]uint64{} }

func (r *rxQueue) empty() bool {
	for _, f := range r.from {
		if f.Len() > 0 {
			return false
		}
	}
	return r.hasSeeds.LoadAcq() == 0
}

// Arm implements driver.Waiter: the sender of the next frame calls wake.
func (r *rxQueue) Arm(wake func()) (fd int, due time.Duration, ready bool) {
	r.bell.Hang(wake)
	return -1, 0, !r.empty()
}

// Disarm implements driver.Waiter.
func (r *rxQueue) Disarm() { r.bell.TakeOff() }

// ring wakes the receiver if he sleeps, after frames were published for him. The
// store of fence orders the look at the bell behind them.
func (t *txQueue) ring(r *rxQueue) {
	t.fence.StoreSeq(0)
	r.bell.Ring()
}

// wire is a ring and the receive queue that it feeds.
type wire struct {
	f *ring.SPSC
	r *rxQueue
}

// txQueue is a send queue.
type txQueue struct {
	dev     *device
	to      []wire
	one     [1]*buffer.Packet // for a packet on its own
	tooLong relax.Uint64
	full    relax.Uint64
	noBuf   relax.Uint64
	fence   relax.Uint32 // a full barrier between publishing and looking at rxQueue.bell
	_       relax.Pad
}

// Send implements driver.TxQueue.
func (t *txQueue) Send(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if len(t.to) != 1 {
		return t.sendSpread(w, pkts), nil
	}
	f, r := t.to[0].f, t.to[0].r
	mtu := t.dev.MTU()
	done := 0
	for done < len(pkts) {
		plain := t.plain(pkts[done:], mtu)
		buffer.HandOver(pkts[done : done+plain])
		n := f.EnqueueEvents(buffer.EventsOf(pkts[done : done+plain]))
		buffer.TakeOver(pkts[done+n : done+plain])
		done += n
		switch {
		case done == len(pkts):
		case n < plain || f.Len() == f.Cap():
			if t.dev.drop {
				inc(&t.full, len(pkts)-done)
				buffer.FreePackets(w, pkts[done:])
				done = len(pkts)
			}
		case t.oddOne(w, pkts[done], mtu, f):
			done++
			continue
		}
		break
	}
	if done > 0 {
		t.ring(r)
	}
	return done, nil
}

func inc(c *relax.Uint64, n int) { c.StoreRel(c.LoadAcq() + uint64(n)) }

// plain returns how many packets from the front pass by reference: of the
// receiver's pool, with no other reference to their data, not too long.
func (t *txQueue) plain(pkts []*buffer.Packet, mtu int) int {
	pool := t.dev.pool
	for i, k := range pkts {
		if k.Len() > mtu || !k.Simple(pool) && !passes(k, pool) {
			return i
		}
	}
	return len(pkts)
}

// passes is Simple for packets of several segments.
func passes(k *buffer.Packet, pool *buffer.Pool) bool {
	if !k.Private(pool) {
		return false
	}
	k.SetValue(nil)
	return true
}

// oddOne copies a packet into the receiver's pool and frees it, or drops one that
// is too long. There is room in f. false: no memory now, the packet stays.
func (t *txQueue) oddOne(w *worker.Worker, k *buffer.Packet, mtu int, f *ring.SPSC) bool {
	t.one[0] = k
	if k.Len() > mtu {
		inc(&t.tooLong, 1)
		buffer.FreePackets(w, t.one[:])
		return true
	}
	c := t.copyOf(w, k)
	if c == nil {
		if !t.dev.drop {
			return false
		}
		inc(&t.noBuf, 1)
		buffer.FreePackets(w, t.one[:])
		return true
	}
	buffer.FreePackets(w, t.one[:])
	t.one[0] = c
	buffer.HandOver(t.one[:])
	f.EnqueueEvents(buffer.EventsOf(t.one[:]))
	return true
}

// copyOf returns a copy of k from the receiver's pool, nil when it is empty.
func (t *txQueue) copyOf(w *worker.Worker, k *buffer.Packet) *buffer.Packet {
	var c [1]*buffer.Packet
	if t.dev.pool.AllocPackets(w, c[:], k.Len()) == 0 {
		return nil
	}
	from, to := k.FirstSeg(), c[0].FirstSeg()
	for src, dst := from.Data(), to.Data(); ; {
		n := copy(dst, src)
		if src, dst = src[n:], dst[n:]; len(src) == 0 {
			if from = from.Next(); from == nil {
				return c[0]
			}
			src = from.Data()
		}
		if len(dst) == 0 {
			if to = to.Next(); to == nil {
				return c[0]
			}
			dst = to.Data()
		}
	}
}

// sendSpread sends to several receive queues by flow, one packet after the other.
func (t *txQueue) sendSpread(w *worker.Worker, pkts []*buffer.Packet) int {
	mtu := t.dev.MTU()
	for i, k := range pkts {
		to := t.to[spread(k)%uint32(len(t.to))]
		if to.f.Len() == to.f.Cap() {
			if !t.dev.drop {
				return i
			}
			t.one[0] = k
			inc(&t.full, 1)
			buffer.FreePackets(w, t.one[:])
			continue
		}
		t.one[0] = k
		if t.plain(t.one[:], mtu) == 1 {
			buffer.HandOver(t.one[:])
			to.f.EnqueueEvents(buffer.EventsOf(t.one[:]))
		} else if !t.oddOne(w, k, mtu, to.f) {
			return i
		}
		t.ring(to.r)
	}
	return len(pkts)
}

// Drops implements driver.TxQueue.
func (t *txQueue) Drops() map[string]uint64 {
	return map[string]uint64{
		"too_long":   t.tooLong.LoadAcq(),
		"ring_full":  t.full.LoadAcq(),
		"pool_empty": t.noBuf.LoadAcq(),
	}
}
