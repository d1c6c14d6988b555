// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/odp-go/godp/internal/sys"
)

func TestPin(t *testing.T) {
	e := sys.EffectiveCPUs(sys.Root())
	s := newSet(t, 1)
	within(t, "pin", func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		w, err := s.Join(KindWorker)
		if err != nil {
			t.Error(err)
			return
		}
		defer w.Leave()
		for _, cpu := range e.Set.List() {
			err := w.Pin(cpu)
			if errors.Is(err, ErrNotSupported) {
				if w.CPU() != -1 {
					t.Errorf("not pinned, but CPU() = %d", w.CPU())
				}
				return
			}
			if err != nil || w.CPU() != cpu {
				t.Errorf("CPU %d: %v, CPU() = %d", cpu, err, w.CPU())
			}
		}
		last := w.CPU()
		for _, cpu := range []int{-1, sys.MaxCPUs - 1, sys.MaxCPUs, 1 << 30} {
			err := w.Pin(cpu)
			if err == nil || !strings.Contains(err.Error(), e.Set.String()) {
				t.Errorf("CPU %d: error %v does not name the set %v", cpu, err, e.Set)
			}
		}
		if w.CPU() != last {
			t.Errorf("after failures CPU() = %d, want %d", w.CPU(), last)
		}
	})
}
