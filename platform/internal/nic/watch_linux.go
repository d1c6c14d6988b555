// SPDX-License-Identifier: Apache-2.0

package nic

import (
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"
)

// State is what may change under a driver.
type State struct {
	Up      bool // administratively up
	Running bool // carrier
	Gone    bool // removed, or moved to another namespace
	MTU     int
}

// tell calls f with the state of now, unless it can't be known.
func (h *Handle) tell(f func(State)) {
	switch l, err := h.Link(); err {
	case nil:
		f(State{Up: l.Up, Running: l.Running, MTU: l.MTU})
	case syscall.ENODEV:
		f(State{Gone: true})
	}
}

// Watch calls f once with the state of now, and then whenever it changes, from a
// goroutine of its own. f is not called any more once stop has returned. Should
// messages be lost, the state is asked for again.
func (h *Handle) Watch(f func(State)) (stop func(), err error) {
	sock, quit := -1, -1
	defer func() {
		if err != nil {
			for _, fd := range []int{sock, quit} {
				if fd >= 0 {
					unix.Close(fd)
				}
			}
		}
	}()
	if err := h.gate.Do("socket(link messages)", func() (err error) {
		sock, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
		return err
	}); err != nil {
		return nil, err
	}
	if err := h.gate.Do("bind(link messages)", func() error {
		return unix.Bind(sock, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: unix.RTMGRP_LINK})
	}); err != nil {
		return nil, err
	}
	if err := h.gate.Do("eventfd", func() (err error) {
		quit, err = unix.Eventfd(0, unix.EFD_CLOEXEC)
		return err
	}); err != nil {
		return nil, err
	}
	h.tell(f)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.follow(sock, quit, f)
	}()
	return func() {
		one := make([]byte, 8)
		binary.NativeEndian.PutUint64(one, 1)
		unix.Write(quit, one)
		<-done
		unix.Close(sock)
		unix.Close(quit)
	}, nil
}

// follow reads link messages until quit is readable.
func (h *Handle) follow(sock, quit int, f func(State)) {
	buf := make([]byte, 64<<10)
	p := []unix.PollFd{{Fd: int32(sock), Events: unix.POLLIN}, {Fd: int32(quit), Events: unix.POLLIN}}
	for {
		if _, err := unix.Poll(p, -1); err != nil && err != unix.EINTR {
			return
		}
		if p[1].Revents != 0 {
			return
		}
		n, _, err := unix.Recvfrom(sock, buf, 0)
		if err == unix.EAGAIN || err == unix.EINTR {
			continue
		}
		var msgs []syscall.NetlinkMessage
		if err == nil {
			msgs, err = syscall.ParseNetlinkMessage(buf[:n])
		}
		if err != nil { // ENOBUFS: messages were lost
			h.tell(f)
			continue
		}
		for _, m := range msgs {
			l := parseLink(m)
			if l.Index != h.Index {
				continue
			}
			switch m.Header.Type {
			case unix.RTM_NEWLINK:
				f(State{Up: l.Up, Running: l.Running, MTU: l.MTU})
			case unix.RTM_DELLINK:
				// a bridge that lets an interface go says the same: only rtnetlink knows
				h.tell(f)
			}
		}
	}
}
