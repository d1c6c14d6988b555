// SPDX-License-Identifier: Apache-2.0

//go:build freebsd && !race && !portable

package netmap

import (
	"encoding/binary"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// What x/sys does not name.
const (
	siocSetMAC   = 0x8020693c // SIOCSIFLLADDR
	siocGIFMEDIA = 0xc0306938
	mediaValid   = 1
	mediaActive  = 2
	mediaFull    = 0x00100000
	mediaHalf    = 0x00200000
	ppromisc     = 0x2 // IFF_PPROMISC in the high half of the flags
)

// capabilities are the offloads that change or hide frames, with the word that
// ifconfig turns off. The VLAN variants stay on when their plain ones go.
var capabilities = []struct {
	bit  uint32
	name string
}{
	{0x1, "rxcsum"}, {0x2, "txcsum"}, {0x200000, "rxcsum6"}, {0x400000, "txcsum6"},
	{0x100, "tso4"}, {0x200, "tso6"}, {0x400, "lro"},
	{0x10, "vlanhwtag"}, {0x80, "vlanhwcsum"}, {0x40000, "vlanhwtso"}, {0x10000, "vlanhwfilter"},
}

func (r *ifreq) setPromisc(on bool) {
	f := (*[2]uint16)(r.union())
	f[1] &^= ppromisc
	if on {
		f[1] |= ppromisc
	}
}

// setMAC writes a sockaddr of link level, whose length byte is that of the address.
func (r *ifreq) setMAC(mac [6]byte) {
	a := (*[8]byte)(r.union())
	a[0], a[1] = 6, unix.AF_LINK
	copy(a[2:], mac[:])
}

// details fills in what needs ioctls. What the system does not tell stays zero.
func details(fd int, name string, i *abi.IfInfo) {
	r := newIfreq(name)
	if r.call(fd, unix.SIOCGIFFLAGS) == nil {
		f := (*[2]uint16)(r.union())
		i.Promisc = f[1]&ppromisc != 0 || f[0]&unix.IFF_PROMISC != 0
	}
	r = newIfreq(name)
	if r.call(fd, unix.SIOCGIFCAP) == nil {
		on := (*[2]uint32)(r.union())[1]
		for _, c := range capabilities {
			if on&c.bit != 0 {
				i.Offloads = append(i.Offloads, c.name)
			}
		}
	}
	if len(i.Offloads) > 0 {
		i.Cure = "ifconfig " + name + " -" + strings.Join(i.Offloads, " -")
	}
	media := make([]byte, 48)
	copy(media[:unix.IFNAMSIZ-1], name)
	if ioctlPinned(fd, siocGIFMEDIA, unsafe.Pointer(unsafe.SliceData(media))) == nil {
		if st := binary.NativeEndian.Uint32(media[24:]); st&mediaValid != 0 {
			i.Running = st&mediaActive != 0
			switch active := binary.NativeEndian.Uint32(media[28:]); {
			case active&mediaFull != 0:
				i.Duplex = 2
			case active&mediaHalf != 0:
				i.Duplex = 1
			}
		}
	}
	i.Driver = strings.TrimRight(name, "0123456789")
	// vtnet, em, igb, ix, ixl, ice, cxgb, re, ...: the base system's driver has netmap code
	// where netmap(4) lists it; what it does not list is emulated
	i.Native = nativeDrivers[i.Driver]
}

var nativeDrivers = map[string]bool{
	"cxgbe": true, "cxl": true, "cc": true, "em": true, "igb": true, "igc": true, "ix": true, "ixv": true, "ixl": true, "iavf": true,
	"ice": true, "re": true, "vtnet": true, "vmx": true, "bnxt": true, "axgbe": true, "ax": true,
}

// Watch implements abi.System by looking every 20 ms.
func (s osInterfaces) Watch(name string, f func(abi.IfState)) (stop func(), err error) {
	look := func() abi.IfState {
		i, err := s.Interface(name)
		if err != nil {
			return abi.IfState{Gone: true}
		}
		return i.IfState
	}
	last := look()
	f(last)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(20 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-quit:
				return
			case <-t.C:
				if now := look(); now != last {
					last = now
					f(now)
				}
			}
		}
	}()
	return func() { close(quit); <-done }, nil
}
