// SPDX-License-Identifier: Apache-2.0

package afxdp

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/internal/nic"
)

func init() { driver.Register("afxdp", drv{}) }

// drv opens AF_XDP sockets. gate is closed by tests.
type drv struct{ gate nic.Gate }

const (
	maxQueues    = 64
	defaultSlots = 1024
	maxSlots     = 1 << 14
	ethHeader    = nic.EthHeader
	tags         = 8
	maxMTU       = 4096 - headroom - ethHeader - tags
)

const rights = "run as root, or give the program the rights: setcap cap_net_raw,cap_net_admin,cap_bpf,cap_ipc_lock+ep PROGRAM"

// Open implements driver.Driver.
func (v drv) Open(_ context.Context, name string, cfg driver.Config) (driver.Device, error) {
	d := &device{Port: nic.Port{Name: "afxdp:" + name, Cfg: cfg, Gate: v.gate, Rights: rights}}
	o := driver.NewOptions(d.Name, cfg.Options)
	mode := o.Choice("mode", "auto", "native", "generic")
	zc := o.Bool("zerocopy", true)
	if err := o.Err(); err != nil {
		return nil, err
	}
	if err := d.open(name, mode, zc); err != nil {
		d.undo()
		if d.u != nil {
			err = errors.Join(err, d.u.release(d.Name))
		}
		return nil, err
	}
	return d, nil
}

func (d *device) open(name, mode string, zc bool) error {
	nrx, ntx, err := d.Queues(maxQueues)
	if err != nil {
		return err
	}
	slots, err := d.ringSize()
	if err != nil {
		return err
	}
	l, err := d.Attach(name)
	if err != nil {
		return err
	}
	d.mac, d.ifname = l.MAC, l.Name
	if l.MTU > maxMTU {
		return &nic.Error{Op: "open", Device: d.Name, Why: fmt.Sprintf("frames of MTU %d do not fit in one buffer, which holds those of MTU %d", l.MTU, maxMTU),
			Cure: fmt.Sprintf("ip link set dev %s mtu %d, or use afpacket", l.Name, maxMTU)}
	}
	if err := d.Take(l); err != nil {
		return err
	}
	if err := d.Handle.OpenPromisc(); err != nil {
		return d.Fail("make a packet socket", err, "")
	}
	// each queue of the interface gets a socket: what comes in on others would be missing
	queues, _, most, _ := d.Handle.Channels()
	if queues == 0 {
		queues = max(l.Rx, 1)
	}
	if queues > maxQueues {
		return &nic.Error{Op: "open", Device: d.Name, Why: fmt.Sprintf("the interface has %d queues, allowed are %d", queues, maxQueues), Cure: fmt.Sprintf("ethtool -L %s combined %d", l.Name, maxQueues)}
	}
	if nrx > queues || ntx > queues {
		why := fmt.Sprintf("%d receive and %d send queues asked, the interface has %d (at most %d): ethtool -L %s combined %d", nrx, ntx, queues, most, l.Name, max(nrx, ntx))
		if err := d.Refuse("queues", why); err != nil {
			return err
		}
		nrx, ntx = min(nrx, queues), min(ntx, queues)
	}
	if err := d.attach(queues, mode); err != nil {
		return err
	}
	size := uint32(2048)
	if l.MTU+ethHeader+tags+headroom > 2048 {
		size = 4096
	}
	if err := d.makeSockets(size, queues, slots, zc); err != nil {
		return err
	}
	d.wire(nrx, ntx)
	return d.Watch()
}

// ringSize chooses the size of all rings of a socket.
func (d *device) ringSize() (int, error) {
	want := max(d.Cfg.RxSlots, d.Cfg.TxSlots)
	if want == 0 {
		want = defaultSlots
	}
	slots := 64
	for slots < want {
		slots *= 2
	}
	if slots > maxSlots {
		return 0, &nic.Error{Op: "open", Device: d.Name, Why: fmt.Sprintf("rings of %d slots", want), Cure: fmt.Sprintf("allowed are up to %d", maxSlots)}
	}
	for _, n := range []int{d.Cfg.RxSlots, d.Cfg.TxSlots} {
		if n != 0 && n != slots {
			if err := d.Refuse("ring sizes", fmt.Sprintf("%d slots asked, all rings have %d", n, slots)); err != nil {
				return 0, err
			}
		}
	}
	return slots, nil
}

// makeSockets gets a UMEM and binds a socket to each queue. When the interface can't
// share the UMEM of others, it gets one of its own.
func (d *device) makeSockets(size uint32, queues, slots int, zc bool) error {
	for _, alone := range []bool{false, true} {
		u, err := acquire(d.Cfg, size, queues, 2*slots, alone)
		if err != nil {
			return d.Fail("make the UMEM", err, "ask for fewer packets (packets=) or slots (slots=)")
		}
		d.u = u
		err = d.bindAll(u, queues, slots, zc)
		if err == nil {
			return nil
		}
		if !errors.Is(err, errShare) || alone {
			return err
		}
		d.closeSockets()
		d.u = nil
		if rerr := u.release(d.Name); rerr != nil {
			return errors.Join(err, rerr)
		}
		d.Note("memory of its own: " + err.Error())
	}
	return nil
}

func (d *device) bindAll(u *umem, queues, slots int, zc bool) error {
	umemMu.Lock()
	defer umemMu.Unlock()
	for i := range queues {
		s, err := d.firstOrShared(u, i, slots, zc)
		if err != nil {
			return err
		}
		d.socks = append(d.socks, s)
		if !s.provide(slots) {
			return &nic.Error{Op: "give the socket frames", Device: d.Name, Why: "the UMEM has too few"}
		}
	}
	return nil
}

// firstOrShared makes a socket: with the memory of one that is bound, or as the first
// with as much zero copy as is granted.
func (d *device) firstOrShared(u *umem, i, slots int, zc bool) (*xsk, error) {
	if len(u.socks) > 0 {
		return d.newXsk(u, i, slots, u.socks[0], 0)
	}
	try := []uint16{unix.XDP_COPY | unix.XDP_USE_NEED_WAKEUP}
	if zc && d.prog.native {
		try = append([]uint16{unix.XDP_ZEROCOPY | unix.XDP_USE_NEED_WAKEUP}, try...)
	}
	var why error
	for n, flags := range try {
		s, err := d.newXsk(u, i, slots, nil, flags)
		if err == nil {
			return s, nil
		}
		why = err
		if n+1 < len(try) && !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EINVAL) {
			return nil, err
		}
	}
	return nil, why
}

// wire deals the sockets out to the queues.
func (d *device) wire(nrx, ntx int) {
	d.pool = d.Cfg.Pool
	if d.pool == nil {
		d.pool = d.u.pool
	}
	for i := range nrx {
		q := &rxQueue{d: d, pool: d.pool, zero: d.pool == d.u.pool, head: uint32(d.pool.Headroom())}
		for j := i; j < len(d.socks); j += nrx {
			q.socks = append(q.socks, d.socks[j])
		}
		d.rx = append(d.rx, q)
	}
	for i := range ntx {
		d.tx = append(d.tx, &txQueue{d: d, s: d.socks[i]})
	}
	how := "generic XDP, the kernel copies each frame"
	if d.prog.native {
		how = "native XDP, the kernel copies each frame"
		if d.socks[0].flags&unix.XDP_ZEROCOPY != 0 {
			how = "native XDP, zero copy"
		}
	}
	d.how = how
}
