// SPDX-License-Identifier: Apache-2.0

package odp

import "time"

// Schedule fills ev from the front with events of one scheduled queue, which it
// also returns, in one context: that of an atomic queue keeps other workers from
// it, that of an ordered one gives what w enqueues the place of these events. The
// context of the call before ends first. wait: 0 = don't wait, < 0 = until there is
// something or w is asked to stop, else for this long. n == 0 and err == nil:
// nothing came in time. err is ErrStopped when w was asked to stop and nothing is
// left for it. It is a quiescent point. Only w's goroutine may call it.
func (in *Instance) Schedule(w *Worker, ev []*Event, wait time.Duration) (n int, q *SchedQueue, err error) {
	return in.sched.Schedule(w, ev, wait)
}

// releasePorts lets go of what w holds of the ports: locks, ownership of queues
// at lock level none, sleeps on descriptors.
func (in *Instance) releasePorts(w *Worker) {
	in.mu.Lock()
	ports := in.ports
	in.mu.Unlock()
	for _, p := range ports {
		p.ReleaseWorker(w)
		for _, f := range p.fans {
			f.ReleaseWorker(w)
		}
	}
}
