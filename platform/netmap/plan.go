// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"fmt"

	"github.com/odp-go/godp/platform/netmap/abi"
)

// bindRx binds the receive rings. One queue over all NIC rings takes one
// descriptor for all of them; several queues take one a ring, since a descriptor
// may be synced only by the owner of all its rings:
//
//	rings 0 1 2 3 4 5 6 7, 3 queues:  queue 0: 0 1 2   queue 1: 3 4 5   queue 2: 6 7
func (o *opening) bindRx() error {
	const dir = abi.FlagRxRingsOnly
	d, queues := o.d, max(1, o.cfg.RxQueues)
	if o.joint != nil {
		queues = 1
	}
	switch o.spec.Mode {
	case abi.ModeOneNIC:
		if err := o.oneRx(o.spec.Ring); err != nil {
			return err
		}
	case abi.ModeAllNIC, abi.ModeNICSW, 0:
		if queues == 1 {
			h, err := o.bind("bind all receive rings", abi.ModeAllNIC, 0, dir)
			if err != nil {
				return err
			}
			q := d.newRx()
			if err := d.addRings(q, h, 0, h.nif.rx); err != nil {
				return err
			}
			break
		}
		if err := o.manyRx(queues); err != nil {
			return err
		}
	}
	switch o.spec.Mode {
	case abi.ModeSW, abi.ModeNICSW:
		return o.hostRx(abi.ModeSW, 0)
	case abi.ModeOneSW:
		return o.hostRx(abi.ModeOneSW, o.spec.Ring)
	}
	return nil
}

func (o *opening) oneRx(i uint16) error {
	h, err := o.bind(fmt.Sprintf("bind receive ring %d", i), abi.ModeOneNIC, i, abi.FlagRxRingsOnly)
	if err != nil {
		return err
	}
	if n := h.nif.rx; uint32(i) >= n {
		return o.noRing("receive", uint32(i), n)
	}
	return o.d.addRings(o.d.newRx(), h, uint32(i), 1)
}

func (o *opening) noRing(what string, i, n uint32) error {
	return &Error{Op: fmt.Sprintf("bind %s ring %d", what, i), Device: o.d.name, Why: fmt.Sprintf("the port has %d", n), Cure: fmt.Sprintf("rings 0 to %d", int(n)-1)}
}

func (o *opening) manyRx(queues int) error {
	d := o.d
	h, err := o.bind("bind receive ring 0", abi.ModeOneNIC, 0, abi.FlagRxRingsOnly)
	if err != nil {
		return err
	}
	n := h.nif.rx
	if queues > int(n) {
		if err := o.refuse("receive queues", fmt.Sprintf("%d asked, the port has %d receive rings", queues, n)); err != nil {
			return err
		}
		queues = int(n)
	}
	if queues > 0 && int(n)%queues != 0 {
		d.note(fmt.Sprintf("%d receive rings on %d queues: some queues serve one ring more", n, queues))
	}
	ring := uint32(0)
	for i := 0; i < queues; i++ {
		q := d.newRx()
		rings := int(n) / queues
		if i < int(n)%queues {
			rings++
		}
		for ; rings > 0; rings-- {
			if ring > 0 {
				if h, err = o.bind(fmt.Sprintf("bind receive ring %d", ring), abi.ModeOneNIC, uint16(ring), abi.FlagRxRingsOnly); err != nil {
					return err
				}
			}
			if err := d.addRings(q, h, ring, 1); err != nil {
				return err
			}
			ring++
		}
	}
	return nil
}

func (o *opening) hostRx(mode uint32, i uint16) error {
	h, err := o.bind("bind host receive rings", mode, i, abi.FlagRxRingsOnly)
	if err != nil {
		return err
	}
	nic, host := h.nif.rx, h.nif.hrx
	first, n := nic, host
	if mode == abi.ModeOneSW {
		first, n = nic+uint32(i), 1
	}
	q := o.d.newRx()
	if o.spec.Mode == abi.ModeNICSW {
		o.d.note(fmt.Sprintf("receive queue %d is the host's: what the system sends", len(o.d.rx)-1))
	}
	return o.d.addRings(q, h, first, n)
}

// bindTx binds the send rings: ring i for queue i. Rings without a queue stay with
// the system.
func (o *opening) bindTx() error {
	d, queues := o.d, max(1, o.cfg.TxQueues)
	switch o.spec.Mode {
	case abi.ModeOneNIC:
		if err := o.oneTx(uint32(o.spec.Ring), true); err != nil {
			return err
		}
	case abi.ModeAllNIC, abi.ModeNICSW, 0:
		if o.joint != nil {
			h, err := o.bind("bind all rings", abi.ModeAllNIC, 0, 0)
			if err != nil {
				return err
			}
			if err := d.addTx(h, 0); err != nil {
				return err
			}
			break
		}
		for i := 0; i < queues; i++ {
			if n := d.txRings; i > 0 && i >= int(n) {
				if err := o.refuse("send queues", fmt.Sprintf("%d asked, the port has %d send rings", queues, n)); err != nil {
					return err
				}
				break
			}
			if err := o.oneTx(uint32(i), false); err != nil {
				return err
			}
		}
	}
	switch o.spec.Mode {
	case abi.ModeSW, abi.ModeNICSW:
		return o.hostTx(abi.ModeSW, 0)
	case abi.ModeOneSW:
		return o.hostTx(abi.ModeOneSW, uint32(o.spec.Ring))
	}
	return nil
}

func (o *opening) oneTx(i uint32, asked bool) error {
	h, err := o.bind(fmt.Sprintf("bind send ring %d", i), abi.ModeOneNIC, uint16(i), abi.FlagTxRingsOnly)
	if err != nil {
		return err
	}
	n := h.nif.tx
	if o.d.txRings = n; i >= n && asked {
		return o.noRing("send", i, n)
	}
	return o.d.addTx(h, i)
}

// hostTx binds the rings that lead up into the system's stack; the first is used.
func (o *opening) hostTx(mode uint32, i uint32) error {
	h, err := o.bind("bind host send rings", mode, uint16(i), abi.FlagTxRingsOnly)
	if err != nil {
		return err
	}
	if o.spec.Mode == abi.ModeNICSW {
		o.d.note(fmt.Sprintf("send queue %d is the host's: up into the system's stack", len(o.d.tx)))
	}
	return o.d.addTx(h, h.nif.tx+i)
}

func (d *device) newRx() *rxQueue {
	q := &rxQueue{d: d}
	d.rx = append(d.rx, q)
	return q
}

// addRings adds rings first to first+n-1 of a descriptor to a queue.
func (d *device) addRings(q *rxQueue, h handle, first, n uint32) error {
	nic, host := h.nif.rx, h.nif.hrx
	d.rxRings = nic
	for i := first; i < first+n; i++ {
		if i >= nic+host {
			return &Error{Op: fmt.Sprintf("find receive ring %d", i), Device: d.name, Why: fmt.Sprintf("the port has %d and %d host rings", nic, host)}
		}
		r, err := d.ringOf("receive", h, h.nif.rxEntry(i), i, nic)
		if err != nil {
			return err
		}
		q.rings = append(q.rings, r)
	}
	q.fds = append(q.fds, h.fd)
	return nil
}

func (d *device) addTx(h handle, i uint32) error {
	if i >= h.nif.tx+h.nif.htx {
		return &Error{Op: fmt.Sprintf("find send ring %d", i), Device: d.name, Why: fmt.Sprintf("the port has %d and %d host rings", h.nif.tx, h.nif.htx)}
	}
	d.txRings = h.nif.tx
	r, err := d.ringOf("send", h, i, i, h.nif.tx)
	if err != nil {
		return err
	}
	d.tx = append(d.tx, &txQueue{d: d, g: r})
	return nil
}

// ringOf finds a ring that h binds, and starts the cursor where the kernel has it.
func (d *device) ringOf(what string, h handle, entry, i, nic uint32) (ring, error) {
	r, n, err := d.reg.ringAt(d.name, h.nif, entry)
	if err != nil {
		return ring{}, err
	}
	if r == nil {
		return ring{}, &Error{Op: fmt.Sprintf("find %s ring %d", what, i), Device: d.name, Why: "the kernel did not bind it"}
	}
	g := ring{r: r, n: n, head: r.Head(), fd: h.fd, mask: r.OffsetMask(), init: uint64(d.headroom), id: uint16(i)}
	if i >= nic {
		g.id = hostRing + uint16(i-nic)
	}
	if g.head >= g.n {
		return ring{}, &Error{Op: fmt.Sprintf("find %s ring %d", what, i), Device: d.name, Why: fmt.Sprintf("head %d of %d slots", g.head, g.n)}
	}
	return g, nil
}
