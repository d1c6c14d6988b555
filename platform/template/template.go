// SPDX-License-Identifier: Apache-2.0

// Package template is a device that feeds a program with copies of given frames, as
// fast as it asks, and swallows what it sends: a load of known cost for measuring what a
// program does with packets, and, with Limit and Keep, for checking it.
//
//	template.Set("p0", template.Feed{Frames: frames})
//	port, err := inst.OpenPort(ctx, "template:p0", odp.PortConfig{})
//
// Receiving a burst is: allocate it, and copy the next frame into each packet (64 bytes at
// once when no frame is longer). Sending is: free it. Names are "template:NAME"; without
// a Set for NAME the feed is one UDP frame of 60 bytes.
//
// Every receive queue goes through all the frames by itself.
package template

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/worker"
)

// Feed is what the device of a name does.
type Feed struct {
	Frames [][]byte // 1 to 65536 frames of 14 to 2048 bytes, received in turn
	Limit  int      // frames that each receive queue gives after Start; 0 = no end
	Keep   int      // of the frames sent, so many are kept for Sent, from the first on
}

const (
	maxQueues = 64
	maxFrame  = 2048
	cell      = 64 // bytes copied at once
)

var (
	mu    sync.Mutex
	feeds = map[string]Feed{}
	opens = map[string]*device{}
)

func init() { driver.Register("template", drv{}) }

// Set says what the device NAME will do when it is opened next. Control plane, any
// goroutine. The frames are not copied before that.
func Set(name string, f Feed) error {
	if len(f.Frames) == 0 || len(f.Frames) > 65536 || f.Limit < 0 || f.Keep < 0 {
		return fmt.Errorf("template:%s: %d frames, limit %d, keep %d: allowed are 1 to 65536 frames and no negative numbers", name, len(f.Frames), f.Limit, f.Keep)
	}
	for i, b := range f.Frames {
		if len(b) < 14 || len(b) > maxFrame {
			return fmt.Errorf("template:%s: frame %d has %d bytes: allowed are 14 to %d", name, i, len(b), maxFrame)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	feeds[name] = f
	return nil
}

// Forget takes a Set back, and what was kept of a closed device.
func Forget(name string) {
	mu.Lock()
	defer mu.Unlock()
	delete(feeds, name)
	if d := opens[name]; d != nil && d.closed.Load() {
		delete(opens, name)
	}
}

// Sent returns copies of the first Feed.Keep frames that were sent to the device since
// it was opened last, those of queue 0 first. It may be called while the device is in
// use and after its end.
func Sent(name string) (frames [][]byte) {
	mu.Lock()
	d := opens[name]
	mu.Unlock()
	if d == nil {
		return nil
	}
	for _, t := range d.tx {
		t.mu.Lock()
		frames = append(frames, t.kept...)
		t.mu.Unlock()
	}
	return frames[:min(len(frames), d.feed.Keep)]
}

type drv struct{}

type device struct {
	info    driver.Info
	name    string
	feed    Feed
	pool    *buffer.Pool
	own     bool
	rx      []*rxQueue
	tx      []*txQueue
	running relax.Uint32
	closed  atomic.Bool
	promisc atomic.Bool
	mtu     atomic.Int64
}

// Open opens a device. Without a pool it makes one.
func (drv) Open(ctx context.Context, name string, cfg driver.Config) (driver.Device, error) {
	full := "template:" + name
	if err := driver.NewOptions(full, cfg.Options).Err(); err != nil {
		return nil, err
	}
	nrx, ntx := max(cfg.RxQueues, 1), max(cfg.TxQueues, 1)
	if nrx > maxQueues || ntx > maxQueues {
		return nil, fmt.Errorf("device %q: %d receive and %d send queues: allowed are 1 to %d", full, nrx, ntx, maxQueues)
	}
	mu.Lock()
	feed, known := feeds[name]
	mu.Unlock()
	if !known {
		feed = Feed{Frames: [][]byte{defaultFrame()}}
	}
	longest := cell
	for _, b := range feed.Frames {
		longest = max(longest, len(b))
	}
	d := &device{name: name, feed: feed, pool: cfg.Pool}
	if d.pool == nil {
		n := cfg.PoolPackets
		if n == 0 {
			n = 4096
		}
		p, err := buffer.NewPool(cfg.Set, buffer.PoolConfig{Name: "template", Num: max(n, 64)})
		if err != nil {
			return nil, fmt.Errorf("device %q: %w", full, err)
		}
		d.pool, d.own = p, true
	}
	if size := d.pool.SegCap(); size < longest {
		if d.own {
			_ = d.pool.Close()
		}
		return nil, fmt.Errorf("device %q: frames of %d bytes, but the pool's segments hold %d: use a pool with longer ones", full, longest, size)
	}
	d.mtu.Store(65535)
	d.promisc.Store(cfg.Promisc)
	d.info = driver.Info{
		Name: full, Driver: "template", RxQueues: nrx, TxQueues: ntx, RxSlots: cfg.RxSlots, TxSlots: cfg.TxSlots,
		SplitDir: true, HWHash: true, Why: "each received packet is a copy of a frame",
	}
	for range nrx {
		d.rx = append(d.rx, newRx(d, longest))
	}
	for range ntx {
		d.tx = append(d.tx, &txQueue{dev: d, keep: feed.Keep > 0})
	}
	mu.Lock()
	opens[name] = d
	mu.Unlock()
	return d, nil
}

func (d *device) Info() driver.Info { return d.info }

func (d *device) Capability() driver.Capability {
	return driver.Capability{
		MaxRxQueues: maxQueues, MaxTxQueues: maxQueues, MinMTU: 60, MaxMTU: 65535,
		SetMTU: true, SetPromisc: true, MultiSegment: true, Link: true, VLANInFrame: true,
		ParseLayers: []meta.Layer{meta.LayerNone, meta.LayerL2, meta.LayerL3, meta.LayerL4},
	}
}

func (d *device) Rx(i int) driver.RxQueue     { return d.rx[i] }
func (d *device) Tx(i int) driver.TxQueue     { return d.tx[i] }
func (d *device) Pool() *buffer.Pool          { return d.pool }
func (d *device) MTU() int                    { return int(d.mtu.Load()) }
func (d *device) MAC() net.HardwareAddr       { return net.HardwareAddr{0x02, 0, 0, 0, 0, 0} }
func (d *device) Promisc() (bool, error)      { return d.promisc.Load(), nil }
func (d *device) SetPromisc(on bool) error    { d.promisc.Store(on); return nil }
func (d *device) Link() driver.Link           { return driver.Link{Up: true, Known: true} }
func (d *device) Start() error                { d.running.StoreSeq(1); return nil }
func (d *device) Stop() error                 { d.running.StoreSeq(0); return nil }
func (d *device) Drain(context.Context) error { return nil }

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
	d.closed.Store(true)
	if !d.own {
		return nil
	}
	if err := d.pool.Close(); err != nil {
		return fmt.Errorf("device %q: %w: %w", d.info.Name, driver.ErrPacketsOut, err)
	}
	d.own = false
	return nil
}

// Arm implements driver.Waiter: there is always more, or nothing ever again.
func (r *rxQueue) Arm(func()) (fd int, due time.Duration, ready bool) {
	return -1, 0, r.dev.running.LoadAcq() != 0 && (r.limit == 0 || r.given < r.limit)
}

// Disarm implements driver.Waiter.
func (r *rxQueue) Disarm() {}

// Drops implements driver.RxQueue.
func (r *rxQueue) Drops() map[string]uint64 {
	return map[string]uint64{"pool_empty": r.empty.LoadAcq()}
}

// Send implements driver.TxQueue: it frees everything.
func (t *txQueue) Send(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if t.keep {
		t.copyOut(pkts)
	}
	buffer.FreePackets(w, pkts)
	t.swallowed.StoreRel(t.swallowed.LoadAcq() + uint64(len(pkts)))
	return len(pkts), nil
}

// Drops implements driver.TxQueue.
func (*txQueue) Drops() map[string]uint64 { return map[string]uint64{} }
