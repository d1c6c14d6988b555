// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// Spread is a fan-out poller: it receives from an input and enqueues each packet
// to one of several destinations by flow hash, in order per flow. It is how an
// input feeds several scheduled or plain queues. Drops of a destination that takes
// no more are counted.
type Spread struct {
	in    *In
	dests []queue.Dest
	hash  Hash
	_     relax.Pad
	busy  relax.Uint32 // who polls
	full  relax.Uint64 // packets dropped because a destination was full or closed
	_     relax.Pad
	burst [maxBurst]*buffer.Packet
	split [][]*buffer.Packet
}

// NewSpread makes a fan-out poller. hash says how flows are told apart; with
// HashNone it is HashSymmetric. A hash that the input's port has computed is used
// as it is.
func NewSpread(in *In, dests []queue.Dest, hash Hash) (*Spread, error) {
	if len(dests) == 0 || len(dests) > maxQueues {
		return nil, fmt.Errorf("device %q: receive queue %d: spread over %d destinations: allowed are 1 to %d", in.port.name, in.index, len(dests), maxQueues)
	}
	if int(hash) >= len(hashNames) {
		return nil, fmt.Errorf("device %q: receive queue %d: spread with hash %d: allowed are %v", in.port.name, in.index, hash, hashNames)
	}
	if hash == HashNone {
		hash = HashSymmetric
	}
	s := &Spread{in: in, dests: dests, hash: hash, split: make([][]*buffer.Packet, len(dests))}
	for i := range s.split {
		s.split[i] = make([]*buffer.Packet, 0, maxBurst)
	}
	return s, nil
}

// Poll receives one burst and deals it out; n is how many packets came in. It does
// not wait: 0, nil means that nothing came, or that another worker is polling.
// Any worker may call it. err is the input's.
func (s *Spread) Poll(w *worker.Worker) (n int, err error) {
	if s.busy.LoadAcq() != 0 || !s.busy.CAS(0, holderOf(w)) {
		return 0, nil
	}
	n, err = s.in.Recv(w, s.burst[:])
	if n > 0 {
		s.deal(w, s.burst[:n])
	}
	s.busy.StoreRel(0)
	return n, err
}

func (s *Spread) deal(w *worker.Worker, pkts []*buffer.Packet) {
	for i := range s.split {
		s.split[i] = s.split[i][:0]
	}
	count := uint64(len(s.dests))
	for _, k := range pkts {
		h, ok := k.FlowHash()
		if !ok {
			h = FlowHash(k, s.hash)
		}
		i := laneOf(h, count)
		s.split[i] = append(s.split[i], k)
	}
	for i, part := range s.split {
		if len(part) == 0 {
			continue
		}
		n, _ := s.dests[i].Enqueue(w, buffer.EventsOf(part))
		if n < len(part) {
			inc(&s.full, uint64(len(part)-n))
			buffer.FreePackets(w, part[n:])
		}
	}
}

// Drops returns the packets that were dropped because their destination took no
// more. Any goroutine.
func (s *Spread) Drops() uint64 { return s.full.LoadAcq() }

// In returns the input.
func (s *Spread) In() *In { return s.in }

// ReleaseWorker lets others poll after a worker panicked inside Poll.
func (s *Spread) ReleaseWorker(w *worker.Worker) { s.busy.CAS(holderOf(w), 0) }
