// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"fmt"

	"github.com/odp-go/godp/internal/sys"
)

// Pin confines the calling thread to one CPU and checks that it is. The caller has
// locked its goroutine to the thread (runtime.LockOSThread), and ends by Goexit
// without unlocking, so that nobody inherits the mask.
//
// The CPU must be among those that the process was given: the affinity mask it was
// started with, within the control group's CPU set. Where threads can't be pinned
// (macOS, the portable build) the error wraps ErrNotSupported: run unpinned and say so.
func Pin(cpu int) error {
	e := sys.EffectiveCPUs(sys.Root())
	if !e.Set.Has(cpu) {
		return fmt.Errorf("worker: pin to CPU %d: not among the CPUs of this process (%v): choose one of %v, or widen it (taskset, cpuset, container CPU set)", cpu, e, e.Set)
	}
	want := sys.CPUs(cpu)
	if err := sys.SetThreadAffinity(want); err != nil {
		return fmt.Errorf("worker: pin to CPU %d: %w", cpu, err)
	}
	got, err := sys.ThreadAffinity()
	if err != nil {
		return fmt.Errorf("worker: pin to CPU %d: check: %w", cpu, err)
	}
	if got != want {
		return fmt.Errorf("worker: pin to CPU %d: the system left the thread on CPUs %v: somebody else changes the affinity of this process", cpu, got)
	}
	return nil
}

// ErrNotSupported is wrapped by errors about what this system can't do.
var ErrNotSupported = sys.ErrNotSupported

// Pin pins the calling thread (see the function Pin) and records it: CPU returns it
// from then on. Only the owner may call it.
func (w *Worker) Pin(cpu int) error {
	if err := Pin(cpu); err != nil {
		return err
	}
	w.SetCPU(cpu)
	return nil
}
