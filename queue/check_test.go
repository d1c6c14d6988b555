// SPDX-License-Identifier: Apache-2.0

//go:build invariants

package queue

import (
	"fmt"
	"strings"
	"testing"

	"github.com/odp-go/godp/buffer"
)

// breaks runs f and checks that its panic says all of want.
func breaks(t *testing.T, f func(), want ...string) {
	t.Helper()
	defer func() {
		t.Helper()
		s := fmt.Sprint(recover())
		for _, w := range want {
			if !strings.Contains(s, w) {
				t.Errorf("panic %q: wanted %q", s, w)
			}
		}
	}()
	f()
}

// TestOwnerOfQueuedEvents: who frees or enqueues what is in a queue, or enqueues what is
// free, is told; what a full queue refuses is the caller's as before.
func TestOwnerOfQueuedEvents(t *testing.T) {
	set, ws := kit(t, 1)
	p, err := buffer.NewPool(set, buffer.PoolConfig{Name: "p", Num: 8})
	if err != nil {
		t.Fatal(err)
	}
	q := mustNew(t, set, Config{Name: "q", Size: 2})
	w := ws[0]
	var ev []*buffer.Event
	for range 3 {
		ev = append(ev, &p.AllocPacket(w, 60).Event)
	}
	if n, err := q.Enqueue(w, ev); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	breaks(t, func() { buffer.FreeEvents(w, ev[:1]) }, "while it is in a queue")
	breaks(t, func() { q.Enqueue(w, ev[:1]) }, `queue "q"`, "in a queue already", "TestOwnerOfQueuedEvents")
	if s := p.Leaks(); !strings.Contains(s, "2 in a queue, allocated by worker 0") {
		t.Errorf("leak report: %s", s)
	}
	buffer.FreeEvents(w, ev[2:])
	breaks(t, func() { q.Enqueue(nil, ev[2:]) }, `queue "q"`, "it was freed by")
	got := make([]*buffer.Event, 4)
	n, err := q.Dequeue(w, got)
	if n != 2 || err != nil {
		t.Fatal(n, err)
	}
	buffer.FreeEvents(w, got[:n])
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestTwoUsersOfOneSide: a second user inside of a side that is for one is told.
func TestTwoUsersOfOneSide(t *testing.T) {
	set, ws := kit(t, 1)
	q := mustNew(t, set, Config{Name: "one", EnqMode: MTUnsafe, DeqMode: MTUnsafe})
	ev := make([]*buffer.Event, 1)
	q.enqOne.Enter("the first")
	breaks(t, func() { q.Enqueue(ws[0], events(1)) }, "EnqMode is MTUnsafe", "two at the same time")
	q.enqOne.Leave()
	q.deqOne.Enter("the first")
	breaks(t, func() { q.Dequeue(ws[0], ev) }, "DeqMode is MTUnsafe", "two at the same time")
	q.deqOne.Leave()
}
