// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"syscall"
	"time"

	"github.com/odp-go/godp/odp"
)

// action is a disturbance. Its function says whether it did something.
type action struct {
	name   string
	weight int
	do     func(r *round, c *card) bool
}

// actions are all there are. Each takes back what it did by itself, by undo, or at
// the end of the round.
var actions = []action{
	{"link down", 6, func(r *round, c *card) bool { return r.sim.SetLink(c.name, false) == nil }},
	{"link up", 6, func(r *round, c *card) bool { return r.sim.SetLink(c.name, true) == nil }},
	{"interface down", 5, func(r *round, c *card) bool { return r.sim.SetUp(c.name, false) == nil }},
	{"interface up", 7, func(r *round, c *card) bool { return r.sim.SetUp(c.name, true) == nil }},
	{"stuck", 4, func(r *round, c *card) bool { return r.sim.SetStuck(c.name, true) == nil }},
	{"free", 6, func(r *round, c *card) bool { return r.sim.SetStuck(c.name, false) == nil }},
	{"late completion", 4, func(r *round, c *card) bool { return r.sim.SetTxDelaySyncs(c.name, r.rng.IntN(4)) == nil }},
	{"call fails", 5, func(r *round, c *card) bool {
		r.sim.FailCall(1+r.rng.Uint64N(200), one(r.rng, syscall.EIO, syscall.EINVAL, syscall.ENXIO, syscall.EINTR, syscall.EAGAIN, syscall.ENOMEM, syscall.EBUSY))
		return true
	}},
	{"broken slot", 3, func(r *round, c *card) bool {
		idx, n := uint32(r.rng.Uint32()), uint16(r.rng.Uint32())
		if r.rng.IntN(2) == 0 {
			idx = r.rng.Uint32N(2) // netmap's own buffers
		}
		ok := r.sim.BreakAtSync(c.name, r.rng.IntN(2) == 0, r.rng.IntN(r.plan.rings), idx, n) == nil
		if ok {
			r.broken++
		}
		return ok
	}},
	{"ring set back", 2, func(r *round, c *card) bool {
		return r.sim.ResetAtSync(c.name, r.rng.IntN(2) == 0, r.rng.IntN(r.plan.rings)) == nil
	}},
	{"close and open", 5, func(r *round, c *card) bool {
		switch r.rng.IntN(8) {
		case 0:
			r.sim.FailMemory(1)
		case 1:
			r.sim.GrantFewer(c.name, r.rng.IntN(r.plan.pool))
		case 2:
			r.sim.FailCall(1+r.rng.Uint64N(30), syscall.EIO)
		}
		r.closeCard(c)
		if r.rng.IntN(3) == 0 {
			time.Sleep(pause(r.rng))
		}
		r.reopen(c)
		return true
	}},
	{"stop and start", 4, func(r *round, c *card) bool {
		port := c.port.Load()
		if port == nil || port.Stop() != nil {
			return false
		}
		time.Sleep(pause(r.rng))
		if err := port.Start(); err != nil {
			r.problem("start %s again: %v", c.name, err)
		}
		return true
	}},
	{"empty pool", 4, func(r *round, c *card) bool {
		port := c.port.Load()
		if port == nil {
			return false
		}
		pkts := make([]*odp.Packet, 1+r.rng.IntN(r.plan.pool))
		n := port.Pool().AllocPackets(nil, pkts, 60)
		r.held = append(r.held, pkts[:n]...)
		return n > 0
	}},
	{"full pool", 5, func(r *round, c *card) bool { n := len(r.held); r.letGo(); return n > 0 }},
	{"workers stop and start", 3, func(r *round, c *card) bool { r.stopWorkers(); return true }},
	{"group made and closed", 2, func(r *round, c *card) bool {
		g, err := r.inst.NewGroup("")
		if err != nil {
			r.problem("new group: %v", err)
			return false
		}
		q, err := r.inst.NewSchedQueue(odp.SchedQueueConfig{Group: g, Sync: odp.Atomic})
		if err != nil {
			r.problem("new queue: %v", err)
			return false
		}
		if err := q.Close(); err != nil {
			r.problem("close queue: %v", err)
		}
		if err := g.Close(); err != nil {
			r.problem("close group: %v", err)
		}
		return true
	}},
	{"counters read", 3, func(r *round, c *card) bool { return r.inst.Snapshot() != nil }},
	{"nothing", 8, func(r *round, c *card) bool { time.Sleep(pause(r.rng)); return true }},
}

// letGo gives back what "empty pool" holds.
func (r *round) letGo() {
	odp.FreePackets(nil, r.held)
	r.held = nil
}

// reopen opens a card again. It may fail while calls fail; it is tried again later.
func (r *round) reopen(c *card) {
	if err := r.openCard(c); err != nil {
		r.Actions["open failed"]++
		r.Script = append(r.Script, c.name+" did not open")
	}
}

// mend closes and opens the cards that say that they are faulted, and those that did
// not open.
func (r *round) mend() {
	for _, c := range r.cards {
		port := c.port.Load()
		if port != nil {
			for _, q := range port.Queues() {
				if q.SourceErr() != nil {
					c.faulty.Store(true)
				}
			}
		}
		if c.faulty.Load() {
			r.Actions["faulted"]++
			r.Script = append(r.Script, c.name+" faulted")
			r.closeCard(c)
		}
		if c.port.Load() == nil {
			r.reopen(c)
		}
	}
}

// disturb plays the script.
func (r *round) disturb() {
	total := 0
	for _, a := range actions {
		total += a.weight
	}
	if r.plan.hostile {
		r.sim.Scribble("", r.rng.Uint64(), 20+r.rng.IntN(200))
	}
	for range r.plan.actions {
		if r.failed() {
			return
		}
		x := r.rng.IntN(total)
		for _, a := range actions {
			if x -= a.weight; x < 0 {
				if c := r.cards[r.rng.IntN(len(r.cards))]; a.do(r, c) {
					r.Actions[a.name]++
					r.Script = append(r.Script, c.name+" "+a.name)
				}
				break
			}
		}
		r.mend()
		time.Sleep(pause(r.rng))
	}
}

// quiet ends all disturbances and waits until everything has arrived.
func (r *round) quiet() {
	r.sim.Scribble("", 0, 0)
	r.sim.FailCall(0, 0)
	r.sim.FailMemory(0)
	r.letGo()
	for _, c := range r.cards {
		r.sim.GrantFewer(c.name, 0)
		r.sim.SetTxDelaySyncs(c.name, 0)
		r.sim.SetStuck(c.name, false)
		r.sim.SetUp(c.name, true)
		r.sim.SetLink(c.name, true)
	}
	r.calm.Store(true)
	r.mend()
	// a while of undisturbed work: what was broken must work again
	delivered := r.sim.ReportAll().Delivered
	r.await("frames after the disturbances", r.moved, func() bool { r.mend(); return r.sim.ReportAll().Delivered > delivered+64 })
	for _, c := range r.cards {
		r.sim.StopSource(c.name, true)
	}
	for _, s := range r.side {
		s.stop.Store(true)
	}
	r.await("the last events", r.moved, func() bool {
		r.mend()
		for _, s := range r.side {
			if !s.done() {
				return false
			}
		}
		return r.inst.Snapshot().Balance.Queued == 0
	})
	// What has left for a card that was slow or without link leaves with the next sync, at
	// the latest when the port is closed. The rest must arrive by itself.
	for last, since := r.moved(), time.Now(); time.Since(since) < quietTime && r.sim.ReportAll().Lost(sum(r.dropped())) > 0; time.Sleep(time.Millisecond) {
		if now := r.moved(); now != last {
			last, since = now, time.Now()
		}
		r.mend()
	}
	before := r.sim.ReportAll()
	for _, c := range r.cards {
		r.closeCard(c)
	}
	if d := r.sim.ReportAll().Sub(before); (d.RxUnread > 0 || d.TxUnsent > 0) && !r.plan.hostile {
		r.problem("%d received frames waited in their rings, and %d to be sent", d.RxUnread, d.TxUnsent)
	}
}

// quietTime is how long nothing moves before the ports are closed.
const quietTime = 250 * time.Millisecond

// moved is a number that grows while anything goes on.
func (r *round) moved() uint64 {
	rep := r.sim.ReportAll()
	n := r.app.bursts.Load() + rep.Injected + rep.Delivered + sum(rep.Drops())
	for _, s := range r.side {
		n += s.sent.Load() + s.received.Load()
	}
	return n
}

// end stops the workers and ends the instance.
func (r *round) end() {
	if r.inst == nil {
		return
	}
	r.letGo()
	r.stopRuns.Store(true)
	patience := r.cfg.Patience
	if r.app.panicked.Load() > 0 {
		patience = 200 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if r.again != nil && r.failed() {
		r.stopWorkers()
	}
	for _, c := range r.cards {
		if r.slots != nil {
			r.closeCard(c)
		}
	}
	err := r.inst.Shutdown(ctx)
	ended := make(chan struct{})
	go func() { r.runs.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(r.cfg.Patience):
		r.lost = true
		r.problem("the workers did not end within %v", r.cfg.Patience)
	}
	if err != nil && !r.leaked(err) {
		r.problem("Shutdown: %v", err)
	}
}
