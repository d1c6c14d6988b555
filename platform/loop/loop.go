// SPDX-License-Identifier: Apache-2.0

// Package loop is the loopback device: a frame that is sent is received again on
// the same device, in this process.
//
// Names are "loop:NAME", for example loop:0. Options, after '?', joined by '&':
//
//	seed=N    N valid UDP over IPv4 frames circulate from Start on (default 0)
//	len=N     length of those frames without FCS, 60..1500 (default 60)
//	flows=N   how many flows they belong to (default 64)
//	full=block|drop   what Send does when the receiver is full: take less
//	          (default), or drop and count
//
// The queue counts (rx=, tx=) and ring sizes (slots=) are those of every device.
// With as many send queues as receive queues, or more, send queue i feeds receive
// queue i modulo their number; with fewer, frames spread by flow.
//
// A packet received belongs to the device's pool. One that was sent from the same
// pool passes by reference, without a copy; others are copied. Loop devices that
// are opened without a pool share one pool per worker set, so packets forwarded
// among them are never copied.
package loop

import (
	"context"
	"fmt"
	"hash/fnv"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/queue/ring"
)

func init() { driver.Register("loop", drv{}) }

type drv struct{}

const (
	maxQueues    = 64
	maxSlots     = 1 << 16
	defaultSlots = 1024
	minMTU       = 60
	maxMTU       = 65535
)

// device is an open loop.
type device struct {
	name  string
	info  driver.Info
	pool  *buffer.Pool
	own   *sharedPool // nil: the pool is the program's
	drop  bool
	seed  int
	len   int
	flows int
	rx    []*rxQueue
	tx    []*txQueue

	mtu     atomic.Int64
	promisc atomic.Bool
	mac     atomic.Pointer[net.HardwareAddr]

	mu     sync.Mutex // Start, Close
	seeded bool
	closed bool
}

// Open opens a loop device.
func (drv) Open(ctx context.Context, name string, cfg driver.Config) (driver.Device, error) {
	full := "loop:" + name
	o := driver.NewOptions(full, cfg.Options)
	d := &device{
		name:  full,
		seed:  o.Int("seed", 0, 0, maxSlots),
		len:   o.Int("len", 60, 60, 1500),
		flows: o.Int("flows", 64, 1, 65536),
		drop:  o.Choice("full", "block", "drop") == "drop",
	}
	if err := o.Err(); err != nil {
		return nil, err
	}
	nrx, ntx := max(cfg.RxQueues, 1), max(cfg.TxQueues, 1)
	if nrx > maxQueues || ntx > maxQueues {
		return nil, fmt.Errorf("device %q: %d receive and %d send queues: allowed are 1 to %d", full, nrx, ntx, maxQueues)
	}
	want := max(cfg.RxSlots, cfg.TxSlots)
	if want == 0 {
		want = defaultSlots
	}
	slots := 2
	for slots < want || slots < (d.seed+nrx-1)/nrx {
		slots *= 2
	}
	if slots > maxSlots {
		return nil, fmt.Errorf("device %q: rings of %d slots: allowed are 2 to %d", full, slots, maxSlots)
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	s := h.Sum32()
	d.mac.Store(&net.HardwareAddr{0x02, 0x10, byte(s >> 24), byte(s >> 16), byte(s >> 8), byte(s)})
	d.mtu.Store(maxMTU)
	d.promisc.Store(cfg.Promisc)
	d.info = driver.Info{
		Name: full, Driver: "loop", RxQueues: nrx, TxQueues: ntx, RxSlots: slots, TxSlots: slots,
		ZeroCopy: true, SplitDir: true, HWHash: ntx < nrx,
	}
	if cfg.Pool != nil {
		d.pool = cfg.Pool
	} else {
		sp, err := acquirePool(ctx, cfg, d.seed)
		if err != nil {
			return nil, fmt.Errorf("device %q: %w", full, err)
		}
		d.own, d.pool = sp, sp.pool
		if cfg.PoolPackets > sp.pool.Num() {
			d.info.Notes = append(d.info.Notes, fmt.Sprintf("the pool that loop devices share has %d packets, %d were asked for", sp.pool.Num(), cfg.PoolPackets))
			if cfg.Strict {
				releasePool(sp)
				return nil, fmt.Errorf("device %q: open with Strict: %s: open the largest first", full, d.info.Notes[0])
			}
		}
	}
	d.info.MemID = d.pool.Index()
	d.wire(nrx, ntx, slots)
	return d, nil
}

// wire makes the queues and the rings between them.
func (d *device) wire(nrx, ntx, slots int) {
	for i := range nrx {
		d.rx = append(d.rx, &rxQueue{dev: d, index: i})
	}
	for i := range ntx {
		t := &txQueue{dev: d}
		for _, r := range d.rx {
			if ntx >= nrx && i%nrx != r.index {
				continue
			}
			f := ring.NewSPSC(slots)
			t.to = append(t.to, wire{f, r})
			r.from = append(r.from, f)
		}
		d.tx = append(d.tx, t)
	}
}

func (d *device) Info() driver.Info { return d.info }

func (d *device) Capability() driver.Capability {
	return driver.Capability{
		MaxRxQueues: maxQueues, MaxTxQueues: maxQueues, MinMTU: minMTU, MaxMTU: maxMTU,
		SetMTU: true, SetPromisc: true, SetMAC: true, MultiSegment: true, Link: true, Blocking: !d.drop, VLANInFrame: true,
		ParseLayers: []meta.Layer{meta.LayerNone, meta.LayerL2, meta.LayerL3, meta.LayerL4},
	}
}

func (d *device) Rx(i int) driver.RxQueue { return d.rx[i] }
func (d *device) Tx(i int) driver.TxQueue { return d.tx[i] }
func (d *device) Pool() *buffer.Pool      { return d.pool }
func (d *device) MTU() int                { return int(d.mtu.Load()) }

func (d *device) SetMTU(n int) error {
	if n < minMTU || n > maxMTU {
		return fmt.Errorf("device %q: largest frame %d: allowed are %d to %d", d.name, n, minMTU, maxMTU)
	}
	d.mtu.Store(int64(n))
	return nil
}

func (d *device) MAC() net.HardwareAddr { return slices.Clone(*d.mac.Load()) }

// SetMAC implements driver.AddressSetter.
func (d *device) SetMAC(a net.HardwareAddr) error {
	a = slices.Clone(a)
	d.mac.Store(&a)
	return nil
}

func (d *device) Promisc() (bool, error)      { return d.promisc.Load(), nil }
func (d *device) SetPromisc(on bool) error    { d.promisc.Store(on); return nil }
func (d *device) Link() driver.Link           { return driver.Virtual() }
func (d *device) Stop() error                 { return nil }
func (d *device) Drain(context.Context) error { return nil }
func (d *device) Counters() map[string]uint64 { return map[string]uint64{} }

// Start puts the seed in circulation, the first time.
func (d *device) Start() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seeded || d.seed == 0 {
		return nil
	}
	frames := make([]*buffer.Packet, d.seed)
	if n := d.pool.AllocPackets(nil, frames, d.len); n < d.seed {
		buffer.FreePackets(nil, frames[:n])
		return fmt.Errorf("device %q: option seed=%d: the pool gave %d of these packets, it has %d in all: make the pool larger (option packets=, or PoolPackets) or the seed smaller", d.name, d.seed, n, d.pool.Num())
	}
	d.seeded = true
	mac := *d.mac.Load()
	for i, k := range frames {
		flow := i % d.flows
		fillFrame(k.Data(), mac, flow, i)
		d.rx[flow%len(d.rx)].seeds = append(d.rx[flow%len(d.rx)].seeds, k)
	}
	for _, r := range d.rx {
		r.hasSeeds.StoreRel(1)
	}
	return nil
}

// Close frees the frames in the rings.
func (d *device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.closed = true
		var b [64]*buffer.Packet
		for _, r := range d.rx {
			buffer.FreePackets(nil, r.seeds)
			r.seeds = nil
			for _, f := range r.from {
				for n := f.DequeueEvents(buffer.EventsOf(b[:])); n > 0; n = f.DequeueEvents(buffer.EventsOf(b[:])) {
					buffer.TakeOver(b[:n])
					buffer.FreePackets(nil, b[:n])
				}
			}
		}
	}
	if d.own == nil {
		return nil
	}
	sp := d.own
	if err := releasePool(sp); err != nil {
		return fmt.Errorf("device %q: %w", d.name, err)
	}
	d.own = nil
	return nil
}
