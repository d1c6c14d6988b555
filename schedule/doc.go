// SPDX-License-Identifier: Apache-2.0

// Package schedule is the event scheduler: queues that are served by any number of
// workers, by priority, with the synchronisation that each queue asks for.
//
//	s, err := schedule.New(set, schedule.Config{})
//	q, err := s.NewQueue(schedule.QueueConfig{Name: "flows", Sync: schedule.Atomic})
//
//	// each worker
//	w, err := set.Join(worker.KindWorker)
//	defer w.Leave()
//	defer s.Leave(w)
//	var ev [32]*buffer.Event
//	for {
//		n, q, err := s.Schedule(w, ev[:], -1)
//		if err != nil {
//			break // queue.ErrStopped: told to stop, and nothing is left
//		}
//		work(q, ev[:n])
//		q.Enqueue(w, ev[:n])
//	}
//
// # Tokens
//
// A queue in need of service has exactly one token, in a ready list of its group
// and priority. Who takes the token may dequeue. The token of an atomic queue stays with the
// worker until the context ends; that of a parallel or ordered queue goes back at
// once, so that others take the next events. The producer that finds a queue
// without token makes one; who finds the queue empty drops it.
//
//	Enqueue ──▶ ring of events ──┐ first one: token
//	                             ▼
//	            ready list (group, priority), a ring per worker ◀──┐
//	                             │ take, or steal                   │ give back
//	                             ▼                                  │
//	            Schedule: up to 32 events, context, ────────────────┘
//
// What a worker got from a parallel queue and enqueues to it again goes into a lane of its
// own, which costs no locked instruction and moves no line between cores; the worker serves
// its lanes before it looks at others'. Events that go round so have no order among them. With
// an input or a Config.Threshold they take the queue's ring, as all others do.
//
// A worker that finds nothing in its own lists takes from others': from a lane, a token among
// several, or one that its owner has not come back for within about 1 us. So a queue stays
// with one worker as long as that keeps up; a second one that goes without is let in after
// 250 us (under the adaptive policy shortly before it would sleep).
//
// An input (AttachSource) keeps its queue's token alive: who takes it polls the
// input when no event waits in the queue. Holding the token is the receive lock.
//
// # Order
//
// An ordered context is a ticket, taken while holding the token. Every Enqueue and
// Send awaits the turn of the ticket before it takes any lock, so that events leave in
// the order of the ordered queue, to every destination that does not ignore order.
// Contexts end in order without waiting: one that ends before its turn is noted and passed over.
//
// # Full queues
//
// A queue never waits for room: Enqueue accepts what fits. A worker that tries again
// until it fits must not be the one who could make room: it holds the atomic context of
// that very queue, or others that wait behind its ordered context are the only ones who serve
// it. Give queues room for all events in flight, drop after some tries, or Release first.
//
// # Idle workers
//
// Under the adaptive policy an idle worker polls for 50 us, then sleeps in
// worker.Park. It takes the idle inputs that it can see along and watches them. Whoever
// makes a queue ready wakes one sleeper of its group.
//
// # Sources
//
// The model (token, contexts, groups, stash) is OpenDataPlane's odp_schedule and its
// basic scheduler, described from its API and behaviour; per-worker ready rings with
// stealing are those of work-stealing runtimes.
package schedule
