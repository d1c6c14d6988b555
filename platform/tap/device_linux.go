// SPDX-License-Identifier: Apache-2.0

package tap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/internal/nic"
	"github.com/odp-go/godp/platform/internal/vnet"
	"github.com/odp-go/godp/queue"
)

func init() { driver.Register("tap", drv{}) }

// drv opens tap interfaces. gate is closed by tests.
type drv struct{ gate nic.Gate }

const (
	maxQueues      = 64
	defaultPackets = 8192
	ethHeader      = 14
	maxFrameLen    = 65535
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

type device struct {
	name    string // with the prefix
	cfg     driver.Config
	gate    nic.Gate
	h       *nic.Handle
	mtu0    int
	vnet    bool
	fds     []int
	rx      []*rxQueue
	tx      []*txQueue
	pool    *buffer.Pool
	ownPool bool
	unwatch func()
	state   relax.Uint32
	blocked relax.Uint32

	mu    sync.Mutex
	notes []string
}

// Open implements driver.Driver.
func (v drv) Open(_ context.Context, name string, cfg driver.Config) (driver.Device, error) {
	d := &device{name: "tap:" + name, cfg: cfg, gate: v.gate}
	o := driver.NewOptions(d.name, cfg.Options)
	d.vnet = o.Bool("vnet", true)
	up := o.Bool("up", true)
	if err := o.Err(); err != nil {
		return nil, err
	}
	if err := d.open(name, up); err != nil {
		d.undo()
		return nil, err
	}
	return d, nil
}

func (d *device) fail(op string, err error, cure string) error {
	return &nic.Error{Op: op, Device: d.name, Err: err, Cure: cure}
}

func (d *device) refuse(what, why string) error {
	if d.cfg.Strict {
		return &nic.Error{Op: what, Device: d.name, Why: why, Cure: "or open it without Strict"}
	}
	d.mu.Lock()
	d.notes = append(d.notes, what+": "+why)
	d.mu.Unlock()
	if d.cfg.Log != nil {
		d.cfg.Log.Warn(what+": "+why, "device", d.name)
	}
	return nil
}

func (d *device) open(name string, up bool) error {
	nrx, ntx := max(d.cfg.RxQueues, 1), max(d.cfg.TxQueues, 1)
	if nrx > maxQueues || ntx > maxQueues {
		return &nic.Error{Op: "open", Device: d.name, Why: fmt.Sprintf("%d receive and %d send queues", nrx, ntx), Cure: fmt.Sprintf("allowed are 1 to %d", maxQueues)}
	}
	if len(name) >= unix.IFNAMSIZ {
		return &nic.Error{Op: "open", Device: d.name, Why: fmt.Sprintf("a name of %d characters", len(name)), Cure: fmt.Sprintf("allowed are up to %d", unix.IFNAMSIZ-1)}
	}
	for range nrx {
		if err := d.attach(name, nrx > 1); err != nil {
			return err
		}
	}
	var err error
	if d.h, err = nic.Open(d.gate, name); err != nil {
		return d.fail("open", err, "")
	}
	l, err := d.h.Link()
	if err != nil {
		return d.fail("ask for the link", err, "")
	}
	d.mtu0 = l.MTU
	if up && !l.Up {
		if err := d.gate.Do("ioctl(SIOCSIFFLAGS)", d.h.SetUp); err != nil {
			if err := d.refuse("bring the interface up", fmt.Sprintf("%v: ip link set dev %s up", err, name)); err != nil {
				return err
			}
		}
	}
	if d.cfg.RxSlots > 0 || d.cfg.TxSlots > 0 {
		if err := d.refuse("ring sizes", "a tap interface has a queue in the kernel instead: ip link set dev "+name+" txqueuelen N"); err != nil {
			return err
		}
	}
	if d.pool = d.cfg.Pool; d.pool == nil {
		n := d.cfg.PoolPackets
		if n == 0 {
			n = defaultPackets
		}
		if d.pool, err = buffer.NewPool(d.cfg.Set, buffer.PoolConfig{Name: "tap " + name, Num: n, Strict: d.cfg.Strict}); err != nil {
			return d.fail("make the pool", err, "")
		}
		d.ownPool = true
	}
	for i := range nrx {
		d.rx = append(d.rx, newRx(d, d.fds[i]))
	}
	for i := range ntx {
		d.tx = append(d.tx, newTx(d, d.fds[i%nrx]))
	}
	d.unwatch, err = d.h.Watch(func(s nic.State) {
		switch {
		case s.Gone:
			d.blocked.StoreSeq(blockedGone)
		case d.blocked.LoadAcq() == blockedGone:
		case !s.Up:
			d.blocked.StoreSeq(blockedDown)
		default:
			d.blocked.StoreSeq(0)
		}
	})
	if err != nil {
		return d.fail("watch the link", err, "")
	}
	return nil
}

// attach opens one queue of the interface, the first one makes it.
func (d *device) attach(name string, multi bool) error {
	fd := -1
	err := d.gate.Do("open(/dev/net/tun)", func() (err error) {
		fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		return err
	})
	if err != nil {
		cure := "modprobe tun"
		if nic.Denied(err) {
			cure = "chmod 0666 /dev/net/tun, or run as root"
		}
		return d.fail("open /dev/net/tun", err, cure)
	}
	d.fds = append(d.fds, fd)
	flags := uint16(unix.IFF_TAP | unix.IFF_NO_PI)
	if multi {
		flags |= unix.IFF_MULTI_QUEUE
	}
	if d.vnet {
		flags |= unix.IFF_VNET_HDR
	}
	r, err := unix.NewIfreq(name)
	if err != nil {
		return d.fail("name the interface", err, "")
	}
	r.SetUint16(flags)
	if err := d.gate.Do("ioctl(TUNSETIFF)", func() error { return unix.IoctlIfreq(fd, unix.TUNSETIFF, r) }); err != nil {
		cure := ""
		switch {
		case nic.Denied(err):
			cure = "run as root, or make it for the user once: ip tuntap add dev " + name + " mode tap user NAME"
		case errors.Is(err, unix.EBUSY):
			cure = "another program has it: give another name"
		case errors.Is(err, unix.EINVAL):
			cure = "an interface of that name exists and is no tap, or has other flags: ip -d link show dev " + name + "; several queues need multi_queue"
		}
		return d.fail("attach", err, cure)
	}
	if !d.vnet {
		return nil
	}
	err = d.gate.Do("ioctl(TUNSETVNETHDRSZ)", func() error { return unix.IoctlSetPointerInt(fd, unix.TUNSETVNETHDRSZ, vnet.Size) })
	if err != nil {
		return d.fail("set the header size", err, "open it with vnet=0")
	}
	const csum, tso4, tso6, ecn = 1, 2, 4, 8
	if err := d.gate.Do("ioctl(TUNSETOFFLOAD)", func() error { return unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, csum|tso4|tso6|ecn) }); err != nil {
		return d.refuse("large frames", fmt.Sprintf("the kernel cuts them itself (%v)", err))
	}
	return nil
}

// Info implements driver.Device.
func (d *device) Info() driver.Info {
	d.mu.Lock()
	defer d.mu.Unlock()
	return driver.Info{
		Name: d.name, Driver: "tap", RxQueues: len(d.rx), TxQueues: len(d.tx), MemID: d.pool.Index(),
		Why: "read and write copy frames", SplitDir: true, HWHash: len(d.rx) > 1, Notes: append([]string(nil), d.notes...),
	}
}

// Capability implements driver.Device.
func (d *device) Capability() driver.Capability {
	return driver.Capability{
		MaxRxQueues: maxQueues, MaxTxQueues: maxQueues, MinMTU: 68 + ethHeader, MaxMTU: maxFrameLen, SetMTU: true,
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
		return d.fail("set the MTU", err, "")
	}
	return nil
}

// MAC implements driver.Device. The interface's address is the host's; this end of
// the wire has one derived from the name.
func (d *device) MAC() net.HardwareAddr {
	h := uint64(14695981039346656037)
	for i := 0; i < len(d.name); i++ {
		h = (h ^ uint64(d.name[i])) * 1099511628211
	}
	return net.HardwareAddr{0x02, byte(h), byte(h >> 8), byte(h >> 16), byte(h >> 24), byte(h >> 32)}
}

// Promisc implements driver.Device: every frame that the host sends comes in.
func (d *device) Promisc() (bool, error) { return true, nil }

// SetPromisc implements driver.Device.
func (d *device) SetPromisc(on bool) error {
	if on {
		return nil
	}
	return &nic.Error{Op: "leave promiscuous mode", Device: d.name, Why: "every frame that the host sends comes in"}
}

// Link implements driver.Device.
func (d *device) Link() driver.Link {
	l, err := d.h.Link()
	return driver.Link{Known: true, Up: err == nil && l.Up && l.Running}
}

// Start implements driver.Device. What the host sent before is thrown away.
func (d *device) Start() error {
	if d.state.LoadAcq() == stateClosed {
		return queue.ErrClosed
	}
	if d.state.LoadAcq() != stateRunning {
		var b [1]byte
		for _, fd := range d.fds {
			for range 100000 {
				if _, err := unix.Read(fd, b[:]); err != nil && err != unix.EINTR && err != unix.EINVAL {
					break
				}
			}
		}
	}
	d.state.StoreSeq(stateRunning)
	return nil
}

// Stop implements driver.Device.
func (d *device) Stop() error {
	if d.state.LoadAcq() == stateClosed {
		return queue.ErrClosed
	}
	d.state.StoreSeq(stateStopped)
	return nil
}

// Drain implements driver.Device: nothing is ever queued here.
func (d *device) Drain(context.Context) error { return nil }

// Counters implements driver.Device.
func (d *device) Counters() map[string]uint64 {
	m := map[string]uint64{}
	for _, q := range d.rx {
		m["rx_merged"] += q.merged.LoadAcq()
		m["rx_segments"] += q.segments.LoadAcq()
		m["rx_checksums_finished"] += q.finished.LoadAcq()
		m["rx_pool_empty"] += q.starved.LoadAcq()
	}
	for _, q := range d.tx {
		m["tx_full"] += q.full.LoadAcq()
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
	if d.h != nil {
		d.h.Close()
	}
	for _, fd := range d.fds {
		unix.Close(fd)
	}
	d.fds = nil
	if d.ownPool && d.state.LoadAcq() != stateClosed {
		d.pool.Close()
	}
}

func (d *device) fault(why string, err error) error {
	f := &nic.Fault{Device: d.name, Why: why, Err: err}
	if d.cfg.Log != nil {
		d.cfg.Log.Warn(f.Error(), "device", d.name)
	}
	return f
}
