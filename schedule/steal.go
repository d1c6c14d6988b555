// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"time"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/worker"
)

// A queue that changes its worker costs about ten line transfers, more than a burst of
// short work. So a worker that finds a single token in another's ring waits a moment
// before it takes it: an owner who is at work on short events comes back for it, and one that
// has long events does not, and is helped. Where there are several tokens one is taken at
// once. A worker that went without for Scheduler.hunger asks for one, and gets it: two workers
// take turns on one queue.
const (
	patience  = 64                     // pauses, about 1 us
	handTime  = 128                    // pauses that the asked one waits at most
	hungerMax = 250 * time.Microsecond // a worker that would sleep before asks before
)

func (c *Config) hunger() int64 {
	if c.Idle == Busy {
		return int64(hungerMax)
	}
	return int64(min(hungerMax, c.Spin*4/5))
}

// mayTake reports whether p may take a token from the ring of o now.
func (s *Scheduler) mayTake(w *worker.Worker, p, o *state, l *level) bool {
	r := &l.rings[o.id]
	h := r.head.LoadAcq()
	n := r.tail.LoadAcq() - h
	if n != 1 || o == s.ctl || w.Stopping() || o.w.Load() == nil {
		return n != 0
	}
	if p.hunger != 0 && nanotime()-p.hunger > s.hunger {
		return true
	}
	for range patience {
		relax.Pause()
	}
	return r.head.LoadAcq() == h
}

// hungry notes a pass without result, and asks the others when there were many.
func (s *Scheduler) hungry(p *state) {
	now := nanotime()
	if p.hunger == 0 {
		p.hunger = now
		return
	}
	if now-p.hunger <= s.hunger {
		return
	}
	for _, o := range p.others {
		if o != s.ctl && o.beg.LoadAcq() == 0 {
			o.beg.StoreRel(1)
		}
	}
}

// handOver gives a worker that asked the time to take the token of the queue served
// last, if it lies alone in the ring.
func (p *state) handOver() {
	p.beg.StoreRel(0)
	if p.q == nil {
		return
	}
	r := &p.q.level.rings[p.id]
	h := r.head.LoadAcq()
	if r.tail.LoadAcq()-h != 1 {
		return
	}
	for range handTime {
		relax.Pause()
		if r.head.LoadAcq() != h {
			return
		}
	}
}
