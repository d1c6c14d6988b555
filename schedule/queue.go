// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/invariants"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// Queue is a scheduled queue: events go in by Enqueue and come out of
// Scheduler.Schedule. Enqueue, EnqueueNew and Len may be called from anywhere.
type Queue struct {
	s     *Scheduler
	ws    []*state // Scheduler.ws
	level *level
	order *order // Ordered only
	gbit  uint64
	idx   uint32
	prio  uint8
	sync  Sync
	free  bool                   // the destination ignores order
	lanes []atomic.Pointer[lane] // Parallel only: by worker id; made at the worker's first Enqueue
	stash relax.Uint32

	shutLanes relax.Uint32 // 1: workers use the ring (partner: enqueueLane)

	name string
	cfg  QueueConfig
	born uint64 // number in the order of making

	context atomic.Pointer[any] // nil = cfg.Context

	feed feed // what it is fed by beside Enqueue
	_    relax.Pad

	// flags say that the queue needs service beyond its ring; read by the holder of the token
	flags relax.Uint32
	_     relax.Pad

	ring events
	_    relax.Pad

	backMu sync.Mutex
	back   []uint32 // events that come before the ring's: given back by a worker that left
}

// Bits of Queue.flags.
const (
	hasBack uint32 = 1 << iota // back is not empty
	polled                     // the feed is to be polled by the holder of the token
)

// Name returns the queue's name.
func (q *Queue) Name() string { return q.name }

// Sync returns the kind of synchronisation.
func (q *Queue) Sync() Sync { return q.sync }

// Priority returns the priority.
func (q *Queue) Priority() Priority { return Level(int(q.prio)) }

// Group returns the group whose workers get the queue's events.
func (q *Queue) Group() *Group { return q.cfg.Group }

// Locks returns the number of ordered locks.
func (q *Queue) Locks() int { return q.cfg.Locks }

// Size returns how many events the queue holds.
func (q *Queue) Size() int { return q.cfg.Size }

// Len returns the events that wait in the queue, without those in a worker's
// stash. The answer is of the past.
func (q *Queue) Len() int {
	n := q.ring.len()
	for i := range q.lanes {
		if l := q.lanes[i].Load(); l != nil {
			n += l.len()
		}
	}
	if q.flags.LoadAcq()&hasBack != 0 {
		q.backMu.Lock()
		n += len(q.back)
		q.backMu.Unlock()
	}
	return n
}

// Enqueue appends events and returns how many fitted, from the front; fewer
// means that the queue is full now. They can be scheduled when it returns. A worker
// that holds an ordered context waits for its turn first, unless the queue ignores
// order. It implements queue.Dest; w may be nil.
func (q *Queue) Enqueue(w *worker.Worker, ev []*buffer.Event) (n int, err error) {
	if !q.free {
		w.AwaitTurn()
	}
	if invariants.Enabled {
		buffer.CheckEnqueue(q.name, ev)
		defer func() { buffer.CheckDequeue(w, ev[n:]) }()
	}
	if id := w.ID(); uint(id) < uint(len(q.ws)) && q.ws[id].w.Load() == w {
		p := q.ws[id]
		if q.lanes != nil && p.q == q && p.loop >= len(ev) { // they come from this queue
			if len(ev) == 1 {
				if l := q.lanes[id].Load(); l != nil && l.putOne(ev[0]) {
					p.loop--
					return 1, nil
				}
			}
			return q.enqueueLane(w, p, ev)
		}
		if len(ev) == 1 {
			if ok, first := q.ring.putOne(ev[0], uint64(len(q.ws))); ok {
				if first || q.s.limit != 0 {
					q.noted(w, first, 1)
				}
				return 1, nil
			}
		}
	}
	return q.enqueueRing(w, ev)
}

// noted does what follows the reservation of n events: the token that they found missing, the
// count for the threshold.
func (q *Queue) noted(w *worker.Worker, first bool, n int) {
	if first {
		q.s.start(w, q)
	}
	if q.s.limit != 0 {
		q.s.count(w, n)
	}
}

// enqueueRing is Enqueue to the ring that all share.
func (q *Queue) enqueueRing(w *worker.Worker, ev []*buffer.Event) (int, error) {
	n, first, closed := q.ring.put(ev)
	if first {
		q.s.start(w, q)
	}
	if q.s.limit != 0 && n != 0 {
		q.s.count(w, n)
	}
	if closed {
		return 0, queue.ErrClosed
	}
	return n, nil
}

// EnqueueNew is Enqueue of events that are new to the scheduler: it accepts
// nothing while more than Config.Threshold events wait in all queues.
func (q *Queue) EnqueueNew(w *worker.Worker, ev []*buffer.Event) (int, error) {
	if q.s.limit != 0 && q.s.full() {
		if q.ring.tail.LoadAcq()&shut != 0 {
			return 0, queue.ErrClosed
		}
		return 0, nil
	}
	return q.Enqueue(w, ev)
}

// Close takes an empty queue out of the scheduler. An event or a source that is
// left is an error, and the queue goes on. Events that were scheduled before may
// still be in hand. Enqueue answers ErrClosed from then on.
func (q *Queue) Close() error {
	s := q.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.ring.tail.LoadAcq()&shut != 0 {
		return fmt.Errorf("%w: close queue %q: %w before", ErrConfig, q.name, queue.ErrClosed)
	}
	if q.feed.src != nil || q.feed.poll != nil {
		return fmt.Errorf("%w: close queue %q: a source is attached: call DetachSource first", ErrConfig, q.name)
	}
	if q.lanes != nil {
		if err := q.closeLanes(); err != nil {
			q.openLanes()
			return err
		}
	}
	if q.flags.LoadAcq() != 0 || !q.ring.close() {
		q.openLanes()
		return fmt.Errorf("%w: close queue %q: %d events are left: schedule them first", ErrConfig, q.name, q.Len())
	}
	s.remove(q)
	return nil
}

// drain moves up to len(ev) events to ev and then a stash for the caller's next
// calls. Only the holder of the token.
func (q *Queue) drain(p *state, ev []*buffer.Event) int {
	n := 0
	if q.flags.LoadAcq()&hasBack != 0 {
		n = q.takeBack(ev)
	}
	full := n == len(ev) // and more may be in back
	if !full {
		n += q.ring.take(ev[n:])
	}
	if n == 0 {
		return 0
	}
	total := n
	if more := int(q.stash.LoadAcq()) - n; more > 0 && n == len(ev) && !full {
		if q.sync != Atomic {
			more = q.share(more, n)
		}
		if more > 0 {
			p.head = 0
			p.n = q.ring.takeIDs(p.stash[:more])
			total += p.n
		}
	}
	q.took(p, total)
	return n
}

// took counts events that a worker has taken.
func (q *Queue) took(p *state, n int) {
	if q.s.limit != 0 {
		p.out.StoreRel(p.out.LoadAcq() + uint64(n))
	}
	p.stats.add(n)
}

// share limits a stash of a queue that several workers serve to this worker's part.
func (q *Queue) share(more, have int) int {
	return q.part(more, q.ring.len()+have, have)
}

// cpus is how many workers can run at a time, 2 at least: they may be delayed in turn.
var cpus = uint32(max(2, runtime.NumCPU()))

// part limits a stash of more events to this worker's part of all, have of which it has.
func (q *Queue) part(more, all, have int) int {
	m := q.cfg.Group.members.LoadAcq()
	if all > stashMax {
		m = min(m, cpus) // more can't run at a time
	}
	if m <= 1 {
		return more
	}
	return min(more, all/int(m)-have)
}

func (q *Queue) takeBack(ev []*buffer.Event) int {
	q.backMu.Lock()
	defer q.backMu.Unlock()
	n := min(len(ev), len(q.back))
	for i, id := range q.back[:n] {
		setEvent(&ev[i], id)
	}
	q.back = q.back[n:]
	if len(q.back) == 0 {
		q.back = nil
		q.flags.And(^hasBack)
	}
	return n
}

// putBack makes ids the next events of the queue. Anybody; who does not hold the
// token calls kick then.
func (q *Queue) putBack(ids []uint32) {
	q.backMu.Lock()
	q.back = append(append([]uint32(nil), ids...), q.back...)
	q.flags.Or(hasBack) // a full barrier; partner: rest
	q.backMu.Unlock()
}

// kick pushes the token of a queue that became runnable by a flag, if it has none.
func (q *Queue) kick(w *worker.Worker) {
	if q.ring.claim() {
		q.s.start(w, q)
	}
}

// rest drops the token of a queue that needs no service; false: the caller still
// holds it. drop is a full barrier between its flags and those who set one (partner:
// putBack, unwatch): they see the token gone, or it sees the flag.
func (q *Queue) rest() bool {
	if q.flags.LoadAcq() != 0 || !q.ring.drop() {
		return false
	}
	return q.flags.LoadAcq() == 0 || !q.ring.claim()
}
