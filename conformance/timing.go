// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/odp"
)

// Time. ODP's local, global and strict clocks are one clock here, whose unit is the
// nanosecond; each of their cases is asserted of that one.

func init() {
	register("TIME",
		Case{"TIME-01", "The units of time are what they say.", nil, timeUnits},
		Case{"TIME-02", "The clock started before now, at the wall clock time that is told, and does not wrap for ten years.", nil, timeStartup},
		Case{"TIME-07", "The clock rises by at least the time that was slept, and agrees with Go's.", nil, timeMonotony},
		Case{"TIME-22", "A wait for a time never ends before it.", nil, timeWait},
		Case{"TIME-26", "The clocks of all workers agree.", nil, func(e *Env) { timeSync(e, odp.KindWorker) }},
		Case{"TIME-27", "The clocks of all control threads agree.", nil, func(e *Env) { timeSync(e, odp.KindControl) }},
		Case{"TIME-28", "A time stamp that came through a queue is not in the future.", nil, timeThrough},
	)
	add := func(first int, what string, run func(e *Env), kinds ...string) {
		for i, k := range kinds {
			register("TIME", Case{fmt.Sprintf("TIME-%02d", first+i), fmt.Sprintf(what, k), nil, run})
		}
	}
	add(3, "The %s clock has a resolution between 32 kHz and 15 GHz.", timeResolution, "local", "global")
	add(5, "A time of the %s clock converts to a duration and back without loss.", timeConversion, "local", "global")
	add(8, "Times of the %s clock compare by their order.", timeCompare, "local", "global", "strict local", "strict global")
	add(12, "The difference of times of the %s clock is the time between them.", timeDiff, "local", "global", "strict local", "strict global")
	add(16, "A duration can be added to a time of the %s clock.", timeSum, "local", "global", "strict local", "strict global")
	add(20, "A wait until a time of the %s clock never ends before it.", timeWaitUntil, "local", "global")
	add(23, "The %s clock goes as fast as Go's.", timeAccuracy, "local", "global", "nanosecond")
}

func timeUnits(e *Env) {
	e.Check(time.Microsecond == 1000 && time.Millisecond == 1_000_000 && time.Second == 1_000_000_000 && time.Hour == 3600*time.Second, "units")
	t := e.Ops.Sync.Now()
	e.NoError(e.Ops.Sync.Wait(nil, time.Millisecond), "Wait")
	e.Check(time.Duration(e.Ops.Sync.Now()-t) >= time.Millisecond, "the unit of the clock is not a nanosecond")
}

func timeStartup(e *Env) {
	now := e.Ops.Sync.Now()
	e.Check(now >= 0, "now is %d", now)
	e.Check(!odp.Startup().After(time.Now()), "the start, %v, is in the future", odp.Startup())
	wall := odp.Startup().Add(time.Duration(now))
	e.Check(time.Since(wall) >= 0 && time.Since(wall) < 2*time.Second, "start and clock make %v, it is %v", wall, time.Now())
	const years = 10 * 366 * 24 * int64(time.Hour)
	e.Check(now < math.MaxInt64-years, "the clock wraps within ten years")
}

func timeResolution(e *Env) {
	least := int64(math.MaxInt64)
	for range 2000 {
		t := e.Ops.Sync.Now()
		for {
			u := e.Ops.Sync.Now()
			e.Must(u >= t, "the clock went back by %d ns", t-u)
			if u > t {
				least = min(least, u-t)
				break
			}
		}
	}
	e.Check(least > 0 && least < int64(time.Second)/32_000, "the smallest step seen is %d ns", least)
}

func timeConversion(e *Env) {
	for _, ns := range []int64{0, 1, 999, 1_000_000_007, int64(time.Hour) * 24 * 365, e.Ops.Sync.Now()} {
		d := time.Duration(ns)
		e.Check(d.Nanoseconds() == ns, "%d ns became %d", ns, d.Nanoseconds())
	}
	e.Check(time.Duration(0) == 0, "zero is not zero")
	t := e.Ops.Sync.Now()
	back := odp.Startup().Add(time.Duration(t)).Sub(odp.Startup())
	e.Check(int64(back) == t, "%d became %d by way of the wall clock", t, back)
}

func timeMonotony(e *Env) {
	was, wall := e.Ops.Sync.Now(), time.Now()
	for range e.rounds(50) {
		time.Sleep(time.Millisecond)
		now := e.Ops.Sync.Now()
		e.Check(time.Duration(now-was) >= time.Millisecond, "the clock went on by %v during a sleep of 1ms", time.Duration(now-was))
		was = now
	}
	d := time.Duration(was) - wall.Sub(odp.Startup())
	e.Check(d >= 0 && d <= time.Since(wall), "the clock went on by %v, Go's by %v", d, time.Since(wall))
}

func timeCompare(e *Env) {
	a := e.Ops.Sync.Now()
	e.NoError(e.Ops.Sync.Wait(nil, 10*time.Microsecond), "Wait")
	b := e.Ops.Sync.Now()
	e.Check(a < b && b > a && a != b && a > 0, "earlier %d, later %d", a, b)
}

func timeDiff(e *Env) {
	const d = 2 * time.Millisecond
	a, wall := e.Ops.Sync.Now(), time.Now()
	e.NoError(e.Ops.Sync.Wait(nil, d), "Wait")
	outer := time.Since(wall)
	b := e.Ops.Sync.Now()
	e.Check(time.Duration(b-a) >= d && time.Duration(b-a) >= outer, "the difference is %v, at least %v passed", time.Duration(b-a), outer)
}

func timeSum(e *Env) {
	a := e.Ops.Sync.Now()
	b := a + int64(time.Hour)
	e.Check(b > a && time.Duration(b-a) == time.Hour && a+0 == a, "%d and an hour make %d", a, b)
}

// waits is how often, and how long, the cases wait.
func (e *Env) waits() (n int, d time.Duration) {
	if e.Short() {
		return 3, 10 * time.Millisecond
	}
	return 5, 50 * time.Millisecond
}

func timeWaitUntil(e *Env) {
	w := e.Control(e.Instance(), odp.KindWorker)
	n, d := e.waits()
	for _, who := range []*odp.Worker{nil, w} {
		for range n {
			t := e.Ops.Sync.Now() + int64(d)
			e.NoError(e.Ops.Sync.WaitUntil(who, t), "WaitUntil")
			late := e.Ops.Sync.Now() - t
			e.Check(late >= 0, "the wait ended %v early", time.Duration(-late))
			e.Check(late < int64(max(9*d, 2*time.Second)), "the wait ended %v late", time.Duration(late))
		}
	}
	t := e.Ops.Sync.Now()
	e.NoError(e.Ops.Sync.WaitUntil(w, t-1), "a wait for the past")
}

func timeWait(e *Env) {
	in := e.Open(odp.Config{Workers: 2})
	n, d := e.waits()
	e.Workers(in, func(w *odp.Worker) error {
		for range n {
			t := e.Ops.Sync.Now()
			if err := e.Ops.Sync.Wait(w, d); err != nil {
				return err
			}
			took := time.Duration(e.Ops.Sync.Now() - t)
			if took < d || took > max(10*d, 2*time.Second) {
				return fmt.Errorf("a wait of %v took %v", d, took)
			}
		}
		return nil
	})
	var waiting atomic.Int32
	wait := e.Start(in, func(w *odp.Worker) error {
		waiting.Add(1)
		if err := e.Ops.Sync.Wait(w, time.Hour); !errors.Is(err, odp.ErrStopped) {
			return fmt.Errorf("a wait that was stopped: %v, want ErrStopped", err)
		}
		return nil
	})
	e.Await("waiting workers", func() bool { return waiting.Load() == 2 })
	in.Stop()
	wait()
}

// timeAccuracy brackets the clock by Go's: neither may be outside of the other.
func timeAccuracy(e *Env) {
	d := 200 * time.Millisecond
	if e.Short() {
		d = 20 * time.Millisecond
	}
	w0 := time.Now()
	t0 := e.Ops.Sync.Now()
	w1 := time.Now()
	time.Sleep(d)
	w2 := time.Now()
	t1 := e.Ops.Sync.Now()
	w3 := time.Now()
	const part = 100 // 1 %
	inner, outer, got := w2.Sub(w1), w3.Sub(w0), time.Duration(t1-t0)
	e.Check(got >= inner-inner/part && got <= outer+outer/part, "the clock went on by %v, Go's by %v to %v", got, inner, outer)
}

func timeSync(e *Env, kind odp.Kind) {
	const n = 3
	in := e.Open(odp.Config{Workers: n})
	b := odp.NewBarrier(n)
	rounds := e.rounds(100)
	// Each thread reads the clock, and again behind a barrier: what any of them read
	// before it is not later than what any reads behind it.
	var most [n]int64
	var ids atomic.Int32
	var ended atomic.Int32
	f := func(w *odp.Worker) error {
		defer ended.Add(1)
		me := int(ids.Add(1)) - 1
		for range rounds {
			atomic.StoreInt64(&most[me], e.Ops.Sync.Now())
			if err := b.Wait(w); err != nil {
				return err
			}
			now := e.Ops.Sync.Now()
			for i := range most {
				if v := atomic.LoadInt64(&most[i]); v > now {
					return fmt.Errorf("thread %d read %d before thread %d read %d", i, v, me, now)
				}
			}
			if err := b.Wait(w); err != nil { // all have looked
				return err
			}
		}
		return nil
	}
	if kind == odp.KindWorker {
		e.Workers(in, f)
		return
	}
	for i := range n {
		e.NoError(in.Go(fmt.Sprint("clock ", i), func(w *odp.Worker) error {
			err := f(w)
			if err != nil {
				e.Errorf("control thread %d: %v", w.ID(), err)
			}
			return nil
		}), "Go")
	}
	e.Await("end of the control threads", func() bool { return ended.Load() == n })
}

func timeThrough(e *Env) {
	in := e.Open(odp.Config{Workers: 2})
	num := e.rounds(2000)
	p := e.numbers(in, num)
	q := e.plain(in, odp.QueueConfig{Size: 64})
	var ids, got atomic.Int32
	e.Workers(in, func(w *odp.Worker) error {
		end := e.deadline()
		if ids.Add(1) == 1 {
			for i := 0; i < num; {
				b := p.AllocBuffer(w)
				if b == nil {
					return fmt.Errorf("no buffer after %d", i)
				}
				setNumber(&b.Event, uint64(e.Ops.Sync.Now()))
				for e.enqueueAll(q, w, &b.Event) != nil {
					if odp.Now() > end || !w.Running() {
						e.give(w, &b.Event)
						return fmt.Errorf("the queue stays full after %d events", i)
					}
				}
				i++
			}
			return nil
		}
		var ev [8]*odp.Event
		for int(got.Load()) < num {
			n, err := e.Ops.Queue.Dequeue(q, w, ev[:])
			if err != nil {
				return err
			}
			now := uint64(e.Ops.Sync.Now())
			for _, x := range ev[:n] {
				if number(x) > now {
					return fmt.Errorf("a stamp of %d came at %d", number(x), now)
				}
			}
			e.give(w, ev[:n]...)
			got.Add(int32(n))
			if odp.Now() > end {
				return fmt.Errorf("%d of %d stamps came", got.Load(), num)
			}
		}
		return nil
	})
}
