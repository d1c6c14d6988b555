// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"syscall"
	"unsafe"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// userMem resolves an address of the client: n bytes there, or false (EFAULT).
type userMem func(addr, n uint64) (unsafe.Pointer, bool)

// request is a control request copied in: what the client changes in its memory
// meanwhile does not matter.
type request struct {
	hdr  abi.Header
	body [abi.RequestMax]byte
	opts []option
	user userMem
}

// option is one option copied in, and where its head is.
type option struct {
	addr uint64
	typ  uint32
	stat uint32
	data [128]byte
}

// copyIn reads header, body and options, in the order of the kernel's checks.
func (q *request) copyIn(arg unsafe.Pointer, user userMem) syscall.Errno {
	q.user = user
	q.hdr = *(*abi.Header)(arg)
	h := &q.hdr
	if h.Version < abi.APIMin || h.Version > abi.APIMax || h.Reserved != 0 {
		return syscall.EINVAL
	}
	h.Name[abi.NameSize-1] = 0
	size, known := abi.BodySize(h.ReqType)
	if !known || (size > 0) != (h.Body != 0) {
		return syscall.EINVAL
	}
	if size > 0 {
		p, ok := user(h.Body, uint64(size))
		if !ok {
			return syscall.EFAULT
		}
		copy(q.body[:size], unsafe.Slice((*byte)(p), size))
	}
	return q.copyOptions(size)
}

// copyOptions reads the list of options; together with the body it is limited.
func (q *request) copyOptions(total int) syscall.Errno {
	var bad syscall.Errno
	seen := map[uint32]int{}
	for addr := q.hdr.Options; addr != 0; {
		p, ok := q.user(addr, uint64(unsafe.Sizeof(abi.Option{})))
		if !ok {
			return syscall.EFAULT
		}
		o := *(*abi.Option)(p)
		size := max(abi.OptionSize(o.ReqType), int(unsafe.Sizeof(abi.Option{})))
		if o.ReqType == abi.OptSyncKloopEventf {
			if o.Size > abi.RequestMax {
				return syscall.EMSGSIZE
			}
			size = max(size, int(o.Size))
		}
		if total += size; total > abi.RequestMax {
			return syscall.EMSGSIZE
		}
		if p, ok = q.user(addr, uint64(size)); !ok {
			return syscall.EFAULT
		}
		c := option{addr: addr, typ: o.ReqType, stat: uint32(syscall.EOPNOTSUPP)}
		copy(c.data[:], unsafe.Slice((*byte)(p), size))
		switch first, dup := seen[o.ReqType]; {
		case o.ReqType == 0:
			c.stat, bad = uint32(syscall.EINVAL), syscall.EINVAL
		case dup:
			c.stat, bad = uint32(syscall.EINVAL), syscall.EINVAL
			q.opts[first].stat = uint32(syscall.EINVAL)
		}
		if o.ReqType <= abi.OptMax { // types that the kernel does not know may come twice
			seen[o.ReqType] = len(q.opts)
		}
		q.opts = append(q.opts, c)
		if bad != 0 {
			return bad
		}
		addr = o.Next
	}
	return 0
}

// option finds an option by its type; nil when it was not given.
func (q *request) option(typ uint32) *option {
	for i := range q.opts {
		if q.opts[i].typ == typ {
			return &q.opts[i]
		}
	}
	return nil
}

// copyOut writes back: the status of each option always, the body on success.
func (q *request) copyOut(arg unsafe.Pointer, e syscall.Errno, linux bool) {
	for _, o := range q.opts {
		if p, ok := q.user(o.addr, uint64(unsafe.Sizeof(abi.Option{}))); ok {
			(*abi.Option)(p).Status = o.stat
		}
	}
	if e == 0 && q.hdr.Body != 0 {
		size, _ := abi.BodySize(q.hdr.ReqType)
		if p, ok := q.user(q.hdr.Body, uint64(size)); ok {
			copy(unsafe.Slice((*byte)(p), size), q.body[:size])
		}
	}
	if e == 0 || linux {
		*(*abi.Header)(arg) = q.hdr
	}
}

// ctrl is NIOCCTRL.
func (f *file) ctrl(arg unsafe.Pointer) syscall.Errno {
	if arg == nil {
		return syscall.EFAULT
	}
	q := &request{}
	e := q.copyIn(arg, abi.UserPtr)
	if e == 0 {
		f.w.mu.Lock()
		e = f.serve(q)
		f.w.mu.Unlock()
	}
	q.copyOut(arg, e, f.w.cfg.Personality == Linux)
	return e
}

// serve carries a request out, under World.mu.
func (f *file) serve(q *request) syscall.Errno {
	w := f.w
	body := unsafe.Pointer(&q.body[0])
	name := q.hdr.PortName()
	switch q.hdr.ReqType {
	case abi.ReqRegister:
		return f.register(q, name, (*abi.Register)(body))
	case abi.ReqPortInfoGet:
		return w.portInfo(name, (*abi.PortInfo)(body))
	case abi.ReqPoolsInfoGet:
		return w.poolsInfo(name, (*abi.PoolsInfo)(body))
	case abi.ReqValeList:
		return w.valeList(&q.hdr, name, (*abi.ValeList)(body))
	case abi.ReqValeNewif:
		return w.valeNewif(name, (*abi.ValeNewif)(body))
	case abi.ReqValeDelif:
		return w.valeDelif(name)
	case abi.ReqValeAttach:
		return w.valeAttach(name, (*abi.ValeAttach)(body))
	case abi.ReqValeDetach:
		return w.valeDetach(name, (*abi.ValeDetach)(body))
	case abi.ReqPortHdrSet, abi.ReqPortHdrGet:
		return w.portHdr(name, q.hdr.ReqType == abi.ReqPortHdrSet, (*abi.PortHdr)(body))
	case abi.ReqSyncKloopStart, abi.ReqSyncKloopStop, abi.ReqCSBEnable, abi.ReqValePollingEnable, abi.ReqValePollingDisable:
		return syscall.EOPNOTSUPP // not part of what is simulated
	}
	return syscall.EINVAL
}
