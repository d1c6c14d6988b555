// SPDX-License-Identifier: Apache-2.0

//go:build linux && !race && !portable

package netmap

import (
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// Numbers of the ethtool calls that x/sys does not name.
const (
	siocSetMAC = unix.SIOCSIFHWADDR
	ethSetting = 0x01
	ethDrvInfo = 0x03
	ethRings   = 0x10
	ethPause   = 0x12
	ethFlags   = 0x25
	flagLRO    = 1 << 15
	flagRxVLAN = 1 << 8
	flagTxVLAN = 1 << 7
)

// offloadCalls are the ethtool getters of single features.
var offloadCalls = []struct {
	cmd  uint32
	name string
}{{0x14, "rx"}, {0x16, "tx"}, {0x1e, "tso"}, {0x23, "gso"}, {0x2b, "gro"}}

// multiSlotDrivers carry a frame in several slots, with netmap's patched driver.
var multiSlotDrivers = map[string]bool{"e1000": true, "e1000e": true, "igb": true, "igc": true, "i40e": true, "ice": true, "ixgbe": true}

func (r *ifreq) setPromisc(on bool) {
	f := (*uint16)(r.union())
	*f &^= unix.IFF_PROMISC
	if on {
		*f |= unix.IFF_PROMISC
	}
}

// setMAC writes a sockaddr of an Ethernet address.
func (r *ifreq) setMAC(mac [6]byte) {
	*(*uint16)(r.union()) = unix.ARPHRD_ETHER
	copy((*[8]byte)(r.union())[2:], mac[:])
}

// settings reads the answer of ethSetting:
//
//	12 speed, low half | 14 duplex | 15 connector | 18 autoneg | 28 speed, high half
func settings(b []byte, i *abi.IfInfo) {
	speed := uint32(binary.NativeEndian.Uint16(b[12:])) | uint32(binary.NativeEndian.Uint16(b[28:]))<<16
	if speed != 0xffff && speed != 0xffffffff && speed < 1<<24 {
		i.Speed = int(speed)
	}
	if b[14] < 2 {
		i.Duplex = b[14] + 1
	}
	i.Media = map[byte]string{0: "copper", 1: "copper", 2: "copper", 3: "fibre", 4: "copper", 5: "copper"}[b[15]]
	if b[18] < 2 {
		i.Autoneg = b[18] + 1
	}
}

// details fills in what needs ioctls. What the system does not tell stays zero.
func details(fd int, name string, i *abi.IfInfo) {
	r := newIfreq(name)
	if r.call(fd, unix.SIOCGIFFLAGS) == nil {
		i.Promisc = *(*uint16)(r.union())&unix.IFF_PROMISC != 0
	}
	if up, ok := carrier(name); ok {
		i.Running = i.Up && up
	}
	buf := make([]byte, 256)
	if ethtool(fd, name, ethDrvInfo, buf) {
		i.Driver = text(buf[4:36])
	}
	clear(buf)
	if ethtool(fd, name, ethSetting, buf) {
		settings(buf, i)
	}
	clear(buf)
	if ethtool(fd, name, ethPause, buf) { // 4 autoneg | 8 receive | 12 send
		i.PauseRx, i.PauseTx = 1+uint8(min(binary.NativeEndian.Uint32(buf[8:]), 1)), 1+uint8(min(binary.NativeEndian.Uint32(buf[12:]), 1))
	}
	clear(buf)
	if ethtool(fd, name, ethRings, buf) {
		i.RxSlots = int(binary.NativeEndian.Uint32(buf[20:]))
		i.TxSlots = int(binary.NativeEndian.Uint32(buf[32:]))
	}
	for _, o := range offloadCalls {
		if v, ok := ethValue(fd, name, o.cmd); ok && v != 0 {
			i.Offloads = append(i.Offloads, o.name)
		}
	}
	if v, ok := ethValue(fd, name, ethFlags); ok {
		for _, f := range []struct {
			bit  uint32
			name string
		}{{flagLRO, "lro"}, {flagRxVLAN, "rxvlan"}, {flagTxVLAN, "txvlan"}} {
			if v&f.bit != 0 {
				i.Offloads = append(i.Offloads, f.name)
			}
		}
	}
	if len(i.Offloads) > 0 {
		i.Cure = "ethtool -K " + name + " " + strings.Join(i.Offloads, " off ") + " off"
	}
	if m, err := os.Readlink("/sys/class/net/" + name + "/master"); err == nil {
		i.Master = filepath.Base(m)
	}
	if _, err := os.Stat("/sys/module/netmap/holders/" + i.Driver); i.Driver != "" && err == nil {
		mode, _ := os.ReadFile("/sys/module/netmap/parameters/admode")
		i.Native = strings.TrimSpace(string(mode)) != "2"
		i.MultiSlot = i.Native && multiSlotDrivers[i.Driver]
	}
}

// carrier asks rtnetlink for IFF_LOWER_UP, the carrier of now: IFF_RUNNING follows up to
// a second later, and what ethtool tells is the cable, which a card that was just reset
// may have before it sends.
func carrier(name string) (up, ok bool) {
	n, err := net.InterfaceByName(name)
	if err != nil {
		return false, false
	}
	rib, err := syscall.NetlinkRIB(unix.RTM_GETLINK, unix.AF_UNSPEC)
	if err != nil {
		return false, false
	}
	msgs, err := syscall.ParseNetlinkMessage(rib)
	if err != nil {
		return false, false
	}
	for _, m := range msgs {
		if m.Header.Type == unix.RTM_NEWLINK && len(m.Data) >= unix.SizeofIfInfomsg && int(int32(binary.NativeEndian.Uint32(m.Data[4:]))) == n.Index {
			return binary.NativeEndian.Uint32(m.Data[8:])&unix.IFF_LOWER_UP != 0, true
		}
	}
	return false, false
}

func ethValue(fd int, name string, cmd uint32) (uint32, bool) {
	buf := make([]byte, 8)
	ok := ethtool(fd, name, cmd, buf)
	return binary.NativeEndian.Uint32(buf[4:]), ok
}

// ethtool makes one ethtool call whose argument is buf, a heap object.
func ethtool(fd int, name string, cmd uint32, buf []byte) bool {
	binary.NativeEndian.PutUint32(buf, cmd)
	r := struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}{data: unsafe.Pointer(unsafe.SliceData(buf))}
	copy(r.name[:unix.IFNAMSIZ-1], name)
	var pin runtime.Pinner
	pin.Pin(r.data)
	defer pin.Unpin()
	return ioctlPinned(fd, unix.SIOCETHTOOL, unsafe.Pointer(&r)) == nil
}
