// SPDX-License-Identifier: Apache-2.0

package nic

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Numbers of the ethtool calls that x/sys does not name.
const (
	ethDrvInfo  = 0x03
	ethGTSO     = 0x1e
	ethGGSO     = 0x23
	ethFlags    = 0x25
	ethGGRO     = 0x2b
	ethChannels = 0x3c
	flagLRO     = 1 << 15
)

// SetMTU changes the MTU (without the Ethernet header).
func (h *Handle) SetMTU(mtu int) error {
	l, err := h.Link()
	if err != nil {
		return err
	}
	var r struct {
		name [unix.IFNAMSIZ]byte
		mtu  int32
		_    [20]byte
	}
	copy(r.name[:unix.IFNAMSIZ-1], l.Name)
	r.mtu = int32(mtu)
	return h.ioctl(unix.SIOCSIFMTU, unsafe.Pointer(&r))
}

func (h *Handle) ioctl(req uintptr, arg unsafe.Pointer) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(h.inet), req, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

// Driver returns the name of the kernel's driver, "" = unknown.
func (h *Handle) Driver() string {
	buf := make([]byte, 256)
	if !h.ethtool(ethDrvInfo, buf) {
		return ""
	}
	return text(buf[4:36])
}

// Channels returns how many receive and send queues the interface has now and at
// most; 0 = unknown.
func (h *Handle) Channels() (rx, tx, maxRx, maxTx int) {
	buf := make([]byte, 36)
	if !h.ethtool(ethChannels, buf) {
		return
	}
	v := func(i int) int { return int(binary.NativeEndian.Uint32(buf[4*i:])) }
	return v(5) + v(8), v(6) + v(8), max(v(1), v(4)), max(v(2), v(4))
}

// Merging returns the offloads that are on and make several frames of the wire into
// one, in ethtool's words, and the command that turns them off.
func (h *Handle) Merging() (on []string, cure string) {
	buf := make([]byte, 8)
	for _, o := range []struct {
		cmd  uint32
		bit  uint32
		name string
	}{{ethGGRO, ^uint32(0), "gro"}, {ethFlags, flagLRO, "lro"}, {ethGTSO, ^uint32(0), "tso"}, {ethGGSO, ^uint32(0), "gso"}} {
		clear(buf)
		if h.ethtool(o.cmd, buf) && binary.NativeEndian.Uint32(buf[4:])&o.bit != 0 {
			on = append(on, o.name)
		}
	}
	if len(on) > 0 {
		if l, err := h.Link(); err == nil {
			cure = fmt.Sprintf("ethtool -K %s %s off", l.Name, strings.Join(on, " off "))
		}
	}
	return on, cure
}

// ethtool makes one call whose argument is buf, a heap object. The name is asked
// for each time: it may change.
func (h *Handle) ethtool(cmd uint32, buf []byte) bool {
	l, err := h.Link()
	if err != nil {
		return false
	}
	binary.NativeEndian.PutUint32(buf, cmd)
	r := struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}{data: unsafe.Pointer(unsafe.SliceData(buf))}
	copy(r.name[:unix.IFNAMSIZ-1], l.Name)
	var pin runtime.Pinner
	pin.Pin(r.data)
	defer pin.Unpin()
	return h.ioctl(unix.SIOCETHTOOL, unsafe.Pointer(&r)) == nil
}

// SetUp brings the interface up.
func (h *Handle) SetUp() error {
	l, err := h.Link()
	if err != nil {
		return err
	}
	var r struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(r.name[:unix.IFNAMSIZ-1], l.Name)
	if err := h.ioctl(unix.SIOCGIFFLAGS, unsafe.Pointer(&r)); err != nil {
		return err
	}
	r.flags |= unix.IFF_UP
	return h.ioctl(unix.SIOCSIFFLAGS, unsafe.Pointer(&r))
}

// OpenPromisc makes the socket that SetPromisc needs: it must be of the interface's
// namespace.
func (h *Handle) OpenPromisc() error {
	return h.gate.Do("socket(AF_PACKET)", func() (err error) {
		h.packet, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		return err
	})
}

// SetPromisc asks for promiscuous mode, or takes it back. The wish is kept by a socket:
// the kernel takes it back when the process ends, however it ends.
func (h *Handle) SetPromisc(on bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.packet < 0 {
		return unix.EBADF
	}
	if on == h.promisc {
		return nil
	}
	opt, name := unix.PACKET_DROP_MEMBERSHIP, "setsockopt(PACKET_DROP_MEMBERSHIP)"
	if on {
		opt, name = unix.PACKET_ADD_MEMBERSHIP, "setsockopt(PACKET_ADD_MEMBERSHIP)"
	}
	err := h.gate.Do(name, func() error {
		return unix.SetsockoptPacketMreq(h.packet, unix.SOL_PACKET, opt, &unix.PacketMreq{Ifindex: int32(h.Index), Type: unix.PACKET_MR_PROMISC})
	})
	if err == nil {
		h.promisc = on
	}
	return err
}
