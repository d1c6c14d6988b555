// SPDX-License-Identifier: Apache-2.0

//go:build portable || (!linux && !freebsd)

package sys

import "fmt"

// startAffinity is unknown here.
var startAffinity CPUSet

// ThreadAffinity returns the mask of the calling thread.
func ThreadAffinity() (CPUSet, error) {
	return CPUSet{}, fmt.Errorf("thread affinity: %w", ErrNotSupported)
}

// SetThreadAffinity confines the calling thread.
func SetThreadAffinity(CPUSet) error { return fmt.Errorf("pin a thread: %w", ErrNotSupported) }

// CurrentCPU returns the CPU that the calling thread runs on.
func CurrentCPU() (int, error) { return -1, fmt.Errorf("current CPU: %w", ErrNotSupported) }

// SetThreadNice sets the nice value of the calling thread.
func SetThreadNice(int) error { return fmt.Errorf("nice value of a thread: %w", ErrNotSupported) }

// ThreadNice returns the nice value of the calling thread.
func ThreadNice() (int, error) { return 0, fmt.Errorf("nice value of a thread: %w", ErrNotSupported) }
