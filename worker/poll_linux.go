// SPDX-License-Identifier: Apache-2.0

//go:build linux && !portable

package worker

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poller is one epoll and one eventfd, both raw: a locked worker that sleeps in
// the Go netpoller or on a channel wakes 5 to 100 times later, since it needs two
// thread hand-offs.
//
// The eventfd is watched edge-triggered and never read: each write is one event,
// so a park costs one system call and a wake one.
type poller struct {
	ep, efd int
	gen     int32 // marks the entries of the current watch set
	ts      timespec64
	ev      [32]unix.EpollEvent
}

// timespec64 is struct __kernel_timespec, the same on all architectures.
type timespec64 struct{ sec, nsec int64 }

// wakeGen marks the entry of the eventfd itself.
const wakeGen = -1

// noPwait2 is set when the kernel is older than 5.11, or a sandbox refuses epoll_pwait2.
var noPwait2 atomic.Bool

func (p *poller) open() error {
	efd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return describe("eventfd", err)
	}
	p.efd = efd
	if err := p.openEpoll(); err != nil {
		unix.Close(efd)
		return err
	}
	return nil
}

func (p *poller) openEpoll() error {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return describe("epoll_create1", err)
	}
	ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(p.efd), Pad: wakeGen}
	if err := unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, p.efd, &ev); err != nil {
		unix.Close(ep)
		return describe("epoll_ctl", err)
	}
	p.ep = ep
	return nil
}

func describe(call string, err error) error {
	e := fmt.Errorf("worker: a place to sleep: %w", os.NewSyscallError(call, err))
	switch err {
	case unix.EMFILE:
		return fmt.Errorf("%w: every worker needs 2 descriptors: raise the limit (ulimit -n)", e)
	case unix.ENFILE:
		return fmt.Errorf("%w: raise the system's limit (sysctl fs.file-max)", e)
	}
	return e
}

func (p *poller) close() {
	unix.Close(p.ep)
	unix.Close(p.efd)
}

func (p *poller) generation() { p.gen = (p.gen + 1) & 0x7fffffff }

// watch enters fd, or renews its entry.
func (p *poller) watch(fd int) error {
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd), Pad: p.gen}
	err := unix.EpollCtl(p.ep, unix.EPOLL_CTL_MOD, fd, &ev)
	if err == unix.ENOENT {
		err = unix.EpollCtl(p.ep, unix.EPOLL_CTL_ADD, fd, &ev)
	}
	if err != nil {
		return fmt.Errorf("worker: descriptor %d can't be slept on, it is looked at once a millisecond: %w", fd, err)
	}
	return nil
}

// unwatch removes fd; one that was closed is gone already.
func (p *poller) unwatch(fd int) {
	_ = unix.EpollCtl(p.ep, unix.EPOLL_CTL_DEL, fd, nil)
}

var one uint64 = 1

func (p *poller) trigger() {
	// EAGAIN would need 2^64 wakes; nothing else can fail on a descriptor that is ours
	syscall.Syscall(syscall.SYS_WRITE, uintptr(p.efd), uintptr(unsafe.Pointer(&one)), 8)
}

// sleep waits for the trigger or a watched descriptor, at most d (d < 0: no limit,
// 0: only looks). It reports whether a watched descriptor is ready; a signal
// ends it early.
func (p *poller) sleep(d time.Duration) (ready bool, err error) {
	n, errno := p.wait(d)
	if errno == syscall.EINTR {
		return false, nil
	}
	if errno != 0 {
		return false, describe("epoll_wait", errno)
	}
	stray := false
	for i := range p.ev[:n] {
		switch p.ev[i].Pad {
		case wakeGen:
		case p.gen:
			ready = true
		default:
			stray = true
		}
	}
	if stray {
		// an entry that no call can name any more: its descriptor was closed here, but the file lives on in
		// a duplicate. Only a new epoll is rid of it.
		unix.Close(p.ep)
		if err := p.openEpoll(); err != nil {
			return false, err
		}
		return true, errRenew
	}
	return ready, nil
}

func (p *poller) wait(d time.Duration) (int, syscall.Errno) {
	if !noPwait2.Load() {
		var ts unsafe.Pointer
		if d >= 0 {
			p.ts = timespec64{int64(d / time.Second), int64(d % time.Second)}
			ts = unsafe.Pointer(&p.ts)
		}
		n, _, errno := syscall.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.ep), uintptr(unsafe.Pointer(&p.ev)), uintptr(len(p.ev)), uintptr(ts), 0, 0)
		switch errno {
		case 0:
			return int(n), 0
		case syscall.ENOSYS, syscall.EPERM:
			noPwait2.Store(true)
		default:
			return 0, errno
		}
	}
	ms := -1
	if d >= 0 {
		ms = int(min((d+time.Millisecond-1)/time.Millisecond, 1<<30))
	}
	n, _, errno := syscall.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.ep), uintptr(unsafe.Pointer(&p.ev)), uintptr(len(p.ev)), uintptr(ms), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
