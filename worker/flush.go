// SPDX-License-Identifier: Apache-2.0

package worker

// FlushReason says why a worker gives back what objects cache for it.
type FlushReason uint8

// The reasons of a flush.
const (
	FlushAsked FlushReason = iota // RequestFlush, or Flush: the worker goes on
	FlushPark                     // it is about to sleep in Park
	FlushLeave                    // it leaves its set
)

// FlushReason is for the functions that OnFlush registered: why they run now. An
// object that holds more than a cache for a worker (an event context, a turn) gives
// that back only when the worker parks or leaves.
func (w *Worker) FlushReason() FlushReason { return w.reason }

func (w *Worker) flushFor(r FlushReason) {
	w.reason = r
	w.set.runFlushers(w)
	w.reason = FlushAsked
}

// flusher has an identity of its own, so that the same function may be registered twice.
type flusher struct{ f func(*Worker) }

// RequestFlush asks every worker to give its cached events back at its next
// quiescent point; those that are parked did so before. Any goroutine may call it.
func (s *Set) RequestFlush() {
	for i := range s.slots {
		// a load first: a pool that is nearly empty asks often, and the line is the worker's
		if w := s.slots[i].w.Load(); w != nil && w.requests.LoadAcq()&reqFlush == 0 {
			w.requests.Or(reqFlush)
		}
	}
}

// OnFlush registers f, which gives back what an object caches for a worker. It
// runs on the worker's goroutine, at a quiescent point after RequestFlush, before it
// parks and when it leaves. It must not register or remove flushers and not park. The
// returned function removes it; a worker may be within f for the last time until
// the next Grace.
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
	return func() { s.removeFlusher(fl) }
}

func (s *Set) removeFlusher(fl *flusher) {
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

func (s *Set) runFlushers(w *Worker) {
	if p := s.flushers.Load(); p != nil {
		for _, fl := range *p {
			fl.f(w)
		}
	}
}

// Flush gives back what objects cache for this worker, now. Only the owner may call it.
func (w *Worker) Flush() {
	w.requests.And(^reqFlush) // before the work: a request that comes meanwhile is served again
	w.set.runFlushers(w)
}
