// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"sync"
	"syscall"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// conn is a kernel with what all ports opened through it share: the regions
// mapped so far, and the lock of all control operations.
type conn struct {
	k      abi.Kernel
	sys    abi.System // nil: nothing is known about interfaces
	prefix string
	sim    bool // nmsim: no module, no tools

	mu      sync.Mutex // one open or close at a time
	regions map[uint16]*region
	bases   map[string]int // open ports by base name: their region is known to exist
}

func newConn(k abi.Kernel, prefix string) *conn {
	c := &conn{k: k, prefix: prefix, regions: map[uint16]*region{}, bases: map[string]int{}}
	if s, ok := k.(abi.System); ok {
		c.sys = s
	} else {
		c.sys = osSystem()
	}
	return c
}

// binding is one registration: one descriptor.
type binding struct {
	port             string
	mode             uint32
	ring             uint16
	flags            uint64
	memID            uint16
	rxSlots, txSlots uint32
	rxRings, txRings uint16
	extra            uint32
	headroom         uint32 // ask for OFFSETS with this initial offset; 0 = don't
	maxOffset        uint32
}

// register opens a descriptor and binds it. On failure nothing is left open.
func (c *conn) register(b binding) (fd int, got abi.Register, errno syscall.Errno) {
	if fd, errno = c.k.Open(); errno != 0 {
		return -1, got, errno
	}
	call, err := abi.NewCall()
	if err != nil {
		c.k.Close(fd)
		return -1, got, syscall.ENOMEM
	}
	defer call.Close()
	_, r, err := call.Register(b.port)
	if err != nil {
		c.k.Close(fd)
		return -1, got, syscall.EINVAL
	}
	r.Mode, r.RingID, r.Flags, r.MemID = b.mode, b.ring, b.flags, b.memID
	r.RxSlots, r.TxSlots, r.RxRings, r.TxRings, r.ExtraBufs = b.rxSlots, b.txSlots, b.rxRings, b.txRings, b.extra
	if b.headroom > 0 {
		o := (*abi.OptionOffsets)(call.AddOption(abi.OptOffsets, 0))
		o.MaxOffset, o.InitialOffset, o.OffsetBits = uint64(b.maxOffset), uint64(b.headroom), 16
	}
	if errno = c.k.Ioctl(fd, c.k.Numbers().Ctrl, call.Arg()); errno != 0 {
		c.k.Close(fd)
		return -1, got, errno
	}
	return fd, *r, 0
}

// probe makes the request that any supported kernel answers: memory
// information, with an empty name.
func (c *conn) probe(device string) error {
	fd, errno := c.k.Open()
	if errno != 0 {
		return c.openError(device, errno)
	}
	defer c.k.Close(fd)
	call, err := abi.NewCall()
	if err != nil {
		return err
	}
	defer call.Close()
	if _, _, err := call.Begin(abi.ReqPortInfoGet, ""); err != nil {
		return err
	}
	if errno := c.k.Ioctl(fd, c.k.Numbers().Ctrl, call.Arg()); errno != 0 {
		return c.probeError(device, errno)
	}
	return nil
}
