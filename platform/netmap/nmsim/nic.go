// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"unsafe"

	"github.com/odp-go/godp/platform/netmap/abi"
)

const infoMore = uint64(abi.SlotMoreFrag) << 16

// bytes views the data of TX slot i as the hardware sees it.
func (k *kring) bytes(i uint32) []byte {
	info := k.info[i]
	return unsafe.Slice((*byte)(unsafe.Add(k.buf(k.dma[i]), uintptr(info>>32))), info&0xffff)
}

// take gives the slots up to head to the hardware: it learns a buffer's address
// only where BUF_CHANGED says so (a switch port looks at the index every time).
// false is a driver's error: a slot that can't be, or a chain without its end.
func (k *kring) take() bool {
	i, end := k.hwcur, k.rhead
	every := k.port.kind != kindNIC || k.host
	chains := infoMore
	if !k.port.cfg.MoreFrag || k.host {
		chains = 0
	}
	var last, bad uint64
	for i != end {
		s := k.ring.Slot(i)
		idx, n, fl := s.Load()
		if !k.validBuf(idx) || uint32(n) > k.bufSize {
			if idx != 0 || n != 0 {
				return false // reinit empties the slot: next time it passes, unsent
			}
			idx = k.dma[i]
		}
		info := uint64(n) | uint64(fl)<<16&chains
		if k.offMask != 0 && n != 0 {
			off := s.Ptr() & k.offMask
			if off > k.offMax || off+uint64(n) > uint64(k.bufSize) {
				s.Store(0, 0, 0)
				return false
			}
			info |= off << 32
		}
		if fl&abi.SlotBufChanged != 0 || every {
			k.dma[i] = idx
		}
		if fl&(abi.SlotBufChanged|abi.SlotReport|abi.SlotMoreFrag) != 0 {
			s.Store(idx, n, fl&^(abi.SlotBufChanged|abi.SlotReport|abi.SlotMoreFrag))
		}
		k.info[i] = info
		if n < 14 && (info|last)&infoMore == 0 {
			bad++
		}
		last = info
		if i++; i == k.n {
			i = 0
		}
	}
	if last&infoMore != 0 && k.port.kind == kindNIC {
		return k.untake(end)
	}
	if bad > 0 {
		add(&k.c.bad, bad)
	}
	return true
}

// untake restores MOREFRAG where take removed it: the chain has no end yet.
func (k *kring) untake(end uint32) bool {
	for i := k.hwcur; i != end; i = k.next(i) {
		if k.info[i]&infoMore != 0 {
			idx, n, fl := k.ring.Slot(i).Load()
			k.ring.Slot(i).Store(idx, n, fl|abi.SlotMoreFrag)
		}
	}
	return false
}

// nicTx is the txsync of a NIC port or of a host ring.
func (k *kring) nicTx() bool {
	p := k.port
	if p.linkDown.LoadAcq() != 0 && !k.host {
		return true // no carrier: nothing moves
	}
	from := k.hwcur
	if from != k.rhead {
		if !k.take() {
			return false
		}
		k.hwcur = k.rhead
	}
	if k.due == nil && p.stuck.LoadAcq() == 0 {
		if from != k.hwcur || k.txDone != k.hwcur {
			k.sendOut(k.hwcur)
		}
	} else {
		k.sendDue(from)
	}
	k.hwtail = k.prev(k.txDone)
	return true
}

// sendDue is sendOut for a ring whose frames leave later.
func (k *kring) sendDue(from uint32) {
	p := k.port
	if k.due == nil || p.stuck.LoadAcq() != 0 {
		return
	}
	now := p.w.now()
	for i := from; i != k.hwcur; i = k.next(i) {
		k.due[i] = now + int64(p.cfg.TxDelay)
		k.dueSync[i] = k.syncs + uint64(p.cfg.TxDelaySyncs)
	}
	i := k.txDone
	for i != k.hwcur && k.due[i] <= now && k.dueSync[i] <= k.syncs {
		i = k.next(i)
	}
	for i != k.txDone && k.info[k.prev(i)]&infoMore != 0 && p.cfg.MoreFrag {
		i = k.prev(i)
	}
	k.sendOut(i)
}

// sendOut puts the frames in [txDone, end) on the wire: the slots are free then.
func (k *kring) sendOut(end uint32) {
	i := k.txDone
	k.txDone = end
	switch {
	case k.host:
		k.hostOut(i, end)
	case k.sink != nil:
		k.sink.run(k, i, end)
	case k.port.peer != nil:
		k.cableOut(i, end)
	default:
		var n uint64
		for ; i != end; i = k.next(i) {
			if k.info[i]&infoMore == 0 {
				n++
			}
		}
		add(&k.c.nowhere, n)
	}
}

// cableOut writes frames into the receive rings of the port at the other end.
func (k *kring) cableOut(i, end uint32) {
	var d *kring
	var frames, bytes uint64
	peer := k.port.peer
	more := k.port.cfg.MoreFrag
	for i != end {
		j, n := i, uint32(k.info[i]&0xffff)
		for more && k.info[j]&infoMore != 0 && k.next(j) != end {
			j = k.next(j)
			n += uint32(k.info[j] & 0xffff)
		}
		if n >= 14 {
			to := peer.rssRing(k.bytes(i))
			if to != d {
				if d != nil {
					d.deliverEnd()
				}
				d = to
				d.deliverBegin()
			}
			d.deliver(k, i, j, n)
			frames++
			bytes += uint64(n)
		}
		i = k.next(j)
	}
	if d != nil {
		d.deliverEnd()
	}
	add(&k.c.frames, frames)
	add(&k.c.bytes, bytes)
}

// nicRx is the rxsync of a NIC port, a host ring or a switch port.
func (k *kring) nicRx() bool {
	if !k.takeBack() {
		return false
	}
	if k.src != nil {
		k.src.fill(k)
		return true
	}
	k.collect()
	return true
}

// takeBack gives the slots that the client released to the hardware.
func (k *kring) takeBack() bool {
	i, end := k.hwcur, k.rhead
	if i == end {
		return true
	}
	every := k.port.kind != kindNIC || k.host
	m := uint64(0)
	for i != end {
		s := k.ring.Slot(i)
		idx, n, fl := s.Load()
		if !k.validBuf(idx) {
			return false
		}
		if fl&abi.SlotBufChanged != 0 || every {
			k.dma[i] = idx
		}
		if fl != 0 {
			s.Store(idx, n, 0)
		}
		m++
		if i++; i == k.n {
			i = 0
		}
	}
	k.hwcur = end
	if k.src == nil {
		k.given.StoreRel(k.given.LoadAcq() + m) // partner: deliver
	}
	return true
}

// collect shows the frames that others delivered since the last time.
func (k *kring) collect() {
	upto := k.produced.LoadAcq() // partner: deliverEnd
	i := k.hwtail
	var frames, bytes uint64
	for ; k.collected != upto; k.collected++ {
		info := k.info[i]
		if k.offMask != 0 {
			k.ring.Slot(i).SetPtr(k.offInit & k.offMask)
		}
		k.show(i, uint16(info), uint16(info>>16))
		if info&infoMore == 0 {
			frames++
		}
		bytes += info & 0xffff
		i = k.next(i)
	}
	k.hwtail = i
	add(&k.c.frames, frames)
	add(&k.c.bytes, bytes)
}
