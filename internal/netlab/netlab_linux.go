// SPDX-License-Identifier: Apache-2.0

package netlab

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/pktio/driver"
)

// Host is a network namespace.
type Host struct {
	Name string
	t    testing.TB
	work chan func()
	gone chan struct{}
	ns   *os.File
}

// NewHost makes a namespace that lives until the test ends, or End.
func NewHost(t testing.TB, name string) *Host {
	t.Helper()
	testkit.Need(t, testkit.NetNS)
	h := &Host{Name: name, t: t, work: make(chan func()), gone: make(chan struct{})}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		defer close(h.gone)
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			h.ns, err = os.Open("/proc/thread-self/ns/net")
		}
		ready <- err
		if err != nil {
			return
		}
		for f := range h.work {
			f()
		}
		h.ns.Close()
	}()
	if err := <-ready; err != nil {
		t.Fatalf("namespace of %s: %v", name, err)
	}
	t.Cleanup(h.End)
	h.Do(func() { h.check("lo up", h.set("lo", netlink.LinkSetUp)) })
	return h
}

// End ends the namespace.
func (h *Host) End() {
	select {
	case <-h.gone:
	default:
		close(h.work)
		<-h.gone
	}
}

// Do runs f on the host's thread. Sockets that it opens stay in the namespace.
func (h *Host) Do(f func()) {
	done := make(chan any)
	h.work <- func() {
		defer func() { done <- recover() }()
		f()
	}
	if r := <-done; r != nil {
		panic(r)
	}
}

func (h *Host) check(what string, err error) {
	h.t.Helper()
	if err != nil {
		h.t.Errorf("%s: %s: %v", h.Name, what, err)
		panic(what)
	}
}

func (h *Host) set(name string, f func(netlink.Link) error) error {
	l, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return f(l)
}

// Up and Down change the state of an interface.
func (h *Host) Up(name string) {
	h.Do(func() { h.check(name+" up", h.set(name, netlink.LinkSetUp)) })
}

// Down takes an interface down.
func (h *Host) Down(name string) {
	h.Do(func() { h.check(name+" down", h.set(name, netlink.LinkSetDown)) })
}

// Delete removes an interface.
func (h *Host) Delete(name string) {
	h.Do(func() { h.check("delete "+name, h.set(name, netlink.LinkDel)) })
}

// SetMTU changes the MTU of an interface.
func (h *Host) SetMTU(name string, mtu int) {
	h.Do(func() {
		h.check("MTU of "+name, h.set(name, func(l netlink.Link) error { return netlink.LinkSetMTU(l, mtu) }))
	})
}

// FinishChecksums makes the host finish the checksums of what it sends out of an
// interface, and cut it into segments, as if there were no hardware to do it.
func (h *Host) FinishChecksums(name string) {
	h.Do(func() {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		h.check("socket", err)
		defer unix.Close(fd)
		v := [2]uint32{0x17, 0} // ETHTOOL_STXCSUM
		r := struct {
			name [unix.IFNAMSIZ]byte
			data unsafe.Pointer
			_    [16]byte
		}{data: unsafe.Pointer(&v)}
		copy(r.name[:], name)
		var pin runtime.Pinner
		pin.Pin(&v)
		defer pin.Unpin()
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&r))); errno != 0 {
			h.check("checksums of "+name, errno)
		}
	})
}

// Addr gives an interface an address such as 10.9.0.1/24.
func (h *Host) Addr(name, cidr string) {
	h.Do(func() {
		a, err := netlink.ParseAddr(cidr)
		h.check(cidr, err)
		a.Flags = unix.IFA_F_NODAD
		h.check("address of "+name, h.set(name, func(l netlink.Link) error { return netlink.AddrAdd(l, a) }))
	})
}

// DefaultRoute sends everything by way of an interface.
func (h *Host) DefaultRoute(name string) {
	h.Do(func() {
		h.check("default route", h.set(name, func(l netlink.Link) error {
			return netlink.RouteAdd(&netlink.Route{LinkIndex: l.Attrs().Index, Scope: netlink.SCOPE_LINK, Dst: &net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(0, 32)}})
		}))
	})
}

// Bridge makes a bridge with one member.
func (h *Host) Bridge(name, member string) {
	h.Do(func() {
		b := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: name}}
		h.check("bridge", netlink.LinkAdd(b))
		h.check("member", h.set(member, func(l netlink.Link) error { return netlink.LinkSetMaster(l, b) }))
	})
}

// Promisc returns how many asked for promiscuous mode of an interface.
func (h *Host) Promisc(name string) (n int) {
	h.Do(func() {
		l, err := netlink.LinkByName(name)
		h.check(name, err)
		n = l.Attrs().Promisc
	})
	return n
}

// Program returns the id of the XDP program on an interface of the calling thread's
// namespace, 0 = none.
func Program(name string) uint32 {
	l, err := netlink.LinkByName(name)
	if err != nil || l.Attrs().Xdp == nil {
		return 0
	}
	return l.Attrs().Xdp.ProgId
}

// Cable joins two hosts by a veth pair, whose ends are up. queues is how many queues
// each end has, 0 = 1.
func Cable(a *Host, ifA string, b *Host, ifB string, mtu, queues int) {
	a.Do(func() {
		at := netlink.NewLinkAttrs()
		at.Name, at.MTU = ifA, mtu
		at.NumTxQueues, at.NumRxQueues = max(queues, 1), max(queues, 1)
		v := &netlink.Veth{LinkAttrs: at, PeerName: ifB, PeerMTU: uint32(mtu), PeerNumTxQueues: uint32(max(queues, 1)), PeerNumRxQueues: uint32(max(queues, 1)),
			PeerNamespace: netlink.NsFd(int(b.ns.Fd()))}
		a.check("veth "+ifA, netlink.LinkAdd(v))
	})
	a.Up(ifA)
	b.Up(ifB)
}

// Config describes a line of hosts.
type Config struct {
	MTU    int // default 1500
	Queues int // of each end, default 1
}

// Lab is two hosts with a forwarder between them.
type Lab struct {
	A, F, B *Host
}

// Line builds host A, the forwarder and host B.
func Line(t testing.TB, cfg Config) *Lab {
	t.Helper()
	if cfg.MTU == 0 {
		cfg.MTU = 1500
	}
	l := &Lab{NewHost(t, "host A"), NewHost(t, "forwarder"), NewHost(t, "host B")}
	l.F.Quiet()
	Cable(l.A, "a0", l.F, "f0", cfg.MTU, cfg.Queues)
	Cable(l.B, "b0", l.F, "f1", cfg.MTU, cfg.Queues)
	for h, i := range map[*Host]int{l.A: 1, l.B: 2} {
		dev := map[int]string{1: "a0", 2: "b0"}[i]
		h.Addr(dev, fmt.Sprintf("10.9.0.%d/24", i))
		h.Addr(dev, fmt.Sprintf("fd09::%d/64", i))
	}
	return l
}

// Quiet keeps the host's own stack from sending anything by itself, on interfaces that
// are made from now on.
func (h *Host) Quiet() {
	h.Do(func() {
		for _, k := range []string{"all", "default"} {
			if err := os.WriteFile(filepath.Join("/proc/sys/net/ipv6/conf", k, "disable_ipv6"), []byte("1"), 0); err != nil && !os.IsNotExist(err) {
				h.t.Log(err)
			}
		}
	})
}

// Driver opens the devices of another driver in the namespace of a host. They are called
// by the name that Driver is registered under.
type Driver struct {
	Host *Host
	Kind string
	driver.Driver
}

// Open implements driver.Driver.
func (v Driver) Open(ctx context.Context, name string, cfg driver.Config) (d driver.Device, err error) {
	v.Host.Do(func() { d, err = v.Driver.Open(ctx, name, cfg) })
	if err != nil {
		return nil, fmt.Errorf("%s:%s: %w", v.Kind, name, err)
	}
	return named{d, v.Kind, v.Kind + ":" + name}, nil
}

// named is a device that is called something else.
type named struct {
	driver.Device
	kind, name string
}

func (d named) Info() driver.Info {
	i := d.Device.Info()
	i.Driver, i.Name = d.kind, d.name
	return i
}
