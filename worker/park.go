// SPDX-License-Identifier: Apache-2.0

package worker

import "time"

// Park sleeps until Wake, until one of the watched descriptors is readable, or
// for at most d (d < 0: no limit). Caches are flushed first; the worker counts as
// parked for Grace meanwhile. Only the owner may call it. It returns at once when
// a Wake came since the last Park.
func (w *Worker) Park(d time.Duration, fds []int) {
	w.set.runFlushers(w)
	w.grace.StoreSeq(w.grace.LoadAcq() | 1)
	w.parker.park(d, fds)
	w.grace.StoreSeq(w.grace.LoadAcq() + 1)
}

// Wake ends the Park of a worker, now or the next one. It costs one atomic load
// when the worker is not asleep. Any goroutine may call it.
func (w *Worker) Wake() { w.parker.wake() }
