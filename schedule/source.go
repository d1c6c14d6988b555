// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// Poller moves events from somewhere into queues, when it is polled: an input
// that spreads its packets over several queues. n is how many it moved; an error other
// than nil ends its polling, until it is resumed.
type Poller interface {
	Poll(w *worker.Worker) (n int, err error)
}

// Sleeper is implemented by a queue.Source or Poller on which an idle worker can
// sleep. One that does not implement it is polled every 250 us to 16 ms, the longer it was
// idle, by a worker that has nothing else to do.
//
// Arm and Disarm are called by the worker that watches it, and nobody polls it from
// the one to the other. ready: there may be something already, don't sleep. fd is a
// descriptor to watch for reading, -1 = none. due is when it must be looked at again
// without any wake, 0 = never. wake may be called from any goroutine.
type Sleeper interface {
	Arm(wake func()) (fd int, due time.Duration, ready bool)
	Disarm()
}

// A source that can't be slept on is polled by an idle worker every pollFirst at
// first, and less and less often while nothing comes, down to pollLast. Each sleep
// costs 0.3 to 1 ms of CPU, most of it in the runtime's monitor thread: a source that is
// idle for long should implement Sleeper.
const (
	pollFirst = 250 * time.Microsecond
	pollLast  = 16 * time.Millisecond
)

// feed is what fills a queue beside Enqueue. It is written by the control plane
// before the polled flag is set and after nobody polls any more.
type feed struct {
	src     queue.Source
	poll    Poller
	sleeper Sleeper
	err     atomic.Pointer[error] // why polling ended by itself; nil = it did not
	resumed relax.Uint32          // how often it was resumed (partner: poll)
	armed   relax.Uint32          // id + 1 of the worker that sleeps on it (partner: detach)
	closing relax.Uint32          // it is being detached: a watcher does not set polled again
	leaving bool                  // a DetachSource is under way; under Scheduler.mu
}

// AttachSource makes the queue one that is fed by src: whoever of the queue's group
// takes its token polls src when no event waits in the queue itself, straight into the
// array that the caller gave Schedule. Only one worker polls at a time. An atomic
// queue is held as long as its events; an ordered one gives them the next place in its
// order. src must not be polled by anybody else until DetachSource.
func (q *Queue) AttachSource(src queue.Source) error {
	if src == nil {
		return fmt.Errorf("%w: queue %q: AttachSource: no source", ErrConfig, q.name)
	}
	sl, _ := src.(Sleeper)
	return q.attach(src, nil, sl)
}

func (q *Queue) attach(src queue.Source, poll Poller, sl Sleeper) error {
	s := q.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.feed.src != nil || q.feed.poll != nil {
		return fmt.Errorf("%w: queue %q: AttachSource: it has a source: detach that first", ErrConfig, q.name)
	}
	if q.ring.tail.LoadAcq()&shut != 0 {
		return fmt.Errorf("%w: queue %q: AttachSource: %w", ErrConfig, q.name, queue.ErrClosed)
	}
	q.feed.src, q.feed.poll, q.feed.sleeper = src, poll, sl
	q.feed.err.Store(nil)
	q.feed.closing.StoreSeq(0)
	q.shutLanes.StoreSeq(1) // the input is polled when the queue's ring is empty
	q.flags.Or(polled)
	q.kick(nil)
	return nil
}

// SourceErr returns the error with which the queue's source ended, nil while it is
// polled. Such a source can be resumed; it is still to be detached.
func (q *Queue) SourceErr() error {
	if err := q.feed.err.Load(); err != nil {
		return *err
	}
	return nil
}

// ResumeSource makes the workers poll the queue's source again after it ended with an
// error: a port that was stopped was started. It does nothing without a source, and for one
// that is polled or is being detached. Any goroutine may call it, at any time.
func (q *Queue) ResumeSource() {
	q.s.mu.Lock()
	defer q.s.mu.Unlock()
	if q.feed.src == nil && q.feed.poll == nil || q.feed.leaving {
		return
	}
	q.feed.resumed.Add(1) // partner: poll, which may be about to end the source
	if q.feed.err.Load() != nil {
		q.pollAgain()
		q.kick(nil)
	}
}

// pollAgain takes the end of a source back.
func (q *Queue) pollAgain() {
	q.feed.err.Store(nil)
	q.setPolled()
}

// DetachSource ends the polling of the queue's source. When it returns nil nobody
// uses the source any more; events that wait in the queue stay there. It waits for the
// workers to pass a quiescent point: w is the calling worker, nil if it is none. With
// ctx's error the source is not polled again, but a call may be under way.
func (q *Queue) DetachSource(ctx context.Context, w *worker.Worker) error {
	s := q.s
	s.mu.Lock()
	switch {
	case q.feed.src == nil && q.feed.poll == nil:
		s.mu.Unlock()
		return fmt.Errorf("%w: queue %q: DetachSource: it has no source", ErrConfig, q.name)
	case q.feed.leaving:
		s.mu.Unlock()
		return fmt.Errorf("%w: queue %q: DetachSource: called twice at a time", ErrConfig, q.name)
	}
	q.feed.leaving = true
	s.mu.Unlock() // a worker that waits for it comes to no quiescent point
	err := q.settle(ctx, w)
	s.mu.Lock()
	defer s.mu.Unlock()
	q.feed.leaving = false
	if err != nil {
		return fmt.Errorf("queue %q: DetachSource: %w", q.name, err)
	}
	q.feed.src, q.feed.poll, q.feed.sleeper = nil, nil, nil
	q.shutLanes.StoreSeq(0)
	return nil
}

// settle ends the polling and waits until nobody is at it.
func (q *Queue) settle(ctx context.Context, w *worker.Worker) error {
	q.feed.closing.StoreSeq(1) // partner: unarm
	q.flags.And(^polled)
	for {
		id := q.feed.armed.LoadAcq()
		if id == 0 {
			break
		}
		if o := q.s.ws[id-1].w.Load(); o != nil {
			o.Wake()
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("worker %d still sleeps on it: %w", id-1, err)
		}
		time.Sleep(20 * time.Microsecond)
	}
	return q.s.grace(ctx, w)
}

func (s *Scheduler) grace(ctx context.Context, w *worker.Worker) error {
	if w != nil {
		return w.Grace(ctx)
	}
	return s.set.Grace(ctx)
}

// Polling is a Poller that the workers poll.
type Polling struct{ q *Queue }

// AddPoller makes the workers of a group (nil = all) poll p, one at a time, at a
// priority. What it moves into queues is found there.
func (s *Scheduler) AddPoller(name string, g *Group, prio Priority, p Poller) (*Polling, error) {
	if p == nil {
		return nil, fmt.Errorf("%w: AddPoller %q: no poller", ErrConfig, name)
	}
	q, err := s.NewQueue(QueueConfig{Name: name, Group: g, Priority: prio, Size: 1})
	if err != nil {
		return nil, err
	}
	sl, _ := p.(Sleeper)
	if err := q.attach(nil, p, sl); err != nil {
		return nil, err
	}
	return &Polling{q}, nil
}

// Remove ends the polling, as Queue.DetachSource does.
func (p *Polling) Remove(ctx context.Context, w *worker.Worker) error {
	if err := p.q.DetachSource(ctx, w); err != nil {
		return err
	}
	return p.q.Close()
}

// Resume makes the workers poll again after an error of the Poller, see
// Queue.ResumeSource.
func (p *Polling) Resume() { p.q.ResumeSource() }

// poll asks the queue's feed for events. The worker has the token.
func (s *Scheduler) poll(w *worker.Worker, p *state, q *Queue, ev []*buffer.Event) int {
	if q.flags.LoadAcq()&polled == 0 || w.Stopping() || s.limit != 0 && s.full() {
		return 0
	}
	bump(&p.stats.polls, 1)
	resumed := q.feed.resumed.LoadAcq()
	var n int
	var err error
	if q.feed.poll != nil {
		if n, err = q.feed.poll.Poll(w); n > 0 {
			p.moved, n = true, 0
		} else {
			bump(&p.stats.empty, 1)
		}
	} else if n, err = q.feed.src.Dequeue(w, ev); n > 0 {
		p.stats.add(n)
	} else {
		bump(&p.stats.empty, 1)
	}
	if err != nil {
		q.feed.fail(err)
		q.flags.And(^polled) // a full barrier; partner: ResumeSource
		if q.feed.resumed.LoadAcq() != resumed {
			q.pollAgain() // the error may be older
		}
	}
	return n
}

// fail notes why a source ended: err escapes here and not in each poll.
func (f *feed) fail(err error) { f.err.Store(&err) }

// watch takes the tokens of everything that is ready for this worker. If they
// are all of idle inputs it arms these, and says how long the worker may sleep;
// otherwise it gives them back. unwatch must follow.
//
// The token of an armed input is dropped: an event that is enqueued to its queue
// then makes a token of its own, and wakes whoever sleeps.
func (s *Scheduler) watch(p *state, d time.Duration) (time.Duration, bool) {
	p.fds = p.fds[:0]
	for prio := range Priorities {
		if p.use[prio] == 0 {
			continue
		}
		for i := -1; i < len(p.others); i++ {
			o := p
			if i >= 0 {
				o = p.others[i]
			}
			for m := o.sum[prio].LoadAcq() & p.use[prio]; m != 0; {
				var g int
				g, m = nextGroup(m, 0)
				l := s.levels[g*Priorities+prio].Load()
				if l.lanes[o.id].visible() {
					return d, false
				}
				for {
					idx, ok := l.pop(o.id)
					if !ok {
						break
					}
					left, idle := s.arm(p, s.tab[idx], d)
					if !idle {
						return d, false
					}
					d = left
				}
			}
		}
	}
	return d, true
}

// arm prepares one input for sleep; false: there is something to do, and the token
// is in a ring again.
func (s *Scheduler) arm(p *state, q *Queue, d time.Duration) (time.Duration, bool) {
	if q.flags.LoadAcq()&polled == 0 {
		if q.rest() {
			return d, true
		}
		q.push(p, false)
		return d, false
	}
	q.feed.armed.StoreSeq(uint32(p.id) + 1) // before the flag is taken away; partner: DetachSource
	if q.flags.And(^polled)&polled == 0 {
		q.feed.armed.StoreSeq(0)
		q.push(p, false)
		return d, false
	}
	if !q.rest() {
		q.unarm()
		q.push(p, false)
		return d, false
	}
	p.armed = append(p.armed, q)
	due := min(pollFirst<<min(p.naps, 8), pollLast)
	if sl := q.feed.sleeper; sl != nil {
		fd, next, ready := sl.Arm(p.wake)
		if ready {
			return d, false
		}
		if fd >= 0 {
			p.fds = append(p.fds, fd)
		}
		due = next
	}
	if due > 0 && (d < 0 || due < d) {
		d = due
	}
	return d, true
}

// unarm makes an input one that is polled again, unless it is being detached: then
// closing was stored before DetachSource took the flag away, and is seen here.
func (q *Queue) unarm() {
	q.setPolled()
	q.feed.armed.StoreSeq(0)
}

func (q *Queue) setPolled() {
	q.flags.Or(polled) // a full barrier; partner: rest
	if q.feed.closing.LoadAcq() != 0 {
		q.flags.And(^polled)
	}
}

// unwatch makes the inputs that the worker slept on available again. The caller
// looks at them next, or wakes somebody.
func (s *Scheduler) unwatch(p *state) {
	for len(p.armed) != 0 {
		q := p.armed[len(p.armed)-1]
		p.armed = p.armed[:len(p.armed)-1]
		if sl := q.feed.sleeper; sl != nil {
			sl.Disarm()
		}
		q.unarm()
		if q.ring.claim() {
			q.push(p, false)
		}
	}
}
