// SPDX-License-Identifier: Apache-2.0

//go:build linux && !portable

package worker

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// yield gives the rest of the time slice to another thread of this CPU. It
// never blocks, so the runtime is not told.
func yield() { syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// nap sleeps in the kernel, without the runtime's timers (which cost a locked
// goroutine two thread hand-offs). The runtime may give the P to others meanwhile.
func nap(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	syscall.Syscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}
