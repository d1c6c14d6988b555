// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/internal/testkit"
	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/internal/sys"
)

// unmappedAddress returns an address that faults.
func unmappedAddress(t *testing.T) unsafe.Pointer {
	p, err := unix.MmapPtr(-1, 0, nil, 1<<16, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.MunmapPtr(p, 1<<16) })
	return p
}

func threadCPUs() (CPUMask, error) {
	s, err := sys.ThreadAffinity()
	return maskOf(s), err
}

// Pinned workers are on their CPU, and the thread of a worker never serves another goroutine.
func TestPinned(t *testing.T) {
	if portableBuild {
		t.Skip("this build never pins")
	}
	cpus := EffectiveCPUs()
	in := open(t, Config{Workers: cpus.Count()})
	if e := in.cfg.Pin; e != PinTry {
		t.Fatal(e)
	}
	err := in.Run(t.Context(), func(w *Worker) error {
		m, err := threadCPUs()
		if err != nil {
			return err
		}
		if w.CPU() >= 0 && m != MaskOf(w.CPU()) {
			t.Errorf("worker %d: CPU %d, thread's mask %s", w.ID(), w.CPU(), m.List())
		}
		if w.CPU() < 0 {
			t.Errorf("worker %d is not pinned: %v", w.ID(), in.notes)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 200 { // goroutines on all kinds of threads: none is pinned
		c := make(chan CPUMask)
		go func() { m, _ := threadCPUs(); c <- m }()
		if m := <-c; m != cpus {
			t.Fatalf("a goroutine runs on a thread with mask %s, want %s", m.List(), cpus.List())
		}
	}
}

// More workers than CPUs are not pinned by PinTry, and are by PinForce.
func TestPinShared(t *testing.T) {
	if portableBuild {
		t.Skip("this build never pins")
	}
	cpus := EffectiveCPUs()
	for _, c := range []struct {
		pin  PinMode
		want int // pinned workers
	}{{PinTry, cpus.Count()}, {PinForce, 2 * cpus.Count()}, {PinOff, 0}} {
		in := open(t, Config{Workers: 2 * cpus.Count(), Pin: c.pin})
		pinned := make(chan bool, 2*cpus.Count())
		b := NewBarrier(2 * cpus.Count())
		if err := in.Run(t.Context(), func(w *Worker) error { pinned <- w.CPU() >= 0; return b.Wait(w) }); err != nil {
			t.Fatal(err)
		}
		n := 0
		for range cap(pinned) {
			if <-pinned {
				n++
			}
		}
		if n != c.want {
			t.Errorf("pin mode %d: %d pinned workers, want %d", c.pin, n, c.want)
		}
	}
}

func TestNice(t *testing.T) { testNice(t, 5) }

// A better nice value than 0 needs a right.
func TestNiceNegative(t *testing.T) {
	testkit.Need(t, testkit.Root)
	testNice(t, -20)
}

func testNice(t *testing.T, nice int) {
	if portableBuild {
		t.Skip("this build sets no nice value")
	}
	in := open(t, Config{Workers: 1, Nice: nice})
	err := in.Run(t.Context(), func(w *Worker) error {
		got, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err != nil || 20-got != nice {
			t.Errorf("nice value %d, %v; want %d", 20-got, err, nice)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func descriptors(t *testing.T) int {
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(d)
}

func threadCount(t *testing.T) int {
	d, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(d)
}

// Nothing is left of instances: descriptors, threads (they end with their worker).
func TestNothingLeft(t *testing.T) {
	round := func() {
		in, err := Open(t.Context(), Config{Workers: 4, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		err = in.Run(t.Context(), func(w *Worker) error {
			if w.ID() == 3 {
				panic("x")
			}
			for w.Running() {
				runtime.Gosched()
			}
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "panic: x") {
			t.Errorf("Run: %v", err)
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	}
	round()
	fds, threads := descriptors(t), threadCount(t)
	for range 20 {
		round()
	}
	if n := descriptors(t); n > fds {
		t.Errorf("%d descriptors, %d before", n, fds)
	}
	if n := threadCount(t); n > threads+20 { // 80 workers came and went
		t.Errorf("%d threads, %d before", n, threads)
	}
}
