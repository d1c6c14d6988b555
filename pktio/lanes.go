// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/queue/ring"
	"github.com/odp-go/godp/worker"
)

// lanes spread the flows of one receive ring over several single-owner inputs
// in software. Whoever finds its own lane short polls the ring, when nobody else
// does, and deals the packets out by flow hash:
//
//	            ┌─ lane 0 ring ─▶ In of worker a
//	ring ─poll──┼─ lane 1 ring ─▶ In of worker b     each ring: one producer (the holder of busy),
//	 (busy)     └─ lane 2 ring ─▶ In of worker c     one consumer (the lane's owner)
//
// All packets of a flow go through one lane in order. The poller takes the
// packets of its own lane directly when nothing waits there.
type lanes struct {
	raw     *In // the ring itself, under busy
	lane    []lane
	block   bool
	locked  bool // the ring shares its lock with senders
	_       relax.Pad
	busy    relax.Uint32 // who polls, as lock.word
	_       relax.Pad
	scratch [maxBurst]*buffer.Packet // under busy
	split   [][]*buffer.Packet       // under busy: the burst by lane
}

// maxBurst is the most packets that are received in one poll of a spread ring.
const maxBurst = 64

type lane struct {
	ring *ring.SPSC
	bell driver.Bell  // the owner sleeps: wake it when packets come
	full relax.Uint64 // packets dropped because the ring was full. written by: the holder of busy
	left relax.Uint64 // packets freed because the port was closed
	_    relax.Pad
}

func newLanes(raw *In, n, slots int, block bool) *lanes {
	s := &lanes{raw: raw, lane: make([]lane, n), block: block, split: make([][]*buffer.Packet, n)}
	for i := range s.lane {
		s.lane[i].ring = ring.NewSPSC(slots)
		s.split[i] = make([]*buffer.Packet, 0, maxBurst)
	}
	return s
}

// recv is In.Recv for the owner of lane me.
func (s *lanes) recv(w *worker.Worker, me int, pkts []*buffer.Packet) (n int, err error) {
	r := s.lane[me].ring
	n = r.DequeueEvents(buffer.EventsOf(pkts))
	if n == len(pkts) || !s.hold(w) {
		return n, nil
	}
	// what another poller has left meanwhile comes before what the ring gives now
	n += r.DequeueEvents(buffer.EventsOf(pkts[n:]))
	if n < len(pkts) {
		var m int
		m, err = s.poll(w, me, pkts[n:])
		n += m
	}
	s.drop(w)
	if n > 0 {
		err = nil
	}
	return n, err
}

// hold takes the ring if nobody else has it.
func (s *lanes) hold(w *worker.Worker) bool {
	if s.busy.LoadAcq() != 0 || !s.busy.CAS(0, holderOf(w)) {
		return false
	}
	if s.locked && !s.raw.ring.lk.try(w) {
		s.busy.StoreRel(0)
		return false
	}
	return true
}

func (s *lanes) drop(w *worker.Worker) {
	if s.locked {
		s.raw.ring.lk.unlock(w)
	}
	s.busy.StoreRel(0)
}

// poll receives a burst and deals it out; lane me is empty, and what is for it
// goes to pkts first. The caller holds busy.
func (s *lanes) poll(w *worker.Worker, me int, pkts []*buffer.Packet) (n int, err error) {
	want := maxBurst
	if s.block {
		for i := range s.lane {
			want = min(want, s.lane[i].ring.Cap()-s.lane[i].ring.Len())
		}
	}
	if want == 0 || s.raw.ring.armed.LoadAcq() == armedFD {
		return 0, nil
	}
	c := &s.raw.cnt[len(s.raw.cnt)-1]
	if w != nil {
		c = &s.raw.cnt[w.ID()]
	}
	got, err := s.raw.ring.q.Recv(w, s.scratch[:want])
	if got, err = s.raw.received(s.scratch[:got], got, err, c); got == 0 {
		return 0, err
	}
	for i := range s.split {
		s.split[i] = s.split[i][:0]
	}
	count := uint64(len(s.lane))
	for _, k := range s.scratch[:got] {
		h, _ := k.FlowHash()
		i := laneOf(h, count)
		s.split[i] = append(s.split[i], k)
	}
	for i := range s.split {
		part := s.split[i]
		if i == me {
			n = copy(pkts, part)
			part = part[n:]
		}
		if len(part) > 0 {
			s.give(w, &s.lane[i], part, i == me)
		}
	}
	return n, err
}

// laneOf maps a hash to one of n lanes. The multiplication spreads hashes whose
// halves are alike, as symmetric ones are.
func laneOf(h uint32, n uint64) int {
	return int(uint64(h*0x9e3779b1) * n >> 32)
}

func (s *lanes) give(w *worker.Worker, l *lane, part []*buffer.Packet, own bool) {
	n := l.ring.EnqueueEvents(buffer.EventsOf(part))
	if n < len(part) {
		inc(&l.full, uint64(len(part)-n))
		buffer.FreePackets(w, part[n:])
	}
	if !own {
		l.bell.Ring() // no barrier before it: the sleeper looks again after laneLook
	}
}

// arm prepares for a sleep of the owner of lane me, see In.arm. The first sleeper
// watches the ring for all; the others are woken by who deals, and look for
// themselves once in a while, since that wake is only a hint.
func (s *lanes) arm(w *worker.Worker, me int, wake func(), slot *waitSlot) (fd int, due time.Duration, ready bool) {
	l := &s.lane[me]
	l.bell.Hang(wake)
	if l.ring.Len() > 0 {
		l.bell.TakeOff()
		return -1, 0, true
	}
	r := s.raw.ring
	if r.waiter == nil || r.armed.LoadAcq() != notArmed || !s.hold(w) {
		return -1, laneLook, false
	}
	defer s.drop(w)
	fd, due, ready = r.waiter.Arm(wake)
	if ready {
		r.waiter.Disarm()
		l.bell.TakeOff()
		return -1, 0, true
	}
	slot.armed = true
	r.setArmed(fd)
	return fd, shorter(due, laneLook), false
}

// laneLook is how long a lane's owner sleeps at most.
const laneLook = time.Millisecond

// disarm ends arm.
func (s *lanes) disarm(w *worker.Worker, me int, slot *waitSlot) {
	s.lane[me].bell.TakeOff()
	if !slot.armed {
		return
	}
	slot.armed = false
	var sp worker.Spin
	for !s.hold(w) {
		if s.locked && s.raw.ring.lk.word.LoadAcq() == heldForever {
			s.raw.ring.armed.StoreSeq(notArmed)
			return
		}
		sp.Wait()
	}
	s.raw.ring.waiter.Disarm()
	s.raw.ring.armed.StoreSeq(notArmed)
	s.drop(w)
}

// release takes a worker that panicked out.
func (s *lanes) release(w *worker.Worker, me int, slot *waitSlot) {
	s.lane[me].bell.TakeOff()
	s.busy.CAS(holderOf(w), 0)
}

// discard frees what waits in the lanes. No call runs.
func (s *lanes) discard() {
	var b [64]*buffer.Packet
	for i := range s.lane {
		for {
			n := s.lane[i].ring.DequeueEvents(buffer.EventsOf(b[:]))
			if n == 0 {
				break
			}
			buffer.FreePackets(nil, b[:n])
			inc(&s.lane[i].left, uint64(n))
		}
	}
}
