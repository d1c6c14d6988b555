// SPDX-License-Identifier: Apache-2.0

//go:build invariants

package schedule

import (
	"fmt"
	"strings"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

// breaks runs f and checks that its panic says want.
func breaks(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if s := fmt.Sprint(recover()); !strings.Contains(s, want) {
			t.Errorf("panic %q: wanted %q", s, want)
		}
	}()
	f()
}

// TestChecksOfContexts: a context that ends with a lock, a turn that is not the queue's, a
// turn that has passed are told.
func TestChecksOfContexts(t *testing.T) {
	r := newRig(t, 1, 8, Config{})
	q := r.queue(QueueConfig{Name: "o", Sync: Ordered, Locks: 2})
	w := r.join()
	ev := make([]*buffer.Event, 1)
	take := func() {
		r.fill(nil, q, 0, 1)
		if n, _, err := r.s.Schedule(w, ev, 0); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		r.free(ev...)
	}
	for name, end := range map[string]func(){
		"Schedule": func() { r.s.Schedule(w, ev, 0) },
		"Release":  func() { r.s.Release(w) },
	} {
		take()
		r.s.OrderLock(w, 1)
		breaks(t, `"o" ends while its worker 0 holds ordered locks (mask 0x2)`, end)
		r.s.OrderUnlock(w, 1)
		turn := w.Turn
		w.Turn = worker.Turn{}
		breaks(t, "no turn in it", end)
		w.Turn = turn
		w.Turn.Ticket--
		breaks(t, "has passed by 1 contexts", end)
		w.Turn = turn
		end() // and as it should be
		if t.Failed() {
			t.Log(name)
		}
	}
	r.leave(w)
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}

// TestChecksOfOwners: an event in a scheduled queue is the queue's, also in a worker's
// stash; a second goroutine that calls Schedule with the worker of another is told.
func TestChecksOfOwners(t *testing.T) {
	r := newRig(t, 1, 8, Config{})
	q := r.queue(QueueConfig{Name: "a", Sync: Atomic, Size: 4})
	w := r.join()
	var all []*buffer.Event
	for i := range 5 {
		all = append(all, r.event(uint64(i)))
	}
	if n, err := q.Enqueue(w, all); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	r.free(all[4]) // it was not accepted
	ev := make([]*buffer.Event, 1)
	if n, _, err := r.s.Schedule(w, ev, 0); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	breaks(t, "while it is in a queue", func() { r.free(all[1]) }) // in the stash
	breaks(t, "in a queue already", func() { q.Enqueue(w, all[2:3]) })
	r.free(ev...)
	breaks(t, "it was freed by", func() { q.Enqueue(nil, all[:1]) })
	p := r.s.ws[w.ID()]
	p.one.Enter("another goroutine")
	breaks(t, "used by two at the same time", func() { r.s.Schedule(w, ev, 0) })
	p.one.Leave()
	if got := r.drain(w); len(got) != 3 {
		t.Errorf("%d events are left", len(got))
	}
	r.leave(w)
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}
