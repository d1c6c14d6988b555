// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Set is the workers of one instance. Objects (pools, queues, ports) belong to
// a Set and size their per-worker arrays by Max.
type Set struct {
	max   int
	slots []atomic.Pointer[Worker]
	mu    sync.Mutex
	// flushers are the pools (and transmit buffers) that cache events per worker
	flushers atomic.Pointer[[]*flusher]
}

type flusher struct{ f func(*Worker) }

// MaxWorkers is the largest Set.
const MaxWorkers = 256

// NewSet makes a set for at most max workers and control threads together.
func NewSet(max int) (*Set, error) {
	if max < 1 || max > MaxWorkers {
		return nil, fmt.Errorf("worker: a set of %d workers: allowed 1 to %d", max, MaxWorkers)
	}
	return &Set{max: max, slots: make([]atomic.Pointer[Worker], max)}, nil
}

// Max returns the number of ids: an id is always below it.
func (s *Set) Max() int { return s.max }

// Join gives the calling goroutine an identity, until Leave. The lowest free id
// is taken.
func (s *Set) Join(kind Kind) (*Worker, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.slots {
		if s.slots[i].Load() == nil {
			w := &Worker{id: i, kind: kind, set: s, cpu: -1}
			if err := w.parker.open(); err != nil {
				return nil, fmt.Errorf("worker %d: %w", i, err)
			}
			s.slots[i].Store(w)
			return w, nil
		}
	}
	return nil, fmt.Errorf("worker: all %d ids are taken: raise the instance's MaxWorkers", s.max)
}

// Leave gives the identity back: caches are flushed, the id becomes free. The
// worker must hold no event context (the scheduler releases it before).
func (w *Worker) Leave() {
	w.set.runFlushers(w)
	w.set.mu.Lock()
	defer w.set.mu.Unlock()
	w.grace.StoreSeq(w.grace.LoadAcq() | 1)
	w.set.slots[w.id].Store(nil)
	w.parker.close()
}

// Workers calls f for each worker that is in the set now.
func (s *Set) Workers(f func(*Worker)) {
	for i := range s.slots {
		if w := s.slots[i].Load(); w != nil {
			f(w)
		}
	}
}

// Stop asks every worker to stop.
func (s *Set) Stop() { s.Workers((*Worker).RequestStop) }

// RequestFlush asks every worker to give its cached events back at its next
// quiescent point. Any goroutine may call it.
func (s *Set) RequestFlush() {
	s.Workers(func(w *Worker) {
		if w.requests.LoadAcq()&reqFlush == 0 {
			w.requests.Or(reqFlush)
		}
	})
}

// OnFlush registers f, which gives back what an object caches for a worker. It
// runs on the worker's goroutine. The returned function removes it.
func (s *Set) OnFlush(f func(*Worker)) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fl := &flusher{f}
	var list []*flusher
	if p := s.flushers.Load(); p != nil {
		list = append(list, *p...)
	}
	list = append(list, fl)
	s.flushers.Store(&list)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		var list []*flusher
		for _, o := range *s.flushers.Load() {
			if o != fl {
				list = append(list, o)
			}
		}
		s.flushers.Store(&list)
	}
}

func (s *Set) runFlushers(w *Worker) {
	if p := s.flushers.Load(); p != nil {
		for _, fl := range *p {
			fl.f(w)
		}
	}
}

// Grace returns when every worker that is not parked has passed a quiescent
// point since the call, or with ctx's error. It must not be called by a worker
// of the set. Closing, reuse of table entries and group changes use it.
func (s *Set) Grace(ctx context.Context) error {
	for i := range s.slots {
		w := s.slots[i].Load()
		if w == nil {
			continue
		}
		start := w.grace.LoadAcq()
		for start&1 == 0 && w.grace.LoadAcq() == start && s.slots[i].Load() == w {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("worker %d has not come to a quiescent point: %w", i, err)
			}
			time.Sleep(20 * time.Microsecond)
		}
	}
	return nil
}
