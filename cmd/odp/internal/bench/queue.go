// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"flag"
	"math"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/queue"
)

// queues is odp_queue_perf: a burst is dequeued from a plain queue and enqueued to the
// same one (loop), or to its partner (pair).
type queues struct {
	mode, num, events, burst, rounds int
	lockFree, waitFree, single       bool
	private                          bool
	copyBytes                        int
	wait                             time.Duration

	workers  int
	finished atomic.Int32
	src, dst [][]*odp.Queue // by worker
}

func newQueues(fs *flag.FlagSet) task {
	q := &queues{}
	addChoice(fs, &q.mode, "m", 0, 0, "`mode`", "loop", "pair")
	fs.IntVar(&q.num, "q", 1, "`queues`")
	fs.IntVar(&q.events, "e", 1, "`events` per queue")
	fs.IntVar(&q.burst, "b", 1, "most `events` in a call; 0 is as 1 (ODP: calls for single events; here every call is for a burst)")
	fs.IntVar(&q.rounds, "r", 0, "`rounds` of each worker; 0 = for the time of -time")
	fs.BoolVar(&q.lockFree, "l", false, "lock-free queues (with -s)")
	fs.BoolVar(&q.waitFree, "w", false, "wait-free queues (with -s)")
	fs.BoolVar(&q.single, "s", false, "one producer and one consumer for each queue")
	fs.BoolVar(&q.private, "p", false, "each queue has one worker; without it all workers use all queues")
	fs.IntVar(&q.copyBytes, "M", 0, "`bytes` to copy per round")
	fs.DurationVar(&q.wait, "W", 0, "busy `time` per round")
	return q
}

func (q *queues) check() error {
	pair := q.mode == 1
	shared := q.workers > 1 && !q.private && (!pair || q.workers > 2)
	return firstErr(
		within("q", q.num, 1, 1<<14), within("e", q.events, 1, 1<<16), within("b", q.burst, 0, maxBurst), within("r", q.rounds, 0, math.MaxInt),
		when(pair && (q.num%2 != 0 || q.workers%2 != 0), "-m pair: the queues (%d) and the workers (%d) must be pairs", q.num, q.workers),
		when(q.private && q.num < q.workers, "-p: %d queues for %d workers", q.num, q.workers),
		when(q.single && shared, "-s: %d workers would share a queue: add -p", q.workers),
		when((q.lockFree || q.waitFree) && !q.single, "-l and -w need -s: with several users of a side no queue gives that"),
		within("M", q.copyBytes, 0, 1<<20),
	)
}

func (q *queues) setWorkers(n int) { q.workers = n }

func (q *queues) params() Params {
	p := Params{{"mode", [...]string{"loop", "pair"}[q.mode]}, {"queues", q.num}, {"events", q.events}, {"burst", q.burst},
		{"single", q.single}, {"private", q.private}}
	if q.rounds > 0 {
		p = append(p, Param{"rounds", q.rounds})
	}
	if q.copyBytes > 0 || q.wait > 0 {
		p = append(p, Param{"copy_bytes", q.copyBytes}, Param{"wait_ns", int(q.wait)})
	}
	return p
}

func (q *queues) counted() bool { return q.rounds > 0 }

func (q *queues) open(e *env) error {
	cfg := odp.QueueConfig{Size: q.events}
	if q.mode == 1 {
		cfg.Size = 2 * q.events
	}
	switch {
	case q.waitFree:
		cfg.NonBlocking = queue.WaitFree
	case q.lockFree:
		cfg.NonBlocking = queue.LockFree
	}
	if q.single {
		cfg.EnqMode, cfg.DeqMode = queue.MTUnsafe, queue.MTUnsafe
	}
	alloc, err := eventPool(e.inst, kindBuffer, q.num*q.events, 16, 0)
	if err != nil {
		return err
	}
	made := make([]*odp.Queue, q.num)
	for i := range made {
		if made[i], err = e.inst.NewQueue(cfg); err != nil {
			return err
		}
		ev, err := alloc(q.events)
		if err == nil {
			err = enqueueAll(made[i], ev)
		}
		if err != nil {
			return err
		}
	}
	q.finished.Store(0)
	q.assign(made)
	return nil
}

// assign says which queues each worker takes from and gives to.
func (q *queues) assign(made []*odp.Queue) {
	q.src, q.dst = make([][]*odp.Queue, q.workers), make([][]*odp.Queue, q.workers)
	add := func(w, src, dst int) {
		q.src[w] = append(q.src[w], made[src])
		q.dst[w] = append(q.dst[w], made[dst])
	}
	switch {
	case q.mode == 0:
		for i := range made {
			for w := range q.workers {
				if !q.private || i%q.workers == w {
					add(w, i, i)
				}
			}
		}
	default:
		for i := 0; i < len(made); i += 2 {
			for w := 0; w < q.workers; w += 2 {
				if !q.private || i%q.workers == w {
					add(w, i, i+1)
					add(w+1, i+1, i)
				}
			}
		}
	}
}

// work is the measured loop: rounds that moved something.
func (q *queues) work(w *odp.Worker, i int, m *Meter) error {
	var room [maxBurst]*odp.Event
	ev := room[:max(1, q.burst)]
	src, dst := q.src[i], q.dst[i]
	extra := q.copyBytes > 0 || q.wait > 0
	from, to := make([]byte, q.copyBytes), make([]byte, q.copyBytes)
	limit := m.Limit(uint64(q.rounds))
	var c Counts
	k := 0
	m.Begin()
	for c.Calls < limit {
		if c.Rounds++; c.Rounds&tickMask == 0 && !m.Tick(c.Events) {
			break
		}
		n, err := src[k].Dequeue(w, ev)
		d := dst[k]
		if k++; k == len(src) {
			k = 0
		}
		if n == 0 {
			if err != nil {
				return err
			}
			c.Empty++
			continue
		}
		if extra {
			copy(to, from)
			for end := cycles() + toCycles(q.wait); cycles() < end; {
			}
		}
		for rest := ev[:n]; ; c.Full++ {
			k, err := d.Enqueue(w, rest)
			if err != nil {
				return err
			}
			if rest = rest[k:]; len(rest) == 0 {
				break
			}
		}
		c.Events += uint64(n)
		c.Calls++
	}
	m.Finish(c)
	if q.mode == 1 && m.counted {
		return q.goOn(w, i, ev)
	}
	return nil
}

// goOn forwards, not measured, until all workers have finished: the partner needs it.
func (q *queues) goOn(w *odp.Worker, i int, ev []*odp.Event) error {
	for q.finished.Add(1); int(q.finished.Load()) < q.workers && w.Running(); {
		for k, s := range q.src[i] {
			n, err := s.Dequeue(w, ev)
			for rest := ev[:n]; len(rest) > 0 && err == nil; {
				var sent int
				sent, err = q.dst[i][k].Enqueue(w, rest)
				rest = rest[sent:]
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
