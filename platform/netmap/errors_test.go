// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"errors"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// oneInterface is a system with one interface.
type oneInterface struct{ info abi.IfInfo }

func (o oneInterface) Interface(name string) (abi.IfInfo, error) {
	if name != "eth0" {
		return abi.IfInfo{}, errors.New("no such interface")
	}
	return o.info, nil
}
func (oneInterface) SetMTU(string, int) error                                 { return nil }
func (oneInterface) SetPromisc(string, bool) error                            { return nil }
func (oneInterface) SetMAC(string, [6]byte) error                             { return nil }
func (oneInterface) Watch(string, func(abi.IfState)) (stop func(), err error) { return func() {}, nil }

// bsdSilent is the silent kernel with FreeBSD's numbers.
type bsdSilent struct{ silent }

func (bsdSilent) Numbers() abi.Numbers { return abi.FreeBSDNumbers }

// kernelWords are what helps against the module only.
var kernelWords = regexp.MustCompile(`sysctl|/sys/module|dev\.netmap|_num|_size|modprobe|ethtool|ip link|ifconfig|dmesg|no netmap program`)

// TestErrorCures: each errno of a registration becomes a message with what to do, in
// the words of the system at hand.
func TestErrorCures(t *testing.T) {
	up := abi.IfState{Up: true, Running: true}
	for _, c := range []struct {
		what        string
		info        abi.IfInfo
		b           binding
		errno       syscall.Errno
		linux, bsd  string // must be in the message
		alsoContain string
	}{
		{"missing", abi.IfInfo{}, binding{port: "eth7"}, syscall.ENXIO, "ip link", "ifconfig -l", `"eth7"`},
		{"down", abi.IfInfo{}, binding{port: "eth0"}, syscall.ENOMEM, "ip link set dev eth0 up", "ifconfig eth0 up", "down"},
		{"bridge member", abi.IfInfo{IfState: up, Master: "br0"}, binding{port: "eth0"}, syscall.EBUSY, "ip link set dev eth0 nomaster", "ifconfig br0 deletem eth0", "br0"},
		{"held", abi.IfInfo{IfState: up}, binding{port: "eth0"}, syscall.EBUSY, "exclusive=0", "exclusive=0", "somebody else"},
		{"large rings", abi.IfInfo{IfState: up, RxSlots: 4096}, binding{port: "eth0"}, syscall.ENOMEM, "parameters/ring_size", "dev.netmap.ring_size", "69632"},
		{"no buffers", abi.IfInfo{IfState: up, RxSlots: 1024}, binding{port: "eth0"}, syscall.ENOMEM, "parameters/buf_num", "dev.netmap.buf_num", "if_size"},
		{"another group", abi.IfInfo{IfState: up}, binding{port: "eth0", memID: 3}, syscall.ENOMEM, "without @MEMID", "without @MEMID", "IOMMU"},
		{"tiny rings", abi.IfInfo{IfState: up, RxSlots: 1, TxSlots: 1}, binding{port: "eth0"}, syscall.EINVAL, "ethtool -G eth0", "tunables", "at least 3"},
		{"jumbo", abi.IfInfo{IfState: up, MTU: 9000}, binding{port: "eth0"}, syscall.EINVAL, "parameters/buf_size", "dev.netmap.buf_size=9216", "MTU"},
		{"loopback", abi.IfInfo{IfState: up, Loopback: true}, binding{port: "eth0"}, syscall.EINVAL, "veth", "epair", "loopback"},
		{"no host ring", abi.IfInfo{IfState: up, MTU: 1500}, binding{port: "eth0", mode: abi.ModeSW}, syscall.EINVAL, "without ^", "without ^", "host ring"},
		{"no such ring", abi.IfInfo{IfState: up, MTU: 1500}, binding{port: "eth0", mode: abi.ModeOneNIC, ring: 7}, syscall.EINVAL, "ethtool -l eth0", "sysctl", "ring 7"},
		{"unknown memory", abi.IfInfo{IfState: up, MTU: 1500}, binding{port: "eth0", memID: 7}, syscall.EINVAL, "without @", "without @", "region 7"},
		{"monitor", abi.IfInfo{IfState: up, MTU: 1500}, binding{port: "eth0", flags: abi.FlagMonitorRX}, syscall.EINVAL, "first", "first", "monitor"},
		{"header", abi.IfInfo{}, binding{port: "vale0:a"}, syscall.EIO, "PORT_HDR_SET", "PORT_HDR_SET", "virtio"},
		{"native only", abi.IfInfo{IfState: up}, binding{port: "eth0"}, syscall.EOPNOTSUPP, "parameters/admode", "dev.netmap.admode=0", "emulation"},
		{"reserved switch", abi.IfInfo{}, binding{port: "vale0:a"}, syscall.EACCES, "another", "another", "exclusively"},
		{"switch name", abi.IfInfo{}, binding{port: "vale0:eth0"}, syscall.EINVAL, "vale-ctl", "vale-ctl", "interface"},
		{"switch memory", abi.IfInfo{}, binding{port: "vale0:a"}, syscall.ENOMEM, "priv_if_num", "dev.netmap.priv_if_num", "split=0"},
	} {
		for _, bsd := range []bool{false, true} {
			var k abi.Kernel = silent{}
			want := c.linux
			if bsd {
				k, want = bsdSilent{}, c.bsd
			}
			cn := newConn(k, "netmap")
			cn.sys = oneInterface{c.info}
			err := cn.registerError("netmap:"+c.b.port, "bind", c.b, c.errno)
			if s := err.Error(); !strings.Contains(s, want) || !strings.Contains(s, c.alsoContain) || !strings.HasPrefix(s, "netmap:"+c.b.port) {
				t.Errorf("%s, bsd %v: %s", c.what, bsd, s)
			}
			if !errors.Is(err, c.errno) {
				t.Errorf("%s: errno is not in the error", c.what)
			}
		}
	}
	sim := newConn(silent{}, "nmsim")
	sim.sim = true // it knows no interfaces either
	for _, b := range []binding{{port: "a"}, {port: "vale0:a"}, {port: "a", mode: abi.ModeOneNIC, ring: 7}, {port: "a", memID: 3}, {port: "a", rxSlots: 4096}} {
		for _, errno := range []syscall.Errno{syscall.ENXIO, syscall.EBUSY, syscall.ENOMEM, syscall.EIO, syscall.EACCES, syscall.EOPNOTSUPP, syscall.EINVAL} {
			if s := sim.registerError("nmsim:"+b.port, "bind", b, errno).Error(); kernelWords.MatchString(s) {
				t.Errorf("nmsim has no such thing: %s", s)
			}
		}
	}
	if s := sim.registerError("nmsim:a", "bind", binding{port: "a", mode: abi.ModeOneNIC, ring: 7}, syscall.EINVAL).Error(); !strings.Contains(s, "rings=8") {
		t.Errorf("no such ring: %s", s)
	}
	for _, name := range []string{"buf_num", "buf_size", "ring_size"} {
		if s := sim.larger(name, 1); s == "" || kernelWords.MatchString(s) {
			t.Errorf("%s: %q", name, s)
		}
	}
	cn := newConn(silent{}, "netmap")
	for errno, want := range map[syscall.Errno]string{syscall.ENOENT: "modprobe netmap", syscall.EACCES: "root", syscall.EMFILE: "ulimit -n"} {
		if s := cn.openError("netmap:x", errno).Error(); !strings.Contains(s, want) {
			t.Errorf("open, %v: %s", errno, s)
		}
	}
	if err := cn.openError("netmap:x", syscall.ENOTSUP); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	for _, errno := range []syscall.Errno{syscall.EINVAL, syscall.EOPNOTSUPP, syscall.ENXIO} {
		if s := cn.probeError("netmap:x", errno).Error(); !strings.Contains(s, "API") {
			t.Errorf("probe, %v: %s", errno, s)
		}
	}
	if s := (&Error{Op: "o", Device: "d", Why: "w"}).Error(); s != "d: o: w" {
		t.Error(s)
	}
}
