// SPDX-License-Identifier: Apache-2.0

package afpacket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/internal/nic"
	"github.com/odp-go/godp/queue"
)

// States of a device, written by control operations, read by bursts.
const (
	stateNew uint32 = iota
	stateRunning
	stateStopped
	stateClosed
)

// Values of device.blocked, written by the watcher, read by bursts.
const (
	blockedDown uint32 = 1 // nothing can be sent; frames that came before can still be received
	blockedGone uint32 = 2 // the interface was removed
)

const defaultLinkWait = 3 * time.Second

// device is an open interface.
type device struct {
	name string // with the prefix
	cfg  driver.Config
	gate nic.Gate
	h    *nic.Handle
	mac  net.HardwareAddr
	mtu0 int // at open, without the Ethernet header

	fanout               string
	group                int
	defrag, qdisc, vnet  bool
	rx                   []*rxQueue
	tx                   []*txQueue
	pool                 *buffer.Pool
	ownPool              bool
	unwatch              func()
	state, blocked, went relax.Uint32 // went: how often the link went down

	mu      sync.Mutex // guards what follows
	notes   []string
	ctl     int // a socket for control operations, in the interface's namespace; -1 = closed
	promisc bool
}

// note keeps what the user should know, and logs it.
func (d *device) note(msg string) {
	d.mu.Lock()
	d.notes = append(d.notes, msg)
	d.mu.Unlock()
	if d.cfg.Log != nil {
		d.cfg.Log.Warn(msg, "device", d.name)
	}
}

// changed hears of the state of the interface.
func (d *device) changed(s nic.State) {
	switch was := d.blocked.LoadAcq(); {
	case was == blockedGone:
	case s.Gone:
		d.blocked.StoreSeq(blockedGone)
	case !s.Up:
		d.blocked.StoreSeq(blockedDown)
		if was == 0 {
			d.went.Add(1)
		}
	default:
		d.blocked.StoreSeq(0)
	}
}

// removed is the fault of a queue whose interface is gone.
func (d *device) removed() error { return d.fault("the interface was removed", nil) }

func (d *device) fault(why string, err error) error {
	f := &nic.Fault{Device: d.name, Why: why, Err: err}
	if d.cfg.Log != nil {
		d.cfg.Log.Warn(f.Error(), "device", d.name)
	}
	return f
}

// Info implements driver.Device.
func (d *device) Info() driver.Info {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := driver.Info{
		Name: d.name, Driver: "afpacket", RxQueues: len(d.rx), TxQueues: len(d.tx), RxSlots: int(d.rx[0].slots),
		MemID: d.pool.Index(), Why: "the kernel copies frames into the receive ring and out of the packets that are sent",
		SplitDir: true, HWHash: len(d.rx) > 1 && d.fanout == "hash", Notes: append([]string(nil), d.notes...),
	}
	return i
}

// Capability implements driver.Device.
func (d *device) Capability() driver.Capability {
	return driver.Capability{
		MaxRxQueues: maxQueues, MaxTxQueues: maxQueues, MinMTU: 68 + ethHeader, MaxMTU: maxFrameLen, SetMTU: true, SetPromisc: true,
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

// MTU implements driver.Device.
func (d *device) MTU() int {
	if l, err := d.h.Link(); err == nil {
		return l.MTU + ethHeader
	}
	return d.mtu0 + ethHeader
}

// SetMTU implements driver.Device: it changes the interface's.
func (d *device) SetMTU(frame int) error {
	if frame < 68+ethHeader || frame > maxFrameLen {
		return &nic.Error{Op: "set the MTU", Device: d.name, Why: fmt.Sprintf("a frame of %d bytes", frame), Cure: fmt.Sprintf("allowed are %d to %d", 68+ethHeader, maxFrameLen)}
	}
	if err := d.h.SetMTU(frame - ethHeader); err != nil {
		return d.fail("set the MTU", err, "the interface's driver has limits: ip -d link show")
	}
	return nil
}

// MAC implements driver.Device.
func (d *device) MAC() net.HardwareAddr { return append(net.HardwareAddr(nil), d.mac...) }

// Promisc implements driver.Device.
func (d *device) Promisc() (bool, error) {
	l, err := d.h.Link()
	return l.Promisc > 0, err
}

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
	err := d.gate.Do(name, func() error {
		return unix.SetsockoptPacketMreq(d.ctl, unix.SOL_PACKET, opt, &unix.PacketMreq{Ifindex: int32(d.h.Index), Type: unix.PACKET_MR_PROMISC})
	})
	if err != nil {
		return d.fail("set promiscuous mode", err, "")
	}
	d.promisc = on
	return nil
}

// Link implements driver.Device.
func (d *device) Link() driver.Link {
	l, err := d.h.Link()
	if err != nil {
		return driver.Link{Known: true}
	}
	return driver.Link{Up: l.Up && l.Running, Known: true}
}

// Start implements driver.Device. It waits for the link, since frames sent before
// vanish; a link that stays down is an error under Strict, else a note.
func (d *device) Start() error {
	if d.state.LoadAcq() == stateClosed {
		return queue.ErrClosed
	}
	wait := d.cfg.LinkWait
	if wait == 0 {
		wait = defaultLinkWait
	}
	end := time.Now().Add(wait)
	for l := d.Link(); wait > 0 && !l.Up && d.blocked.LoadAcq() != blockedGone; l = d.Link() {
		if time.Now().After(end) {
			if err := d.refuse("start", fmt.Sprintf("no link after %v: check the cable and the other side, or give it more time (linkwait=)", wait)); err != nil {
				return err
			}
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	for _, q := range d.rx {
		err := d.gate.Do("setsockopt(SO_DETACH_FILTER)", func() error { return unix.SetsockoptInt(q.fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0) })
		if err != nil && err != unix.ENOENT {
			return d.fail("start", err, "")
		}
	}
	d.state.StoreSeq(stateRunning)
	return nil
}

// Stop implements driver.Device: the sockets take no frames any more, and those in
// the rings wait.
func (d *device) Stop() error {
	if d.state.LoadAcq() == stateClosed {
		return queue.ErrClosed
	}
	d.state.StoreSeq(stateStopped)
	for _, q := range d.rx {
		if err := d.shut(q.fd); err != nil {
			return d.fail("stop", err, "")
		}
	}
	return nil
}

// Drain implements driver.Device: nothing is ever queued here.
func (d *device) Drain(context.Context) error { return nil }

// Counters implements driver.Device.
func (d *device) Counters() map[string]uint64 {
	m := map[string]uint64{"link_downs": uint64(d.went.LoadAcq())}
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
	if d.state.LoadAcq() != stateClosed {
		d.state.StoreSeq(stateClosed)
		d.undo()
	}
	if !d.ownPool {
		return nil
	}
	if err := d.pool.Close(); err != nil {
		return fmt.Errorf("device %q: %w: %w", d.name, driver.ErrPacketsOut, err)
	}
	d.ownPool = false
	return nil
}

// undo gives back what Open took, however far it came; the pool of an open device is
// left to Close.
func (d *device) undo() {
	if d.unwatch != nil {
		d.unwatch()
		d.unwatch = nil
	}
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
	if d.h != nil {
		d.h.Close()
	}
	if d.ownPool && d.state.LoadAcq() != stateClosed {
		d.pool.Close()
	}
}

// isGone reports whether an errno says that the interface was removed.
func isGone(err error) bool { return errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV) }
