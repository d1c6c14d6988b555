// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDefaultMap(t *testing.T) {
	for _, c := range []struct {
		n    int
		want []int
	}{{1, []int{0}}, {2, []int{1, 0}}, {3, []int{1, 2, 0}}, {4, []int{1, 0, 3, 2}}} {
		if d := cmp.Diff(c.want, defaultMap(c.n)); d != "" {
			t.Errorf("%d interfaces: %s", c.n, d)
		}
	}
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		workers, ifs int
		pairs        string
		rx, tx       []int
	}{
		{1, 1, "[[{0 0 0 0}]]", []int{1}, []int{1}},
		{1, 2, "[[{0 0 1 0} {1 0 0 0}]]", []int{1, 1}, []int{1, 1}},
		{2, 2, "[[{0 0 1 0}] [{1 0 0 0}]]", []int{1, 1}, []int{1, 1}},
		{3, 2, "[[{0 0 1 0}] [{1 0 0 0}] [{0 1 1 1}]]", []int{2, 1}, []int{1, 2}},
		{4, 2, "[[{0 0 1 0}] [{1 0 0 0}] [{0 1 1 1}] [{1 1 0 1}]]", []int{2, 2}, []int{2, 2}},
		{2, 3, "[[{0 0 1 0} {2 0 0 0}] [{1 0 2 0}]]", []int{1, 1, 1}, []int{1, 1, 1}},
	} {
		p := makePlan(c.workers, defaultMap(c.ifs))
		if got := fmt.Sprint(p.pairs); got != c.pairs {
			t.Errorf("%d workers, %d interfaces: %s, want %s", c.workers, c.ifs, got, c.pairs)
		}
		if d := cmp.Diff([][]int{c.rx, c.tx}, [][]int{p.rxQueues, p.txQueues}); d != "" {
			t.Errorf("%d workers, %d interfaces: queues %s", c.workers, c.ifs, d)
		}
	}
}

// Every queue that a device has is served by somebody, whatever it gave.
func TestPlanFit(t *testing.T) {
	for workers := 1; workers <= 9; workers++ {
		for n := 1; n <= 4; n++ {
			for got := 1; got <= 3; got++ {
				p := makePlan(workers, defaultMap(n))
				rx, tx := make([]int, n), make([]int, n)
				for i := range rx {
					rx[i], tx[i] = min(got, p.rxQueues[i]), min(got, p.txQueues[i])
				}
				wantShared := 0
				for i := range rx {
					if rx[i] < p.rxQueues[i] {
						wantShared++
					}
				}
				shared, _ := p.fit(rx, tx)
				if len(shared) != wantShared {
					t.Fatalf("%d workers, %d interfaces, %d queues: %v shared, want %d", workers, n, got, shared, wantShared)
				}
				served := map[[2]int]bool{}
				for _, w := range p.pairs {
					for _, pr := range w {
						if pr.txQ >= tx[pr.out] {
							t.Fatalf("send queue %d of %d", pr.txQ, tx[pr.out])
						}
						served[[2]int{pr.in, pr.rxQ}] = true
					}
				}
				for i := range rx {
					for q := range rx[i] {
						if !served[[2]int{i, q}] {
							t.Fatalf("%d workers: queue %d of interface %d has no worker", workers, q, i)
						}
					}
				}
			}
		}
	}
}
