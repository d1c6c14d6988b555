// SPDX-License-Identifier: Apache-2.0

package worker

import "time"

// Park sleeps until Wake, until one of the watched descriptors is readable (or
// has an error or hang-up), or for at most d (d < 0: no limit; 0: only looks). It
// returns at once when a Wake came since the last Park. Caches are flushed first;
// the worker counts as parked for Grace meanwhile, and both ends are quiescent
// points. Only the owner may call it, holding no lock and no event context.
//
// The descriptors are watched while the next Parks name the same ones, so that a
// park costs one system call; the slice stays the caller's. A descriptor may be
// closed at any time. One that can't be watched (a plain file, or any in the
// portable build) limits the sleep to a millisecond, and ParkError says which.
// Where nothing is to be done a Park without limit ends by Wake or RequestStop only.
func (w *Worker) Park(d time.Duration, fds []int) {
	w.flushFor(FlushPark)
	w.grace.StoreSeq(w.grace.LoadAcq() | 1) // partner: Set.Grace
	w.parker.park(d, fds, w.set.epoch.LoadAcq())
	w.grace.StoreSeq(w.grace.LoadAcq() + 1) // before any later read: Grace sees it, or the worker sees what Grace's caller did
	w.Quiesce()
}

// PreparePark takes back a Wake that has not ended a Park yet. The owner calls it
// before it looks for work for the last time: a Wake after it ends the next Park.
// Without it a Park that follows a busy time returns at once, once.
func (w *Worker) PreparePark() { w.parker.forget() }

// ParkError returns what was refused to the last Parks (a descriptor that can't be
// watched), nil when all is well. Only the owner may call it.
func (w *Worker) ParkError() error { return w.parker.err }

// Wake ends the Park of a worker, now or the next one. It costs one atomic load
// when the worker is not asleep and was woken before, and a system call (about 12
// us) when it is asleep. Any goroutine may call it, at any time, also after
// the worker left.
//
// What the worker is to find must be published before the call by a
// read-modify-write or a StoreSeq: a plain store could be seen after the worker
// looked for it, and the wake with it.
func (w *Worker) Wake() { w.parker.wake() }
