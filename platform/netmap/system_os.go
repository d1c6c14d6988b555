// SPDX-License-Identifier: Apache-2.0

//go:build (linux || freebsd) && !race && !portable

package netmap

import (
	"bytes"
	"fmt"
	"net"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// osInterfaces asks the operating system about interfaces, in the network namespace
// of the calling thread. It answers abi.System.
type osInterfaces struct{}

func osSystem() abi.System { return osInterfaces{} }

// Interface implements abi.System.
func (osInterfaces) Interface(name string) (abi.IfInfo, error) {
	var i abi.IfInfo
	n, err := net.InterfaceByName(name)
	if err != nil {
		return i, err
	}
	i.Up, i.Running = n.Flags&net.FlagUp != 0, n.Flags&net.FlagRunning != 0
	i.Loopback, i.MTU = n.Flags&net.FlagLoopback != 0, n.MTU
	copy(i.MAC[:], n.HardwareAddr)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return i, nil // what is missing is a comfort
	}
	defer unix.Close(fd)
	details(fd, name, &i)
	return i, nil
}

// SetMTU implements abi.System.
func (osInterfaces) SetMTU(name string, mtu int) error {
	return change(name, func(fd int) error {
		r := newIfreq(name)
		*(*int32)(r.union()) = int32(mtu)
		return r.call(fd, unix.SIOCSIFMTU)
	})
}

// SetPromisc implements abi.System.
func (osInterfaces) SetPromisc(name string, on bool) error {
	return change(name, func(fd int) error {
		r := newIfreq(name)
		if err := r.call(fd, unix.SIOCGIFFLAGS); err != nil {
			return err
		}
		r.setPromisc(on)
		return r.call(fd, unix.SIOCSIFFLAGS)
	})
}

// SetMAC implements abi.System.
func (osInterfaces) SetMAC(name string, mac [6]byte) error {
	return change(name, func(fd int) error {
		r := newIfreq(name)
		r.setMAC(mac)
		return r.call(fd, siocSetMAC)
	})
}

func change(name string, f func(fd int) error) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := f(fd); err != nil {
		if err == unix.EPERM || err == unix.EACCES {
			return fmt.Errorf("%s: %w; run as root, or with CAP_NET_ADMIN", name, err)
		}
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// ifreq is the argument of interface ioctls: a name, and a union.
type ifreq struct {
	name [unix.IFNAMSIZ]byte
	data [24]byte
}

func newIfreq(name string) *ifreq {
	r := &ifreq{}
	copy(r.name[:unix.IFNAMSIZ-1], name)
	return r
}

func (r *ifreq) union() unsafe.Pointer { return unsafe.Pointer(&r.data) }

func (r *ifreq) call(fd int, req uint) error { return ioctlPinned(fd, req, unsafe.Pointer(r)) }

// ioctlPinned makes an interface ioctl; p is a heap object.
func ioctlPinned(fd int, req uint, p unsafe.Pointer) error {
	var pin runtime.Pinner
	pin.Pin(p)
	defer pin.Unpin()
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(req), uintptr(p)); errno != 0 {
		return syscall.Errno(errno)
	}
	return nil
}

func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
