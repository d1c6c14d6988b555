// SPDX-License-Identifier: Apache-2.0

//go:build !portable

package sys

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// onThread runs f on a thread of its own that ends with it.
func onThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		f()
	}()
	<-done
}

func TestThreadAffinity(t *testing.T) {
	e := EffectiveCPUs(Root())
	if e.Set.Empty() || e.Affinity.Empty() {
		t.Fatal(e)
	}
	t.Log(e)
	onThread(func() {
		for _, cpu := range e.Set.List() {
			if err := SetThreadAffinity(CPUs(cpu)); err != nil {
				t.Error(err)
				return
			}
			got, err := ThreadAffinity()
			if err != nil || got != CPUs(cpu) {
				t.Errorf("pinned to %d, mask %v, %v", cpu, got, err)
			}
			if now, err := CurrentCPU(); err != nil || now != cpu {
				t.Errorf("pinned to %d, running on %d, %v", cpu, now, err)
			}
		}
		if EffectiveCPUs(Root()).Set != e.Set {
			t.Error("pinning a thread changed what the process may use")
		}
		if err := SetThreadAffinity(CPUs(MaxCPUs - 1)); !errors.Is(err, unix.EINVAL) || !strings.Contains(err.Error(), "1023") {
			t.Errorf("pin to CPU 1023: %v", err)
		}
	})
}

func TestThreadNice(t *testing.T) {
	onThread(func() {
		if err := SetThreadNice(5); err != nil {
			t.Error(err)
		}
		if n, err := ThreadNice(); n != 5 || err != nil {
			t.Errorf("nice %d, %v; want 5", n, err)
		}
	})
	onThread(func() {
		if n, err := ThreadNice(); n == 5 || err != nil {
			t.Errorf("another thread has nice %d, %v", n, err)
		}
	})
}

func TestDescriptorsAndMappings(t *testing.T) {
	before, err := Descriptors(Root())
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(t.TempDir(), "leak")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(8192); err != nil {
		t.Fatal(err)
	}
	after, _ := Descriptors(Root())
	if len(after) < len(before)+1 {
		t.Errorf("%d descriptors, then one opened, then %d", len(before), len(after))
	}
	found := false
	for _, d := range after {
		found = found || d.FD == int(f.Fd()) && d.Target == f.Name()
	}
	if !found {
		t.Errorf("%s is not among %v", f.Name(), after)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, 8192, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(b)
	ms, err := Mappings(Root())
	if err != nil {
		t.Fatal(err)
	}
	found = false
	for _, m := range ms {
		if m.Name == f.Name() {
			found = true
			if m.Start != uint64(uintptr(unsafe.Pointer(&b[0]))) || m.End-m.Start != 8192 || m.Perm != "r--s" {
				t.Errorf("%+v", m)
			}
		}
	}
	if !found {
		t.Error("the mapping is not listed")
	}
}

func TestRealMachineIsReadable(t *testing.T) {
	if r := MemoryRoom(Root()); r.File == "" || r.Bytes == 0 {
		t.Errorf("%+v", r)
	}
	if top, err := ReadTopology(Root()); err != nil || len(top.CPUs) == 0 {
		t.Errorf("%+v, %v", top, err)
	}
	t.Logf("%+v", ReadHugePages(Root()))
}
