// SPDX-License-Identifier: Apache-2.0

package nic

import (
	"encoding/binary"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Handle asks about one interface, in the network namespace of the thread that
// opened it, from any goroutine.
type Handle struct {
	Index int

	gate    Gate
	route   int // rtnetlink, for requests
	inet    int // for ioctls
	packet  int // for promiscuous mode; -1 = none
	promisc bool

	mu  sync.Mutex // one request at a time
	seq uint32
	buf []byte
}

// Link is what rtnetlink tells about an interface.
type Link struct {
	Index      int
	Name       string
	Kind       string // "veth", "bridge", …, "" = none
	Up         bool   // administratively up
	Running    bool   // carrier of now
	Loopback   bool
	MTU        int // without the Ethernet header
	MAC        net.HardwareAddr
	Promisc    int // how many asked for promiscuous mode
	Master     int // bridge or bond that holds it, 0 = none
	Lower      int // interface under this one (VLAN, macvlan), 0 = none
	Rx, Tx     int // queues
	XDP        uint32
	XDPMode    uint8 // IFLA_XDP_ATTACHED
	OtherNetNS bool  // Lower is in another namespace
}

// Numbers that x/sys does not name.
const (
	iflaAltIfname = 53
	iflaXDPProg   = 4
	iflaXDPMode   = 2
)

// Open finds an interface by its name or alternative name.
func Open(gate Gate, name string) (*Handle, error) {
	h := &Handle{gate: gate, route: -1, inet: -1, packet: -1, buf: make([]byte, 64<<10)}
	err := gate.Do("socket(AF_NETLINK)", func() (err error) {
		h.route, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
		return err
	})
	if err == nil {
		err = gate.Do("socket(AF_INET)", func() (err error) {
			h.inet, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			return err
		})
	}
	if err != nil {
		h.Close()
		return nil, fmt.Errorf("ask about interface %s: %w", name, err)
	}
	l, err := h.find(name)
	if err != nil {
		err = h.unknown(name, err)
		h.Close()
		return nil, err
	}
	h.Index = l.Index
	return h, nil
}

// Close gives the descriptors back.
func (h *Handle) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, fd := range []int{h.route, h.inet, h.packet} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	h.route, h.inet, h.packet = -1, -1, -1
}

// unknown explains that there is no such interface.
func (h *Handle) unknown(name string, err error) error {
	if err != syscall.ENODEV {
		return fmt.Errorf("ask about interface %s: %w", name, err)
	}
	var have []string
	if all, err := h.Links(); err == nil {
		for _, l := range all {
			have = append(have, l.Name)
		}
	}
	slices.Sort(have)
	return fmt.Errorf("there is no interface %q (%w); this network namespace has %s", name, err, strings.Join(have, ", "))
}

func (h *Handle) find(name string) (Link, error) {
	attr := uint16(unix.IFLA_IFNAME)
	if len(name) >= unix.IFNAMSIZ {
		attr = iflaAltIfname
	}
	return h.one(ifinfo(0), attribute(attr, append([]byte(name), 0)))
}

// Link asks for the state of now. ENODEV: the interface is gone.
func (h *Handle) Link() (Link, error) { return h.one(ifinfo(h.Index)) }

func (h *Handle) one(parts ...[]byte) (l Link, err error) {
	err = h.ask(unix.RTM_GETLINK, 0, func(m syscall.NetlinkMessage) {
		if m.Header.Type == unix.RTM_NEWLINK && l.Index == 0 {
			l = parseLink(m)
		}
	}, parts...)
	if err == nil && l.Index == 0 {
		err = syscall.ENODEV
	}
	return l, err
}

// Links lists the interfaces of the namespace.
func (h *Handle) Links() (all []Link, err error) {
	err = h.ask(unix.RTM_GETLINK, unix.NLM_F_DUMP, func(m syscall.NetlinkMessage) {
		if m.Header.Type == unix.RTM_NEWLINK {
			all = append(all, parseLink(m))
		}
	}, ifinfo(0))
	return all, err
}

func ifinfo(index int) []byte {
	b := make([]byte, unix.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(b[4:], uint32(index))
	return b
}

func attribute(kind uint16, v []byte) []byte {
	b := make([]byte, (4+len(v)+3)&^3)
	binary.NativeEndian.PutUint16(b, uint16(4+len(v)))
	binary.NativeEndian.PutUint16(b[2:], kind)
	copy(b[4:], v)
	return b
}

// ask sends one request and calls f with each message of the answer.
func (h *Handle) ask(kind uint16, flags uint16, f func(syscall.NetlinkMessage), parts ...[]byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.route < 0 {
		return syscall.EBADF
	}
	h.seq++
	req := make([]byte, unix.SizeofNlMsghdr)
	for _, p := range parts {
		req = append(req, p...)
	}
	binary.NativeEndian.PutUint32(req, uint32(len(req)))
	binary.NativeEndian.PutUint16(req[4:], kind)
	binary.NativeEndian.PutUint16(req[6:], unix.NLM_F_REQUEST|flags)
	binary.NativeEndian.PutUint32(req[8:], h.seq)
	if err := h.gate.Do("sendto(rtnetlink)", func() error { return unix.Sendto(h.route, req, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}) }); err != nil {
		return err
	}
	for {
		n, _, err := unix.Recvfrom(h.route, h.buf, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		msgs, err := syscall.ParseNetlinkMessage(h.buf[:n])
		if err != nil {
			return err
		}
		for _, m := range msgs {
			switch {
			case m.Header.Seq != h.seq:
			case m.Header.Type == unix.NLMSG_DONE:
				return nil
			case m.Header.Type == unix.NLMSG_ERROR:
				if len(m.Data) < 4 {
					return syscall.EIO
				}
				if e := int32(binary.NativeEndian.Uint32(m.Data)); e != 0 {
					return syscall.Errno(-e)
				}
				return nil
			default:
				f(m)
				if m.Header.Flags&unix.NLM_F_MULTI == 0 && flags&unix.NLM_F_DUMP == 0 {
					return nil
				}
			}
		}
	}
}

func parseLink(m syscall.NetlinkMessage) (l Link) {
	if len(m.Data) < unix.SizeofIfInfomsg {
		return l
	}
	l.Index = int(int32(binary.NativeEndian.Uint32(m.Data[4:])))
	f := binary.NativeEndian.Uint32(m.Data[8:])
	l.Up, l.Running, l.Loopback = f&unix.IFF_UP != 0, f&unix.IFF_LOWER_UP != 0, f&unix.IFF_LOOPBACK != 0
	attributes(m.Data[unix.SizeofIfInfomsg:], func(kind uint16, v []byte) {
		switch kind {
		case unix.IFLA_IFNAME:
			l.Name = text(v)
		case unix.IFLA_ADDRESS:
			l.MAC = slices.Clone(v)
		case unix.IFLA_MTU:
			l.MTU = number(v)
		case unix.IFLA_PROMISCUITY:
			l.Promisc = number(v)
		case unix.IFLA_MASTER:
			l.Master = number(v)
		case unix.IFLA_LINK:
			l.Lower = number(v)
		case unix.IFLA_LINK_NETNSID:
			l.OtherNetNS = true
		case unix.IFLA_NUM_RX_QUEUES:
			l.Rx = number(v)
		case unix.IFLA_NUM_TX_QUEUES:
			l.Tx = number(v)
		case unix.IFLA_LINKINFO:
			attributes(v, func(kind uint16, v []byte) {
				if kind == unix.IFLA_INFO_KIND {
					l.Kind = text(v)
				}
			})
		case unix.IFLA_XDP:
			attributes(v, func(kind uint16, v []byte) {
				switch {
				case kind == iflaXDPProg:
					l.XDP = uint32(number(v))
				case kind == iflaXDPMode && len(v) > 0:
					l.XDPMode = v[0]
				}
			})
		}
	})
	return l
}

// attributes calls f with each attribute in b; what is cut short ends it.
func attributes(b []byte, f func(kind uint16, v []byte)) {
	for len(b) >= 4 {
		n := int(binary.NativeEndian.Uint16(b))
		if n < 4 || n > len(b) {
			return
		}
		f(binary.NativeEndian.Uint16(b[2:])&^unix.NLA_F_NESTED, b[4:n])
		b = b[min((n+3)&^3, len(b)):]
	}
}

func number(v []byte) int {
	if len(v) < 4 {
		return 0
	}
	return int(int32(binary.NativeEndian.Uint32(v)))
}

func text(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}
