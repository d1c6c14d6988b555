// SPDX-License-Identifier: Apache-2.0

//go:build !(linux || freebsd) || race || portable

package netmap

import (
	"syscall"
	"time"
	"unsafe"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// noDevice answers for systems and builds without the kernel's netmap.
type noDevice struct{}

func osKernel() abi.Kernel { return noDevice{} }

func osSystem() abi.System { return nil }

func (noDevice) Name() string                                          { return "netmap" }
func (noDevice) Numbers() abi.Numbers                                  { return abi.LinuxNumbers }
func (noDevice) Open() (int, syscall.Errno)                            { return -1, syscall.ENOTSUP }
func (noDevice) Close(int) syscall.Errno                               { return syscall.EBADF }
func (noDevice) Ioctl(int, uintptr, unsafe.Pointer) syscall.Errno      { return syscall.EBADF }
func (noDevice) Map(int, uint64) (abi.Mapping, syscall.Errno)          { return nil, syscall.EBADF }
func (noDevice) Poll(int, int16, time.Duration) (int16, syscall.Errno) { return 0, syscall.EBADF }
func (noDevice) Descriptor(int) int                                    { return -1 }
func (noDevice) OnReady(int, func()) (due time.Duration, ready bool)   { return 0, false }
