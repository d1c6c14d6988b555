// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"maps"
	"slices"
	"time"
)

// BurstBuckets is the number of classes of burst length: class 0 is the empty
// poll, class i the bursts of 2^(i-1) to 2^i - 1 packets.
const BurstBuckets = 18

// InStats are the counters of a receive queue, of one handle. They only grow.
type InStats struct {
	Packets, Bytes uint64
	Polls, Empty   uint64 // polls of the ring, and those that found nothing
	Skips          uint64 // polls that found the ring's lock taken
	Bursts         [BurstBuckets]uint64
	Drops          map[string]uint64 // by reason, of the ring: all handles together
	Waiting        uint64            // received from a spread ring, not yet by its worker; a level
	LockWait       time.Duration     // waiting for locks, over all workers (Config.LockStats)
	LockHeld       time.Duration     // holding them
}

// MeanBurst returns the mean number of packets of the polls that found some.
func (s InStats) MeanBurst() float64 {
	if s.Polls == s.Empty {
		return 0
	}
	return float64(s.Packets) / float64(s.Polls-s.Empty)
}

// OutStats are the counters of a send queue, of one handle. They only grow.
type OutStats struct {
	Packets, Bytes uint64 // accepted
	Calls, Short   uint64 // sends, and those that were not accepted whole
	Staged         uint64 // of Packets: left to another sender that held the lock
	Refused        uint64 // events that are not packets
	Waiting        uint64 // staged and not sent yet, of the ring; a level, not a count
	Drops          map[string]uint64
	LockWait       time.Duration
	LockHeld       time.Duration
}

// Stats are the counters of a port. Everything that came in is in In.Packets,
// or in Drops of an In; everything accepted for sending is in Out.Packets, and left
// the program unless Waiting or Drops of an Out say otherwise.
type Stats struct {
	In     []InStats
	Out    []OutStats
	Device map[string]uint64 // the device's own, by name
}

// Since returns what was counted between old and s, two readings of one port: what a
// reset of the counters in between would have left, for as many viewers as there are. Levels
// (Waiting) are those of s. (ODP: odp_pktio_stats_reset.)
func (s Stats) Since(old Stats) Stats {
	s.In, s.Out = slices.Clone(s.In), slices.Clone(s.Out)
	for i := range s.In {
		if i < len(old.In) {
			s.In[i].less(&old.In[i])
		}
	}
	for i := range s.Out {
		if i < len(old.Out) {
			s.Out[i].less(&old.Out[i])
		}
	}
	s.Device = minus(s.Device, old.Device)
	return s
}

func (s *InStats) less(o *InStats) {
	s.Packets -= o.Packets
	s.Bytes -= o.Bytes
	s.Polls -= o.Polls
	s.Empty -= o.Empty
	s.Skips -= o.Skips
	for i := range s.Bursts {
		s.Bursts[i] -= o.Bursts[i]
	}
	s.Drops = minus(s.Drops, o.Drops)
	s.LockWait -= o.LockWait
	s.LockHeld -= o.LockHeld
}

func (s *OutStats) less(o *OutStats) {
	s.Packets -= o.Packets
	s.Bytes -= o.Bytes
	s.Calls -= o.Calls
	s.Short -= o.Short
	s.Staged -= o.Staged
	s.Refused -= o.Refused
	s.Drops = minus(s.Drops, o.Drops)
	s.LockWait -= o.LockWait
	s.LockHeld -= o.LockHeld
}

// minus subtracts by name; both are left as they are.
func minus(m, old map[string]uint64) map[string]uint64 {
	d := make(map[string]uint64, len(m))
	for k, v := range m {
		d[k] = v - old[k]
	}
	return d
}

// RxPackets sums the packets received over all queues.
func (s Stats) RxPackets() (n uint64) {
	for i := range s.In {
		n += s.In[i].Packets
	}
	return n
}

// TxPackets sums the packets accepted for sending over all queues.
func (s Stats) TxPackets() (n uint64) {
	for i := range s.Out {
		n += s.Out[i].Packets
	}
	return n
}

// Drops sums the drops of all queues by direction and reason ("rx_…", "tx_…").
func (s Stats) Drops() map[string]uint64 {
	m := map[string]uint64{}
	for i := range s.In {
		for k, v := range s.In[i].Drops {
			m["rx_"+k] += v
		}
	}
	for i := range s.Out {
		for k, v := range s.Out[i].Drops {
			m["tx_"+k] += v
		}
	}
	return m
}

// Stats returns the counters of the port. Any goroutine; the counters of queues
// in use are a moment apart.
func (p *Port) Stats() Stats {
	s := Stats{Device: p.dev.drv.Counters()}
	for _, in := range p.in {
		s.In = append(s.In, in.Stats())
	}
	for _, o := range p.out {
		s.Out = append(s.Out, o.Stats())
	}
	return s
}

// Stats returns the counters of the queue.
func (in *In) Stats() InStats {
	s := InStats{Drops: map[string]uint64{}}
	if in.lane == 0 {
		maps.Copy(s.Drops, in.ring.q.Drops())
	}
	if in.sp != nil {
		l := &in.sp.lane[in.lane]
		s.Waiting = uint64(l.ring.Len())
		if n := l.full.LoadAcq(); n > 0 {
			s.Drops["spread_full"] = n
		}
		if n := l.left.LoadAcq(); n > 0 {
			s.Drops["spread_closed"] = n
		}
	}
	for i := range in.cnt {
		c := &in.cnt[i]
		s.Packets += c.packets.LoadAcq()
		s.Bytes += c.bytes.LoadAcq()
		s.Polls += c.polls.LoadAcq()
		s.Empty += c.empty.LoadAcq()
		s.Skips += c.skips.LoadAcq()
		s.LockWait += time.Duration(c.waited.LoadAcq())
		s.LockHeld += time.Duration(c.held.LoadAcq())
		for j := range c.bursts {
			s.Bursts[j] += c.bursts[j].LoadAcq()
		}
	}
	return s
}

// Stats returns the counters of the queue.
func (o *Out) Stats() OutStats {
	s := OutStats{Drops: maps.Clone(o.ring.q.Drops()), Waiting: uint64(o.ring.stage.pending())}
	if n := o.ring.lost.LoadAcq(); n > 0 {
		if s.Drops == nil {
			s.Drops = map[string]uint64{}
		}
		s.Drops["staged_lost"] += n
	}
	for i := range o.cnt {
		c := &o.cnt[i]
		s.Packets += c.packets.LoadAcq()
		s.Bytes += c.bytes.LoadAcq()
		s.Calls += c.calls.LoadAcq()
		s.Short += c.short.LoadAcq()
		s.Staged += c.staged.LoadAcq()
		s.Refused += c.refused.LoadAcq()
		s.LockWait += time.Duration(c.waited.LoadAcq())
		s.LockHeld += time.Duration(c.held.LoadAcq())
	}
	return s
}
