// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"time"

	"github.com/odp-go/godp/pktio/driver"
)

var _ driver.Waiter = (*rxQueue)(nil)

// recheck is how often a sleeper looks again where no descriptor covers all the
// rings of a queue, or none may be watched because the interface is down.
const recheck = time.Millisecond

// Arm implements driver.Waiter. Watching a netmap descriptor is a sync of its
// rings, done by whoever polls: so the caller keeps the receive lock until Disarm. While
// the interface is down no descriptor is given out, since the poll would sleep in
// the kernel.
func (q *rxQueue) Arm(wake func()) (fd int, due time.Duration, ready bool) {
	k := q.d.c.k
	if q.failed != nil || q.d.state.LoadAcq() != stateRunning {
		return -1, 0, true
	}
	for i := range q.rings {
		if n, bad := q.rings[i].slots(); bad != "" || n > 0 && !q.rings[i].ahead {
			return -1, 0, true
		}
	}
	if q.d.blocked.LoadAcq() != 0 {
		return -1, 10 * recheck, false
	}
	fd = k.Descriptor(q.fds[0])
	if fd >= 0 {
		if len(q.fds) > 1 {
			return fd, recheck, false
		}
		return fd, 0, false
	}
	for i, f := range q.fds {
		d, now := k.OnReady(f, wake)
		if now {
			for _, o := range q.fds[:i+1] {
				k.OnReady(o, nil)
			}
			return -1, 0, true
		}
		if d > 0 && (due == 0 || d < due) {
			due = d
		}
	}
	return -1, due, false
}

// Disarm implements driver.Waiter.
func (q *rxQueue) Disarm() {
	k := q.d.c.k
	if q.d.state.LoadAcq() == stateClosed {
		return
	}
	for _, f := range q.fds {
		if k.Descriptor(f) < 0 {
			k.OnReady(f, nil)
		}
	}
}
