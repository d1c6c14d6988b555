// SPDX-License-Identifier: Apache-2.0

//go:build (linux || freebsd || darwin) && !portable

package worker

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

type pipe struct{ r, w int }

func newPipe(t *testing.T) *pipe {
	t.Helper()
	var fd [2]int
	if err := unix.Pipe(fd[:]); err != nil {
		t.Fatal(err)
	}
	p := &pipe{fd[0], fd[1]}
	t.Cleanup(p.close)
	return p
}

func (p *pipe) close() {
	for _, fd := range []*int{&p.r, &p.w} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
}

func (p *pipe) put(t *testing.T) {
	if _, err := unix.Write(p.w, []byte{1}); err != nil {
		t.Error(err)
	}
}

func (p *pipe) get(t *testing.T) {
	if _, err := unix.Read(p.r, make([]byte, 1)); err != nil {
		t.Error(err)
	}
}

// sleeps fails the test if a park for 2 ms is ended early by what is watched.
func sleeps(t *testing.T, w *Worker, why string, fds ...int) {
	t.Helper()
	start := time.Now()
	w.Park(2*time.Millisecond, fds)
	if d := time.Since(start); d < 2*time.Millisecond {
		t.Errorf("%s: the park ended after %v", why, d)
	}
}

func TestDescriptorEndsPark(t *testing.T) {
	w := join(t, newSet(t, 1))
	defer w.Leave()
	a, b := newPipe(t), newPipe(t)
	within(t, "readable before", func() { a.put(t); w.Park(-1, []int{a.r, b.r}); a.get(t) })
	within(t, "readable meanwhile", func() {
		go func() { asleepNow(t, w); b.put(t) }()
		w.Park(-1, []int{a.r, b.r})
		b.get(t)
	})
	within(t, "wake with descriptors", func() {
		go func() { asleepNow(t, w); w.Wake() }()
		w.Park(-1, []int{a.r, b.r})
	})
	sleeps(t, w, "nothing is readable", a.r, b.r)
	far := a.w
	a.w = -1
	closed := make(chan struct{})
	within(t, "hang-up", func() {
		go func() { defer close(closed); asleepNow(t, w); unix.Close(far) }()
		w.Park(-1, []int{a.r, b.r})
	})
	<-closed
	if err := w.ParkError(); err != nil {
		t.Error(err)
	}
}

func TestWatchSetChanges(t *testing.T) {
	w := join(t, newSet(t, 1))
	defer func() { w.Leave() }()
	a, b := newPipe(t), newPipe(t)
	a.put(t)
	within(t, "a", func() { w.Park(-1, []int{a.r}) })
	sleeps(t, w, "a is readable but no longer watched", b.r)
	sleeps(t, w, "a is readable but no longer watched")
	within(t, "a again", func() { w.Park(-1, []int{b.r, a.r}) })
	w.Leave()
	w = join(t, w.set)
	sleeps(t, w, "a is readable but the worker before watched it")
}

// A descriptor is closed and its number given to another file: the watch set looks
// the same and is not.
func TestDescriptorNumberIsReused(t *testing.T) {
	s := newSet(t, 1)
	w := join(t, s)
	defer w.Leave()
	a := newPipe(t)
	old := a.r
	sleeps(t, w, "empty", old)
	b := newPipe(t)
	c := newPipe(t)
	if err := unix.Dup2(b.r, old); err != nil { // closes the first file, gives its number to the second
		t.Fatal(err)
	}
	b.put(t)
	within(t, "the new file is readable", func() { w.Park(-1, []int{old}) })
	b.get(t)

	// short parks do not ask the kernel again, but a grace (which every close waits for) says so
	sleeps(t, w, "empty", old)
	if err := unix.Dup2(c.r, old); err != nil {
		t.Fatal(err)
	}
	if err := w.Grace(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.put(t)
	for range 2000 { // 9 ms each: far below the limit where every park verifies
		start := time.Now()
		w.Park(verifyAfter-time.Millisecond, []int{old})
		if time.Since(start) < time.Millisecond {
			return
		}
	}
	t.Error("a readable descriptor does not end the park")
}

// A closed descriptor whose file lives on in a duplicate can't be removed from
// an epoll by any call; it must not end every later park.
func TestClosedDescriptorWithDuplicate(t *testing.T) {
	w := join(t, newSet(t, 1))
	defer w.Leave()
	a, b := newPipe(t), newPipe(t)
	dup, err := unix.Dup(a.r)
	if err != nil {
		t.Fatal(err)
	}
	sleeps(t, w, "empty", a.r, b.r)
	unix.Close(a.r)
	a.r = dup
	a.put(t)
	w.Park(2*time.Millisecond, []int{b.r}) // may end early: that is how it is found
	sleeps(t, w, "a left the watch set", b.r)
	b.put(t)
	within(t, "b is readable", func() { w.Park(-1, []int{b.r}) })
}

func TestDescriptorThatCantBeWatched(t *testing.T) {
	w := join(t, newSet(t, 1))
	defer func() { w.Leave() }()
	a := newPipe(t)
	bad := 1 << 20
	within(t, "no limit, but a bad descriptor", func() { w.Park(-1, []int{a.r, bad}) })
	if w.ParkError() == nil {
		t.Error("a bad descriptor is not reported")
	}
	a.put(t)
	within(t, "the good one", func() { w.Park(-1, []int{a.r}) })
	w.Leave()
	w = join(t, w.set)
	if w.ParkError() != nil {
		t.Error("the next worker inherits the error")
	}
}

func TestDescriptorsAreReusedAndClosed(t *testing.T) {
	count := func() int {
		d, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(d)
	}
	before := count()
	s, err := NewSet(4)
	if err != nil {
		t.Fatal(err)
	}
	var ws []*Worker
	for range 4 {
		ws = append(ws, join(t, s))
	}
	joined := count()
	for range 50 {
		for i, w := range ws {
			w.Leave()
			ws[i] = join(t, s)
		}
	}
	if n := count(); n != joined {
		t.Errorf("%d descriptors after many joins, %d after the first", n, joined)
	}
	if err := s.Close(); err == nil {
		t.Error("Close with workers joined answers no error")
	}
	for _, w := range ws {
		w.Leave()
		w.Leave()
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := count(); n != before {
		t.Errorf("%d descriptors after Close, %d before the set", n, before)
	}
}
