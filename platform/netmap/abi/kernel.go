// SPDX-License-Identifier: Apache-2.0

// Package abi holds netmap's user/kernel interface: the structures, the
// numbers, the names of ports, and Kernel, behind which stands the kernel's
// /dev/netmap or the in-process netmap (nmsim).
package abi

import (
	"syscall"
	"time"
	"unsafe"
)

// Kernel is the system calls that a netmap client makes. fd is what Open
// returned. Errors are errno values, as the system calls give them.
type Kernel interface {
	// Name is "netmap" or "nmsim".
	Name() string
	// Numbers are the ioctl numbers of the personality (linux or freebsd).
	Numbers() Numbers
	Open() (fd int, err syscall.Errno)
	Close(fd int) syscall.Errno
	// Ioctl makes one control or sync call. arg is off the Go heap or pinned.
	Ioctl(fd int, req uintptr, arg unsafe.Pointer) syscall.Errno
	// Map maps size bytes of the region that fd is bound to into the arena.
	Map(fd int, size uint64) (Mapping, syscall.Errno)
	// Poll waits for events (POLLIN 1, POLLOUT 4) for at most d (0 = only look).
	Poll(fd int, events int16, d time.Duration) (revents int16, err syscall.Errno)
	// Descriptor returns the operating system's descriptor for an idle worker to
	// watch, -1 if there is none (then OnReady must be used).
	Descriptor(fd int) int
	// OnReady arranges one call of wake when an rxsync of fd would find a frame
	// (nil cancels). due > 0: the time until a paced source has its next frame.
	// ready: there is one now, wake will not be called.
	OnReady(fd int, wake func()) (due time.Duration, ready bool)
}

// Mapping is a mapped region in the arena.
type Mapping interface {
	Off() uint64 // arena offset of the region's first byte
	Size() uint64
	Unmap() error
}

// Numbers are the ioctl request numbers.
type Numbers struct {
	Ctrl, TxSync, RxSync uintptr
}
