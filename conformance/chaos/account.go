// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"maps"
)

// dropped is what the program dropped, by reason: ports that are closed, ports that are
// open, and the workers.
func (r *round) dropped() map[string]uint64 {
	m := maps.Clone(r.drops)
	for _, c := range r.cards {
		if port := c.port.Load(); port != nil {
			for k, v := range port.Drops() {
				m[k] += v
			}
		}
	}
	a := &r.app
	for k, v := range map[string]uint64{
		"app_no_port": a.noPort.Load(), "app_full": a.full.Load(), "app_no_room": a.noRoom.Load(), "app_no_copy": a.noCopy.Load(),
		"app_consumed": a.consumed.Load(), "app_panicked": a.panicked.Load(),
	} {
		if v > 0 {
			m[k] += v
		}
	}
	return m
}

func sum(m map[string]uint64) (n uint64) {
	for _, v := range m {
		n += v
	}
	return n
}

// account is what must hold at the end of a round, when all ports are closed.
func (r *round) account() {
	rep := r.sim.ReportAll()
	r.Injected, r.Delivered, r.Panics = rep.Injected, rep.Delivered, r.app.panics.Load()
	if r.plan.keepsOrder() {
		r.Ordered = rep.Delivered
	}
	r.Drops = r.dropped()
	ours := sum(r.Drops)
	if r.inst != nil {
		if n := r.inst.Snapshot().FreedAtEnd; n > 0 {
			r.problem("%d events were left in queues", n)
		}
	}
	for k, v := range rep.Drops() {
		r.Drops["wire_"+k] += v
	}
	for _, s := range r.side {
		s.check()
	}
	if n := r.sim.Open(); n != 0 {
		r.problem("%d descriptors of the simulated kernel are open", n)
	}
	if r.plan.hostile {
		return // what was overwritten can't be counted
	}
	if lost := rep.Lost(ours); lost != 0 {
		r.problem("%d frames are not accounted for: %d injected, %d delivered, %d damaged, dropped %v", lost, rep.Injected, rep.Delivered, rep.Corrupt, r.Drops)
	}
	if rep.Duplicate != 0 || rep.Corrupt != 0 {
		r.problem("%d frames came twice, %d were damaged", rep.Duplicate, rep.Corrupt)
	}
	if rep.Reordered != 0 && r.plan.keepsOrder() {
		r.problem("%d frames left out of order", rep.Reordered)
	}
	l := r.sim.Leaks()
	// A slot that was overwritten takes its buffer with it, a panic what was in hand.
	if l.Leaked > uint64(r.broken)+r.app.panicked.Load() || l.DoubleFree != 0 || l.Ungranted != 0 {
		r.problem("the simulated kernel misses buffers: %+v, slots broken %d, packets in hand of panics %d", l, r.broken, r.app.panicked.Load())
	}
	if r.inst != nil {
		s := r.inst.Snapshot()
		if want := r.app.panicked.Load(); s.LeakedAtEnd > want {
			r.problem("%d events are out of their pools, %d were in hand of panics: %s", s.LeakedAtEnd, want, s.Leaks)
		}
	}
}
