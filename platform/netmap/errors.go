// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/queue"
)

// Error is what a control operation of netmap ended with: what was tried, on what,
// what the system said, what that means, and what to do. errors.Is finds the errno.
type Error struct {
	Op     string        // "register rx ring 0"
	Device string        // with its prefix
	Errno  syscall.Errno // 0 when the client found the reason itself
	Why    string        // what was found
	Cure   string        // what is allowed, or the command to run
	Err    error         // another error behind it: of a context that ended
}

func (e *Error) Error() string {
	s := e.Device + ": " + e.Op + ": "
	switch {
	case e.Why != "" && e.Errno != 0:
		s += fmt.Sprintf("%s (%s)", e.Why, e.Errno.Error())
	case e.Why != "":
		s += e.Why
	default:
		s += e.Errno.Error()
	}
	if e.Cure != "" {
		s += "; " + e.Cure
	}
	return s
}

// Unwrap gives the errno, or the error behind it, to errors.Is.
func (e *Error) Unwrap() error {
	if e.Errno == 0 {
		return e.Err
	}
	return e.Errno
}

// Fault is what the burst calls of a faulted port return. It wraps queue.ErrFaulted.
type Fault struct {
	Device string
	Ring   string // "rx 0", "" = the whole port
	Why    string
	Errno  syscall.Errno
}

func (f *Fault) Error() string {
	s := f.Device
	if f.Ring != "" {
		s += " ring " + f.Ring
	}
	s += ": " + f.Why
	if f.Errno != 0 {
		s += fmt.Sprintf(" (%s)", f.Errno.Error())
	}
	return s + "; close the port and open it again"
}

// Unwrap makes errors.Is(err, queue.ErrFaulted) true, and finds the errno.
func (f *Fault) Unwrap() []error {
	if f.Errno == 0 {
		return []error{queue.ErrFaulted}
	}
	return []error{queue.ErrFaulted, f.Errno}
}

// ErrUnsupported is returned where the system has no netmap, and by builds
// under the race detector or the portable tag.
var ErrUnsupported = errors.New("the kernel's netmap is not supported here")

// openError explains why /dev/netmap can't be opened.
func (c *conn) openError(device string, errno syscall.Errno) error {
	e := &Error{Op: "open " + abi.DevicePath, Device: device, Errno: errno}
	switch errno {
	case syscall.ENOENT, syscall.ENODEV, syscall.ENXIO:
		e.Why, e.Cure = "the netmap module is not loaded", "load it: "+c.loadCommand()
	case syscall.EACCES, syscall.EPERM:
		e.Why, e.Cure = "no rights on the device", "run as root, or give the group of the program rights: chgrp GROUP "+abi.DevicePath+" && chmod 660 "+abi.DevicePath
	case syscall.EMFILE, syscall.ENFILE:
		e.Why, e.Cure = "no file descriptor left", "raise the limit: ulimit -n"
	case syscall.ENOTSUP:
		return fmt.Errorf("%s: %w (needs Linux or FreeBSD, no race detector, no portable tag); use nmsim: for tests", device, ErrUnsupported)
	}
	return e
}

// probeError explains a kernel that does not answer the simplest request.
func (c *conn) probeError(device string, errno syscall.Errno) error {
	e := &Error{Op: "ask for memory information", Device: device, Errno: errno}
	switch errno {
	case syscall.EINVAL:
		e.Why = fmt.Sprintf("the kernel's netmap does not accept API %d", abi.API)
		e.Cure = fmt.Sprintf("API %d to %d is needed (netmap of 2019-02 or later): update the module", abi.APIMin, abi.APIMax)
	case syscall.EOPNOTSUPP, syscall.ENOTTY, syscall.ENXIO:
		e.Why, e.Cure = "the kernel's netmap has no NIOCCTRL (API 11)", "update the module: netmap of 2019-02 or later is needed"
	}
	return e
}

// registerError explains a failed registration: b is what was asked, info what
// the system knows of the interface, infoErr why it knows nothing.
func (c *conn) registerError(device, op string, b binding, errno syscall.Errno) error {
	e := &Error{Op: op, Device: device, Errno: errno}
	spec := abi.Spec{Port: b.port, Mode: b.mode}
	var info abi.IfInfo
	infoErr := errors.New("no interface")
	if spec.Kind() == abi.KindNIC && c.sys != nil {
		info, infoErr = c.sys.Interface(b.port)
	}
	switch errno {
	case syscall.ENXIO:
		e.Why, e.Cure = fmt.Sprintf("there is no interface %q", b.port), c.cure("list the interfaces: "+c.pick("ip link", "ifconfig -l"), "nmsim makes a port when it is opened as a whole: open nmsim:"+b.port+" first")
		if spec.Kind() != abi.KindNIC {
			e.Why, e.Cure = "the kernel finds no such port", "check the name: valeS:P, PARENT{ID or PARENT}ID"
		}
	case syscall.EBUSY:
		e.Why = "somebody else has these rings, the port is attached to a VALE switch, or another program owns the interface exclusively"
		e.Cure = "close the other program, or open with ?exclusive=0 in both"
		if infoErr == nil && info.Master != "" {
			e.Why = fmt.Sprintf("%s is a member of %s, which takes its frames first", b.port, info.Master)
			e.Cure = c.pick("ip link set dev "+b.port+" nomaster", "ifconfig "+info.Master+" deletem "+b.port)
		}
	case syscall.ENOMEM:
		c.memoryError(e, b, info)
	case syscall.EIO:
		e.Why = "the port uses a virtio-net header"
		e.Cure = "take it off with PORT_HDR_SET 0 (vale-ctl), godp does not send such headers"
	case syscall.EACCES:
		e.Why, e.Cure = "the VALE switch belongs to somebody exclusively", "use another switch name"
	case syscall.EOPNOTSUPP:
		e.Why, e.Cure = "the driver has no netmap support, and emulation is switched off (admode 1)", c.cure(c.knob("admode", 0), "nmsim has no drivers: this is a fault that was asked for")
	case syscall.EMSGSIZE, syscall.EFAULT:
		e.Why, e.Cure = "the kernel could not read the request", "report it: this is a fault of the client"
	case syscall.EINVAL:
		c.invalidError(e, b, spec, info, infoErr)
	}
	if infoErr == nil && !info.Up && errno != syscall.EBUSY {
		// netmap's own message would speak of sizes
		e.Why, e.Cure = b.port+" is down", c.pick("ip link set dev "+b.port+" up", "ifconfig "+b.port+" up")
	}
	return e
}

// memoryError works out which of the three pools is too small.
func (c *conn) memoryError(e *Error, b binding, info abi.IfInfo) {
	if b.memID != 0 {
		e.Why = fmt.Sprintf("memory region %d can't serve this port (another IOMMU group, or full)", b.memID)
		e.Cure = "open it without @MEMID; frames are then copied between the two ports"
		return
	}
	slots := max(info.RxSlots, info.TxSlots, int(b.rxSlots), int(b.txSlots))
	if need := abi.RingSize + abi.SlotSize*slots; slots > 0 && need > abi.DefRingSize {
		e.Why = fmt.Sprintf("a ring of %d slots needs %d bytes, a ring may have %d by default", slots, need, abi.DefRingSize)
		e.Cure = c.cure("make the rings smaller ("+c.pick("ethtool -G "+b.port+" rx 1024 tx 1024", "the driver's loader tunables")+"), or "+c.larger("ring_size", (need+4095)&^4095),
			simLarger["ring_size"])
		return
	}
	if k := (abi.Spec{Port: b.port, Mode: b.mode}).Kind(); k == abi.KindVALE || k == abi.KindPipe {
		e.Why = "the memory region of a software port has room for few descriptors (one a ring and direction, and one of the region), rings and buffers"
		e.Cure = "open it with ?split=0, or with fewer queues or slots" + c.cure(fmt.Sprintf("; or, before the port is made: %s, %s", c.knob("priv_if_num", 64), c.knob("priv_ring_num", 128)),
			"; a program can give a world of its own more (nmsim.Config.Private)")
		return
	}
	e.Why = "rings, buffers or the port's descriptor do not fit in netmap's memory"
	e.Cure = c.cure(fmt.Sprintf("with no netmap program running, raise buf_num (%s), ring_num (%s), for more than 121 rings if_size (%s); or close other ports",
		c.knob("buf_num", 2*abi.DefBufNum), c.knob("ring_num", 2*abi.DefRingNum), c.knob("if_size", 2*abi.DefIfSize)),
		"nmsim offers "+simLarger["buf_num"]+"; or close other ports")
}

func (c *conn) invalidError(e *Error, b binding, spec abi.Spec, info abi.IfInfo, infoErr error) {
	switch {
	case infoErr == nil && info.Loopback:
		e.Why, e.Cure = b.port+" is the loopback interface", "netmap does not work on it: use a veth or epair pair, or a VALE switch"
	case spec.Host() && infoErr == nil && b.flags&(abi.FlagMonitorRX|abi.FlagMonitorTX) == 0 && info.MTU <= 2000:
		e.Why, e.Cure = "the port has no such host ring", "open it without ^ and *"
	case b.flags&(abi.FlagMonitorRX|abi.FlagMonitorTX) != 0:
		e.Why, e.Cure = "the monitored port is not in netmap mode", "open the port itself first, then its monitor"
	case infoErr == nil && (info.RxSlots > 0 && info.RxSlots < 3 || info.TxSlots > 0 && info.TxSlots < 3):
		e.Why = fmt.Sprintf("the rings of %s have %d receive and %d send descriptors", b.port, info.RxSlots, info.TxSlots)
		e.Cure = "at least 3 are needed: " + c.pick("ethtool -G "+b.port+" rx 1024 tx 1024", "set the driver's tunables")
	case b.mode == abi.ModeOneNIC || b.mode == abi.ModeOneSW:
		e.Why, e.Cure = fmt.Sprintf("the port has no ring %d", b.ring), c.cure("count them: "+c.pick("ethtool -l "+b.port, "sysctl dev."+b.port), fmt.Sprintf("give the port more: option rings=%d of its first open", b.ring+1))
	case b.memID != 0:
		e.Why, e.Cure = fmt.Sprintf("there is no memory region %d", b.memID), "open it without @MEMID"
	case infoErr == nil && info.MTU > abi.DefBufSize-22:
		e.Why = fmt.Sprintf("frames of MTU %d may not fit in a buffer of %d bytes", info.MTU, abi.DefBufSize)
		e.Cure = fmt.Sprintf("lower the MTU (%s), or %s",
			c.pick("ip link set dev "+b.port+" mtu 1500", "ifconfig "+b.port+" mtu 1500"), c.larger("buf_size", (info.MTU+22+1023)&^1023))
	case spec.Kind() == abi.KindVALE:
		e.Why = "the VALE name is malformed, or its port part is the name of an interface"
		e.Cure = "switch and port are of 0-9 A-Z a-z _ with at most 15 bytes together with the colon; interfaces join a switch with vale-ctl -a"
	default:
		e.Why = "the kernel refuses the request"
		e.Cure = c.cure("the kernel's log (dmesg) says what it did not like", "report it, with the device's name: nmsim refuses what the kernel would")
	}
}
