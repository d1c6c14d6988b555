// SPDX-License-Identifier: Apache-2.0

//go:build (linux || freebsd) && !race && !portable

package netmap

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/platform/netmap/abi"
)

// osDevice is the operating system's /dev/netmap. Descriptors are raw: the Go
// netpoller would sync the rings at times of its own.
type osDevice struct{}

func osKernel() abi.Kernel { return osDevice{} }

func (osDevice) Name() string { return "netmap" }

func (osDevice) Open() (int, syscall.Errno) {
	for {
		fd, err := unix.Open(abi.DevicePath, unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, toErrno(err)
		}
	}
}

// Close never retries: after EINTR the descriptor is closed already.
func (osDevice) Close(fd int) syscall.Errno {
	if err := unix.Close(fd); err != nil && err != unix.EINTR {
		return toErrno(err)
	}
	return 0
}

// Ioctl is a full system call (not a raw one): with the interface down it can sleep.
func (osDevice) Ioctl(fd int, req uintptr, arg unsafe.Pointer) syscall.Errno {
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), req, uintptr(arg))
		if errno != unix.EINTR {
			return errno
		}
	}
}

func (osDevice) Map(fd int, size uint64) (abi.Mapping, syscall.Errno) {
	r, err := arena.MapFD("netmap", fd, size)
	if err != nil {
		return nil, syscall.ENOMEM
	}
	return mapping{r, size}, 0
}

type mapping struct {
	r    *arena.Range
	size uint64
}

func (m mapping) Off() uint64  { return m.r.Off }
func (m mapping) Size() uint64 { return m.size }
func (m mapping) Unmap() error { return m.r.Close() }

func (osDevice) Poll(fd int, events int16, d time.Duration) (int16, syscall.Errno) {
	p := []unix.PollFd{{Fd: int32(fd), Events: events}}
	end := time.Now().Add(d)
	for {
		left := time.Until(end)
		_, err := unix.Poll(p, int(max(0, left+time.Millisecond-1)/time.Millisecond))
		if err != unix.EINTR {
			return p[0].Revents, toErrno(err)
		}
	}
}

func (osDevice) Descriptor(fd int) int { return fd }

func (osDevice) OnReady(int, func()) (time.Duration, bool) { return 0, false }

func toErrno(err error) syscall.Errno {
	if e, ok := err.(syscall.Errno); ok {
		return e
	}
	if err != nil {
		return syscall.EIO
	}
	return 0
}
