// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"fmt"
	"math/bits"
	"sync"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// In is a receive queue of a port. It is a queue.Source. Who may call it at the
// same time as others is the port's lock level.
type In struct {
	port  *Port
	ring  *rxRing
	own   *owner // of the ring, or of the lane
	sp    *lanes // not nil: the ring is spread, and this is one lane of it
	lane  int
	index int
	level LockLevel
	inner bool // level pktio: the device's lock is taken inside the ticket
	stats bool
	ing   ingress
	cnt   []inCount // by worker id; the last is the control plane's
	wait  []waitSlot
	ctl   sync.Mutex // serialises nil workers
}

// inCount is what one worker received from one queue. Written by that worker
// only, read by Stats.
type inCount struct {
	polls, empty   relax.Uint64
	packets, bytes relax.Uint64
	skips          relax.Uint64 // polls that found the lock taken
	waited, held   relax.Uint64 // ns, when Config.LockStats
	bursts         [BurstBuckets]relax.Uint64
	_              relax.Pad
}

func inc(x *relax.Uint64, d uint64) { x.StoreRel(x.LoadAcq() + d) }

func newIn(p *Port, r *rxRing) *In {
	n := p.set.Max() + 1
	return &In{
		port: p, ring: r, own: r.own, index: r.index, level: p.level,
		inner: p.level == LockPktio && p.cfg.Shared,
		stats: p.cfg.LockStats,
		ing:   ingress{layer: p.cfg.Parse.layer(), hash: p.cfg.Hash, stamp: p.cfg.Timestamps},
		cnt:   make([]inCount, n),
		wait:  make([]waitSlot, n),
	}
}

// Port returns the port of the queue.
func (in *In) Port() *Port { return in.port }

// Index returns the number of the queue in its port.
func (in *In) Index() int { return in.index }

// Recv fills pkts from the front with packets that the caller then owns: parsed,
// with input port and queue set. It never waits, except at level pktio for the
// handle's lock: 0, nil means that nothing came, or that another worker is
// receiving here just now. err wraps queue.ErrClosed, ErrStopped or ErrFaulted.
func (in *In) Recv(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if in.port.state.LoadAcq() != stRunning {
		return in.leftover(w, pkts)
	}
	if len(pkts) == 0 {
		return 0, nil
	}
	if w == nil {
		in.ctl.Lock()
		defer in.ctl.Unlock()
		return in.recv(nil, pkts, &in.cnt[len(in.cnt)-1])
	}
	return in.recv(w, pkts, &in.cnt[w.ID()])
}

// Dequeue is Recv in the form of queue.Source: plain queue mode, and what a
// scheduler polls.
func (in *In) Dequeue(w *worker.Worker, ev []*buffer.Event) (int, error) {
	return in.Recv(w, buffer.PacketsOf(ev))
}

func (in *In) recv(w *worker.Worker, pkts []*buffer.Packet, c *inCount) (n int, err error) {
	if in.stats || in.sp != nil {
		if in.sp != nil {
			return in.recvLane(w, pkts, c)
		}
		return in.recvTimed(w, pkts, c)
	}
	if ok, err := in.enter(w); !ok {
		if err == nil {
			inc(&c.skips, 1)
		}
		return 0, err
	}
	if in.ring.armed.LoadAcq() != armedFD {
		n, err = in.ring.q.Recv(w, pkts)
	}
	in.leave(w)
	return in.received(pkts, n, err, c)
}

// received counts a poll and prepares its packets; no lock is held.
func (in *In) received(pkts []*buffer.Packet, n int, err error, c *inCount) (int, error) {
	inc(&c.polls, 1)
	inc(&c.bursts[bits.Len(uint(n))], 1)
	if n == 0 {
		inc(&c.empty, 1)
		return 0, err
	}
	inc(&c.packets, uint64(n))
	inc(&c.bytes, in.ing.burst(pkts[:n], in.index))
	return n, err
}

// recvLane receives where the ring is spread over several inputs.
func (in *In) recvLane(w *worker.Worker, pkts []*buffer.Packet, c *inCount) (n int, err error) {
	if ok, err := in.enter(w); !ok {
		return 0, err
	}
	n, err = in.sp.recv(w, in.lane, pkts)
	in.leave(w)
	if n == 0 {
		inc(&c.polls, 1)
		inc(&c.bursts[0], 1)
		inc(&c.empty, 1)
		return 0, err
	}
	in.countLane(pkts[:n], c)
	return n, err
}

// countLane counts packets that the worker took from its lane.
func (in *In) countLane(pkts []*buffer.Packet, c *inCount) {
	var bytes uint64
	for _, k := range pkts {
		bytes += uint64(k.Len())
	}
	inc(&c.polls, 1)
	inc(&c.bursts[bits.Len(uint(len(pkts)))], 1)
	inc(&c.packets, uint64(len(pkts)))
	inc(&c.bytes, bytes)
}

// leftover is Recv of a port that is not started: packets that were received
// from a spread ring before are still given.
func (in *In) leftover(w *worker.Worker, pkts []*buffer.Packet) (n int, err error) {
	if in.sp != nil && in.port.state.LoadAcq() != stClosed {
		if ok, err := in.enter(w); !ok {
			return 0, err
		}
		n = in.sp.lane[in.lane].ring.DequeueEvents(buffer.EventsOf(pkts))
		in.leave(w)
	}
	if n == 0 {
		return 0, in.port.notRunning()
	}
	c := &in.cnt[len(in.cnt)-1]
	if w != nil {
		c = &in.cnt[w.ID()]
	}
	in.countLane(pkts[:n], c)
	return n, nil
}

func (in *In) recvTimed(w *worker.Worker, pkts []*buffer.Packet, c *inCount) (n int, err error) {
	t0 := now()
	ok, err := in.enter(w)
	t1 := now()
	inc(&c.waited, uint64(t1-t0))
	if !ok {
		if err == nil {
			inc(&c.skips, 1)
		}
		return 0, err
	}
	if in.ring.armed.LoadAcq() != armedFD {
		n, err = in.ring.q.Recv(w, pkts)
	}
	in.leave(w)
	inc(&c.held, uint64(now()-t1))
	return in.received(pkts, n, err, c)
}

// enter takes what the lock level asks for. false, nil = somebody else is there.
func (in *In) enter(w *worker.Worker) (bool, error) {
	switch in.level {
	case LockNone:
		if w == nil {
			return in.ring.lk.enter(nil), nil
		}
		return in.own.enter(w, in.port, "receive", in.index)
	case LockPktio:
		t := &in.port.tick
		t.lock(w)
		if in.port.state.LoadAcq() == stClosed {
			t.unlock()
			return false, queue.ErrClosed
		}
		if in.inner && !in.ring.lk.enter(w) {
			t.unlock()
			return false, nil
		}
		return true, nil
	}
	return in.ring.lk.enter(w), nil
}

func (in *In) leave(w *worker.Worker) {
	switch in.level {
	case LockNone:
		if w == nil {
			in.ring.lk.unlock(nil)
		} else {
			in.own.busy.StoreRel(0)
		}
	case LockPktio:
		if in.inner {
			in.ring.lk.unlock(w)
		}
		in.port.tick.unlock()
	default:
		in.ring.lk.unlock(w)
	}
}

// enter lets the ring's user in.
func (o *owner) enter(w *worker.Worker, p *Port, dir string, ring int) (bool, error) {
	if o.w.Load() != w {
		if err := o.claim(w, p.name, dir, ring); err != nil {
			return false, err
		}
	}
	o.busy.StoreRel(holderOf(w))
	if p.state.LoadAcq() == stClosed {
		o.busy.StoreRel(0)
		return false, queue.ErrClosed
	}
	return true, nil
}

// claim makes w the user of a ring at level none, when it has none or the last one
// has left the set. The slow path of the first burst.
func (o *owner) claim(w *worker.Worker, dev, dir string, ring int) error {
	if o.token.Load() != nil {
		return nil
	}
	old := o.w.Load()
	if old != nil && old != w {
		in := false
		old.Set().Workers(func(x *worker.Worker) { in = in || x == old })
		if in {
			return fmt.Errorf("device %q: %s queue %d: lock level none: worker %d uses it, worker %d must not: give each worker queues of its own or use lock level queue: %w",
				dev, dir, ring, old.ID(), w.ID(), queue.ErrFaulted)
		}
	}
	if !o.w.CompareAndSwap(old, w) {
		return o.claim(w, dev, dir, ring)
	}
	return nil
}

// Bind says that the queue is polled under a scheduled queue's token: at lock
// level none the workers may then take turns (the token is the lock). by names the
// queue, for the error of a second Bind. Unbind ends it.
func (in *In) Bind(by string) error {
	o := in.own
	if in.level == LockNone && !in.port.dev.info.SplitDir && in.sp == nil {
		return fmt.Errorf("device %q: receive queue %d: %s polls it from several workers at lock level none, and the device can't split receive and send: use lock level queue", in.port.name, in.index, by)
	}
	if !o.token.CompareAndSwap(nil, &by) {
		return fmt.Errorf("device %q: receive queue %d is bound to %s already: unbind it first", in.port.name, in.index, *o.token.Load())
	}
	return nil
}

// Unbind ends Bind.
func (in *In) Unbind() { in.own.token.Store(nil) }

// Handover lets another worker become the user of the queue at lock level none.
// The user of the moment calls it, or somebody who knows that he does not run.
func (in *In) Handover() { in.own.w.Store(nil) }

func (in *In) release(w *worker.Worker) {
	in.own.release(w)
	if in.sp != nil {
		in.sp.release(w, in.lane, &in.wait[w.ID()])
	}
	in.wait[w.ID()].abandon(in)
}

// release takes a worker that panicked off the ring.
func (o *owner) release(w *worker.Worker) {
	o.w.CompareAndSwap(w, nil)
	o.busy.CAS(holderOf(w), 0)
}

// discard frees what waits between the ring and the inputs. No call runs.
func (in *In) discard() {
	if in.sp != nil && in.lane == 0 {
		in.sp.discard()
	}
}
