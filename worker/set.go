// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/odp-go/godp/internal/relax"
)

// Set is the workers of one instance. Objects (pools, queues, ports) belong to
// a Set and size their per-worker arrays by Max. Any goroutine may call its methods.
type Set struct {
	max   int
	slots []slot

	mu      sync.Mutex
	stopped bool // Stop was called: who joins has been stopped already
	closed  bool

	flushers atomic.Pointer[[]*flusher]

	_     relax.Pad
	epoch relax.Uint32 // counts Graces: descriptors may have been closed (partner: Worker.Park)
	_     relax.Pad
}

// slot is one id. The parker stays with it when its worker leaves.
type slot struct {
	w      atomic.Pointer[Worker] // written under Set.mu (partner: Grace, Workers)
	parker parker
}

// MaxWorkers is the largest Set.
const MaxWorkers = 256

// NewSet makes a set for at most max workers and control threads together. Close
// it when all have left.
func NewSet(max int) (*Set, error) {
	if max < 1 || max > MaxWorkers {
		return nil, fmt.Errorf("worker: a set of %d workers: allowed 1 to %d", max, MaxWorkers)
	}
	return &Set{max: max, slots: make([]slot, max)}, nil
}

// Max returns the number of ids: an id is always below it.
func (s *Set) Max() int { return s.max }

// Join gives the calling goroutine an identity, until Leave. The lowest free id
// is taken. After Stop the worker has been stopped already: Running answers false,
// everything else works, so that a control thread can still clean up.
func (s *Set) Join(kind Kind) (*Worker, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("worker: join: the set was closed")
	}
	for i := range s.slots {
		sl := &s.slots[i]
		if sl.w.Load() != nil {
			continue
		}
		if err := sl.parker.open(); err != nil {
			return nil, fmt.Errorf("worker %d: %w", i, err)
		}
		w := &Worker{id: i, kind: kind, set: s, parker: &sl.parker}
		if s.stopped {
			w.requests.Or(reqStop)
		}
		sl.w.Store(w) // an exchange: what Grace's caller did before is seen, or Grace sees w
		return w, nil
	}
	return nil, fmt.Errorf("worker: all %d ids are taken: raise the instance's MaxWorkers", s.max)
}

// Leave gives the identity back: caches are flushed, the id becomes free. Only the
// owner may call it, as its last use of the worker, holding no event context (the
// scheduler releases it before). Others may still Wake and RequestStop it.
func (w *Worker) Leave() {
	w.flushFor(FlushLeave)
	w.set.mu.Lock()
	defer w.set.mu.Unlock()
	sl := &w.set.slots[w.id]
	if sl.w.Load() != w {
		return // twice
	}
	w.grace.StoreSeq(w.grace.LoadAcq() | 1)
	w.parker.leave()
	sl.w.Store(nil)
	w.requests.Or(reqStop) // Running and Schedule of who keeps w answer: stopped
}

// Workers calls f for each worker that is in the set now.
func (s *Set) Workers(f func(*Worker)) {
	for i := range s.slots {
		if w := s.slots[i].w.Load(); w != nil {
			f(w)
		}
	}
}

// Stop asks every worker to stop, those that join later too.
func (s *Set) Stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.Workers((*Worker).RequestStop)
}

// Stopped reports whether Stop was called.
func (s *Set) Stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// Restart takes Stop back for the workers that join from now on.
func (s *Set) Restart() {
	s.mu.Lock()
	s.stopped = false
	s.mu.Unlock()
}

// Close gives the descriptors back. It fails while workers are joined, and may be
// called again then; a second Close does nothing.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []int
	s.Workers(func(w *Worker) { ids = append(ids, w.id) })
	if len(ids) > 0 {
		return fmt.Errorf("worker: close: workers %v have not left the set: stop them and wait for them first", ids)
	}
	if s.closed {
		return nil
	}
	s.closed = true
	for i := range s.slots {
		s.slots[i].parker.close()
	}
	return nil
}
