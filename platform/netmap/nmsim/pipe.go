// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"strings"
	"syscall"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// Pipes. A TX ring and the RX ring at the other end name the same buffers: txsync
// copies slots to the receiver's ring, its rxsync copies released slots back where
// the buffer was changed. So nothing is copied and nothing is lost: the sender's tail
// moves only when the receiver releases.
//
//	produced  slots ever sent       written in txsync, read in rxsync
//	given     slots ever released   written in rxsync, read in txsync

// pipePort finds or makes one end of a pipe, and with it the other.
func (w *World) pipePort(name string, r *abi.Register, mem *region, create bool) (*port, syscall.Errno) {
	if p := w.pipes[name]; p != nil {
		return p, 0
	}
	i := strings.IndexAny(name, "{}")
	parent, id := name[:i], name[i+1:]
	if parent == "" || id == "" || strings.ContainsAny(id, "{}") {
		return nil, syscall.EINVAL
	}
	if !create {
		return nil, syscall.ENODEV
	}
	var up *port
	switch {
	case strings.HasPrefix(parent, "vale"):
		var e syscall.Errno
		if up, e = w.valePort(parent, &abi.Register{}, mem, true); e != 0 {
			return nil, e
		}
	default:
		up = w.ports[parent]
	}
	tx, rx, txSlots, rxSlots := 1, 1, abi.DefSlots, abi.DefSlots
	if up != nil {
		tx, rx, txSlots, rxSlots = up.nTx(), up.nRx(), int(up.tx[0].n), int(up.rx[0].n)
		mem = up.mem
	} else if mem == nil {
		// the kernel makes a temporary interface, whose memory is private
		mem = w.privateRegion(1, 1, max(abi.DefSlots, int(r.TxSlots)), max(abi.DefSlots, int(r.RxSlots)), int(r.ExtraBufs))
	}
	wtx, wrx, wts, wrs := int(r.TxRings), int(r.RxRings), int(r.TxSlots), int(r.RxSlots)
	master := name[i] == '{'
	if !master {
		wtx, wrx, wts, wrs = wrx, wtx, wrs, wts
	}
	wish := func(v *int, want, most int) {
		if want > 0 {
			*v = min(want, most)
		}
	}
	wish(&tx, wtx, abi.MaxPipeRings)
	wish(&rx, wrx, abi.MaxPipeRings)
	wish(&txSlots, wts, abi.MaxSoftSlots)
	wish(&rxSlots, wrs, abi.MaxSoftSlots)
	txSlots, rxSlots = max(txSlots, 2), max(rxSlots, 2)
	m := &port{w: w, name: parent + "{" + id, kind: kindPipe, mem: mem}
	s := &port{w: w, name: parent + "}" + id, kind: kindPipe, mem: mem, other: m}
	m.other = s
	m.cfg.MoreFrag, s.cfg.MoreFrag = true, true
	m.addRings(tx, rx, 0, txSlots, rxSlots)
	s.addRings(rx, tx, 0, rxSlots, txSlots)
	for _, e := range []*port{m, s} {
		for n, k := range e.tx {
			k.peer = e.other.rx[n]
			k.peer.peer = k
		}
		w.pipes[e.name] = e
	}
	if master {
		return m, 0
	}
	return s, 0
}

// piped reports whether a pipe uses the port's memory.
func (p *port) piped() bool {
	for _, e := range p.w.pipes {
		if e.fds > 0 && strings.HasPrefix(e.name, p.name) && strings.IndexAny(e.name, "{}") == len(p.name) {
			return true
		}
	}
	return false
}

// forget drops a port that existed only while it was bound.
func (w *World) forget(p *port) {
	switch {
	case p.fds > 0:
	case p.kind == kindPipe && p.other.fds == 0:
		delete(w.pipes, p.name)
		delete(w.pipes, p.other.name)
		if p.mem.private && p.mem.users == 0 {
			delete(w.regions, p.mem.id)
		}
		parent := p.name[:strings.IndexAny(p.name, "{}")]
		if b, i := w.findVale(parent); b != nil {
			w.forget(b.ports[i])
		}
	case p.kind == kindVALE && !p.keep && !p.piped():
		w.dropVale(p)
	}
}

// dropPipe takes the memory of a pair of rings. Each buffer is then named by the
// sender's slot: what the receiver holds now is in its own slots.
func (k *kring) dropPipe() {
	t, r := k, k.peer
	if !t.tx {
		t, r = r, t
	}
	t.lock()
	r.lock()
	if t.ring != nil && r.ring != nil {
		for i := r.hwcur; i != r.hwtail; i = r.next(i) {
			idx, n, fl := r.ring.Slot(i).Load()
			t.ring.Slot(i).Store(idx, n, fl)
		}
	}
	for _, x := range []*kring{t, r} {
		if x.ring != nil {
			x.dropLocked()
		}
		x.unlock()
		x.notify()
	}
}

// pipeTx is the txsync of a pipe: only complete frames cross.
func (k *kring) pipeTx() bool {
	r := k.peer
	end := k.hwcur
	for i := k.hwcur; i != k.rhead; {
		idx, n, fl := k.ring.Slot(i).Load()
		if !k.validBuf(idx) || uint32(n) > k.bufSize {
			return false
		}
		i = k.next(i)
		if fl&abi.SlotMoreFrag == 0 {
			end = i
		}
	}
	var slots, frames, bytes uint64
	for i := k.hwcur; i != end; i = k.next(i) {
		s := k.ring.Slot(i)
		idx, n, fl := s.Load()
		if !k.validBuf(idx) || uint32(n) > k.bufSize {
			idx, n = k.dma[i], 0 // changed between the two looks
		}
		r.ring.Slot(i).SetPtr(s.Ptr())
		r.ring.Slot(i).Store(idx, n, fl&abi.SlotMoreFrag)
		s.Store(idx, n, fl&^abi.SlotBufChanged)
		k.dma[i] = idx
		slots++
		bytes += uint64(n)
		if fl&abi.SlotMoreFrag == 0 {
			frames++
		}
	}
	k.hwcur = end
	if slots > 0 {
		r.produced.StoreSeq(r.produced.LoadAcq() + slots) // partner: pipeRx
		r.notify()
		add(&k.c.frames, frames)
		add(&k.c.bytes, bytes)
	}
	for rel := r.given.LoadAcq(); k.collected != rel; k.collected++ { // partner: pipeRx
		k.txDone = k.next(k.txDone)
	}
	k.hwtail = k.prev(k.txDone)
	return true
}

// pipeRx is the rxsync of a pipe.
func (k *kring) pipeRx() bool {
	t := k.peer
	for i := k.hwcur; i != k.rhead; i = k.next(i) {
		if idx, _, _ := k.ring.Slot(i).Load(); !k.validBuf(idx) {
			return false
		}
	}
	var back uint64
	for i := k.hwcur; i != k.rhead; i = k.next(i) {
		idx, n, fl := k.ring.Slot(i).Load()
		if fl&abi.SlotBufChanged != 0 && k.validBuf(idx) {
			t.ring.Slot(i).Store(idx, n, abi.SlotBufChanged)
			k.ring.Slot(i).Store(idx, n, 0)
		}
		back++
	}
	k.hwcur = k.rhead
	if back > 0 {
		k.given.StoreSeq(k.given.LoadAcq() + back)
		t.notify()
	}
	var frames uint64
	for upto := k.produced.LoadAcq(); k.collected != upto; k.collected++ {
		if _, _, fl := k.ring.Slot(k.hwtail).Load(); fl&abi.SlotMoreFrag == 0 {
			frames++
		}
		k.hwtail = k.next(k.hwtail)
	}
	add(&k.c.frames, frames)
	return true
}
