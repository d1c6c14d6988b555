// SPDX-License-Identifier: Apache-2.0

package vnet

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

// Outcome says how Packets ended.
type Outcome uint8

// The outcomes.
const (
	Done    Outcome = iota // pkts is full, or no segment is left
	Empty                  // the pool has no packet now: ask again
	TooLong                // a segment is longer than the pool's packets can be: the rest was dropped
)

// Packets makes packets of the next segments, as many as there is room and memory for.
func (s *Segmenter) Packets(w *worker.Worker, pool *buffer.Pool, pkts []*buffer.Packet) (n int, how Outcome) {
	var one [1]*buffer.Packet
	for n < len(pkts) && s.Active() {
		ln := s.Len()
		if ln > pool.MaxLen() {
			*s = Segmenter{}
			return n, TooLong
		}
		if pool.AllocPackets(w, one[:], ln) == 0 {
			return n, Empty
		}
		if k := one[0]; k.NumSegs() == 1 {
			s.Next(k.Data())
		} else {
			b := make([]byte, ln) // jumbo frames that were merged, in a pool of short segments
			s.Next(b)
			Fill(k, b)
		}
		pkts[n] = one[0]
		n++
	}
	return n, Done
}

// Fill writes b over the segments of a packet of the same length.
func Fill(k *buffer.Packet, b []byte) {
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		b = b[copy(s.Data(), b):]
	}
}
