// SPDX-License-Identifier: Apache-2.0

package schedule

import "github.com/odp-go/godp/internal/relax"

// level is the ready list of one (group, priority): a ring of queue indexes per
// worker, and one more for the control plane. The worker pushes into its own ring
// with plain stores; everybody takes by compare-and-swap. A ring holds as many
// indexes as there can be queues, and a queue has one token, so a push never fails.
//
// A slot read before the compare-and-swap of head is valid when that succeeds: the
// owner overwrites a slot only after head has passed it. Positions have 64 bits.
type level struct {
	rings []readyRing // by state.id
	lanes []laneList  // by state.id
	slots []relax.Uint32
	mask  uint64
	shift uint
}

// readyRing is the indices of one ring; its slots are in level.slots, so that
// nothing that thieves read lies on the owner's line but tail itself.
type readyRing struct {
	head relax.Uint64 // next to take; everybody
	_    relax.Pad
	tail relax.Uint64 // next to push; the owner (partner: pop)
	_    relax.Pad
}

func newLevel(rings, queues int) *level {
	l := &level{rings: make([]readyRing, rings), lanes: make([]laneList, rings)}
	for 1<<l.shift < queues {
		l.shift++
	}
	l.mask = 1<<l.shift - 1
	l.slots = make([]relax.Uint32, rings<<l.shift)
	return l
}

func (l *level) slot(id int, pos uint64) *relax.Uint32 {
	return &l.slots[uint64(id)<<l.shift|pos&l.mask]
}

// pop takes the oldest index of ring id. Anybody.
func (l *level) pop(id int) (idx uint32, ok bool) {
	r := &l.rings[id]
	for {
		h := r.head.LoadAcq()
		if h == r.tail.LoadAcq() {
			return 0, false
		}
		idx = l.slot(id, h).LoadAcq()
		if r.head.CAS(h, h+1) {
			return idx, true
		}
	}
}

func (l *level) empty(id int) bool {
	r := &l.rings[id]
	return r.head.LoadAcq() == r.tail.LoadAcq()
}

// mark sets the summary bit of the queue's level. The owner.
func (p *state) mark(q *Queue) {
	if m := p.sum[q.prio].LoadAcq(); m&q.gbit == 0 {
		p.sum[q.prio].StoreRel(m | q.gbit)
	}
}

// push appends the queue's token to the ring of p. Only p's owner (the control
// plane: under its lock). seq: a full barrier follows the store, for a caller that
// then looks for sleepers.
//
// The summary bit is set first: who sees the token sees the bit. Only the owner
// clears it, when it finds its ring empty, so no barrier is needed between them.
func (q *Queue) push(p *state, seq bool) {
	p.mark(q)
	l := q.level
	r := &l.rings[p.id]
	t := r.tail.LoadAcq()
	l.slot(p.id, t).StoreRel(q.idx)
	if seq {
		r.tail.StoreSeq(t + 1) // partner: the sleeper's StoreSeq of state.sleep
	} else {
		r.tail.StoreRel(t + 1)
	}
}
