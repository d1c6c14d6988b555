// SPDX-License-Identifier: Apache-2.0

// Package null is the device that receives nothing and swallows, and counts, what
// is sent to it. Names are "null:NAME", for example null:0. An option, after '?':
//
//	feed=N   every receive call is given a full burst of packets of N bytes, 60..1500,
//	         whose bytes nobody has written: what a receive and a send cost without any
//	         device (DPDK's net_null). Parse them no deeper than none.
package null

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/worker"
)

func init() { driver.Register("null", drv{}) }

type drv struct{}

const (
	maxQueues   = 64
	feedPackets = 8192 // the own pool of a device that feeds
)

type device struct {
	info    driver.Info
	pool    *buffer.Pool
	own     bool
	rx      []*rxQueue
	tx      []*txQueue
	mtu     atomic.Int64
	promisc atomic.Bool
	mac     atomic.Pointer[net.HardwareAddr]
}

// Open opens a null device. Without a pool it makes a small one, from which
// nothing is ever received.
func (drv) Open(ctx context.Context, name string, cfg driver.Config) (driver.Device, error) {
	full := "null:" + name
	o := driver.NewOptions(full, cfg.Options)
	feed := o.Int("feed", 0, 60, 1500)
	if err := o.Err(); err != nil {
		return nil, err
	}
	nrx, ntx := max(cfg.RxQueues, 1), max(cfg.TxQueues, 1)
	if nrx > maxQueues || ntx > maxQueues {
		return nil, fmt.Errorf("device %q: %d receive and %d send queues: allowed are 1 to %d", full, nrx, ntx, maxQueues)
	}
	d := &device{pool: cfg.Pool}
	if d.pool == nil {
		pc := buffer.PoolConfig{Name: "null", Num: max(cfg.PoolPackets, 16), Cache: -1}
		if feed > 0 {
			pc.Num, pc.Cache = max(cfg.PoolPackets, feedPackets), 0
		}
		p, err := buffer.NewPoolContext(ctx, cfg.Set, pc)
		if err != nil {
			return nil, fmt.Errorf("device %q: %w", full, err)
		}
		d.pool, d.own = p, true
	}
	d.mtu.Store(65535)
	d.promisc.Store(cfg.Promisc)
	h := fnv.New32a()
	h.Write([]byte(name))
	a := h.Sum32() // locally administered, from the name
	d.mac.Store(&net.HardwareAddr{0x02, 0x11, byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)})
	d.info = driver.Info{
		Name: full, Driver: "null", RxQueues: nrx, TxQueues: ntx,
		RxSlots: cfg.RxSlots, TxSlots: cfg.TxSlots, ZeroCopy: true, SplitDir: true, HWHash: true,
	}
	for range nrx {
		d.rx = append(d.rx, &rxQueue{pool: d.pool, feed: feed})
	}
	for range ntx {
		d.tx = append(d.tx, &txQueue{})
	}
	return d, nil
}

func (d *device) Info() driver.Info { return d.info }

func (d *device) Capability() driver.Capability {
	return driver.Capability{
		MaxRxQueues: maxQueues, MaxTxQueues: maxQueues, MinMTU: 60, MaxMTU: 65535,
		SetMTU: true, SetPromisc: true, SetMAC: true, MultiSegment: true, Link: true, VLANInFrame: true,
		ParseLayers: []meta.Layer{meta.LayerNone, meta.LayerL2, meta.LayerL3, meta.LayerL4},
	}
}

func (d *device) Rx(i int) driver.RxQueue     { return d.rx[i] }
func (d *device) Tx(i int) driver.TxQueue     { return d.tx[i] }
func (d *device) Pool() *buffer.Pool          { return d.pool }
func (d *device) MTU() int                    { return int(d.mtu.Load()) }
func (d *device) MAC() net.HardwareAddr       { return slices.Clone(*d.mac.Load()) }
func (d *device) Promisc() (bool, error)      { return d.promisc.Load(), nil }
func (d *device) SetPromisc(on bool) error    { d.promisc.Store(on); return nil }
func (d *device) Link() driver.Link           { return driver.Virtual() }
func (d *device) Start() error                { return nil }
func (d *device) Stop() error                 { return nil }
func (d *device) Drain(context.Context) error { return nil }

// SetMAC implements driver.AddressSetter.
func (d *device) SetMAC(a net.HardwareAddr) error {
	a = slices.Clone(a)
	d.mac.Store(&a)
	return nil
}

func (d *device) SetMTU(n int) error {
	if n < 60 || n > 65535 {
		return fmt.Errorf("device %q: largest frame %d: allowed are 60 to 65535", d.info.Name, n)
	}
	d.mtu.Store(int64(n))
	return nil
}

// Counters says what was swallowed.
func (d *device) Counters() map[string]uint64 {
	var n uint64
	for _, t := range d.tx {
		n += t.swallowed.LoadAcq()
	}
	return map[string]uint64{"swallowed": n}
}

// Close gives the device's own pool back.
func (d *device) Close() error {
	if !d.own {
		return nil
	}
	if err := d.pool.Close(); err != nil {
		return fmt.Errorf("device %q: %w: %w", d.info.Name, driver.ErrPacketsOut, err)
	}
	d.own = false
	return nil
}

type rxQueue struct {
	pool *buffer.Pool
	feed int // bytes of each packet, 0 = nothing ever comes
}

// Recv implements driver.RxQueue.
func (r *rxQueue) Recv(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if r.feed == 0 {
		return 0, nil
	}
	return r.pool.AllocPackets(w, pkts, r.feed), nil
}

// Drops implements driver.RxQueue.
func (*rxQueue) Drops() map[string]uint64 { return map[string]uint64{} }

// Arm implements driver.Waiter: nobody ever wakes the sleeper, and nobody sleeps on a feed.
func (r *rxQueue) Arm(func()) (fd int, due time.Duration, ready bool) { return -1, 0, r.feed > 0 }

// Disarm implements driver.Waiter.
func (*rxQueue) Disarm() {}

type txQueue struct {
	swallowed relax.Uint64
	_         relax.Pad
}

// Send implements driver.TxQueue: it frees everything.
func (t *txQueue) Send(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	buffer.FreePackets(w, pkts)
	t.swallowed.StoreRel(t.swallowed.LoadAcq() + uint64(len(pkts)))
	return len(pkts), nil
}

// Drops implements driver.TxQueue.
func (*txQueue) Drops() map[string]uint64 { return map[string]uint64{} }
