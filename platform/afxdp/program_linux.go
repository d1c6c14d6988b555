// SPDX-License-Identifier: Apache-2.0

package afxdp

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/platform/internal/nic"
)

// program is the XDP program on the interface, and the map from queues to sockets.
type program struct {
	xsks   *ebpf.Map
	prog   *ebpf.Program
	link   link.Link
	native bool
}

// redirect gives each frame to the socket of its queue, and passes it on to the kernel
// when there is none:
//
//	return bpf_redirect_map(&xsks, ctx->rx_queue_index, XDP_PASS)
func redirect(xsks *ebpf.Map) asm.Instructions {
	const rxQueueIndex, xdpPass = 16, 2
	return asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, rxQueueIndex, asm.Word),
		asm.LoadMapPtr(asm.R1, xsks.FD()),
		asm.Mov.Imm(asm.R3, xdpPass),
		asm.FnRedirectMap.Call(),
		asm.Return(),
	}
}

// attach loads the program and attaches it; the map is empty, so everything still goes
// to the kernel.
func (d *device) attach(queues int, mode string) error {
	l, err := d.Handle.Link()
	if err != nil {
		return d.Fail("ask for the link", err, "")
	}
	if l.XDP != 0 {
		return &nic.Error{Op: "attach", Device: d.Name, Why: fmt.Sprintf("the interface has an XDP program already (%s)", programName(l.XDP)),
			Cure: "stop who uses it, or take it off: ip link set dev " + d.ifname + " xdp off"}
	}
	_ = rlimit.RemoveMemlock() // needed before 5.11; what is then missing the next call says
	p := &d.prog
	err = d.Gate.Do("bpf(BPF_MAP_CREATE)", func() (err error) {
		p.xsks, err = ebpf.NewMap(&ebpf.MapSpec{Name: "godp_xsks", Type: ebpf.XSKMap, KeySize: 4, ValueSize: 4, MaxEntries: uint32(queues)})
		return err
	})
	if err != nil {
		return d.Fail("make the map of sockets", err, "")
	}
	err = d.Gate.Do("bpf(BPF_PROG_LOAD)", func() (err error) {
		p.prog, err = ebpf.NewProgram(&ebpf.ProgramSpec{Name: "godp_redirect", Type: ebpf.XDP, Instructions: redirect(p.xsks), License: "Apache-2.0"})
		return err
	})
	if err != nil {
		return d.Fail("load the program", err, "")
	}
	var why error
	if mode != "generic" {
		if why = d.attachLink(link.XDPDriverMode); why == nil {
			p.native = true
			return nil
		}
		if mode == "native" || nic.Denied(why) || errors.Is(why, unix.EBUSY) {
			return d.Fail("attach the program natively", why, "the driver has no XDP, or not with this MTU; use mode=generic")
		}
		d.Note(fmt.Sprintf("generic XDP: the driver takes no program (%v)", why))
	}
	if err := d.attachLink(link.XDPGenericMode); err != nil {
		return d.Fail("attach the program", err, "")
	}
	return nil
}

func (d *device) attachLink(flags link.XDPAttachFlags) error {
	return d.Gate.Do("bpf(BPF_LINK_CREATE)", func() (err error) {
		d.prog.link, err = link.AttachXDP(link.XDPOptions{Program: d.prog.prog, Interface: d.Handle.Index, Flags: flags})
		return err
	})
}

// programName describes a program of somebody else.
func programName(id uint32) string {
	s := fmt.Sprintf("id %d", id)
	p, err := ebpf.NewProgramFromID(ebpf.ProgramID(id))
	if err != nil {
		return s
	}
	defer p.Close()
	if i, err := p.Info(); err == nil && i.Name != "" {
		s += ", " + i.Name
	}
	return s
}

// steer makes the program give the frames of a queue to a socket, or (fd < 0) to the
// kernel again.
func (p *program) steer(queue, fd int) error {
	if fd < 0 {
		err := p.xsks.Delete(uint32(queue))
		if errors.Is(err, ebpf.ErrKeyNotExist) {
			return nil
		}
		return err
	}
	return p.xsks.Put(uint32(queue), uint32(fd))
}

// detach takes the program off, so that no frame is on its way to a socket any more
// when those are closed.
func (p *program) detach() {
	if p.link != nil {
		p.link.Close()
	}
	if p.prog != nil {
		p.prog.Close()
	}
	if p.xsks != nil {
		p.xsks.Close()
	}
	*p = program{native: p.native}
}
