// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/bits"
	"runtime"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// idleAfter is how many passes without result make a worker count as idle, and
// maxPause how many pauses lie between two passes at most (about 1 us).
const (
	idleAfter = 8
	maxPause  = 64
)

// settle is how long a worker counts as idle at least before it sleeps: longer than any
// store waits in a store buffer (see giveBack), whatever Config.Spin is.
const settle = 20 * time.Microsecond

// backoff waits a little longer after each pass without result: a worker that
// finds nothing must not take the lines away from those who work.
func (p *state) backoff() {
	for range min(1<<min(p.miss, 10), maxPause) {
		relax.Pause()
	}
	p.miss++
	switch {
	case p.miss&15 == 0: // with fewer Ps than workers somebody waits for this one
		runtime.Gosched()
	case p.miss > 16:
		worker.Yield()
	}
}

// await repeats the pass until there is an event, the time is over or the worker
// is to stop; under the adaptive policy it goes to sleep after a while.
func (s *Scheduler) await(w *worker.Worker, p *state, ev []*buffer.Event, wait time.Duration) (n int, q *Queue, err error) {
	start := nanotime()
	quiet := start // since when there was nothing at all
	for i := 1; ; i++ {
		p.backoff()
		w.Quiesce()
		if p.epoch != s.epoch.LoadAcq() {
			s.refresh(p)
		}
		if n = s.pass(w, p, ev); n > 0 {
			q, p.hunger, p.loop = p.q, 0, n
			break
		}
		s.hungry(p)
		if w.Stopping() && !p.again {
			err = queue.ErrStopped
			break
		}
		now := nanotime()
		left := time.Duration(-1)
		if wait > 0 {
			if left = wait - time.Duration(now-start); left <= 0 {
				break
			}
		}
		if p.again || p.moved {
			quiet, p.miss = now, 0
			continue
		}
		if !s.sleeps || i < idleAfter {
			continue
		}
		if !p.idling {
			p.idling, p.since = true, now
			s.idle.Add(1) // partner: start, giveBack
		}
		if now-quiet > int64(s.cfg.Spin) && now-p.since > int64(settle) {
			s.park(w, p, left)
		}
	}
	p.miss, p.naps = 0, 0
	if p.idling {
		p.idling = false
		if s.idle.Add(^uint32(0)) != 0 {
			s.chain(p)
		}
	}
	return n, q, err
}

// park sleeps, unless there is something to do after all. Whoever makes a queue
// ready stores that (a full barrier), then looks at sleep; here it is the other way
// round, so one of the two sees the other.
func (s *Scheduler) park(w *worker.Worker, p *state, d time.Duration) {
	w.PreparePark()
	p.sleep.StoreSeq(1) // partner: wake
	if d, idle := s.watch(p, d); idle && !w.Stopping() && p.epoch == s.epoch.LoadAcq() {
		bump(&p.stats.parks, 1)
		p.naps++
		p.parking = true
		w.Park(d, p.fds)
		p.parking = false
	}
	p.sleep.StoreSeq(0)
	s.unwatch(p)
}

// wake wakes one sleeping member of the groups in mask.
func (s *Scheduler) wake(mask uint64) {
	for _, p := range *s.all.Load() {
		if p.sleep.LoadAcq() != 0 && p.groups.LoadAcq()&mask != 0 && p.sleep.CAS(1, 0) {
			if w := p.w.Load(); w != nil {
				w.Wake()
				return
			}
		}
	}
}

// wakeAll wakes one sleeping member of each group in mask.
func (s *Scheduler) wakeAll(mask uint64) {
	for ; mask != 0; mask &= mask - 1 {
		s.wake(1 << bits.TrailingZeros64(mask))
	}
}

// chain wakes another worker when one that was idle goes and leaves something
// behind: it may have been woken for that, and the inputs want a new watcher.
func (s *Scheduler) chain(p *state) {
	for m := p.prios; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros8(m); s.visible(p, i) {
			s.wakeAll(p.use[i])
			return
		}
	}
}
