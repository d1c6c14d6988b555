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

// ThreadAffinity returns the mask of the calling thread; the caller has locked it.
func ThreadAffinity() (CPUSet, error) {
	var mask [8192 / 64]uintptrWord
	n, _, errno := syscall.RawSyscall(unix.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
	if errno != 0 {
		return CPUSet{}, os.NewSyscallError("sched_getaffinity", errno)
	}
	var s CPUSet
	for cpu := 0; cpu < MaxCPUs && cpu < int(n)*8; cpu++ {
		if mask[cpu/wordBits]&(1<<(cpu%wordBits)) != 0 {
			s.Add(cpu)
		}
	}
	return s, nil
}

// SetThreadAffinity confines the calling thread; the caller has locked it.
func SetThreadAffinity(s CPUSet) error {
	var mask [MaxCPUs / 32]uintptrWord
	for _, cpu := range s.List() {
		mask[cpu/wordBits] |= 1 << (cpu % wordBits)
	}
	_, _, errno := syscall.RawSyscall(unix.SYS_SCHED_SETAFFINITY, 0, MaxCPUs/8, uintptr(unsafe.Pointer(&mask)))
	if errno != 0 {
		return fmt.Errorf("pin thread to CPUs %v: %w", s, os.NewSyscallError("sched_setaffinity", errno))
	}
	return nil
}

// The kernel's masks are arrays of unsigned long.
type uintptrWord uintptr

const wordBits = 8 * int(unsafe.Sizeof(uintptrWord(0)))

// CurrentCPU returns the CPU that the calling thread runs on.
func CurrentCPU() (int, error) {
	var cpu uint32
	_, _, errno := syscall.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0)
	if errno != 0 {
		return -1, os.NewSyscallError("getcpu", errno)
	}
	return int(cpu), nil
}

// SetThreadNice sets the nice value of the calling thread (-20 gets most time, 19
// least); the caller has locked it.
func SetThreadNice(n int) error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, n); err != nil {
		e := fmt.Errorf("nice value %d for a thread: %w", n, os.NewSyscallError("setpriority", err))
		if err == unix.EACCES || err == unix.EPERM {
			e = fmt.Errorf("%w: needs CAP_SYS_NICE or a raised limit (ulimit -e %d)", e, 20-n)
		}
		return e
	}
	return nil
}

// ThreadNice returns the nice value of the calling thread.
func ThreadNice() (int, error) {
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return 0, os.NewSyscallError("getpriority", err)
	}
	return 20 - n, nil // the system call answers 1 to 40
}
