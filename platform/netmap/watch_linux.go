// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race && !portable

package netmap

import (
	"encoding/binary"
	"net"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// Watch implements abi.System: it reads the link messages of rtnetlink. Should
// messages be lost, the state is asked for again.
func (s osInterfaces) Watch(name string, f func(abi.IfState)) (stop func(), err error) {
	n, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	sock, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, err
	}
	if err := unix.Bind(sock, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: unix.RTMGRP_LINK}); err != nil {
		unix.Close(sock)
		return nil, err
	}
	quit, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		unix.Close(sock)
		return nil, err
	}
	i, err := s.Interface(name)
	f(stateOf(i, err))
	done := make(chan struct{})
	go func() {
		defer close(done)
		follow(sock, quit, n.Index, f, func() { i, err := s.Interface(name); f(stateOf(i, err)) })
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

func stateOf(i abi.IfInfo, err error) abi.IfState {
	if err != nil {
		return abi.IfState{Gone: true}
	}
	return i.IfState
}

// follow reads messages until quit is readable.
func follow(sock, quit, index int, f func(abi.IfState), again func()) {
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
		switch err {
		case nil:
		case unix.EAGAIN, unix.EINTR:
			continue
		default: // ENOBUFS: messages were lost
			again()
			continue
		}
		msgs, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			again()
			continue
		}
		for _, m := range msgs {
			if len(m.Data) < unix.SizeofIfInfomsg || int(int32(binary.NativeEndian.Uint32(m.Data[4:]))) != index {
				continue
			}
			flags := binary.NativeEndian.Uint32(m.Data[8:])
			switch m.Header.Type {
			case unix.RTM_NEWLINK:
				f(abi.IfState{Up: flags&unix.IFF_UP != 0, Running: flags&unix.IFF_LOWER_UP != 0})
			case unix.RTM_DELLINK:
				f(abi.IfState{Gone: true})
			}
		}
	}
}
