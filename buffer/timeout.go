// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"unsafe"

	"github.com/odp-go/godp/worker"
)

// Timeout is an event of type TypeTimeout: what a timer sends when it expires
// (ODP's odp_timeout_t). The user word says which timer it is; Data is the owner's.
type Timeout struct{ Event }

// Timeout views the event as a time-out; the caller has checked Type.
func (e *Event) Timeout() *Timeout { return (*Timeout)(unsafe.Pointer(e)) }

// TimeoutsOf views a burst of events as time-outs without a copy; all must be time-outs.
func TimeoutsOf(ev []*Event) []*Timeout { return *(*[]*Timeout)(unsafe.Pointer(&ev)) }

// Data views the bytes of the time-out, as many as its pool's Size; their contents
// are as the last owner left them.
func (t *Timeout) Data() []byte { return t.Buffer().Data() }

// AllocTimeouts fills tmo from the front and returns how many it got; fewer means
// that the pool has no more now, none that it is no pool of time-outs. The user
// word and the flow id are 0. The caller owns what it got.
func (p *Pool) AllocTimeouts(w *worker.Worker, tmo []*Timeout) int {
	if p.typ != TypeTimeout {
		return 0
	}
	n := p.get(w, words(tmo))
	if checked {
		p.checkAlloc(w, words(tmo[:n]))
	}
	for _, t := range tmo[:n] {
		t.flags = 0
	}
	return n
}

// AllocTimeout returns one time-out, nil when the pool has none now or is no pool of
// time-outs. See AllocTimeouts.
func (p *Pool) AllocTimeout(w *worker.Worker) *Timeout {
	var one [1]*Timeout
	p.AllocTimeouts(w, one[:])
	return one[0]
}
