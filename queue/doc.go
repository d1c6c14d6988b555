// SPDX-License-Identifier: Apache-2.0

// Package queue holds the plain queues, and the two interfaces through which
// queues, schedulers and packet I/O meet: Source and Dest.
//
// # A plain queue
//
// A plain queue is a bounded first-in first-out queue of events that the
// application polls itself; it has no scheduler (that is package schedule):
//
//	q, err := queue.New(set, queue.Config{Name: "to-crypto", Size: 1024})
//	...
//	n, err := q.Enqueue(w, events)      // n were accepted, from the front
//	n, err = q.Dequeue(w, room)         // n events are the caller's now
//
// Every call moves a burst and none waits: n short means full (or empty) now, and
// what was not accepted stays with the caller. An error is one of the sentinels.
// Enqueue awaits the worker's turn in an ordered context first, unless the queue
// ignores order; so events leave an ordered queue in its order.
//
// # Who uses it
//
// The modes say how many use each side at a time, and choose the ring:
//
//	EnqMode    DeqMode    ring   locked instructions per enqueue / dequeue
//	MT         MT         MPMC   1 / 1
//	MT         MTUnsafe   MPSC   1 / 0
//	MTUnsafe   MT         SPMC   0 / 1
//	MTUnsafe   MTUnsafe   SPSC   0 / 0
//
// MTUnsafe is a promise by the application: two users at a time lose events. A
// disabled direction counts as MTUnsafe, and its calls answer ErrDisabled. Calls with a
// nil worker are the control plane's, from any goroutine; they take a lock among
// themselves, and count as one user of an MTUnsafe side.
//
// # A user that the system suspends
//
// In the middle of a call, a suspended producer delays the events behind its own where
// several may enqueue; all else goes on. Config.NonBlocking asks for more:
//
//	LockFree    nobody's absence delays anybody; under contention a call may lose
//	            several races before it wins one. Free of charge with EnqMode MTUnsafe
//	WaitFree    every call ends after a bounded number of steps. Free of charge with
//	            both modes MTUnsafe; else every event costs about ten locked
//	            instructions, and each worker of the set, and the control plane, is
//	            helped in turn
//
// Calls of the control plane (nil worker) wait for each other in any case.
//
// # Overload
//
// EnqueueNew is for what brings new events into the system. With Config.Threshold it
// is refused from that length on, so that events on their way through find room.
//
// # Closing
//
// Close wants an empty queue that is out of use; Drain shuts the queue, waits until
// no worker is inside of a call, and frees what is left.
package queue
