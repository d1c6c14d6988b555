// SPDX-License-Identifier: Apache-2.0

//go:build !portable

package sys

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// startAffinity is the mask that the process was started with: it is read before
// any thread is pinned.
var startAffinity, _ = ThreadAffinity()

const (
	levelWhich = 3 // CPU_LEVEL_WHICH: the mask of the object itself
	whichTID   = 1 // CPU_WHICH_TID: a thread; -1 is the calling one
)

// FreeBSD's cpuset_t is an array of long, little-endian on all that Go runs on.
type cpusetT [MaxCPUs / 64]uint64

func cpusetCall(nr uintptr, mask *cpusetT) syscall.Errno {
	var errno syscall.Errno
	id := int64(-1)
	if unsafe.Sizeof(uintptr(0)) == 4 { // id_t is 64 bits: two words
		_, _, errno = syscall.Syscall6(nr, levelWhich, whichTID, uintptr(id&0xffffffff), uintptr(id>>32&0xffffffff), unsafe.Sizeof(*mask), uintptr(unsafe.Pointer(mask)))
	} else {
		_, _, errno = syscall.Syscall6(nr, levelWhich, whichTID, uintptr(id), unsafe.Sizeof(*mask), uintptr(unsafe.Pointer(mask)), 0)
	}
	return errno
}

// ThreadAffinity returns the mask of the calling thread; the caller has locked it.
func ThreadAffinity() (CPUSet, error) {
	var mask cpusetT
	if errno := cpusetCall(unix.SYS_CPUSET_GETAFFINITY, &mask); errno != 0 {
		return CPUSet{}, os.NewSyscallError("cpuset_getaffinity", errno)
	}
	return CPUSet{bits: mask}, nil
}

// SetThreadAffinity confines the calling thread; the caller has locked it.
func SetThreadAffinity(s CPUSet) error {
	mask := cpusetT(s.bits)
	if errno := cpusetCall(unix.SYS_CPUSET_SETAFFINITY, &mask); errno != 0 {
		return fmt.Errorf("pin thread to CPUs %v: %w (jails limit it: cpuset -g)", s, os.NewSyscallError("cpuset_setaffinity", errno))
	}
	return nil
}

// CurrentCPU returns the CPU that the calling thread runs on.
func CurrentCPU() (int, error) { return -1, fmt.Errorf("current CPU: %w", ErrNotSupported) }

// SetThreadNice sets the nice value of the calling thread; FreeBSD has nice values
// of processes only.
func SetThreadNice(n int) error { return fmt.Errorf("nice value of a thread: %w", ErrNotSupported) }

// ThreadNice returns the nice value of the calling thread.
func ThreadNice() (int, error) { return 0, fmt.Errorf("nice value of a thread: %w", ErrNotSupported) }
