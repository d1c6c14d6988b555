// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/platform/netmap/abi"
)

// bridge is a VALE switch: it learns source addresses, without ageing, and copies
// frames into the receive rings of the ports that they go to.
type bridge struct {
	name  string
	index uint16
	ports [abi.MaxValePorts]*port // under World.mu
	live  atomic.Pointer[[]*port] // the same for syncs, by index
	macs  [1024]relax.Uint64      // address << 16 | port index + 1; a colliding one overwrites
}

// splitVale cuts "valeS:P" and checks its characters.
func splitVale(name string) (sw, p string, ok bool) {
	sw, p, ok = strings.Cut(name, ":")
	if !ok || p == "" || len(sw) >= abi.IfNameSize || len(name) >= abi.IfNameSize {
		return "", "", false
	}
	for _, c := range sw[4:] + p {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_') {
			return "", "", false
		}
	}
	return sw, p, true
}

func (w *World) findVale(name string) (*bridge, int) {
	sw, _, _ := strings.Cut(name, ":")
	b := w.bridges[sw]
	if b == nil {
		return nil, -1
	}
	for i, p := range b.ports {
		if p != nil && b.portName(p) == name {
			return b, i
		}
	}
	return nil, -1
}

func (b *bridge) portName(p *port) string {
	if p.kind == kindVALE && !p.keep {
		return p.name
	}
	return b.name + ":" + p.name // attached by the kernel
}

// valePort finds or makes a port of a switch, and the switch.
func (w *World) valePort(name string, r *abi.Register, mem *region, create bool) (*port, syscall.Errno) {
	sw, pn, ok := splitVale(name)
	if !ok {
		return nil, syscall.EINVAL
	}
	if b, i := w.findVale(name); b != nil {
		if p := b.ports[i]; p.kind == kindVALE && !p.keep {
			return p, 0
		}
		return nil, syscall.EBUSY // attached by the kernel
	}
	if w.ports[pn] != nil {
		return nil, syscall.EINVAL
	}
	if !create {
		return nil, syscall.ENXIO
	}
	b, e := w.bridge(sw)
	if e != 0 {
		return nil, e
	}
	p := w.softPort(name, r.TxRings, r.RxRings, r.TxSlots, r.RxSlots, mem, int(r.ExtraBufs))
	if e := b.join(p); e != 0 {
		w.dropBridge(b)
		return nil, e
	}
	return p, 0
}

// softPort makes a port of kind VALE with a region of its own, unless mem is given.
func (w *World) softPort(name string, tx, rx uint16, txSlots, rxSlots uint32, mem *region, extra int) *port {
	clamp := func(v, def, lo, hi int) int {
		if v == 0 {
			v = def
		}
		return min(max(v, lo), hi)
	}
	p := &port{w: w, name: name, kind: kindVALE}
	nt, nr := clamp(int(tx), 1, 1, abi.MaxValeRings), clamp(int(rx), 1, 1, abi.MaxValeRings)
	ts, rs := clamp(int(txSlots), abi.DefSlots, 2, abi.MaxSoftSlots), clamp(int(rxSlots), abi.DefSlots, 2, abi.MaxSoftSlots)
	p.addRings(nt, nr, 0, ts, rs)
	p.cfg.MoreFrag = true
	if mem == nil {
		mem = w.privateRegion(nt, nr, ts, rs, extra)
	}
	p.mem = mem
	return p
}

// privateRegion makes a region for one software port. The kernel plans for fake host
// rings, which are never made, and for pipes on the port (two; of their buffers only
// half are planned here).
func (w *World) privateRegion(nt, nr, ts, rs, extra int) *region {
	g := w.cfg.Private
	g.RingNum = max(g.RingNum, nt+nr+2+16)
	g.RingSize = max(g.RingSize, abi.RingSize+abi.SlotSize*max(ts, rs))
	g.BufNum = max(g.BufNum, abi.FirstBuf+(nt+1+4)*ts+(nr+1+4)*rs+min(extra, 524288))
	g.IfNum = max(g.IfNum, 2+8)
	id := uint16(2)
	for w.regions[id] != nil {
		id++
	}
	mem := newRegion(id, -1, true, g)
	w.regions[id] = mem
	return mem
}

func (w *World) bridge(sw string) (*bridge, syscall.Errno) {
	if b := w.bridges[sw]; b != nil {
		return b, 0
	}
	used := [abi.MaxBridges]bool{}
	for _, b := range w.bridges {
		used[b.index] = true
	}
	for i, u := range used {
		if !u {
			b := &bridge{name: sw, index: uint16(i)}
			b.publish()
			w.bridges[sw] = b
			return b, 0
		}
	}
	return nil, syscall.ENXIO
}

func (b *bridge) join(p *port) syscall.Errno {
	for i, x := range b.ports {
		if x == nil {
			b.ports[i], p.bridge, p.slot = p, b, i
			b.publish()
			return 0
		}
	}
	return syscall.ENXIO
}

func (b *bridge) publish() {
	l := append([]*port(nil), b.ports[:]...)
	b.live.Store(&l)
}

func (w *World) dropVale(p *port) {
	b := p.bridge
	if b == nil {
		return
	}
	b.ports[p.slot], p.bridge = nil, nil
	b.publish()
	for i := range b.macs {
		if b.macs[i].LoadAcq()&0xffff == uint64(p.slot+1) {
			b.macs[i].StoreRel(0)
		}
	}
	if p.mem.private && p.mem.users == 0 {
		delete(w.regions, p.mem.id)
	}
	w.dropBridge(b)
}

func (w *World) dropBridge(b *bridge) {
	for _, p := range b.ports {
		if p != nil {
			return
		}
	}
	delete(w.bridges, b.name)
}

// valeTx is the txsync of a switch port: it always completes.
func (k *kring) valeTx() bool {
	if !k.take() {
		return false
	}
	k.hwcur = k.rhead
	b := k.port.bridge
	for i := k.txDone; i != k.hwcur; {
		j, frags, n := i, 1, uint32(k.info[i]&0xffff)
		for k.info[j]&infoMore != 0 && k.next(j) != k.hwcur && frags < abi.MaxFrags {
			j = k.next(j)
			frags++
			n += uint32(k.info[j] & 0xffff)
		}
		if k.info[i]&0xffff >= 14 && b != nil {
			b.forward(k, i, frags, n)
		}
		i = k.next(j)
	}
	k.txDone = k.hwcur
	k.hwtail = k.prev(k.txDone)
	return true
}

func macAt(p unsafe.Pointer) uint64 { return *at64(p, 0) & (1<<48 - 1) }

func macHash(m uint64) uint32 { return uint32(m*mulA>>40) & 1023 }

// forward is one frame's way: learn, look up, copy.
func (b *bridge) forward(k *kring, i uint32, frags int, n uint32) {
	head := k.bytes(i)
	dst, src := macAt(unsafe.Pointer(&head[0])), macAt(unsafe.Pointer(&head[6]))
	me := uint64(k.port.slot + 1)
	if src&1 == 0 {
		if e := &b.macs[macHash(src)]; e.LoadAcq() != src<<16|me {
			e.StoreRel(src<<16 | me)
		}
	}
	add(&k.c.frames, 1)
	add(&k.c.bytes, uint64(n))
	live := *b.live.Load()
	if dst&1 == 0 {
		if e := b.macs[macHash(dst)].LoadAcq(); e>>16 == dst && e&0xffff != 0 {
			if to := live[e&0xffff-1]; to != nil && to != k.port {
				to.rx[k.num%to.nRx()].deliverFrags(k, i, frags)
			}
			return
		}
	}
	for _, to := range live {
		if to != nil && to != k.port && to.kind == kindVALE {
			to.rx[0].deliverFrags(k, i, frags)
		}
	}
}

// deliverFrags copies a frame slot by slot; each slot says how many there are.
func (d *kring) deliverFrags(k *kring, i uint32, frags int) {
	d.lockProd()
	switch {
	case d.state.LoadAcq() != ringOn:
		add(&d.c.nowhere, 1)
	case uint32(frags) > d.room():
		add(&d.c.missed, 1)
	default:
		for f := 1; f <= frags; f++ {
			fl := uint16(frags) << abi.SlotRFragsShift
			if f < frags {
				fl |= abi.SlotMoreFrag
			}
			d.put(k.bytes(i)[:min(len(k.bytes(i)), int(d.bufSize))], fl)
			i = k.next(i)
		}
		d.produced.StoreRel(d.produced.LoadAcq() + uint64(frags))
	}
	d.deliverEnd()
}
