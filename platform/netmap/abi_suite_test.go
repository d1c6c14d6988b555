// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"flag"
	"fmt"
	"syscall"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/platform/netmap/nmsim"
)

// The abi suite holds what a netmap kernel does as the client relies on it. It runs
// unchanged on nmsim and on the kernel's /dev/netmap:
//
//	go test ./platform/netmap -run ABI -netmap=nmsim
//	go test ./platform/netmap -run ABI -netmap=kernel      (root, module loaded)
//
// On the kernel two interfaces joined to each other are needed, given by -nic (a veth
// pair, up, offloads off).
var (
	kernelFlag = flag.String("netmap", "nmsim", "whose kernel side the abi suite runs on: nmsim or kernel")
	personFlag = flag.String("personality", "linux", "of nmsim: linux or freebsd")
	nicFlag    = flag.String("nic", "veth0,veth1", "two interfaces joined to each other, for -netmap=kernel")
)

// abiWorld is one kernel side with two NIC ports that are joined.
type abiWorld struct {
	t    *testing.T
	k    abi.Kernel
	v    *Driver
	sim  *nmsim.World // nil on the kernel
	a, b string
}

func newABI(t *testing.T) *abiWorld {
	t.Helper()
	switch *kernelFlag {
	case "nmsim":
		cfg := nmsim.Config{}
		if *personFlag == "freebsd" {
			cfg.Personality = nmsim.FreeBSD
		}
		w := smallWorld(t, cfg)
		for _, n := range []string{"nic0", "nic1"} {
			if err := w.NIC(n, nmsim.NICConfig{}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Cable("nic0", "nic1"); err != nil {
			t.Fatal(err)
		}
		return &abiWorld{t, w.Kernel(), NewSim("nmsim", w), w, "nic0", "nic1"}
	case "kernel":
		k := osKernel()
		fd, errno := k.Open()
		if errno != 0 {
			t.Skip(newConn(k, "netmap").openError("netmap", errno))
		}
		k.Close(fd)
		var a, b string
		if _, err := fmt.Sscanf(*nicFlag, "%s", &a); err != nil {
			t.Fatal(err)
		}
		for i := range a {
			if a[i] == ',' {
				a, b = a[:i], a[i+1:]
				break
			}
		}
		return &abiWorld{t, k, NewDriver("netmap", k), nil, a, b}
	}
	t.Fatalf("-netmap=%s: nmsim or kernel", *kernelFlag)
	return nil
}

// raw is one descriptor as the suite uses it, without the client.
type raw struct {
	w   *abiWorld
	fd  int
	reg abi.Register
	m   abi.Mapping
	nif *abi.If
	hdr abi.Header // as the last request left it
}

func (w *abiWorld) open() *raw {
	w.t.Helper()
	fd, errno := w.k.Open()
	if errno != 0 {
		w.t.Fatalf("open: %v", errno)
	}
	r := &raw{w: w, fd: fd}
	w.t.Cleanup(r.close)
	return r
}

func (r *raw) close() {
	if r.m != nil {
		if err := r.m.Unmap(); err != nil {
			r.w.t.Errorf("unmap: %v", err)
		}
		r.m = nil
	}
	if r.fd >= 0 {
		if errno := r.w.k.Close(r.fd); errno != 0 {
			r.w.t.Errorf("close: %v", errno)
		}
		r.fd = -1
	}
}

// ctrl makes one request; change edits it before it is sent.
func (r *raw) ctrl(typ uint16, name string, change func(c *abi.Call, h *abi.Header, body unsafe.Pointer)) syscall.Errno {
	r.w.t.Helper()
	c, err := abi.NewCall()
	if err != nil {
		r.w.t.Fatal(err)
	}
	defer c.Close()
	h, body, err := c.Begin(typ, name)
	if err != nil {
		r.w.t.Fatal(err)
	}
	if change != nil {
		change(c, h, body)
	}
	errno := r.w.k.Ioctl(r.fd, r.w.k.Numbers().Ctrl, c.Arg())
	r.hdr = *h
	if errno == 0 && typ == abi.ReqRegister {
		r.reg = *(*abi.Register)(body)
	}
	return errno
}

// register makes a REGISTER request.
func (r *raw) register(name string, mode uint32, flags uint64, change func(*abi.Register)) syscall.Errno {
	r.w.t.Helper()
	return r.ctrl(abi.ReqRegister, name, func(_ *abi.Call, _ *abi.Header, body unsafe.Pointer) {
		q := (*abi.Register)(body)
		q.Mode, q.Flags = mode, flags
		if change != nil {
			change(q)
		}
	})
}

// bind registers, maps, and finds the netmap_if; any failure ends the test.
func (w *abiWorld) bind(name string, mode uint32, flags uint64, change func(*abi.Register)) *raw {
	w.t.Helper()
	r := w.open()
	if errno := r.register(name, mode, flags, change); errno != 0 {
		w.t.Fatalf("register %s mode %d flags %#x: %v", name, mode, flags, errno)
	}
	m, errno := w.k.Map(r.fd, r.reg.MemSize)
	if errno != 0 {
		w.t.Fatalf("map %s: %v", name, errno)
	}
	r.m = m
	r.nif = (*abi.If)(arena.At(m.Off() + r.reg.Offset))
	return r
}

func (r *raw) ring(entry uint32) *abi.Ring {
	r.w.t.Helper()
	ofs := r.nif.RingOfs(entry)
	if ofs == 0 {
		r.w.t.Fatalf("ring at entry %d is not bound", entry)
	}
	return (*abi.Ring)(unsafe.Add(unsafe.Pointer(r.nif), ofs))
}

func (r *raw) tx(i uint32) *abi.Ring { return r.ring(r.nif.TxEntry(i)) }
func (r *raw) rx(i uint32) *abi.Ring { return r.ring(r.nif.RxEntry(i)) }

// pools makes a POOLS_INFO_GET request.
func (r *raw) pools(name string) (p abi.PoolsInfo, errno syscall.Errno) {
	r.w.t.Helper()
	c, err := abi.NewCall()
	if err != nil {
		r.w.t.Fatal(err)
	}
	defer c.Close()
	_, body, err := c.Begin(abi.ReqPoolsInfoGet, name)
	if err != nil {
		r.w.t.Fatal(err)
	}
	errno = r.w.k.Ioctl(r.fd, r.w.k.Numbers().Ctrl, c.Arg())
	return *(*abi.PoolsInfo)(body), errno
}

func bufOf(g *abi.Ring, idx uint32) []byte {
	n := int(g.BufSize())
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(g), g.BufOfs()+int64(idx)*int64(n))), n)
}

func (r *raw) txSync() syscall.Errno { return r.w.k.Ioctl(r.fd, r.w.k.Numbers().TxSync, nil) }
func (r *raw) rxSync() syscall.Errno { return r.w.k.Ioctl(r.fd, r.w.k.Numbers().RxSync, nil) }

// queue puts one frame of several pieces into a tx ring, without a sync.
func (r *raw) queue(g *abi.Ring, pieces ...[]byte) {
	if int(avail(g)) < len(pieces) {
		return
	}
	head, n := g.Head(), g.NumSlots()
	for i, p := range pieces {
		s := g.Slot(head)
		idx, _, _ := s.Load()
		copy(bufOf(g, idx), p)
		fl := uint16(0)
		if i < len(pieces)-1 {
			fl = abi.SlotMoreFrag
		}
		s.Store(idx, uint16(len(p)), fl)
		head = abi.Next(head, n)
	}
	g.SetHead(head)
}

func avail(g *abi.Ring) uint32 { return abi.Avail(g.Head(), g.Tail(), g.NumSlots()) }
