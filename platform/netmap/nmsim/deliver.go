// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"unsafe"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// Delivery into a receive ring from another port, a switch or the host stack: the
// hardware's side of the ring. The deliverer holds the ring's prod lock from
// deliverBegin to deliverEnd and writes only slots that rxsync gave to the hardware
// (given), so that it never meets the client; frames become visible in the next
// rxsync. No slot free: the frame is dropped and counted at the receiver.

func (d *kring) deliverBegin() { d.lockProd() }

// deliverEnd publishes, then looks whether somebody sleeps.
func (d *kring) deliverEnd() {
	d.unlockProd()
	d.notify()
}

// room returns the number of slots that the hardware may fill; 0 when the ring is off.
func (d *kring) room() uint32 {
	if d.state.LoadAcq() != ringOn {
		return 0
	}
	return uint32(d.given.LoadAcq() - d.produced.LoadAcq()) // partner: takeBack
}

// deliver copies the frame in TX slots [i, j] of k, n bytes in all.
func (d *kring) deliver(k *kring, i, j, n uint32) bool {
	if d.state.LoadAcq() != ringOn {
		add(&d.c.nowhere, 1)
		return false
	}
	space := d.bufSize - uint32(d.offInit)
	need := (n + space - 1) / space
	if need > d.room() || (need > 1 && !d.port.cfg.MoreFrag) {
		add(&d.c.missed, 1)
		return false
	}
	if i == j && need == 1 {
		d.put(k.bytes(i), 0)
	} else {
		d.putChain(k, i, n, need)
	}
	d.produced.StoreRel(d.produced.LoadAcq() + uint64(need))
	return true
}

// put fills the next slot. The caller has room and counts produced on.
func (d *kring) put(b []byte, fl uint16) {
	i := d.prodSlot
	p := unsafe.Add(d.buf(d.dma[i]), uintptr(d.offInit))
	copy(unsafe.Slice((*byte)(p), d.bufSize-uint32(d.offInit)), b)
	d.info[i] = uint64(len(b)) | uint64(fl)<<16
	d.prodSlot = d.next(i)
}

// putChain joins the slots of a chain and cuts them to the buffers of the receiver.
func (d *kring) putChain(k *kring, i, n, need uint32) {
	all := make([]byte, 0, n)
	for uint32(len(all)) < n {
		all = append(all, k.bytes(i)...)
		i = k.next(i)
	}
	space := d.bufSize - uint32(d.offInit)
	for f := uint32(0); f < need; f++ {
		var fl uint16
		if f < need-1 {
			fl = abi.SlotMoreFrag
		}
		d.put(all[f*space:min(n, (f+1)*space)], fl)
	}
}

// deliverBytes is deliver for a frame outside of any ring, in one go.
func (d *kring) deliverBytes(b []byte) bool {
	d.lockProd()
	ok := false
	if d.state.LoadAcq() == ringOn {
		space := int(d.bufSize - uint32(d.offInit))
		switch {
		case len(b) > space || d.room() == 0:
			add(&d.c.missed, 1)
		default:
			d.put(b, 0)
			d.produced.StoreRel(d.produced.LoadAcq() + 1)
			ok = true
		}
	}
	d.deliverEnd()
	return ok
}

// rssRing chooses the receive ring of a frame: by its addresses and ports, so that
// a flow stays on a ring.
func (p *port) rssRing(b []byte) *kring {
	n := uint32(p.cfg.RxRings)
	if n == 1 || len(b) < 14 { // the first slot of a chain may have no addresses
		return p.rx[0]
	}
	var h uint64
	if len(b) >= 38 && b[12] == 8 && b[13] == 0 {
		h = *at64(unsafe.Pointer(&b[26]), 0)*mulA ^ uint64(b[34])<<24 ^ uint64(b[35])<<16 ^ uint64(b[36])<<8 ^ uint64(b[37])
	} else {
		h = *at64(unsafe.Pointer(&b[0]), 0) << 16
	}
	return p.rx[uint32(h*mulB>>32)%n]
}
