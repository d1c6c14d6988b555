// SPDX-License-Identifier: Apache-2.0

package tap

import (
	"context"
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
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
	ethHeader      = nic.EthHeader
	maxFrameLen    = 65535
)

type device struct {
	nic.Port
	vnet bool
	fds  []int
	rx   []*rxQueue
	tx   []*txQueue
	pool *buffer.Pool
}

// Open implements driver.Driver.
func (v drv) Open(_ context.Context, name string, cfg driver.Config) (driver.Device, error) {
	d := &device{Port: nic.Port{Name: "tap:" + name, Cfg: cfg, Gate: v.gate}}
	o := driver.NewOptions(d.Name, cfg.Options)
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

func (d *device) open(name string, up bool) error {
	nrx, ntx, err := d.Queues(maxQueues)
	if err != nil {
		return err
	}
	if len(name) >= unix.IFNAMSIZ {
		return &nic.Error{Op: "open", Device: d.Name, Why: fmt.Sprintf("a name of %d characters", len(name)), Cure: fmt.Sprintf("allowed are up to %d", unix.IFNAMSIZ-1)}
	}
	for range nrx {
		if err := d.attach(name, nrx > 1); err != nil {
			return err
		}
	}
	l, err := d.Attach(name)
	if err != nil {
		return err
	}
	if up && !l.Up {
		if err := d.Gate.Do("ioctl(SIOCSIFFLAGS)", d.Handle.SetUp); err != nil {
			if err := d.Refuse("bring the interface up", fmt.Sprintf("%v: ip link set dev %s up", err, name)); err != nil {
				return err
			}
		}
	}
	if d.Cfg.RxSlots > 0 || d.Cfg.TxSlots > 0 {
		if err := d.Refuse("ring sizes", "a tap interface has a queue in the kernel instead: ip link set dev "+name+" txqueuelen N"); err != nil {
			return err
		}
	}
	if d.pool = d.Cfg.Pool; d.pool == nil {
		n := d.Cfg.PoolPackets
		if n == 0 {
			n = defaultPackets
		}
		if d.pool, err = buffer.NewPool(d.Cfg.Set, buffer.PoolConfig{Name: "tap " + name, Num: n, Strict: d.Cfg.Strict}); err != nil {
			return d.Fail("make the pool", err, "")
		}
		d.Own = d.pool
	}
	for i := range nrx {
		d.rx = append(d.rx, newRx(d, d.fds[i]))
	}
	for i := range ntx {
		d.tx = append(d.tx, newTx(d, d.fds[i%nrx]))
	}
	return d.Watch()
}

// attach opens one queue of the interface, the first one makes it.
func (d *device) attach(name string, multi bool) error {
	fd := -1
	err := d.Gate.Do("open(/dev/net/tun)", func() (err error) {
		fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		return err
	})
	if err != nil {
		cure := "modprobe tun"
		if nic.Denied(err) {
			cure = "chmod 0666 /dev/net/tun, or run as root"
		}
		return d.Fail("open /dev/net/tun", err, cure)
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
		return d.Fail("name the interface", err, "")
	}
	r.SetUint16(flags)
	if err := d.Gate.Do("ioctl(TUNSETIFF)", func() error { return unix.IoctlIfreq(fd, unix.TUNSETIFF, r) }); err != nil {
		cure := ""
		switch {
		case nic.Denied(err):
			cure = "run as root, or make it for the user once: ip tuntap add dev " + name + " mode tap user NAME"
		case errors.Is(err, unix.EBUSY):
			cure = "another program has it: give another name"
		case errors.Is(err, unix.EINVAL):
			cure = "an interface of that name exists and is no tap, or has other flags: ip -d link show dev " + name + "; several queues need multi_queue"
		}
		return d.Fail("attach", err, cure)
	}
	if !d.vnet {
		return nil
	}
	err = d.Gate.Do("ioctl(TUNSETVNETHDRSZ)", func() error { return unix.IoctlSetPointerInt(fd, unix.TUNSETVNETHDRSZ, vnet.Size) })
	if err != nil {
		return d.Fail("set the header size", err, "open it with vnet=0")
	}
	const csum, tso4, tso6, ecn = 1, 2, 4, 8
	if err := d.Gate.Do("ioctl(TUNSETOFFLOAD)", func() error { return unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, csum|tso4|tso6|ecn) }); err != nil {
		return d.Refuse("large frames", fmt.Sprintf("the kernel cuts them itself (%v)", err))
	}
	return nil
}

// Info implements driver.Device.
func (d *device) Info() driver.Info {
	return driver.Info{
		Name: d.Name, Driver: "tap", RxQueues: len(d.rx), TxQueues: len(d.tx), MemID: d.pool.Index(),
		Why: "read and write copy frames", SplitDir: true, HWHash: len(d.rx) > 1, Notes: d.Notes(),
	}
}

// Capability implements driver.Device.
func (d *device) Capability() driver.Capability {
	return driver.Capability{
		MaxRxQueues: maxQueues, MaxTxQueues: maxQueues, MinMTU: nic.MinFrame, MaxMTU: maxFrameLen, SetMTU: true,
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

// MAC implements driver.Device. The interface's address is the host's; this end of
// the wire has one derived from the name.
func (d *device) MAC() net.HardwareAddr {
	h := uint64(14695981039346656037)
	for i := 0; i < len(d.Name); i++ {
		h = (h ^ uint64(d.Name[i])) * 1099511628211
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
	return &nic.Error{Op: "leave promiscuous mode", Device: d.Name, Why: "every frame that the host sends comes in"}
}

// Start implements driver.Device. What the host sent before is thrown away.
func (d *device) Start() error {
	if d.State.LoadAcq() == nic.StateClosed {
		return queue.ErrClosed
	}
	if d.State.LoadAcq() != nic.StateRunning {
		var b [1]byte
		for _, fd := range d.fds {
			for range 100000 {
				if _, err := unix.Read(fd, b[:]); err != nil && err != unix.EINTR && err != unix.EINVAL {
					break
				}
			}
		}
	}
	d.State.StoreSeq(nic.StateRunning)
	return nil
}

// Stop implements driver.Device.
func (d *device) Stop() error {
	if d.State.LoadAcq() == nic.StateClosed {
		return queue.ErrClosed
	}
	d.State.StoreSeq(nic.StateStopped)
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
		m["rx_pool_empty"] += q.starved.LoadAcq()
	}
	for _, q := range d.tx {
		m["tx_full"] += q.full.LoadAcq()
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
	d.Detach()
	for _, fd := range d.fds {
		unix.Close(fd)
	}
	d.fds = nil
	if d.State.LoadAcq() != nic.StateClosed {
		d.ClosePool()
	}
}
