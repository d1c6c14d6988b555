// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/odp"
)

// The barrier of workers, and Go's locks used by workers.

func init() {
	register("BARR",
		Case{"BARR-01", "What each thread wrote before the barrier is visible to all behind it.", nil, barrierVisible},
		Case{"BARR-02", "A barrier of one thread does not wait.", nil, barrierOne},
		Case{"BARR-03", "Without a barrier the harness of these cases sees errors.", nil,
			func(e *Env) { barrierRounds(e, func(*odp.Barrier, *odp.Worker) error { return nil }, true) }},
		Case{"BARR-04", "Nobody passes the barrier before the slowest thread has come.", nil,
			func(e *Env) { barrierRounds(e, e.Ops.Sync.BarrierWait, false) }},
		Case{"BARR-05", "A barrier that is used again at once lets nobody lap the others.", nil, barrierReuse},
		Case{"BARR-06", "A thread that is asked to stop leaves the barrier.", nil, barrierStop},
	)
	mutex := func() (locks, bool) { return new(sync.Mutex), true }
	rw := func() (locks, bool) { return new(sync.RWMutex), true }
	none := func() (locks, bool) { return noLock{}, false }
	register("LOCK",
		Case{"LOCK-01", "Without a lock the harness of these cases sees errors.", nil, func(e *Env) { lockRounds(e, none) }},
		Case{"LOCK-02", "A lock (sync.Mutex for ODP's spinlock) is free at first, taken once, and free again.", nil, func(e *Env) { lockAPI(e, mutex) }},
		Case{"LOCK-03", "One worker at a time is inside of a lock.", nil, func(e *Env) { lockRounds(e, mutex) }},
		Case{"LOCK-08", "A lock of readers and writers (sync.RWMutex) lets readers in together and a writer alone.", nil, lockReadersAPI},
		Case{"LOCK-09", "No writer is inside with another, and no reader with a writer.", nil, lockReaders},
		Case{"LOCK-12", "The writer's side of a lock of readers and writers keeps the others out.", nil, func(e *Env) { lockRounds(e, rw) }},
	)
}

const barrierThreads = 4

func barrierVisible(e *Env) {
	in := e.Open(odp.Config{Workers: barrierThreads})
	b := odp.NewBarrier(barrierThreads)
	var wrote [barrierThreads]int // no lock but the barrier: the race detector looks on
	var ids atomic.Int32
	e.Workers(in, func(w *odp.Worker) error {
		me := int(ids.Add(1)) - 1
		for round := 1; round <= e.rounds(1000); round++ {
			wrote[me] = round
			if err := e.Ops.Sync.BarrierWait(b, w); err != nil {
				return err
			}
			for i, v := range wrote {
				if v != round {
					return fmt.Errorf("round %d: thread %d wrote %d", round, i, v)
				}
			}
			if err := e.Ops.Sync.BarrierWait(b, w); err != nil { // all have read
				return err
			}
		}
		return nil
	})
}

func barrierOne(e *Env) {
	in := e.Open(odp.Config{Workers: 1})
	for _, n := range []int{1, 0, -1} { // what is below 1 counts as 1
		b := odp.NewBarrier(n)
		for range 10 {
			e.NoError(e.Ops.Sync.BarrierWait(b, nil), "the control plane")
		}
		e.Workers(in, func(w *odp.Worker) error { return e.Ops.Sync.BarrierWait(b, w) })
	}
}

// barrierRounds lets another thread be late in each round, and counts who passed
// before it came.
func barrierRounds(e *Env, pass func(b *odp.Barrier, w *odp.Worker) error, wrong bool) {
	in := e.Open(odp.Config{Workers: barrierThreads})
	b, end := odp.NewBarrier(barrierThreads), odp.NewBarrier(barrierThreads)
	var came [barrierThreads]atomic.Int64
	var early atomic.Int64
	var ids atomic.Int32
	rounds := e.rounds(1000)
	e.Workers(in, func(w *odp.Worker) error {
		me := int(ids.Add(1)) - 1
		for round := 1; round <= rounds; round++ {
			late := round % barrierThreads
			if me == late {
				time.Sleep(20 * time.Microsecond)
				if round%(rounds/5) == 1 {
					time.Sleep(5 * time.Millisecond) // so that the others do come first
				}
			}
			came[me].Store(int64(round))
			if err := pass(b, w); err != nil {
				return err
			}
			if came[late].Load() < int64(round) {
				early.Add(1)
			}
			if err := end.Wait(w); err != nil {
				return err
			}
		}
		return nil
	})
	if wrong {
		e.Check(early.Load() > 0, "no thread passed early, though there was no barrier: the harness sees nothing")
	} else {
		e.Check(early.Load() == 0, "%d times a thread passed before the slowest came", early.Load())
	}
}

func barrierReuse(e *Env) {
	in := e.Open(odp.Config{Workers: barrierThreads})
	b := odp.NewBarrier(barrierThreads)
	rounds := e.rounds(5000)
	var laps [barrierThreads]atomic.Int64
	var ids atomic.Int32
	e.Workers(in, func(w *odp.Worker) error {
		me := int(ids.Add(1)) - 1
		for round := 1; round <= rounds; round++ {
			laps[me].Store(int64(round))
			if err := e.Ops.Sync.BarrierWait(b, w); err != nil {
				return err
			}
			for i := range laps { // the others are in this round, or in the next at most
				if l := laps[i].Load(); l < int64(round) || l > int64(round)+1 {
					return fmt.Errorf("thread %d is in round %d, thread %d in %d", i, l, me, round)
				}
			}
			runtime.Gosched()
		}
		return nil
	})
}

func barrierStop(e *Env) {
	in := e.Open(odp.Config{Workers: 2})
	b := odp.NewBarrier(3) // the third never comes
	var inside atomic.Int32
	wait := e.Start(in, func(w *odp.Worker) error {
		inside.Add(1)
		if err := e.Ops.Sync.BarrierWait(b, w); !errors.Is(err, odp.ErrStopped) {
			return fmt.Errorf("the wait: %v, want ErrStopped", err)
		}
		return nil
	})
	e.Await("two workers", func() bool { return inside.Load() == 2 })
	in.Stop()
	wait()
}

// locks is a lock as these cases use it.
type locks interface {
	sync.Locker
	TryLock() bool
}

// noLock locks nothing.
type noLock struct{}

func (noLock) Lock()         {}
func (noLock) Unlock()       {}
func (noLock) TryLock() bool { return true }

func lockAPI(e *Env, lock func() (locks, bool)) {
	l, _ := lock()
	e.Must(l.TryLock(), "the lock is taken at first")
	e.Check(!l.TryLock(), "the lock was taken twice")
	l.Unlock()
	e.Must(l.TryLock(), "the lock is not free after Unlock")
	l.Unlock()
	l.Lock()
	e.Check(!l.TryLock(), "the lock was taken twice")
	l.Unlock()
}

// lockRounds has workers write their id into one word inside of the lock, and look
// whether it stays.
func lockRounds(e *Env, lock func() (locks, bool)) {
	const workers = 4
	l, real := lock()
	in := e.Open(odp.Config{Workers: workers})
	var owner atomic.Int64
	var changed atomic.Int64
	b := odp.NewBarrier(workers)
	rounds := e.rounds(1000)
	e.Workers(in, func(w *odp.Worker) error {
		if err := b.Wait(w); err != nil {
			return err
		}
		for i := range rounds {
			l.Lock()
			owner.Store(int64(w.ID()))
			if i%16 == 0 {
				time.Sleep(20 * time.Microsecond) // the others come
			}
			if owner.Load() != int64(w.ID()) {
				changed.Add(1)
			}
			l.Unlock()
		}
		return nil
	})
	if real {
		e.Check(changed.Load() == 0, "%d times another worker was inside", changed.Load())
	} else {
		e.Check(changed.Load() > 0, "nobody was disturbed without a lock: the harness sees nothing")
	}
}

func lockReadersAPI(e *Env) {
	lockAPI(e, func() (locks, bool) { return new(sync.RWMutex), true })
	var l sync.RWMutex
	first, second := l.TryRLock(), l.TryRLock()
	e.Must(first && second, "two readers are not let in")
	e.Check(!l.TryLock(), "a writer was let in beside readers")
	l.RUnlock()
	l.RUnlock()
	e.Must(l.TryLock(), "a writer is not let in")
	e.Check(!l.TryRLock(), "a reader was let in beside a writer")
	l.Unlock()
}

func lockReaders(e *Env) {
	const workers = 4
	in := e.Open(odp.Config{Workers: workers})
	var l sync.RWMutex
	var readers, writers atomic.Int32
	rounds := e.rounds(1000)
	e.Workers(in, func(w *odp.Worker) error {
		for i := range rounds {
			if (i+w.ID())%4 == 0 {
				l.Lock()
				if writers.Add(1) != 1 || readers.Load() != 0 {
					return fmt.Errorf("a writer is inside with %d others and %d readers", writers.Load()-1, readers.Load())
				}
				runtime.Gosched()
				writers.Add(-1)
				l.Unlock()
				continue
			}
			l.RLock()
			readers.Add(1)
			if writers.Load() != 0 {
				return fmt.Errorf("a reader is inside with a writer")
			}
			runtime.Gosched()
			readers.Add(-1)
			l.RUnlock()
		}
		return nil
	})
}
