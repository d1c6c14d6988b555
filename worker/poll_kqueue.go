// SPDX-License-Identifier: Apache-2.0

//go:build (freebsd || darwin) && !portable

package worker

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// poller is one raw kqueue; EVFILT_USER is the trigger. A closed descriptor
// leaves a kqueue by itself.
type poller struct {
	kq int
	ev [32]unix.Kevent_t
}

func (p *poller) open() error {
	kq, err := unix.Kqueue()
	if err != nil {
		return describe("kqueue", err)
	}
	unix.CloseOnExec(kq)
	ev := [1]unix.Kevent_t{{Filter: unix.EVFILT_USER, Flags: unix.EV_ADD | unix.EV_CLEAR}}
	if _, err := unix.Kevent(kq, ev[:], nil, nil); err != nil {
		unix.Close(kq)
		return describe("kevent", err)
	}
	p.kq = kq
	return nil
}

func describe(call string, err error) error {
	e := fmt.Errorf("worker: a place to sleep: %w", os.NewSyscallError(call, err))
	switch err {
	case unix.EMFILE:
		return fmt.Errorf("%w: every worker needs a descriptor: raise the limit (ulimit -n)", e)
	case unix.ENFILE:
		return fmt.Errorf("%w: raise the system's limit (sysctl kern.maxfiles)", e)
	}
	return e
}

func (p *poller) close()      { unix.Close(p.kq) }
func (p *poller) generation() {}

// watch enters fd, or renews its entry.
func (p *poller) watch(fd int) error {
	if err := p.change(fd, unix.EV_ADD); err != nil {
		return fmt.Errorf("worker: descriptor %d can't be slept on, it is looked at once a millisecond: %w", fd, err)
	}
	return nil
}

// unwatch removes fd; one that was closed is gone already.
func (p *poller) unwatch(fd int) { _ = p.change(fd, unix.EV_DELETE) }

func (p *poller) change(fd, flags int) error {
	var ev [1]unix.Kevent_t
	unix.SetKevent(&ev[0], fd, unix.EVFILT_READ, flags)
	for {
		_, err := unix.Kevent(p.kq, ev[:], nil, nil)
		if err != unix.EINTR {
			return err
		}
	}
}

func (p *poller) trigger() {
	ev := [1]unix.Kevent_t{{Filter: unix.EVFILT_USER, Fflags: unix.NOTE_TRIGGER}}
	for {
		if _, err := unix.Kevent(p.kq, ev[:], nil, nil); err != unix.EINTR {
			return
		}
	}
}

// sleep waits for the trigger or a watched descriptor, at most d (d < 0: no limit,
// 0: only looks). It reports whether a watched descriptor is ready; a signal
// ends it early.
func (p *poller) sleep(d time.Duration) (ready bool, err error) {
	var ts *unix.Timespec
	if d >= 0 {
		t := unix.NsecToTimespec(int64(d))
		ts = &t
	}
	n, err := unix.Kevent(p.kq, nil, p.ev[:], ts)
	if err == unix.EINTR {
		return false, nil
	}
	if err != nil {
		return false, describe("kevent", err)
	}
	for i := range p.ev[:n] {
		ready = ready || p.ev[i].Filter != unix.EVFILT_USER
	}
	return ready, nil
}
