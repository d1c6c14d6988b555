// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/queue"
)

// panicValue is what workers panic with.
const panicValue = "chaos: a worker panics"

// actor is what one worker goroutine keeps.
type actor struct {
	*round
	w     *odp.Worker
	k     int // number of the worker, kept over a restart
	rng   *rand.Rand
	away  int // turns until it joins its groups again
	calm  bool
	pkts  [64]*odp.Packet
	clone [64]*odp.Packet
}

// work is the function of every worker.
func (r *round) work(w *odp.Worker) error {
	a := &actor{round: r, w: w, k: r.claim()}
	defer r.unclaim(a.k)
	a.rng = rand.New(rand.NewPCG(r.cfg.Seed^uint64(r.Number)<<20, uint64(a.k)+r.app.bursts.Load()<<8))
	for _, g := range r.groups {
		if err := g.Join(w); err != nil {
			return err
		}
	}
	if r.plan.mode == odp.ModeScheduled {
		return a.queueLoop()
	}
	return a.burstLoop()
}

func (r *round) claim() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, taken := range r.slots {
		if !taken {
			r.slots[k] = true
			return k
		}
	}
	panic("chaos: more workers than there are")
}

func (r *round) unclaim(k int) { r.mu.Lock(); r.slots[k] = false; r.mu.Unlock() }

// burstLoop serves the inputs of this worker alone, so that order is kept.
func (a *actor) burstLoop() error {
	for turn := 0; a.w.Running(); turn++ {
		got := 0
		for i, c := range a.cards {
			port := c.port.Load()
			if port == nil {
				continue
			}
			for rx := range port.NumIn() {
				if (i*a.plan.rings+rx)%a.plan.workers != a.k {
					continue
				}
				n, err := a.recv(port, rx)
				if err != nil && !a.odd(c, err) {
					return err
				}
				if n > 0 {
					a.bursts(&route{card: c, rx: rx}, n)
					got += n
				}
			}
		}
		if got == 0 {
			time.Sleep(50 * time.Microsecond)
		}
	}
	return nil
}

func (a *actor) recv(port *odp.Port, rx int) (int, error) {
	if a.plan.mode == odp.ModePlain {
		return port.Source(rx).Dequeue(a.w, odp.EventsOf(a.pkts[:a.plan.burst]))
	}
	return port.In(rx).Recv(a.w, a.pkts[:a.plan.burst])
}

// odd reports whether an error of a burst call is one that the script provokes.
func (a *actor) odd(c *card, err error) bool {
	switch {
	case errors.Is(err, queue.ErrFaulted):
		c.faulty.Store(true)
		return true
	}
	return errors.Is(err, queue.ErrClosed) || errors.Is(err, queue.ErrStopped)
}

// queueLoop takes what the scheduler gives.
func (a *actor) queueLoop() error {
	for {
		a.chores()
		n, q, err := a.inst.Schedule(a.w, odp.EventsOf(a.pkts[:a.plan.burst]), 5*time.Millisecond)
		if n == 0 {
			if err != nil || !a.w.Running() {
				if errors.Is(err, queue.ErrStopped) {
					err = nil
				}
				return err
			}
			continue
		}
		ctx := q.Context().(*route)
		if ctx.side != nil {
			ctx.side.got(a.w, odp.EventsOf(a.pkts[:n]))
			continue
		}
		a.bursts(ctx, n)
	}
}

// chores are what workers do beside their work: pause, change groups.
func (a *actor) chores() {
	if a.round.calm.Load() {
		if !a.calm {
			a.calm, a.away = true, 0
			a.join()
		}
		return
	}
	if a.away > 0 {
		if a.away--; a.away == 0 {
			a.join()
		}
	}
	switch x := a.rng.IntN(1000); {
	case x < 3 && len(a.groups) > 0 && a.away == 0:
		a.groups[a.rng.IntN(len(a.groups))].Leave(a.w)
		a.away = 1 + a.rng.IntN(50)
	case x < 6:
		s := a.inst.Scheduler()
		s.Pause(a.w)
		s.Drain(a.w)
		if a.rng.IntN(2) == 0 {
			runtime.Gosched()
		}
		s.Resume(a.w)
	}
}

func (a *actor) join() {
	for _, g := range a.groups {
		if err := g.Join(a.w); err != nil {
			a.problem("join group: %v", err)
		}
	}
}

// bursts does the work of one burst: nothing, a copy, a panic; then it sends it on.
func (a *actor) bursts(from *route, n int) {
	a.app.bursts.Add(1)
	pkts := a.pkts[:n]
	if !a.round.calm.Load() {
		switch x := a.rng.IntN(2000); {
		case x < 2 && a.plan.panics:
			// what a panic has in hand is lost to the pool: not so much that nothing goes on
			if !a.plan.inHand || a.app.panicked.Load() > uint64(a.plan.pool/8) {
				a.send(from, pkts)
				n = 0
			}
			a.app.panics.Add(1)
			a.app.panicked.Add(uint64(n))
			panic(panicValue)
		case x < 20: // an application that drops some
			k := a.rng.IntN(n) + 1
			odp.FreePackets(a.w, pkts[:k])
			a.app.consumed.Add(uint64(k))
			pkts = pkts[k:]
		case x < 40:
			time.Sleep(time.Duration(a.rng.IntN(300)) * time.Microsecond)
		}
	}
	if a.copies != nil && a.rng.IntN(4) == 0 {
		pkts = a.copied(pkts)
	}
	a.send(from, pkts)
}

// copied replaces packets by copies, where the pool has some.
func (a *actor) copied(pkts []*odp.Packet) []*odp.Packet {
	n := 0
	for _, p := range pkts {
		c, err := p.Copy(a.w, a.copies)
		if err != nil {
			a.app.noCopy.Add(1)
			continue
		}
		a.clone[n] = c
		n++
	}
	odp.FreePackets(a.w, pkts)
	return a.clone[:n]
}

// send sends a burst on: to its next stage, or out of the next card.
func (a *actor) send(from *route, pkts []*odp.Packet) {
	if len(pkts) == 0 {
		return
	}
	if stages := from.card.stages[from.rx]; from.hop < len(stages) {
		n, err := stages[from.hop].Enqueue(a.w, odp.EventsOf(pkts))
		a.app.noRoom.Add(uint64(len(pkts) - n))
		odp.FreePackets(a.w, pkts[n:])
		if err != nil && !errors.Is(err, queue.ErrStopped) && !errors.Is(err, queue.ErrClosed) {
			a.problem("enqueue to a stage: %v", err)
		}
		return
	}
	to := a.next(from.card)
	port := to.port.Load()
	if port == nil {
		a.app.noPort.Add(uint64(len(pkts)))
		odp.FreePackets(a.w, pkts)
		return
	}
	out := port.Out(from.rx % port.NumOut())
	sent := 0
	for try := 0; sent < len(pkts) && try < 3; try++ {
		n, err := out.Send(a.w, pkts[sent:])
		sent += n
		if err != nil {
			if !a.odd(to, err) {
				a.problem("send: %v", err)
			}
			a.app.noPort.Add(uint64(len(pkts) - sent))
			odp.FreePackets(a.w, pkts[sent:])
			return
		}
	}
	a.app.full.Add(uint64(len(pkts) - sent))
	odp.FreePackets(a.w, pkts[sent:])
}

// next is the card that what came in on c leaves by.
func (r *round) next(c *card) *card {
	for i, x := range r.cards {
		if x == c {
			return r.cards[(i+1)%len(r.cards)]
		}
	}
	panic("chaos: a card that is none")
}
