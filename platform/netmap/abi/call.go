// SPDX-License-Identifier: Apache-2.0

package abi

import (
	"fmt"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
)

// Call is the memory of one control request: header, body and options in a
// page of the arena. It does not move, so its addresses may be passed as
// integers. A Call is used by one goroutine at a time; it can be used again.
type Call struct {
	mem  *arena.Range
	used uint64
	last *Option
}

// callSize leaves room to test what the kernel says to more than RequestMax.
const callSize = 2 * RequestMax

// NewCall takes the memory; Close gives it back.
func NewCall() (*Call, error) {
	m, err := arena.New(arena.Config{Name: "netmap request", Size: callSize})
	if err != nil {
		return nil, err
	}
	return &Call{mem: m}, nil
}

// Close gives the memory back.
func (c *Call) Close() error { return c.mem.Close() }

// Begin starts a request of a known type: a zeroed header and body. It fails
// when the name is longer than 63 bytes.
func (c *Call) Begin(reqType uint16, name string) (*Header, unsafe.Pointer, error) {
	size, known := BodySize(reqType)
	if !known {
		return nil, nil, fmt.Errorf("netmap: request type %d: allowed 1 to %d", reqType, ReqCSBEnable)
	}
	clear(arena.Bytes(c.mem.Off, callSize))
	h := (*Header)(arena.At(c.mem.Off))
	h.Version, h.ReqType = API, reqType
	if !h.SetName(name) {
		return nil, nil, fmt.Errorf("netmap: port name %q has %d bytes: at most %d", name, len(name), NameSize-1)
	}
	c.used, c.last = 128, nil
	var body unsafe.Pointer
	if size > 0 {
		body = c.take(size)
		h.Body = Addr(body)
	}
	return h, body, nil
}

// Register starts a REGISTER request.
func (c *Call) Register(name string) (*Header, *Register, error) {
	h, b, err := c.Begin(ReqRegister, name)
	return h, (*Register)(b), err
}

// Header returns the header of the request that was begun last.
func (c *Call) Header() *Header { return (*Header)(arena.At(c.mem.Off)) }

// AddOption appends an option of a known type with extra bytes of payload
// behind its structure, and returns the whole of it.
func (c *Call) AddOption(optType uint32, extra int) unsafe.Pointer {
	p := c.take(OptionSize(optType) + extra)
	o := (*Option)(p)
	o.ReqType, o.Size = optType, uint64(extra)
	if c.last == nil {
		c.Header().Options = Addr(p)
	} else {
		c.last.Next = Addr(p)
	}
	c.last = o
	return p
}

// Arg is the argument of the ioctl.
func (c *Call) Arg() unsafe.Pointer { return arena.At(c.mem.Off) }

func (c *Call) take(n int) unsafe.Pointer {
	p := arena.At(c.mem.Off + c.used)
	c.used += uint64(n+15) &^ 15
	if c.used > callSize {
		panic("netmap: request too large")
	}
	return p
}

// Addr returns the address that stands for p in a request.
func Addr(p unsafe.Pointer) uint64 { return uint64(uintptr(p)) }

// UserPtr resolves an address of a request (the kernel's side): n bytes there,
// false (EFAULT) when they are not inside the arena.
func UserPtr(addr, n uint64) (unsafe.Pointer, bool) {
	off := addr - Addr(arena.At(0))
	if off >= arena.Size() || n > arena.Size()-off {
		return nil, false
	}
	return arena.At(off), true
}
