// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"errors"
	"fmt"

	"github.com/odp-go/godp/pktio/driver"
)

// Close implements driver.Device. Frames that are queued are lost (Drain sends
// them); those that the kernel never took are counted. The pool's buffers go back to the kernel with the last port of the region. While
// packets of the pool are out, driver.ErrPacketsOut: the port is free for others, and the
// region stays until a further Close finds them back. The error says what could not be
// given back.
func (d *device) Close() error {
	d.c.mu.Lock()
	defer d.c.mu.Unlock()
	if d.state.LoadAcq() != stateClosed {
		d.state.StoreSeq(stateClosed)
		for _, q := range d.tx {
			q.countUnsent()
		}
		return d.undo()
	}
	return d.giveMemory()
}

// undo gives back whatever the device holds; conn.mu is held. First the port's
// descriptors: the kernel then takes the buffers that are in slots, and the pool's are
// nobody's but ours. The region has a mapping and a descriptor of its own.
func (d *device) undo() error {
	var errs []error
	if d.unwatch != nil {
		d.unwatch()
		d.unwatch = nil
	}
	for _, q := range d.rx {
		q.giveBack()
	}
	for _, fd := range d.fds {
		if errno := d.c.k.Close(fd); errno != 0 {
			errs = append(errs, &Error{Op: "close", Device: d.name, Errno: errno})
		}
	}
	d.fds = nil
	if d.counted {
		d.counted = false
		if d.c.bases[d.base]--; d.c.bases[d.base] == 0 {
			delete(d.c.bases, d.base)
		}
	}
	return errors.Join(append(errs, d.giveMemory())...)
}

// giveMemory gives pool and region back, unless packets are out; conn.mu is held. It may
// be called again.
func (d *device) giveMemory() error {
	if d.reg == nil || d.freed {
		return nil
	}
	var errs []error
	if d.own != nil && !d.released {
		if err := d.reg.release(d.cfg.Set, d.own); errors.Is(err, driver.ErrPacketsOut) {
			return fmt.Errorf("%s: close: %w", d.name, err)
		} else if err != nil {
			errs = append(errs, fmt.Errorf("%s: close: %w", d.name, err))
		}
		d.released = true
	}
	d.freed = true
	if err := d.reg.close(); err != nil {
		errs = append(errs, &Error{Op: "give the memory region back", Device: d.name, Why: err.Error()})
	}
	return errors.Join(errs...)
}

// giveBack tells the kernel of the slots that were read since the last sync: the sender
// of a pipe waits for them, and would take their frames for unread.
func (q *rxQueue) giveBack() {
	if q.used > 0 && q.failed == nil && q.d.blocked.LoadAcq() == 0 {
		for _, fd := range q.fds {
			q.d.c.k.Ioctl(fd, q.d.num.RxSync, nil)
		}
		q.used = 0
	}
}

// Counters implements driver.Device.
func (d *device) Counters() map[string]uint64 {
	m := map[string]uint64{}
	for _, q := range d.rx {
		m["rx_syncs"] += q.syncs.LoadAcq()
		m["rx_zero_copy"] += q.moved.LoadAcq()
		m["rx_copies"] += q.copied.LoadAcq()
		m["rx_chains"] += q.chains.LoadAcq()
		m["rx_pool_empty"] += q.starved.LoadAcq()
		m["rx_zero_length"] += q.empty.LoadAcq()
		m["rx_bad_slots"] += q.badSlot.LoadAcq()
		m["rx_ring_resets"] += q.resets.LoadAcq()
		m["rx_sync_errors"] += q.syncErrs.LoadAcq()
	}
	for _, q := range d.tx {
		m["tx_syncs"] += q.syncs.LoadAcq()
		m["tx_zero_copy"] += q.moved.LoadAcq()
		m["tx_copies"] += q.copied.LoadAcq()
		m["tx_chains"] += q.chains.LoadAcq()
		m["tx_full"] += q.full.LoadAcq()
		m["tx_padded"] += q.padded.LoadAcq()
		m["tx_bad_slots"] += q.badSlot.LoadAcq()
		m["tx_ring_resets"] += q.resets.LoadAcq()
		m["tx_sync_errors"] += q.syncErrs.LoadAcq()
	}
	m["buffers_lost"] = d.reg.lost.LoadAcq()
	d.mu.Lock()
	m["faults"] = d.faults
	d.mu.Unlock()
	return m
}
