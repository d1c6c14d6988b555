// SPDX-License-Identifier: Apache-2.0

package schedule

// Queue finds an open queue by its name, the oldest of several; nil when there is
// none, and for "". Any goroutine may call it.
func (s *Scheduler) Queue(name string) *Queue {
	if name == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *Queue
	for _, q := range s.tab[:s.next] {
		if q != nil && q.name == name && q.feed.poll == nil && q.ring.tail.LoadAcq()&shut == 0 && (found == nil || q.born < found.born) {
			found = q
		}
	}
	return found
}

// Info returns the queue's configuration with the defaults filled in and the
// present Context. Any goroutine may call it.
func (q *Queue) Info() QueueConfig {
	c := q.cfg
	c.Priority = q.Priority()
	c.Context = q.Context()
	return c
}

// Context returns the application's value: QueueConfig.Context, or what
// SetContext replaced it by. Any goroutine may call it.
func (q *Queue) Context() any {
	if c := q.context.Load(); c != nil {
		return *c
	}
	return q.cfg.Context
}

// SetContext replaces the application's value. Any goroutine may call it.
func (q *Queue) SetContext(v any) { q.context.Store(&v) }
