// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"slices"
	"syscall"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// portInfo is PORT_INFO_GET: an empty name asks about memory only.
func (w *World) portInfo(name string, r *abi.PortInfo) syscall.Errno {
	var mem *region
	if name == "" {
		id := r.MemID
		if id == 0 {
			id = 1
		}
		if mem = w.regions[id]; mem == nil {
			return syscall.EINVAL
		}
		*r = abi.PortInfo{MemSize: mem.size, MemID: id}
		return 0
	}
	if r.MemID != 0 {
		if mem = w.regions[r.MemID]; mem == nil {
			return syscall.EINVAL
		}
	}
	p, e := w.resolve(name, &abi.Register{Mode: abi.ModeAllNIC}, mem, true)
	if e != 0 {
		return e
	}
	*r = abi.PortInfo{
		MemSize: p.mem.size, MemID: p.mem.id, TxSlots: slotsOf(p.tx), RxSlots: slotsOf(p.rx),
		TxRings: uint16(p.nTx()), RxRings: uint16(p.nRx()), HostTxRings: uint16(p.hostTx), HostRxRings: uint16(p.hostRx),
	}
	w.forget(p)
	return 0
}

// poolsInfo is POOLS_INFO_GET. The port is found by its name, and made when there is
// none yet, as for PORT_INFO_GET; what the descriptor is bound to does not matter.
func (w *World) poolsInfo(name string, r *abi.PoolsInfo) syscall.Errno {
	var mem *region
	if r.MemID != 0 {
		if mem = w.regions[r.MemID]; mem == nil {
			return syscall.EINVAL
		}
	}
	p, e := w.resolve(name, &abi.Register{Mode: abi.ModeAllNIC}, mem, true)
	if e != 0 {
		return e
	}
	m := p.mem
	*r = abi.PoolsInfo{
		MemSize: m.size, MemID: m.id,
		IfObjTotal: uint32(m.geo.IfNum), IfObjSize: uint32(m.geo.IfSize),
		RingOffset: m.ringOff, RingObjTotal: uint32(m.geo.RingNum), RingObjSize: uint32(m.geo.RingSize),
		BufOffset: m.bufOff, BufObjTotal: uint32(m.geo.BufNum), BufObjSize: uint32(m.geo.BufSize),
	}
	w.forget(p)
	return 0
}

// portHdr sets and gets the length of the virtio-net header of a VALE port or pipe.
func (w *World) portHdr(name string, set bool, r *abi.PortHdr) syscall.Errno {
	var p *port
	if b, i := w.findVale(name); b != nil {
		p = b.ports[i]
	} else if p = w.pipes[name]; p == nil {
		for _, c := range name {
			if c == '{' || c == '}' {
				return syscall.ENODEV
			}
		}
		return syscall.ENXIO
	}
	if !set {
		r.HdrLen = p.hdrLen
		return 0
	}
	if r.HdrLen != 0 && r.HdrLen != 10 && r.HdrLen != 12 {
		return syscall.EINVAL
	}
	p.hdrLen = r.HdrLen
	return 0
}

// valeList is VALE_LIST: the indices of a named port, or the first port at or after the
// given indices, with its name.
func (w *World) valeList(h *abi.Header, name string, r *abi.ValeList) syscall.Errno {
	if name != "" {
		b, i := w.findVale(name)
		if b == nil {
			return syscall.ENXIO
		}
		r.BridgeIdx, r.PortIdx = b.index, uint32(i)
		return 0
	}
	var all []*bridge
	for _, b := range w.bridges {
		all = append(all, b)
	}
	slices.SortFunc(all, func(x, y *bridge) int { return int(x.index) - int(y.index) })
	for _, b := range all {
		if b.index < r.BridgeIdx {
			continue
		}
		for i, p := range b.ports {
			if p == nil || (b.index == r.BridgeIdx && uint32(i) < r.PortIdx) {
				continue
			}
			r.BridgeIdx, r.PortIdx = b.index, uint32(i)
			h.SetName(b.portName(p))
			return 0
		}
	}
	return syscall.ENOENT
}

// valeNewif is VALE_NEWIF: a port that stays until VALE_DELIF, usable by name and by
// attaching it to a switch.
func (w *World) valeNewif(name string, r *abi.ValeNewif) syscall.Errno {
	if name == "" || len(name) >= abi.IfNameSize {
		return syscall.EINVAL
	}
	if w.ports[name] != nil {
		return syscall.EEXIST
	}
	var mem *region
	if r.MemID != 0 {
		if mem = w.regions[r.MemID]; mem == nil {
			return syscall.EINVAL
		}
	}
	p := w.softPort(name, r.TxRings, r.RxRings, r.TxSlots, r.RxSlots, mem, 0)
	p.keep = true
	w.ports[name] = p
	return 0
}

func (w *World) valeDelif(name string) syscall.Errno {
	p := w.ports[name]
	switch {
	case p == nil:
		return syscall.ENXIO
	case p.kind != kindVALE:
		return syscall.EINVAL
	case p.fds > 0 || p.bridge != nil:
		return syscall.EBUSY
	}
	delete(w.ports, name)
	if p.mem.private && p.mem.users == 0 {
		delete(w.regions, p.mem.id)
	}
	return 0
}

// valeAttach gives an interface to a switch: nobody can register it until it is detached.
// Frames of a card do not pass the switch; those of a NEWIF port have no sender.
func (w *World) valeAttach(name string, r *abi.ValeAttach) syscall.Errno {
	sw, pn, ok := splitVale(name)
	if !ok {
		return syscall.EINVAL
	}
	p := w.ports[pn]
	switch {
	case p == nil:
		return syscall.ENXIO
	case p.bridge != nil || p.fds > 0:
		return syscall.EBUSY
	}
	b, e := w.bridge(sw)
	if e != 0 {
		return e
	}
	if e := b.join(p); e != 0 {
		return e
	}
	r.PortIndex = uint32(p.slot)
	return 0
}

func (w *World) valeDetach(name string, r *abi.ValeDetach) syscall.Errno {
	b, i := w.findVale(name)
	if b == nil {
		return syscall.ENXIO
	}
	p := b.ports[i]
	if p.kind == kindVALE && !p.keep {
		return syscall.EINVAL
	}
	r.PortIndex = uint32(i)
	b.ports[i], p.bridge = nil, nil
	b.publish()
	w.dropBridge(b)
	return 0
}
