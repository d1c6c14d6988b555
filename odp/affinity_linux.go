// SPDX-License-Identifier: Apache-2.0

//go:build !portable

package odp

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// threadCPUs returns the affinity mask of the calling thread. The Go runtime
// starts new threads from one that was never pinned, so off the workers it is the
// process's mask.
func threadCPUs() (CPUMask, error) {
	var m Mask
	_, _, e := unix.RawSyscall(unix.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(m.w), uintptr(unsafe.Pointer(&m.w)))
	if e != 0 {
		return Mask{}, fmt.Errorf("sched_getaffinity: %w", e)
	}
	return m, nil
}

// pinThread moves the calling thread to one CPU, and checks that it stuck.
func pinThread(cpu int) error {
	want := MaskOf(cpu)
	_, _, e := unix.RawSyscall(unix.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(want.w), uintptr(unsafe.Pointer(&want.w)))
	if e != 0 {
		return fmt.Errorf("sched_setaffinity to CPU %d: %w", cpu, e)
	}
	if got, err := threadCPUs(); err != nil || got != want {
		return fmt.Errorf("sched_setaffinity to CPU %d was accepted, but the thread's mask is %s (%v)", cpu, got.List(), err)
	}
	return nil
}

// niceThread sets the nice value of the calling thread.
func niceThread(n int) error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, n); err != nil {
		return fmt.Errorf("setpriority %d: %w (negative values need CAP_SYS_NICE or ulimit -e)", n, err)
	}
	return nil
}
