// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"context"
	"runtime"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// Values of a lock word: 0 is free, else who holds it.
const (
	heldControl = 1 << 16 // a nil worker
	heldForever = 1 << 17 // the device is closed
	heldKicker  = 1 << 18 // a kicker
)

func holderOf(w *worker.Worker) uint32 {
	if w == nil {
		return heldControl
	}
	return uint32(w.ID()) + 1
}

// lock keeps the users of one or more rings apart. Workers only try it. The
// holder serves the staging rings of the send rings that it covers.
//
//	word   0 = free, worker id + 1, heldControl, heldKicker, heldForever
//	dirty  1 = a staging ring may hold packets (partner: word, see unlock)
type lock struct {
	_     relax.Pad
	word  relax.Uint32
	_     relax.Pad
	dirty relax.Uint32
	_     relax.Pad
	tx    []*txRing // send rings under this lock; none for a receive-only lock
}

// try takes the lock if it is free.
func (l *lock) try(w *worker.Worker) bool {
	return l.word.LoadAcq() == 0 && l.word.CAS(0, holderOf(w))
}

// take waits for the lock until ctx ends, for the control plane. It answers ErrClosed
// when the device was closed meanwhile.
func (l *lock) take(ctx context.Context) error {
	var s worker.Spin
	for !l.try(nil) {
		if l.word.LoadAcq() == heldForever {
			return queue.ErrClosed
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		s.Wait()
	}
	return nil
}

// enter is try for workers and take for the control plane.
func (l *lock) enter(w *worker.Worker) bool {
	if l.try(w) {
		return true
	}
	return w == nil && l.take(context.Background()) == nil
}

// unlock gives the lock back. The store of word and the load of dirty are the
// partners of stage's store of dirty and its try: one of the two sees the other,
// so no staged packet is left behind.
func (l *lock) unlock(w *worker.Worker) {
	if len(l.tx) == 0 {
		l.word.StoreRel(0)
		return
	}
	l.word.StoreSeq(0)
	if l.dirty.LoadAcq() != 0 {
		l.serve(w)
	}
}

// serve sends what is staged, unless somebody else holds the lock: then he does.
// Packets that a full device refuses stay staged; the ring's kicker comes back.
func (l *lock) serve(w *worker.Worker) { l.serveAs(holderOf(w), w) }

// maxServe is how often a holder goes back for others before the kicker takes over:
// senders that never pause must not keep him for ever.
const maxServe = 8

func (l *lock) serveAs(holder uint32, w *worker.Worker) {
	for round := 0; l.dirty.LoadAcq() != 0 && l.word.LoadAcq() == 0 && l.word.CAS(0, holder); round++ {
		full := l.drain(w)
		l.word.StoreSeq(0)
		if full {
			return
		}
		if round == maxServe {
			l.tx[0].kick.later()
			return
		}
	}
}

// abandon gives back the lock of a holder that panicked. It enters no driver:
// that may be what panicked. Staged packets are left to the kicker.
func (l *lock) abandon() {
	staged := false
	for _, r := range l.tx {
		staged = staged || r.stage.pending() > 0
	}
	if staged {
		l.dirty.StoreSeq(1)
	}
	l.word.StoreSeq(0) // partner: dirty, as in unlock
	if len(l.tx) > 0 && l.dirty.LoadAcq() != 0 {
		l.tx[0].kick.later()
	}
}

// drain sends what the staging rings hold; the caller holds the lock. It
// reports whether packets stay behind because the device is full.
func (l *lock) drain(w *worker.Worker) (full bool) {
	l.dirty.StoreSeq(0)
	for _, r := range l.tx {
		if r.drain(w) {
			full = true
		}
	}
	if full {
		l.dirty.StoreSeq(1)
	}
	return full
}

// ticket is a first-come-first-served lock: the one of level pktio.
type ticket struct {
	_       relax.Pad
	next    relax.Uint32 // the next ticket to hand out
	_       relax.Pad
	serving relax.Uint32 // the ticket that holds the lock
	holder  relax.Uint32 // as lock.word, for ReleaseWorker
	_       relax.Pad
}

// lock waits for its turn: the next in the line pauses, who stands further behind
// yields at once, since with more workers than CPUs the next may need this one. Naps
// are a last resort: a turn that comes to a sleeper costs everybody the nap.
func (t *ticket) lock(w *worker.Worker) {
	my := t.next.Add(1) - 1
	var nap worker.Spin
	for i := 0; ; i++ {
		ahead := my - t.serving.LoadAcq()
		switch {
		case ahead == 0:
			t.holder.StoreRel(holderOf(w))
			return
		case i < ticketPauses && ahead == 1:
			relax.Pause()
		case i < ticketYields:
			worker.Yield()
		default:
			runtime.Gosched() // the holder may be a goroutine without a P
			nap.Wait()
		}
	}
}

// lockUntil is lock for who may give up, and is not in a hurry: it takes no place in the
// line, and gets the lock when nobody is in it.
func (t *ticket) lockUntil(ctx context.Context) bool {
	var nap worker.Spin
	for {
		my := t.serving.LoadAcq()
		if t.next.CAS(my, my+1) {
			t.holder.StoreRel(holderOf(nil))
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		nap.Wait()
	}
}

const (
	ticketPauses = 64
	ticketYields = 1000
)

func (t *ticket) unlock() {
	t.holder.StoreRel(0)
	t.serving.StoreRel(t.serving.LoadAcq() + 1)
}
