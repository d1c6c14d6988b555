// SPDX-License-Identifier: Apache-2.0

//go:build !portable

package worker

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Kernels before 5.11 wait in milliseconds: never too short.
func TestOldKernel(t *testing.T) {
	noPwait2.Store(true)
	defer noPwait2.Store(false)
	t.Run("timeouts", TestParkTimeouts)
	t.Run("wake", TestWakeEndsPark)
	t.Run("descriptors", TestDescriptorEndsPark)
	w := join(t, newSet(t, 1))
	defer w.Leave()
	start := time.Now()
	if ready, err := w.parker.poller.sleep(1500 * time.Microsecond); ready || err != nil || time.Since(start) < 1500*time.Microsecond {
		t.Errorf("a wait for 1.5 ms: %v, %v after %v", ready, err, time.Since(start))
	}
}

// What a stray entry reports is got rid of, not waited for again and again.
func TestStrayEntryIsRemoved(t *testing.T) {
	w := join(t, newSet(t, 1))
	defer w.Leave()
	a := newPipe(t)
	dup, err := syscall.Dup(a.r)
	if err != nil {
		t.Fatal(err)
	}
	sleeps(t, w, "empty", a.r)
	syscall.Close(a.r)
	a.r = dup
	a.put(t)
	w.Park(2*time.Millisecond, nil)
	w.Park(2*time.Millisecond, nil)
	start := time.Now()
	if _, err := w.parker.poller.sleep(2 * time.Millisecond); err != nil || time.Since(start) < 2*time.Millisecond {
		t.Errorf("a closed descriptor still ends waits: %v after %v", err, time.Since(start))
	}
}

// Signals (the runtime preempts by them) end no park early, and none late.
func TestSignalsDoNotEndAPark(t *testing.T) {
	s := newSet(t, 1)
	var tid atomic.Int64
	var over atomic.Bool
	within(t, "park", func() {
		go func() {
			for !over.Load() {
				if id := int(tid.Load()); id != 0 {
					_ = syscall.Tgkill(syscall.Getpid(), id, syscall.SIGURG)
				}
				time.Sleep(200 * time.Microsecond)
			}
		}()
		defer over.Store(true)
		runtime.LockOSThread()
		w := join(t, s)
		defer w.Leave()
		tid.Store(int64(syscall.Gettid()))
		const d = 30 * time.Millisecond
		start := time.Now()
		w.Park(d, nil)
		if got := time.Since(start); got < d {
			t.Errorf("a park for %v was ended by a signal after %v", d, got)
		}
		go func() { asleepNow(t, w); time.Sleep(2 * time.Millisecond); w.Wake() }()
		w.Park(-1, nil)
		tid.Store(0)
	})
}
