// SPDX-License-Identifier: Apache-2.0

package afpacket

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/internal/nic"
	"github.com/odp-go/godp/queue"
)

const defaultLinkWait = 3 * time.Second

// device is an open interface.
type device struct {
	nic.Port
	mac net.HardwareAddr

	fanout              string
	group               int
	defrag, qdisc, vnet bool
	rx                  []*rxQueue
	tx                  []*txQueue
	pool                *buffer.Pool

	mu      sync.Mutex // guards what follows
	ctl     int        // a socket for control operations, in the interface's namespace; -1 = closed
	promisc bool
}

// Info implements driver.Device.
func (d *device) Info() driver.Info {
	i := driver.Info{
		Name: d.Name, Driver: "afpacket", RxQueues: len(d.rx), TxQueues: len(d.tx), RxSlots: int(d.rx[0].slots),
		MemID: d.pool.Index(), Why: "the kernel copies frames into the receive ring and out of the packets that are sent",
		SplitDir: true, HWHash: len(d.rx) > 1 && d.fanout == "hash", Notes: d.Notes(),
	}
	return i
}

// Capability implements driver.Device.
func (d *device) Capability() driver.Capability {
	return driver.Capability{
		MaxRxQueues: maxQueues, MaxTxQueues: maxQueues, MinMTU: nic.MinFrame, MaxMTU: maxFrameLen, SetMTU: true, SetPromisc: true,
		MultiSegment: true, Link: true, VLANInFrame: true,
		ParseLayers: []meta.Layer{meta.LayerNone, meta.LayerL2, meta.LayerL3, meta.LayerL4},
	}
}

// Rx implements driver.Device.
func (d *device) Rx(i int) driver.RxQueue { return d.rx[i] }

// Tx implements driver.Device.
func (d *device) Tx(i int) driver.TxQueue { return d.tx[i] }

// Pool implements driver.Device.
func (d *device) Pool() *buffer.Pool { return d.pool }

// SetMTU implements driver.Device: it changes the interface's.
func (d *device) SetMTU(frame int) error {
	return d.ChangeMTU(frame, maxFrameLen)
}

// MAC implements driver.Device.
func (d *device) MAC() net.HardwareAddr { return append(net.HardwareAddr(nil), d.mac...) }

// SetPromisc implements driver.Device. The wish is kept by a socket: the kernel takes
// it back when the process ends, however it ends.
func (d *device) SetPromisc(on bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctl < 0 {
		return queue.ErrClosed
	}
	if on == d.promisc {
		return nil
	}
	opt, name := unix.PACKET_DROP_MEMBERSHIP, "setsockopt(PACKET_DROP_MEMBERSHIP)"
	if on {
		opt, name = unix.PACKET_ADD_MEMBERSHIP, "setsockopt(PACKET_ADD_MEMBERSHIP)"
	}
	err := d.Gate.Do(name, func() error {
		return unix.SetsockoptPacketMreq(d.ctl, unix.SOL_PACKET, opt, &unix.PacketMreq{Ifindex: int32(d.Handle.Index), Type: unix.PACKET_MR_PROMISC})
	})
	if err != nil {
		return d.Fail("set promiscuous mode", err, "")
	}
	d.promisc = on
	return nil
}

// Start implements driver.Device. It waits for the link, since frames sent before
// vanish; a link that stays down is an error under Strict, else a note.
func (d *device) Start() error {
	if d.State.LoadAcq() == nic.StateClosed {
		return queue.ErrClosed
	}
	if err := d.AwaitLink(defaultLinkWait); err != nil {
		return err
	}
	for _, q := range d.rx {
		err := d.Gate.Do("setsockopt(SO_DETACH_FILTER)", func() error { return unix.SetsockoptInt(q.fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0) })
		if err != nil && err != unix.ENOENT {
			return d.Fail("start", err, "")
		}
	}
	d.State.StoreSeq(nic.StateRunning)
	return nil
}

// Stop implements driver.Device: the sockets take no frames any more, and those in
// the rings wait.
func (d *device) Stop() error {
	if d.State.LoadAcq() == nic.StateClosed {
		return queue.ErrClosed
	}
	d.State.StoreSeq(nic.StateStopped)
	for _, q := range d.rx {
		if err := d.shut(q.fd); err != nil {
			return d.Fail("stop", err, "")
		}
	}
	return nil
}

// Drain implements driver.Device: nothing is ever queued here.
func (d *device) Drain(context.Context) error { return nil }

// Counters implements driver.Device.
func (d *device) Counters() map[string]uint64 {
	m := map[string]uint64{"link_downs": d.Downs()}
	for _, q := range d.rx {
		m["rx_merged"] += q.merged.LoadAcq()
		m["rx_segments"] += q.segments.LoadAcq()
		m["rx_checksums_finished"] += q.finished.LoadAcq()
		m["rx_tags_restored"] += q.tagged.LoadAcq()
		m["rx_long"] += q.long.LoadAcq()
		m["rx_pool_empty"] += q.starved.LoadAcq()
	}
	for _, q := range d.tx {
		m["tx_full"] += q.full.LoadAcq()
		m["tx_calls"] += q.calls.LoadAcq()
	}
	return m
}

// Close implements driver.Device.
func (d *device) Close() error {
	if d.State.LoadAcq() != nic.StateClosed {
		d.State.StoreSeq(nic.StateClosed)
		d.undo()
	}
	return d.ClosePool()
}

// undo gives back what Open took, however far it came; the pool of an open device is
// left to Close.
func (d *device) undo() {
	d.Unwatch()
	d.mu.Lock()
	if d.ctl >= 0 {
		unix.Close(d.ctl)
		d.ctl = -1
	}
	d.mu.Unlock()
	for _, q := range d.rx {
		q.close()
	}
	for _, q := range d.tx {
		unix.Close(q.fd)
	}
	d.Detach()
	if d.State.LoadAcq() != nic.StateClosed {
		d.ClosePool()
	}
}

// isGone reports whether an errno says that the interface was removed.
func isGone(err error) bool { return errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV) }
