// SPDX-License-Identifier: Apache-2.0

//go:build !portable

package odp

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cpuset(2): level WHICH of the thread, id -1 = the calling one.
const (
	cpuLevelWhich = 3
	cpuWhichTID   = 1
	cpusetBytes   = 128
)

func threadCPUs() (CPUMask, error) {
	var m Mask
	_, _, e := unix.Syscall6(unix.SYS_CPUSET_GETAFFINITY, cpuLevelWhich, cpuWhichTID, ^uintptr(0),
		cpusetBytes, uintptr(unsafe.Pointer(&m.w)), 0)
	if e != 0 {
		return Mask{}, fmt.Errorf("cpuset_getaffinity: %w", e)
	}
	return m, nil
}

func pinThread(cpu int) error {
	want := MaskOf(cpu)
	_, _, e := unix.Syscall6(unix.SYS_CPUSET_SETAFFINITY, cpuLevelWhich, cpuWhichTID, ^uintptr(0),
		cpusetBytes, uintptr(unsafe.Pointer(&want.w)), 0)
	if e != 0 {
		return fmt.Errorf("cpuset_setaffinity to CPU %d: %w", cpu, e)
	}
	return nil
}

// niceThread: FreeBSD's nice value is the process's, which is not ours to change.
func niceThread(int) error { return errUnsupported }
