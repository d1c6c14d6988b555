// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"strings"
	"syscall"
	"unsafe"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/platform/netmap/abi"
)

// register is REGISTER, its checks in the kernel's order.
func (f *file) register(q *request, name string, r *abi.Register) syscall.Errno {
	w := f.w
	if f.bind.Load() != nil {
		return syscall.EBUSY
	}
	var mem *region
	if r.MemID != 0 {
		if mem = w.regions[r.MemID]; mem == nil {
			return syscall.EINVAL
		}
	}
	p, e := w.resolve(name, r, mem, true)
	if e != 0 {
		return e
	}
	if e = f.bindTo(q, p, r); e != 0 {
		w.forget(p)
		return e
	}
	return 0
}

// resolve finds or makes the port: null, pipe, VALE, interface.
func (w *World) resolve(name string, r *abi.Register, mem *region, create bool) (*port, syscall.Errno) {
	switch {
	case r.Mode == abi.ModeNull:
		return w.nullPort(mem, r)
	case r.Flags&(abi.FlagMonitorTX|abi.FlagMonitorRX) != 0:
		return nil, syscall.EOPNOTSUPP // no monitors
	case strings.ContainsAny(name, "{}"):
		return w.pipePort(name, r, mem, create)
	case strings.HasPrefix(name, "vale"):
		return w.valePort(name, r, mem, create)
	case name == "lo":
		return nil, syscall.EINVAL
	}
	p := w.ports[name]
	if p == nil || p.gone {
		return nil, syscall.ENXIO
	}
	if p.bridge != nil {
		return nil, syscall.EBUSY
	}
	if mem != nil && mem != p.mem && p.fds == 0 && !p.piped() {
		if mem.group >= 0 && mem.group != p.mem.group {
			return nil, syscall.ENOMEM // an allocator of other devices
		}
		p.mem = mem
	}
	return p, 0
}

func (w *World) nullPort(mem *region, r *abi.Register) (*port, syscall.Errno) {
	if mem == nil {
		return nil, syscall.EINVAL
	}
	p := &port{w: w, kind: kindNull, mem: mem}
	p.addRings(min(int(r.TxRings), 256), min(int(r.RxRings), 256), 0, int(r.TxSlots), int(r.RxSlots))
	for _, k := range append(append([]*kring{}, p.tx...), p.rx...) {
		if k.n < 2 {
			return nil, syscall.EINVAL
		}
	}
	return p, 0
}

// bindTo does what follows once the port is known. On failure nothing stays.
func (f *file) bindTo(q *request, p *port, r *abi.Register) (e syscall.Errno) {
	w := f.w
	if p.hdrLen != 0 && r.Flags&abi.FlagAcceptVnetHdr == 0 {
		return syscall.EIO
	}
	if e = w.memFault(); e != 0 {
		return e
	}
	if e = p.mem.hold(w); e != 0 {
		return e
	}
	b := &binding{port: p, mem: p.mem, txPoll: r.Flags&abi.FlagNoTxPoll == 0, exclusive: r.Flags&abi.FlagExclusive != 0}
	undo := []func(){func() { b.mem.drop(w) }}
	defer func() {
		if e != 0 {
			for i := len(undo) - 1; i >= 0; i-- {
				undo[i]()
			}
		}
	}()
	if b.tx, b.rx, e = p.choose(r); e != 0 {
		return e
	}
	if p.fds == 0 && p.kind == kindNIC && len(b.rx) > 0 && p.mtuTooBig() {
		return syscall.EINVAL
	}
	for _, k := range b.all() {
		if k.exclusive || (k.users > 0 && b.exclusive) {
			return syscall.EBUSY
		}
	}
	if e = p.grantOffsets(q.option(abi.OptOffsets), b); e != 0 {
		return e
	}
	undo = append(undo, func() { b.leaveRings() })
	if e = b.joinRings(); e != 0 {
		return e
	}
	entries := len(p.tx) + len(p.rx) + 2*fake(p.hostTx)
	nif, ok := p.mem.newIf(entries)
	if !ok {
		return syscall.ENOMEM
	}
	b.nif = nif
	undo = append(undo, func() { p.mem.freeIf(nif) })
	ifp := b.initIf()
	b.takeExtra(r, ifp)
	undo = append(undo, func() { b.freeExtra(ifp) })
	for i := range q.opts {
		if q.opts[i].stat != 0 {
			return syscall.EOPNOTSUPP
		}
	}
	p.reply(r, b)
	p.fds++
	f.bind.Store(b)
	return 0
}

// fake is the number of entries that a port without host rings has for them.
func fake(host int) int {
	if host == 0 {
		return 1
	}
	return 0
}

func (b *binding) all() []*kring { return append(append([]*kring{}, b.tx...), b.rx...) }

// choose is the mode's ring selection.
func (p *port) choose(r *abi.Register) (tx, rx []*kring, e syscall.Errno) {
	nt, nr := p.nTx(), p.nRx()
	one := func(rings []*kring, first, n int) []*kring {
		k := int(r.RingID)
		if k >= n {
			k = 0 // the side that has no such ring silently becomes ring 0
		}
		if n == 0 {
			return nil
		}
		return rings[first+k : first+k+1]
	}
	switch r.Mode {
	case abi.ModeAllNIC, abi.ModeNull:
		tx, rx = p.tx[:nt], p.rx[:nr]
	case abi.ModeSW, abi.ModeNICSW, abi.ModeOneSW:
		if p.hostTx == 0 {
			return nil, nil, syscall.EINVAL
		}
		switch {
		case r.Mode == abi.ModeSW:
			tx, rx = p.tx[nt:], p.rx[nr:]
		case r.Mode == abi.ModeNICSW:
			tx, rx = p.tx, p.rx
		case int(r.RingID) >= p.hostTx && int(r.RingID) >= p.hostRx:
			return nil, nil, syscall.EINVAL
		default:
			tx, rx = one(p.tx, nt, p.hostTx), one(p.rx, nr, p.hostRx)
		}
	case abi.ModeOneNIC:
		if int(r.RingID) >= nt && int(r.RingID) >= nr {
			return nil, nil, syscall.EINVAL
		}
		tx, rx = one(p.tx, 0, nt), one(p.rx, 0, nr)
	default:
		return nil, nil, syscall.EINVAL
	}
	if r.Flags&abi.FlagRxRingsOnly != 0 {
		tx = nil
	}
	if r.Flags&abi.FlagTxRingsOnly != 0 {
		rx = nil
	}
	return tx, rx, 0
}

// mtuTooBig: a frame does not fit a buffer and the card can't use several.
func (p *port) mtuTooBig() bool {
	return p.cfg.MTU > p.mem.geo.BufSize && !p.cfg.MoreFrag
}

// joinRings counts the descriptor in and makes the rings that nobody had.
func (b *binding) joinRings() syscall.Errno {
	for _, k := range b.all() {
		k.users++
		if b.exclusive {
			k.exclusive = true
		}
	}
	need := b.all()
	if b.port.kind == kindPipe {
		need = nil // a sender's ring and the receiver's, in that order: they share buffers
		for _, k := range b.all() {
			if k.tx {
				need = append(need, k, k.peer)
			} else {
				need = append(need, k.peer, k)
			}
		}
	}
	for _, k := range need {
		if k.ring == nil && !k.port.makeRing(k) {
			return syscall.ENOMEM
		}
	}
	return 0
}

// leaveRings counts it out; a ring without users goes away, a pipe's only with both ends.
func (b *binding) leaveRings() {
	for _, k := range b.all() {
		k.users--
		if b.exclusive {
			k.exclusive = false
		}
	}
	for _, k := range b.all() {
		if k.users == 0 && (k.peer == nil || k.peer.users == 0) {
			if k.peer != nil {
				k.dropPipe()
			} else if k.ring != nil {
				k.port.dropRing(k)
			}
		}
	}
}

// initIf writes the If: only the entries of bound rings are set.
func (b *binding) initIf() *abi.If {
	p := b.port
	ifp := (*abi.If)(ptrAt(b.mem, b.nif))
	flags := uint32(0)
	if b.mem.private {
		flags = abi.IfPrivMem
	}
	ht, hr := p.hostTx+fake(p.hostTx), p.hostRx+fake(p.hostRx)
	ifp.Init(p.name, flags, uint32(p.nTx()), uint32(p.nRx()), uint32(ht), uint32(hr))
	for _, k := range b.tx {
		ifp.SetRingOfs(uint32(k.num), int64(k.off)-int64(b.nif))
	}
	for _, k := range b.rx {
		ifp.SetRingOfs(uint32(p.nTx()+ht+k.num), int64(k.off)-int64(b.nif))
	}
	return ifp
}

// takeExtra grants extra buffers, maybe fewer than asked, and links them.
func (b *binding) takeExtra(r *abi.Register, ifp *abi.If) {
	want := int(r.ExtraBufs)
	if want > 0 {
		want = max(0, want-b.port.lessExt)
	}
	var head uint32
	for ; want > 0; want-- {
		idx, ok := b.mem.bufs.take()
		if !ok {
			break
		}
		(*relax.Uint32)(b.mem.buf(idx)).StoreRel(head)
		head = idx
		b.extra++
		b.mem.granted++
	}
	ifp.SetBufsHead(head)
}

// freeExtra walks the list that the client left and frees it, until something is in
// it that is no buffer or is free already.
func (b *binding) freeExtra(ifp *abi.If) {
	n, idx := uint32(0), ifp.BufsHead()
	for idx != 0 {
		var next uint32
		if idx >= abi.FirstBuf && int(idx) < b.mem.geo.BufNum {
			next = (*relax.Uint32)(b.mem.buf(idx)).LoadAcq()
		}
		if !b.mem.bufs.give(idx) {
			break
		}
		n++
		idx = next
	}
	// the kernel frees whatever list it finds: a buffer may come back through
	// another descriptor of the region than the one it was granted to
	if n > b.mem.granted {
		b.port.w.leaks.Ungranted += uint64(n - b.mem.granted)
		n = b.mem.granted
	}
	b.mem.granted -= n
	ifp.SetBufsHead(0)
}

// reply fills the out fields.
func (p *port) reply(r *abi.Register, b *binding) {
	r.Offset, r.MemSize = b.nif, b.mem.size
	r.TxRings, r.RxRings = uint16(p.nTx()), uint16(p.nRx())
	r.TxSlots, r.RxSlots = slotsOf(p.tx), slotsOf(p.rx)
	r.HostTxRings, r.HostRxRings = uint16(p.hostTx), uint16(p.hostRx)
	r.MemID, r.ExtraBufs = b.mem.id, b.extra
}

func slotsOf(r []*kring) uint32 {
	if len(r) == 0 {
		return 0
	}
	return r[0].n
}

// unbind undoes a registration, under World.mu.
func (f *file) unbind() {
	b := f.bind.Load()
	if b == nil {
		return
	}
	f.bind.Store(nil)
	ifp := (*abi.If)(ptrAt(b.mem, b.nif))
	b.leaveRings()
	b.freeExtra(ifp)
	b.mem.freeIf(b.nif)
	b.port.fds--
	b.mem.drop(f.w)
	f.w.forget(b.port)
	f.w.wake.Broadcast() // who sleeps on a ring that is gone
}

// grantOffsets checks and grants the OFFSETS option on the rings of a binding. All
// users of a ring must agree.
func (p *port) grantOffsets(o *option, b *binding) syscall.Errno {
	var mask, init, max uint64
	if o != nil {
		v := (*abi.OptionOffsets)(unsafe.Pointer(&o.data[0]))
		mask = ^uint64(0)
		switch {
		case p.cfg.NoOffsets:
			return syscall.EOPNOTSUPP
		case v.OffsetBits > 64 || v.MaxOffset > uint64(p.mem.geo.BufSize) || v.InitialOffset > v.MaxOffset:
			o.stat = uint32(syscall.EINVAL)
			return syscall.EINVAL
		case v.OffsetBits != 0 && v.OffsetBits < 64:
			mask = 1<<v.OffsetBits - 1
		}
		if v.MaxOffset > mask {
			o.stat = uint32(syscall.EINVAL)
			return syscall.EINVAL
		}
		init, max = v.InitialOffset, v.MaxOffset
	}
	for _, k := range b.all() {
		if k.users > 0 && o != nil && (k.offMask != mask || k.offMax != max || k.offInit != init) {
			o.stat = uint32(syscall.EBUSY)
			return syscall.EBUSY
		}
	}
	for _, k := range b.all() {
		if k.users == 0 && k.ring == nil {
			k.offMask, k.offInit, k.offMax = mask, init, max
		}
	}
	if o != nil {
		o.stat = 0
	}
	return 0
}
