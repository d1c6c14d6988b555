// SPDX-License-Identifier: Apache-2.0

package odptest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/odp-go/godp/odp"
)

// Steps says how Interleave goes on.
type Steps struct {
	Seed uint64
	Max  int // steps to take, then the workers end; 0 = until all have ended by themselves
	// Patience is how long a step may take before another worker goes on beside
	// it. A step that waits for another worker (a turn in an ordered queue, a barrier)
	// needs that; the order is then no longer decided by the seed alone, and the test's
	// log says so. Default 2 s.
	Patience time.Duration
}

// Interleave runs the loop body of the workers one iteration at a time, in an order
// that the seed decides: the same seed gives the same interleaving. step is one
// iteration; a worker ends when it returns false or an error. Interleave returns
// the order of the workers in which steps began, and what Run returned.
func Interleave(t testing.TB, in *odp.Instance, cfg Steps, step func(w *odp.Worker) (more bool, err error)) ([]int, error) {
	t.Helper()
	if cfg.Patience == 0 {
		cfg.Patience = 2 * time.Second
	}
	n := in.Config().Workers
	s := &stepper{t: t, cfg: cfg, rnd: rand.New(rand.NewPCG(cfg.Seed, 2)), turn: make([]chan struct{}, n), back: make(chan int, 4*n), over: make(chan struct{})}
	for i := range s.turn {
		s.turn[i] = make(chan struct{}, 1)
	}
	slots := map[*odp.Worker]int{}
	var mu sync.Mutex
	ready := make(chan int, n)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	result := make(chan error, 1)
	go func() {
		result <- in.Run(ctx, func(w *odp.Worker) error {
			mu.Lock()
			i := w.ID() % n
			for taken := true; taken; {
				taken = false
				for _, o := range slots {
					taken = taken || o == i
				}
				if taken {
					i = (i + 1) % n
				}
			}
			slots[w] = i
			mu.Unlock()
			ready <- i
			return s.work(w, i, step)
		})
		close(s.over)
	}()
	for range n {
		select {
		case <-ready:
		case <-s.over: // Run failed before all had started
			return nil, <-result
		case <-time.After(Patience):
			t.Fatalf("odptest: Interleave: the workers did not start within %v", Patience)
		}
	}
	order := s.drive()
	cancel()
	select {
	case err := <-result:
		return order, err
	case <-time.After(Patience):
		return order, fmt.Errorf("odptest: Interleave: the workers did not stop within %v", Patience)
	}
}

type stepper struct {
	t    testing.TB
	cfg  Steps
	rnd  *rand.Rand
	turn []chan struct{} // by slot: one more step
	back chan int        // slot+1: the step is done; -(slot+1): and it was the last
	over chan struct{}   // Run has returned
}

// work is the worker's side: a step for each turn.
func (s *stepper) work(w *odp.Worker, i int, step func(*odp.Worker) (bool, error)) error {
	last := -(i + 1)
	defer func() { s.back <- last }() // also after a panic in the step
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.turn[i]:
		case <-tick.C: // others may wait for a quiescent point of this worker
			if !w.Running() {
				return nil
			}
			continue
		}
		more, err := step(w)
		if !more || err != nil {
			return err
		}
		s.back <- i + 1
	}
}

// drive gives out the turns.
func (s *stepper) drive() (order []int) {
	idle := make([]int, len(s.turn)) // slots that wait for a turn
	for i := range idle {
		idle[i] = i
	}
	running := 0
	settle := func(r int) {
		running--
		if r > 0 {
			idle = append(idle, r-1)
		}
	}
	for {
		for len(idle) == 0 && running > 0 { // all are in a step: one must end
			select {
			case r := <-s.back:
				settle(r)
			case <-s.over:
				return order
			}
		}
		if len(idle) == 0 || s.cfg.Max > 0 && len(order) >= s.cfg.Max {
			return order
		}
		k := s.rnd.IntN(len(idle))
		i := idle[k]
		idle = append(idle[:k], idle[k+1:]...)
		order = append(order, i)
		running++
		s.turn[i] <- struct{}{}
		late := time.NewTimer(s.cfg.Patience)
		for running > 0 {
			select {
			case r := <-s.back:
				settle(r)
				if r == i+1 || r == -(i+1) {
					goto next
				}
				continue
			case <-late.C:
				s.t.Logf("odptest: Interleave: step %d, of worker %d, takes longer than %v: others go on beside it", len(order), i, s.cfg.Patience)
			case <-s.over:
				late.Stop()
				return order
			}
			break
		}
	next:
		late.Stop()
	}
}
