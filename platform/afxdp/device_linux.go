// SPDX-License-Identifier: Apache-2.0

package afxdp

import (
	"context"
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
	blockedDown uint32 = 1
	blockedGone uint32 = 2
)

const defaultLinkWait = 10 * time.Second // attaching a program resets many NICs

type device struct {
	name    string // with the prefix
	ifname  string // at open
	cfg     driver.Config
	gate    nic.Gate
	h       *nic.Handle
	mac     net.HardwareAddr
	prog    program
	u       *umem
	socks   []*xsk // one for each queue of the interface
	rx      []*rxQueue
	tx      []*txQueue
	pool    *buffer.Pool
	how     string
	unwatch func()
	state   relax.Uint32
	blocked relax.Uint32
	mtu     relax.Uint32 // of now

	mu     sync.Mutex // guards what follows, and the sockets against statistics
	notes  []string
	downs  uint64
	closed bool // sockets

	released bool // the UMEM; Close only
}

func (d *device) note(msg string) {
	d.mu.Lock()
	d.notes = append(d.notes, msg)
	d.mu.Unlock()
	if d.cfg.Log != nil {
		d.cfg.Log.Warn(msg, "device", d.name)
	}
}

func (d *device) fault(why string, err error) error {
	f := &nic.Fault{Device: d.name, Why: why, Err: err}
	if d.cfg.Log != nil {
		d.cfg.Log.Warn(f.Error(), "device", d.name)
	}
	return f
}

// changed hears of the state of the interface.
func (d *device) changed(s nic.State) {
	if s.MTU > 0 {
		d.mtu.StoreRel(uint32(s.MTU))
	}
	switch was := d.blocked.LoadAcq(); {
	case was == blockedGone:
	case s.Gone:
		d.blocked.StoreSeq(blockedGone)
	case !s.Up:
		d.blocked.StoreSeq(blockedDown)
		if was == 0 {
			d.mu.Lock()
			d.downs++
			d.mu.Unlock()
		}
	default:
		d.blocked.StoreSeq(0)
	}
}

// Info implements driver.Device.
func (d *device) Info() driver.Info {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := driver.Info{
		Name: d.name, Driver: "afxdp", RxQueues: len(d.rx), TxQueues: len(d.tx), RxSlots: int(d.slots()), TxSlots: int(d.slots()),
		MemID: d.u.pool.Index(), ZeroCopy: d.pool == d.u.pool, SplitDir: true, HWHash: len(d.rx) > 1,
		Notes: append([]string{d.how}, d.notes...),
	}
	if !i.ZeroCopy {
		i.Why = fmt.Sprintf("packets go to pool %q, which is not the pool of the UMEM; open it without a pool", d.pool.Name())
	}
	return i
}

func (d *device) slots() uint32 { return d.socks[0].slots }

// Capability implements driver.Device.
func (d *device) Capability() driver.Capability {
	return driver.Capability{
		MaxRxQueues: len(d.socks), MaxTxQueues: len(d.socks), MinMTU: 68 + ethHeader, MaxMTU: d.maxFrame(), SetMTU: true, SetPromisc: true,
		MultiSegment: true, Link: true, VLANInFrame: true,
		ParseLayers: []meta.Layer{meta.LayerNone, meta.LayerL2, meta.LayerL3, meta.LayerL4},
	}
}

func (d *device) maxFrame() int { return int(d.u.size) - headroom - tags }

// Rx implements driver.Device.
func (d *device) Rx(i int) driver.RxQueue { return d.rx[i] }

// Tx implements driver.Device.
func (d *device) Tx(i int) driver.TxQueue { return d.tx[i] }

// Pool implements driver.Device.
func (d *device) Pool() *buffer.Pool { return d.pool }

// MTU implements driver.Device.
func (d *device) MTU() int { return int(d.mtu.LoadAcq()) + ethHeader }

// SetMTU implements driver.Device: it changes the interface's.
func (d *device) SetMTU(frame int) error {
	if frame < 68+ethHeader || frame > d.maxFrame() {
		return &nic.Error{Op: "set the MTU", Device: d.name, Why: fmt.Sprintf("a frame of %d bytes", frame), Cure: fmt.Sprintf("allowed are %d to %d", 68+ethHeader, d.maxFrame())}
	}
	if err := d.h.SetMTU(frame - ethHeader); err != nil {
		return d.fail("set the MTU", err, "")
	}
	d.mtu.StoreRel(uint32(frame - ethHeader))
	return nil
}

// MAC implements driver.Device.
func (d *device) MAC() net.HardwareAddr { return append(net.HardwareAddr(nil), d.mac...) }

// Promisc implements driver.Device.
func (d *device) Promisc() (bool, error) {
	l, err := d.h.Link()
	return l.Promisc > 0, err
}

// SetPromisc implements driver.Device: the kernel takes it back when the process ends.
func (d *device) SetPromisc(on bool) error {
	if err := d.h.SetPromisc(on); err != nil {
		return d.fail("set promiscuous mode", err, "")
	}
	return nil
}

// Link implements driver.Device.
func (d *device) Link() driver.Link {
	l, err := d.h.Link()
	return driver.Link{Known: true, Up: err == nil && l.Up && l.Running}
}

// Start implements driver.Device: it waits for the link, and makes the program give
// frames to the sockets.
func (d *device) Start() error {
	if d.state.LoadAcq() == stateClosed {
		return queue.ErrClosed
	}
	wait := d.cfg.LinkWait
	if wait == 0 {
		wait = defaultLinkWait
	}
	end := time.Now().Add(wait)
	for wait > 0 && !d.Link().Up && d.blocked.LoadAcq() != blockedGone {
		if time.Now().After(end) {
			if err := d.refuse("start", fmt.Sprintf("no link after %v: check the cable and the other side, or give it more time (linkwait=)", wait)); err != nil {
				return err
			}
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	for _, s := range d.socks {
		if err := d.gate.Do("bpf(BPF_MAP_UPDATE_ELEM)", func() error { return d.prog.steer(s.queue, s.fd) }); err != nil {
			return d.fail(fmt.Sprintf("give frames of queue %d to the socket", s.queue), err, "")
		}
	}
	d.state.StoreSeq(stateRunning)
	return nil
}

// Stop implements driver.Device: frames go to the kernel again.
func (d *device) Stop() error {
	if d.state.LoadAcq() == stateClosed {
		return queue.ErrClosed
	}
	d.state.StoreSeq(stateStopped)
	for _, s := range d.socks {
		if err := d.prog.steer(s.queue, -1); err != nil {
			return d.fail("stop", err, "")
		}
	}
	return nil
}

// Drain implements driver.Device: it kicks until the kernel has taken everything.
func (d *device) Drain(ctx context.Context) error {
	for {
		left := false
		for _, s := range d.socks {
			if s.unsent() {
				s.wakeTx()
				left = left || s.unsent()
			}
		}
		if !left {
			return nil
		}
		if d.blocked.LoadAcq() != 0 {
			return &nic.Error{Op: "drain", Device: d.name, Why: "the interface is down: frames that were queued are lost when the port is closed"}
		}
		select {
		case <-ctx.Done():
			return &nic.Error{Op: "drain", Device: d.name, Err: context.Cause(ctx), Why: "frames are still queued"}
		case <-time.After(50 * time.Microsecond):
		}
	}
}

// Counters implements driver.Device.
func (d *device) Counters() map[string]uint64 {
	d.mu.Lock()
	m := map[string]uint64{"link_downs": d.downs}
	d.mu.Unlock()
	for _, q := range d.rx {
		m["rx_moved"] += q.moved.LoadAcq()
		m["rx_copied"] += q.copied.LoadAcq()
		m["rx_pool_empty"] += q.starved.LoadAcq()
	}
	for _, q := range d.tx {
		m["tx_moved"] += q.moved.LoadAcq()
		m["tx_copied"] += q.copied.LoadAcq()
		m["tx_kicks"] += q.kicks.LoadAcq()
		m["tx_full"] += q.full.LoadAcq()
	}
	return m
}

// statistics asks the kernel while the socket is open; afterwards what it said last.
func (d *device) statistics(s *xsk) unix.XDPStatistics {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		s.last = s.statistics()
	}
	return s.last
}

// Close implements driver.Device.
func (d *device) Close() error {
	if d.state.LoadAcq() != stateClosed {
		d.state.StoreSeq(stateClosed)
		d.undo()
	}
	if d.released {
		return nil
	}
	err := d.u.release(d.name)
	d.released = err == nil
	return err
}

// undo gives back what Open took but for the UMEM. The program goes first: nothing is on
// its way to a socket that is being closed.
func (d *device) undo() {
	if d.unwatch != nil {
		d.unwatch()
		d.unwatch = nil
	}
	d.prog.detach()
	d.closeSockets()
	if d.h != nil {
		d.h.Close()
	}
}

// closeSockets closes the sockets and takes their frames back.
func (d *device) closeSockets() {
	for _, s := range d.socks {
		d.statistics(s)
	}
	d.mu.Lock()
	d.closed = d.state.LoadAcq() == stateClosed
	for _, s := range d.socks {
		s.closeSocket()
	}
	d.mu.Unlock()
	umemMu.Lock()
	defer umemMu.Unlock()
	for _, s := range d.socks {
		if s.id != 0 {
			s.u.reclaim(s)
		}
	}
	if d.state.LoadAcq() != stateClosed {
		d.socks = nil
	}
}
