// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"fmt"
	"runtime"
	"time"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// Barrier lets n workers wait for each other (ODP's odp_barrier_t). It may be
// used again at once: a worker that runs ahead into the next round can't lap the
// others. What each wrote before Wait is visible to all after it.
//
//	 63            32 31             0
//	|     round      |    arrived     |   one word; written by every worker that
//	                                      arrives (or leaves again because it must stop)
type Barrier struct {
	n     uint32
	_     relax.Pad
	state relax.Uint64
	_     relax.Pad
}

// NewBarrier makes a barrier for n workers, n at least 1.
func NewBarrier(n int) *Barrier { return &Barrier{n: uint32(max(n, 1))} }

// Wait returns nil when n workers have called it in this round. It returns
// ErrStopped when w was asked to stop meanwhile (w is then no longer counted as
// arrived), so that a stop or a panic of one worker never leaves the others in it.
// w nil (control plane) waits for the others whatever happens. Wait is a
// quiescent point; no lock or event context may be held across it.
func (b *Barrier) Wait(w *Worker) error {
	var round uint64
	for {
		s := b.state.LoadAcq()
		round = s >> 32
		if uint32(s)+1 >= b.n {
			if b.state.CAS(s, (round+1)<<32) { // releases what all wrote, by the chain of exchanges
				return nil
			}
			continue
		}
		if b.state.CAS(s, s+1) {
			break
		}
	}
	var spin worker.Spin
	for n := 0; w == nil && b.state.LoadAcq()>>32 == round; n++ { // no P of its own: let the Go scheduler choose
		if n < 64 {
			runtime.Gosched()
		} else {
			time.Sleep(50 * time.Microsecond)
		}
	}
	for b.state.LoadAcq()>>32 == round { // pairs with the CAS of the last to arrive
		w.Quiesce()
		if w.Stopping() && b.leave(round) {
			return fmt.Errorf("barrier: worker %d: %w", w.ID(), queue.ErrStopped)
		}
		spin.Wait()
	}
	return nil
}

// leave takes one arrival of the round back; false when the round is over.
func (b *Barrier) leave(round uint64) bool {
	for {
		s := b.state.LoadAcq()
		if s>>32 != round {
			return false
		}
		if b.state.CAS(s, s-1) {
			return true
		}
	}
}
