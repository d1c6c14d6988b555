// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"slices"
	"sync"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/worker"
)

// counters are one worker's, on lines of its own.
type counters struct {
	full    counter
	refused counter
	_       [112]byte
}

// counter is written by one owner and read by anybody.
type counter struct{ v relax.Uint64 }

func (c *counter) bump() { c.v.StoreRel(c.v.LoadAcq() + 1) }

// Stats are a queue's counters since it was made. Events are counted by the ring
// itself, at no cost; calls are counted per worker.
type Stats struct {
	Enqueued uint64 // events taken in
	Dequeued uint64 // events given out
	Full     uint64 // Enqueue calls that could not place all their events
	Refused  uint64 // EnqueueNew calls that the threshold cut short
}

// Stats adds the counters up. Any goroutine may call it.
func (q *Queue) Stats() Stats {
	var s Stats
	s.Enqueued, s.Dequeued = q.total()
	for i := range q.stats {
		s.Full += q.stats[i].full.v.LoadAcq()
		s.Refused += q.stats[i].refused.v.LoadAcq()
	}
	return s
}

// Info returns the queue's configuration with Size as it was granted, the mode and
// progress that were asked for, and the context. Any goroutine may call it.
func (q *Queue) Info() Config {
	c := q.cfg
	c.Context = q.Context()
	return c
}

// Name returns the queue's name.
func (q *Queue) Name() string { return q.cfg.Name }

// Cap returns how many events the queue holds.
func (q *Queue) Cap() int { return q.cfg.Size }

// Context returns the application's value. Any goroutine may call it.
func (q *Queue) Context() any { return *q.context.Load() }

// SetContext replaces the application's value. Any goroutine may call it.
func (q *Queue) SetContext(v any) { q.context.Store(&v) }

// names holds the open named queues of each set, oldest first.
var names struct {
	sync.Mutex
	sets map[*worker.Set]map[string][]*Queue
}

func register(q *Queue) {
	if q.cfg.Name == "" {
		return // can't be looked up
	}
	names.Lock()
	defer names.Unlock()
	if names.sets == nil {
		names.sets = map[*worker.Set]map[string][]*Queue{}
	}
	if names.sets[q.set] == nil {
		names.sets[q.set] = map[string][]*Queue{}
	}
	m := names.sets[q.set]
	m[q.cfg.Name] = append(m[q.cfg.Name], q)
}

func unregister(q *Queue) {
	names.Lock()
	defer names.Unlock()
	m := names.sets[q.set]
	list := slices.DeleteFunc(m[q.cfg.Name], func(o *Queue) bool { return o == q })
	if len(list) != 0 {
		m[q.cfg.Name] = list
		return
	}
	delete(m, q.cfg.Name)
	if len(m) == 0 {
		delete(names.sets, q.set)
	}
}

// Lookup finds an open queue of the set by name, the oldest of several; nil
// when there is none. Any goroutine may call it.
func Lookup(set *worker.Set, name string) *Queue {
	names.Lock()
	defer names.Unlock()
	if l := names.sets[set][name]; len(l) != 0 {
		return l[0]
	}
	return nil
}
