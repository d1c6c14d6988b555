// SPDX-License-Identifier: Apache-2.0

package odptest

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/pktio/driver"
)

func init() { driver.Register("odptest", drv{}) }

// DeviceConfig describes a test device. The zero value of a field is its default.
type DeviceConfig struct {
	Name  string // default: made of the test's name
	Slots int    // frames that a receive queue holds; 0 = as many as are injected
	MTU   int    // default 65535
	// PoolPackets is the size of the pool that the device makes when the port is
	// opened without one; default 1024.
	PoolPackets int
}

// Device is a network device whose far end is the test: what the test injects
// the program receives, what the program sends the test collects. The program opens it
// by Name, as any device. All methods may be called from any goroutine.
type Device struct {
	t    testing.TB
	name string
	cfg  DeviceConfig

	mu     sync.Mutex
	moved  chan struct{} // closed and replaced when a frame was sent, or a state changed
	open   *device
	rx     []*rxQueue // by queue; they outlive a close, so that a test may inject before Open
	sent   [][]byte   // what the program sent and nobody collected
	room   int        // frames that the program may still send, < 0 = no limit
	link   driver.Link
	faults *faults
	count  map[string]uint64
}

var (
	devMu   sync.Mutex
	devices = map[string]*Device{}
)

// NewDevice makes a test device; it is forgotten at the end of the test.
func NewDevice(t testing.TB, cfg DeviceConfig) *Device {
	t.Helper()
	devMu.Lock()
	defer devMu.Unlock()
	name := cfg.Name
	for n := 0; name == "" || devices[name] != nil; n++ {
		if cfg.Name != "" {
			t.Fatalf("odptest: a device named %q exists already", name)
		}
		h := fnv.New32a()
		h.Write([]byte(t.Name()))
		name = fmt.Sprintf("t%08x-%d", h.Sum32(), n)
	}
	if cfg.MTU == 0 {
		cfg.MTU = 65535
	}
	if cfg.PoolPackets == 0 {
		cfg.PoolPackets = 1024
	}
	d := &Device{t: t, name: name, cfg: cfg, moved: make(chan struct{}), room: -1,
		link: driver.Virtual(), count: map[string]uint64{}}
	d.link.Speed = 10000
	devices[name] = d
	t.Cleanup(func() {
		devMu.Lock()
		defer devMu.Unlock()
		delete(devices, name)
	})
	return d
}

// Name returns what OpenPort takes: "odptest:NAME".
func (d *Device) Name() string { return "odptest:" + d.name }

// queue returns receive queue i. d.mu is held.
func (d *Device) queue(i int) *rxQueue {
	for len(d.rx) <= i {
		d.rx = append(d.rx, &rxQueue{d: d, drops: map[string]uint64{}})
	}
	return d.rx[i]
}

// Inject puts frames into receive queue 0. Frames that don't fit are dropped and
// counted, as a device does.
func (d *Device) Inject(frames ...[]byte) { d.InjectQueue(0, frames...) }

// InjectQueue puts frames into a receive queue. The device's faults apply.
func (d *Device) InjectQueue(i int, frames ...[]byte) {
	d.mu.Lock()
	q := d.queue(i)
	for _, b := range d.faults.apply(frames) {
		switch {
		case d.cfg.Slots > 0 && len(q.frames) >= d.cfg.Slots:
			q.drops["ring_full"]++
		case len(b) > d.cfg.MTU:
			q.drops["too_long"]++
		case !d.link.Up:
			q.drops["link_down"]++
		default:
			q.frames = append(q.frames, bytes.Clone(b))
			d.count["injected"]++
		}
	}
	wake := q.wake
	if len(q.frames) > 0 {
		q.wake = nil
	} else {
		wake = nil
	}
	d.mu.Unlock()
	if wake != nil {
		wake()
	}
}

// Pending returns the injected frames that the program has not received.
func (d *Device) Pending() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.rx {
		n += len(q.frames)
	}
	return n
}

// Frames takes what the program has sent so far, in order.
func (d *Device) Frames() [][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.sent
	d.sent = nil
	return s
}

// Collected returns what the program has sent and nobody has taken yet, without
// taking it.
func (d *Device) Collected() [][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.sent)
}

// Patience is how long Collect and Expect wait before they fail.
const Patience = 20 * time.Second

// Collect waits until the program has sent n frames that were not collected yet,
// and takes them. After Patience it fails the test, and says what did come.
func (d *Device) Collect(n int) [][]byte {
	d.t.Helper()
	deadline := time.After(Patience)
	for {
		d.mu.Lock()
		if len(d.sent) >= n {
			s := d.sent[:n:n]
			d.sent = d.sent[n:]
			d.mu.Unlock()
			return s
		}
		moved, have := d.moved, slices.Clone(d.sent)
		d.mu.Unlock()
		select {
		case <-moved:
		case <-deadline:
			d.t.Fatalf("odptest: device %s: %d frames came within %v, want %d; they are\n%s", d.name, len(have), Patience, n, list(have))
			return nil
		}
	}
}

// Expect waits for as many frames as are given and compares them, in order. A
// difference fails the test with a description of both.
func (d *Device) Expect(frames ...[]byte) {
	d.t.Helper()
	Equal(d.t, d.Collect(len(frames)), frames)
}

// ExpectSet is Expect for frames that may come in any order.
func (d *Device) ExpectSet(frames ...[]byte) {
	d.t.Helper()
	got, want := slices.Clone(d.Collect(len(frames))), slices.Clone(frames)
	slices.SortFunc(got, bytes.Compare)
	slices.SortFunc(want, bytes.Compare)
	Equal(d.t, got, want)
}

// Equal fails the test if the frames differ, with a description of the first
// differing one.
func Equal(t testing.TB, got, want [][]byte) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if bytes.Equal(got[i], want[i]) {
			continue
		}
		at := 0
		for at < min(len(got[i]), len(want[i])) && got[i][at] == want[i][at] {
			at++
		}
		t.Fatalf("odptest: frame %d differs, first in byte %d:\n got  %s\n want %s\n got  %x\n want %x",
			i, at, Describe(got[i]), Describe(want[i]), got[i], want[i])
	}
	if len(got) != len(want) {
		t.Fatalf("odptest: %d frames, want %d:\n%s", len(got), len(want), list(got))
	}
}

func list(frames [][]byte) string {
	var b bytes.Buffer
	for i, f := range frames {
		if i == 32 {
			fmt.Fprintf(&b, "  and %d more\n", len(frames)-i)
			break
		}
		fmt.Fprintf(&b, "  %d: %s\n", i, Describe(f))
	}
	return b.String()
}

// SetRoom is back-pressure: the device accepts n more frames from the program and
// is full then; n < 0 takes the limit away, which is how a device starts.
func (d *Device) SetRoom(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = n
}

// SetLink takes the link up or down. While it is down frames from the test are
// dropped, and the program's are not accepted.
func (d *Device) SetLink(up bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.link.Up = up
	d.change()
}

// change wakes who waits for a change. d.mu is held.
func (d *Device) change() {
	close(d.moved)
	d.moved = make(chan struct{})
}

// Shuffle returns the frames in a random order that the seed decides, to prove
// that a check of order sees disorder.
func Shuffle(seed uint64, frames [][]byte) [][]byte {
	s := slices.Clone(frames)
	r := rand.New(rand.NewPCG(seed, seed))
	r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

type drv struct{}

// Open implements driver.Driver.
func (drv) Open(ctx context.Context, name string, cfg driver.Config) (driver.Device, error) {
	full := "odptest:" + name
	if err := driver.NewOptions(full, cfg.Options).Err(); err != nil {
		return nil, err
	}
	devMu.Lock()
	d := devices[name]
	devMu.Unlock()
	if d == nil {
		return nil, fmt.Errorf("device %q: no such test device: make it with odptest.NewDevice first", full)
	}
	o := &device{d: d, pool: cfg.Pool, mtu: d.cfg.MTU, promisc: cfg.Promisc}
	if o.pool == nil {
		p, err := buffer.NewPool(cfg.Set, buffer.PoolConfig{Name: "odptest", Num: max(cfg.PoolPackets, d.cfg.PoolPackets)})
		if err != nil {
			return nil, fmt.Errorf("device %q: %w", full, err)
		}
		o.pool, o.own = p, true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = o
	o.info = driver.Info{Name: full, Driver: "odptest", RxQueues: max(cfg.RxQueues, 1), TxQueues: max(cfg.TxQueues, 1),
		RxSlots: d.cfg.Slots, Why: "frames are copied to and from the test", SplitDir: true}
	for i := range o.info.RxQueues {
		d.queue(i)
	}
	for range o.info.TxQueues {
		o.tx = append(o.tx, &txQueue{d: d, drops: map[string]uint64{}})
	}
	return o, nil
}

// device is a Device opened by a program.
type device struct {
	d       *Device
	info    driver.Info
	pool    *buffer.Pool
	own     bool
	mtu     int
	promisc bool
	tx      []*txQueue
}

func (o *device) Info() driver.Info { return o.info }

func (o *device) Capability() driver.Capability {
	return driver.Capability{MaxRxQueues: 64, MaxTxQueues: 64, MinMTU: 60, MaxMTU: 65535, SetMTU: true, SetPromisc: true,
		MultiSegment: true, Link: true, VLANInFrame: true, Blocking: true,
		ParseLayers: []meta.Layer{meta.LayerNone, meta.LayerL2, meta.LayerL3, meta.LayerL4}}
}

func (o *device) Rx(i int) driver.RxQueue {
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	q := o.d.queue(i)
	q.pool = o.pool
	return q
}

func (o *device) Tx(i int) driver.TxQueue { return o.tx[i] }
func (o *device) Pool() *buffer.Pool      { return o.pool }
func (o *device) MAC() net.HardwareAddr   { return net.HardwareAddr{2, 0, 0, 0, 0, 2} }
func (o *device) Start() error            { return nil }
func (o *device) Stop() error             { return nil }

func (o *device) locked(f func()) {
	o.d.mu.Lock()
	defer o.d.mu.Unlock()
	f()
}

func (o *device) MTU() (n int)                { o.locked(func() { n = o.mtu }); return }
func (o *device) SetMTU(n int) error          { o.locked(func() { o.mtu = n }); return nil }
func (o *device) Promisc() (on bool, _ error) { o.locked(func() { on = o.promisc }); return }
func (o *device) SetPromisc(on bool) error    { o.locked(func() { o.promisc = on }); return nil }
func (o *device) Link() (l driver.Link)       { o.locked(func() { l = o.d.link }); return }
func (o *device) Drain(context.Context) error { return nil }

func (o *device) Counters() map[string]uint64 {
	m := map[string]uint64{}
	o.locked(func() {
		for k, v := range o.d.count {
			m[k] = v
		}
	})
	return m
}

// Close implements driver.Device.
func (o *device) Close() error {
	o.locked(func() { o.d.open = nil })
	if !o.own || o.pool.Closed() {
		return nil
	}
	if err := o.pool.Close(); err != nil {
		return fmt.Errorf("device %q: %w: %w", o.info.Name, driver.ErrPacketsOut, err)
	}
	return nil
}
