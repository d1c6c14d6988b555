// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestBarrierOne(t *testing.T) {
	b := NewBarrier(1)
	for range 3 {
		if err := b.Wait(nil); err != nil {
			t.Fatal(err)
		}
	}
}

// One rotating slow party: nobody passes before it, plain writes before Wait are
// seen after it, and nobody laps another.
func TestBarrierRounds(t *testing.T) {
	for _, n := range []int{2, 3, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			const rounds = 200
			b := NewBarrier(n)
			wrote := make([][rounds]int, n) // plain memory: the race detector sees a missing edge
			var wg sync.WaitGroup
			for i := range n {
				wg.Go(func() {
					for r := range rounds {
						if r%n == i {
							time.Sleep(20 * time.Microsecond)
						}
						wrote[i][r] = r + 1
						if err := b.Wait(nil); err != nil {
							t.Error(err)
							return
						}
						for k := range n {
							if wrote[k][r] != r+1 {
								t.Errorf("party %d passed round %d before party %d", i, r, k)
								return
							}
						}
						if err := b.Wait(nil); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// A worker that must stop leaves the barrier, and its place is open again.
func TestBarrierStop(t *testing.T) {
	in := open(t, Config{Workers: 3})
	b := NewBarrier(4) // one more than there are workers: the round can't end
	var waiting atomic.Int32
	done := make(chan error, 1)
	go func() {
		done <- in.Run(t.Context(), func(w *Worker) error {
			waiting.Add(1)
			err := b.Wait(w)
			if !errors.Is(err, ErrStopped) {
				t.Errorf("worker %d: Wait: %v, want ErrStopped", w.ID(), err)
			}
			return err
		})
	}()
	for waiting.Load() < 3 {
		time.Sleep(time.Millisecond)
	}
	in.Stop()
	if err := within(t, done); err != nil {
		t.Fatal(err)
	}
	if s := b.state.LoadAcq(); s != 0 {
		t.Errorf("barrier word is %#x after all left, want 0", s)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { b.Wait(nil) })
	}
	wg.Wait() // it still works
}
