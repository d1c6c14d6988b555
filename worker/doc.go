// SPDX-License-Identifier: Apache-2.0

// Package worker holds what every part of the dataplane must know of a worker
// goroutine: its dense id, its grace counter, its turn in an ordered queue, its
// stop flag and the place where it sleeps. There is no hidden thread-local state: a
// *Worker is passed as the first argument, and a nil *Worker means the control plane (a
// locked path without cache, from any goroutine).
//
// Applications get their workers from odp.Instance.Run; this package is what that is
// made of, and what a platform or a queue sees.
//
// # Life of a worker
//
//	set.Join ──▶ Running … Running ──▶ Park ──▶ Running … ──▶ Leave
//	 (id)          │ quiescent points   │ parked               (id free again)
//	               ▼                    ▼
//	          answers Grace,        flushes first;
//	          flushes on request    Wake, descriptor or time-out ends it
//
// Who may call what: the goroutine that joined calls everything; others call ID, Wake,
// RequestStop and Stopping of a Worker, and all methods of a Set.
//
// # Grace
//
// Something that workers use without a lock (a table entry, a port, a list of queues) is
// taken away in three steps: make it unreachable, wait for Set.Grace, free it. A worker
// holds no pointer to such things across a quiescent point: Running, Quiesce, Schedule,
// Park. A worker that waits for a Grace itself calls Worker.Grace, or it would wait for
// itself.
//
// # Sleeping
//
// Park sleeps on one raw epoll and eventfd (kqueue on FreeBSD and macOS) that belong to
// the id, never in the Go netpoller or on a channel: a locked goroutine wakes 5 to 100
// times later there. Announce the sleep, look for work once more, then park:
//
//	w.PreparePark()
//	asleep.StoreSeq(1)         // the producer publishes, then reads it: one sees the other
//	if ring.Len() == 0 {
//		w.Park(-1, fds)
//	}
//	asleep.StoreSeq(0)
//
// # Waiting for each other
//
// Spin is the only way to wait for another worker's step: 2 us of pauses, then yields,
// then naps. More workers than CPUs work, since nobody burns the time slice that the
// holder needs.
package worker
