// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/internal/sys"
)

func BenchmarkRunning(b *testing.B) {
	w := join(b, newSet(b, 1))
	defer w.Leave()
	for b.Loop() {
		if !w.Running() {
			b.Fatal("stopped")
		}
	}
}

func BenchmarkAwaitTurnWithoutContext(b *testing.B) {
	w := join(b, newSet(b, 1))
	defer w.Leave()
	for b.Loop() {
		w.AwaitTurn()
	}
}

func BenchmarkWakeOfAwake(b *testing.B) {
	w := join(b, newSet(b, 1))
	defer w.Leave()
	for b.Loop() {
		w.Wake()
	}
}

func BenchmarkWakeThenPark(b *testing.B) {
	w := join(b, newSet(b, 1))
	defer w.Leave()
	for b.Loop() {
		w.Wake()
		w.Park(-1, nil)
	}
}

func BenchmarkParkOnlyLooks(b *testing.B) {
	w := join(b, newSet(b, 1))
	defer w.Leave()
	for b.Loop() {
		w.Park(0, nil)
	}
}

// BenchmarkWakeOfSleeper measures from the call of Wake to the running worker, each
// on a CPU of its own, the sleeper asleep for 200 us before.
func BenchmarkWakeOfSleeper(b *testing.B) {
	cpus := sys.EffectiveCPUs(sys.Root()).Set.List()
	if len(cpus) < 2 {
		b.Skip("needs two CPUs")
	}
	s := newSet(b, 1)
	var woke relax.Uint64 // nanoseconds since start
	start := time.Now()
	joined, done := make(chan *Worker), make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		w := join(b, s)
		defer w.Leave()
		_ = w.Pin(cpus[1])
		joined <- w
		for !w.Stopping() {
			w.Park(-1, nil)
			woke.StoreSeq(uint64(time.Since(start)))
		}
	}()
	w := <-joined
	var took, cost []time.Duration
	for b.Loop() {
		asleepNow(b, w)
		for t := time.Now(); time.Since(t) < 200*time.Microsecond; {
			relax.Pause()
		}
		woke.StoreSeq(0)
		t0 := time.Since(start)
		w.Wake()
		cost = append(cost, time.Since(start)-t0)
		for woke.LoadAcq() == 0 {
			relax.Pause()
		}
		took = append(took, time.Duration(woke.LoadAcq())-t0)
	}
	w.RequestStop()
	<-done
	slices.Sort(took)
	slices.Sort(cost)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "us-median")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "us-p99")
	b.ReportMetric(float64(cost[len(cost)/2].Nanoseconds())/1e3, "us-waker")
}
