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
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/internal/nic"
	"github.com/odp-go/godp/queue"
)

const defaultLinkWait = 10 * time.Second // attaching a program resets many NICs

type device struct {
	nic.Port
	ifname string // at open
	mac    net.HardwareAddr
	prog   program
	u      *umem
	socks  []*xsk // one for each queue of the interface
	rx     []*rxQueue
	tx     []*txQueue
	pool   *buffer.Pool
	how    string

	mu     sync.Mutex // guards closed, and the sockets against statistics
	closed bool       // sockets

	released bool // the UMEM; Close only
}

// Info implements driver.Device.
func (d *device) Info() driver.Info {
	i := driver.Info{
		Name: d.Name, Driver: "afxdp", RxQueues: len(d.rx), TxQueues: len(d.tx), RxSlots: int(d.slots()), TxSlots: int(d.slots()),
		MemID: d.u.pool.Index(), ZeroCopy: d.pool == d.u.pool, SplitDir: true, HWHash: len(d.rx) > 1,
		Notes: append([]string{d.how}, d.Notes()...),
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
		MaxRxQueues: len(d.socks), MaxTxQueues: len(d.socks), MinMTU: nic.MinFrame, MaxMTU: d.maxFrame(), SetMTU: true, SetPromisc: true,
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

// SetMTU implements driver.Device: it changes the interface's.
func (d *device) SetMTU(frame int) error {
	return d.ChangeMTU(frame, d.maxFrame())
}

// MAC implements driver.Device.
func (d *device) MAC() net.HardwareAddr { return append(net.HardwareAddr(nil), d.mac...) }

// SetPromisc implements driver.Device: the kernel takes it back when the process ends.
func (d *device) SetPromisc(on bool) error {
	if err := d.Handle.SetPromisc(on); err != nil {
		return d.Fail("set promiscuous mode", err, "")
	}
	return nil
}

// Start implements driver.Device: it waits for the link, and makes the program give
// frames to the sockets.
func (d *device) Start() error {
	if d.State.LoadAcq() == nic.StateClosed {
		return queue.ErrClosed
	}
	if err := d.AwaitLink(defaultLinkWait); err != nil {
		return err
	}
	for _, s := range d.socks {
		if err := d.Gate.Do("bpf(BPF_MAP_UPDATE_ELEM)", func() error { return d.prog.steer(s.queue, s.fd) }); err != nil {
			return d.Fail(fmt.Sprintf("give frames of queue %d to the socket", s.queue), err, "")
		}
	}
	d.State.StoreSeq(nic.StateRunning)
	return nil
}

// Stop implements driver.Device: frames go to the kernel again.
func (d *device) Stop() error {
	if d.State.LoadAcq() == nic.StateClosed {
		return queue.ErrClosed
	}
	d.State.StoreSeq(nic.StateStopped)
	for _, s := range d.socks {
		if err := d.prog.steer(s.queue, -1); err != nil {
			return d.Fail("stop", err, "")
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
		if d.Blocked.LoadAcq() != 0 {
			return &nic.Error{Op: "drain", Device: d.Name, Why: "the interface is down: frames that were queued are lost when the port is closed"}
		}
		select {
		case <-ctx.Done():
			return &nic.Error{Op: "drain", Device: d.Name, Err: context.Cause(ctx), Why: "frames are still queued"}
		case <-time.After(50 * time.Microsecond):
		}
	}
}

// Counters implements driver.Device.
func (d *device) Counters() map[string]uint64 {
	m := map[string]uint64{"link_downs": d.Downs()}
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
	if d.State.LoadAcq() != nic.StateClosed {
		d.State.StoreSeq(nic.StateClosed)
		d.undo()
	}
	if d.released {
		return nil
	}
	err := d.u.release(d.Name)
	d.released = err == nil
	return err
}

// undo gives back what Open took but for the UMEM. The program goes first: nothing is on
// its way to a socket that is being closed.
func (d *device) undo() {
	d.Unwatch()
	d.prog.detach()
	d.closeSockets()
	d.Detach()
}

// closeSockets closes the sockets and takes their frames back.
func (d *device) closeSockets() {
	for _, s := range d.socks {
		d.statistics(s)
	}
	d.mu.Lock()
	d.closed = d.State.LoadAcq() == nic.StateClosed
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
	if d.State.LoadAcq() != nic.StateClosed {
		d.socks = nil
	}
}
