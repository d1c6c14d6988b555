// SPDX-License-Identifier: Apache-2.0

package queue_test

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
	"pgregory.net/rapid"
)

// made makes a set of n workers and a queue, and takes them away at the end.
func made(rt *rapid.T, n int, cfg queue.Config) (*queue.Queue, []*worker.Worker, func()) {
	set, err := worker.NewSet(n)
	if err != nil {
		rt.Fatal(err)
	}
	var ws []*worker.Worker
	for range n {
		w, err := set.Join(worker.KindWorker)
		if err != nil {
			rt.Fatal(err)
		}
		ws = append(ws, w)
	}
	q, err := queue.New(set, cfg)
	if err != nil {
		rt.Fatal(err)
	}
	return q, ws, func() {
		for _, w := range ws {
			w.Leave()
		}
		if err := set.Close(); err != nil && !rt.Failed() {
			rt.Error(err)
		}
	}
}

func drawMode(rt *rapid.T, what string) queue.Mode {
	return rapid.SampledFrom([]queue.Mode{queue.MT, queue.MTUnsafe}).Draw(rt, what)
}

// events returns events that are only carried, never touched.
func events(from uint32, n int) []*buffer.Event {
	ev := make([]*buffer.Event, n)
	for i := range ev {
		ev[i] = buffer.FromID(from + uint32(i))
	}
	return ev
}

func ids(ev []*buffer.Event) []uint64 {
	out := make([]uint64, 0, len(ev))
	for _, e := range ev {
		out = append(out, uint64(e.ID()))
	}
	return out
}

// TestModel compares random calls, by workers and the control plane in turn, with a slice.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := queue.Config{
			Name: "model", Size: rapid.IntRange(1, 70).Draw(rt, "size"),
			EnqMode: drawMode(rt, "enqueue"), DeqMode: drawMode(rt, "dequeue"), NonBlocking: drawProgress(rt),
		}
		cfg.Threshold = rapid.IntRange(0, cfg.Size).Draw(rt, "threshold")
		q, ws, end := made(rt, 2, cfg)
		defer end()
		ws = append(ws, nil)
		var model []uint64
		var want queue.Stats
		next := uint32(1)
		size := q.Cap()
		if size < cfg.Size {
			rt.Fatalf("Cap %d, asked for %d", size, cfg.Size)
		}
		closed := false
		check := func(op string, n, should int, err error) {
			if closed && (n != 0 || !errors.Is(err, queue.ErrClosed)) || !closed && (n != should || err != nil) {
				rt.Fatalf("%s: %d, %v; the model has %d of %d, closed: %v", op, n, err, len(model), size, closed)
			}
		}
		for range rapid.IntRange(1, 80).Draw(rt, "steps") {
			w := rapid.SampledFrom(ws).Draw(rt, "worker")
			k := rapid.OneOf(rapid.IntRange(0, 4), rapid.IntRange(0, 80)).Draw(rt, "burst")
			switch op := rapid.IntRange(0, 12).Draw(rt, "op"); {
			case op < 5 || op == 5 && cfg.Threshold == 0:
				n, err := q.Enqueue(w, events(next, k))
				check("Enqueue", n, min(k, size-len(model)), err)
				if n < k && !closed {
					want.Full++
				}
				model, next = append(model, ids(events(next, n))...), next+uint32(k)
				want.Enqueued += uint64(n)
			case op == 5:
				room := max(0, cfg.Threshold-len(model))
				n, err := q.EnqueueNew(w, events(next, k))
				if k > 0 || !closed {
					check("EnqueueNew", n, min(k, room), err)
				}
				if room < k {
					want.Refused++
				}
				model, next = append(model, ids(events(next, n))...), next+uint32(k)
				want.Enqueued += uint64(n)
			case op < 12:
				ev := make([]*buffer.Event, k)
				n, err := q.Dequeue(w, ev)
				check("Dequeue", n, min(k, len(model)), err)
				if got := ids(ev[:n]); !slices.Equal(got, model[:n]) {
					rt.Fatalf("Dequeue gave %v, the model begins with %v", got, model[:n])
				}
				model = model[n:]
				want.Dequeued += uint64(n)
			default:
				err := q.Close()
				if closed = closed || len(model) == 0; (err == nil) != closed {
					rt.Fatalf("Close with %d events: %v", len(model), err)
				}
			}
			if q.Len() != len(model) {
				rt.Fatalf("Len %d, the model has %d", q.Len(), len(model))
			}
			if s := q.Stats(); s != want {
				rt.Fatalf("stats %+v, the model has %+v", s, want)
			}
			if found := queue.Lookup(ws[0].Set(), "model"); (found == q) == closed {
				rt.Fatalf("Lookup finds %v, closed: %v", found, closed)
			}
		}
		for len(model) > 0 {
			ev := make([]*buffer.Event, 7)
			n, err := q.Dequeue(nil, ev)
			check("Dequeue", n, min(7, len(model)), err)
			model = model[n:]
		}
		if err := q.Close(); err != nil {
			rt.Fatal(err)
		}
	})
}

type step struct {
	n, delay int
	put      bool
}

// TestModelThreads: random programs of workers and of the control plane at once, judged
// by testkit.History.
func TestModelThreads(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := queue.Config{Size: rapid.SampledFrom([]int{1, 4, 32}).Draw(rt, "size"), EnqMode: drawMode(rt, "enqueue"), DeqMode: drawMode(rt, "dequeue"), NonBlocking: drawProgress(rt)}
		users := rapid.IntRange(1, 3).Draw(rt, "users")
		q, ws, end := made(rt, users, cfg)
		defer end()
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{rapid.IntRange(0, 9).Draw(t, "n"), rapid.IntRange(0, 30).Draw(t, "delay"), rapid.Bool().Draw(t, "put")}
		}), 1, 30)
		var h testkit.History
		var wg sync.WaitGroup
		laps := rapid.SampledFrom([]int{1, 20}).Draw(rt, "laps")
		for i := range users + 1 {
			var w *worker.Worker
			if i < users {
				w = ws[i]
			}
			program := steps.Draw(rt, "program")
			// one user of a side that is for one: the first worker puts, the last one takes
			puts, takes := cfg.EnqMode == queue.MT || i == 0, cfg.DeqMode == queue.MT || i == users-1
			if w == nil { // the control plane is one more user
				puts, takes = cfg.EnqMode == queue.MT, cfg.DeqMode == queue.MT
			}
			wg.Go(func() {
				l := h.Log(i)
				defer l.End()
				next := uint32(i+1) << 20
				for range laps {
					for _, s := range program {
						if s.put && puts {
							begin := l.Begin()
							n, _ := q.Enqueue(w, events(next, s.n))
							l.Put(begin, s.n, false, ids(events(next, n)))
							next += uint32(s.n)
						} else if !s.put && takes {
							ev := make([]*buffer.Event, s.n)
							begin := l.Begin()
							n, _ := q.Dequeue(w, ev)
							l.Get(begin, s.n, false, ids(ev[:n]))
						}
						if s.delay < 3 {
							runtime.Gosched()
						}
					}
				}
			})
		}
		wg.Wait()
		ev := make([]*buffer.Event, q.Cap()+1)
		n, err := q.Dequeue(nil, ev)
		if err != nil {
			rt.Fatal(err)
		}
		if err := h.Check(q.Cap(), ids(ev[:n])); err != nil {
			rt.Fatal(err)
		}
		if err := q.Close(); err != nil {
			rt.Fatal(err)
		}
	})
}

func drawProgress(rt *rapid.T) queue.Progress {
	return rapid.SampledFrom([]queue.Progress{queue.Blocking, queue.LockFree, queue.WaitFree}).Draw(rt, "progress")
}
