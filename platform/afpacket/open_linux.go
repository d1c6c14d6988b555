// SPDX-License-Identifier: Apache-2.0

package afpacket

import (
	"context"
	"fmt"
	"math/bits"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/internal/nic"
	"github.com/odp-go/godp/platform/internal/vnet"
)

func init() { driver.Register("afpacket", drv{}) }

// drv opens packet sockets. gate is closed by tests.
type drv struct{ gate nic.Gate }

const (
	maxQueues      = 64
	defaultPackets = 8192
	defaultSlots   = 2048
	minSlots       = 16
	maxSlots       = 1 << 16
	maxRing        = 1 << 30 // bytes of a receive ring
	ethHeader      = nic.EthHeader
	tags           = 8 // two VLAN tags
	sendRoom       = 8 << 20
	maxFrameLen    = 65535
)

// fanouts are the ways to deal frames out to several queues.
var fanouts = map[string]int{"hash": unix.PACKET_FANOUT_HASH, "lb": unix.PACKET_FANOUT_LB, "cpu": unix.PACKET_FANOUT_CPU,
	"rnd": unix.PACKET_FANOUT_RND, "qm": unix.PACKET_FANOUT_QM}

const rights = "run as root, or give the program the right: setcap cap_net_raw,cap_net_admin+ep PROGRAM"

// Open implements driver.Driver.
func (v drv) Open(ctx context.Context, name string, cfg driver.Config) (driver.Device, error) {
	d := &device{Port: nic.Port{Name: "afpacket:" + name, Cfg: cfg, Gate: v.gate, Rights: rights}, ctl: -1}
	o := driver.NewOptions(d.Name, cfg.Options)
	d.fanout = o.Choice("fanout", "hash", "lb", "cpu", "rnd", "qm")
	d.defrag = o.Bool("defrag", false)
	d.qdisc = o.Bool("qdisc", false)
	d.vnet = o.Bool("vnet", true)
	if err := o.Err(); err != nil {
		return nil, err
	}
	if err := d.open(ctx, name); err != nil {
		d.undo()
		return nil, err
	}
	return d, nil
}

func (d *device) open(ctx context.Context, name string) error {
	nrx, ntx, err := d.Queues(maxQueues)
	if err != nil {
		return err
	}
	l, err := d.Attach(name)
	if err != nil {
		return err
	}
	d.mac = l.MAC
	if err := d.Take(l); err != nil {
		return err
	}
	if err := d.makePool(ctx, l.Name); err != nil {
		return err
	}
	if d.ctl, err = d.socket(); err != nil {
		return err
	}
	for i := range nrx {
		if err := d.openRx(i, nrx); err != nil {
			return err
		}
	}
	for range ntx {
		if err := d.openTx(); err != nil {
			return err
		}
	}
	if d.Cfg.TxSlots > 0 {
		if err := d.Refuse("send ring size", fmt.Sprintf("%d slots asked, packet sockets have no send ring", d.Cfg.TxSlots)); err != nil {
			return err
		}
	}
	if err := d.checkOffloads(); err != nil {
		return err
	}
	return d.Watch()
}

// checkOffloads notes what changes frames beyond repair.
func (d *device) checkOffloads() error {
	on, cure := d.Handle.Merging()
	for _, o := range on {
		switch {
		case !d.vnet:
			return d.Refuse("offloads", fmt.Sprintf("%v are on and frames that they make are dropped; turn them off: %s", on, cure))
		case o == "lro":
			return d.Refuse("offloads", "lro is on: it merges received frames so that they can't be taken apart again exactly; turn it off: "+cure)
		}
	}
	return nil
}

func (d *device) makePool(ctx context.Context, name string) error {
	if d.pool = d.Cfg.Pool; d.pool != nil {
		return nil
	}
	n := d.Cfg.PoolPackets
	if n == 0 {
		n = defaultPackets
	}
	p, err := buffer.NewPoolContext(ctx, d.Cfg.Set, buffer.PoolConfig{Name: "afpacket " + name, Num: n, Strict: d.Cfg.Strict})
	if err != nil {
		return d.Fail("make the pool", err, "")
	}
	d.pool, d.Own = p, p
	return nil
}

// socket makes a packet socket that receives nothing yet.
func (d *device) socket() (fd int, err error) {
	err = d.Gate.Do("socket(AF_PACKET)", func() (err error) {
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		return err
	})
	if err != nil {
		return -1, d.Fail("make a packet socket", err, "")
	}
	return fd, nil
}

func (d *device) set(fd, level, opt, v int, name string) error {
	return d.Gate.Do("setsockopt("+name+")", func() error { return unix.SetsockoptInt(fd, level, opt, v) })
}

// bind binds a socket to the interface.
func (d *device) bind(fd int, proto uint16) error {
	err := d.Gate.Do("bind", func() error {
		return unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: bits.ReverseBytes16(proto), Ifindex: d.Handle.Index})
	})
	if err != nil {
		return d.Fail("bind", err, "")
	}
	return nil
}

// openRx opens receive queue i of n.
func (d *device) openRx(i, n int) error {
	fd, err := d.socket()
	if err != nil {
		return err
	}
	q := &rxQueue{d: d, fd: fd, pool: d.pool, head: uint32(d.pool.Headroom()), segCap: uint32(d.pool.SegCap()), maxLen: uint32(d.pool.MaxLen())}
	d.rx = append(d.rx, q)
	// nothing is taken in before Start; the filter comes before the first frame
	if err := d.shut(fd); err != nil {
		return d.Fail("attach the filter", err, "")
	}
	if err := d.set(fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V2, "PACKET_VERSION"); err != nil {
		return d.Fail("choose TPACKET_V2", err, "")
	}
	if d.vnet {
		if err := d.set(fd, unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1, "PACKET_VNET_HDR"); err != nil {
			d.vnet = false
			if err := d.Refuse("virtio-net header", fmt.Sprintf("not granted (%v): unfinished checksums stay", err)); err != nil {
				return err
			}
		}
	}
	q.vnet = d.vnet
	if err := d.set(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING"); err != nil {
		q.own = true // before 4.20: they are told by their address
	}
	if err := d.set(fd, unix.SOL_PACKET, unix.PACKET_COPY_THRESH, 1, "PACKET_COPY_THRESH"); err != nil {
		return d.Fail("ask for long frames", err, "")
	}
	if d.set(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, sendRoom, "SO_RCVBUFFORCE") != nil {
		_ = d.set(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, sendRoom, "SO_RCVBUF") // room for long frames; the default does as well
	}
	if err := q.makeRing(); err != nil {
		return err
	}
	if err := d.bind(fd, unix.ETH_P_ALL); err != nil {
		return err
	}
	if n > 1 {
		return d.joinFanout(q, i)
	}
	return nil
}

// makeRing makes the ring and maps it. A smaller one is taken where memory is short.
func (q *rxQueue) makeRing() error {
	d := q.d
	want := d.Cfg.RxSlots
	if want == 0 {
		want = defaultSlots
	}
	if want < minSlots || want > maxSlots {
		return &nic.Error{Op: "make the receive ring", Device: d.Name, Why: fmt.Sprintf("%d slots", want), Cure: fmt.Sprintf("allowed are %d to %d", minSlots, maxSlots)}
	}
	slots := uint32(minSlots)
	for slots < uint32(want) {
		slots *= 2
	}
	size := uint32(2048)
	for size < uint32(d.LastMTU()+ethHeader+tags+slotHead) {
		size *= 2
	}
	block := max(size, 64<<10, uint32(os.Getpagesize()))
	slots = max(slots, block/size)
	var err error
	for ; slots >= block/size; slots /= 2 {
		if uint64(slots)*uint64(size) > maxRing {
			continue
		}
		req := unix.TpacketReq{Block_size: block, Block_nr: slots * size / block, Frame_size: size, Frame_nr: slots}
		err = d.Gate.Do("setsockopt(PACKET_RX_RING)", func() error {
			return unix.SetsockoptTpacketReq(q.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req)
		})
		if err != unix.ENOMEM {
			break
		}
	}
	if err != nil {
		return d.Fail(fmt.Sprintf("make a ring of %d slots of %d bytes", max(slots, block/size), size), err, "ask for fewer slots (slots=)")
	}
	if int(slots) != want && d.Cfg.RxSlots != 0 {
		if err := d.Refuse("receive ring size", fmt.Sprintf("%d slots asked, the ring has %d", want, slots)); err != nil {
			return err
		}
	}
	err = d.Gate.Do("mmap", func() (err error) {
		q.ring, err = unix.Mmap(q.fd, 0, int(slots*size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
		return err
	})
	if err != nil {
		return d.Fail("map the ring", err, "ask for fewer slots (slots=)")
	}
	q.base, q.slots, q.size = unsafe.Pointer(unsafe.SliceData(q.ring)), slots, size
	q.scratch = make([]byte, vnet.Size+maxFrameLen+ethHeader+tags+4)
	return nil
}

// joinFanout puts queue i into the group of the device's queues, whose number the
// kernel chooses for the first.
func (d *device) joinFanout(q *rxQueue, i int) error {
	kind := fanouts[d.fanout]
	if d.defrag {
		kind |= unix.PACKET_FANOUT_FLAG_DEFRAG
	}
	v := kind<<16 | d.group
	if i == 0 {
		v = (kind | unix.PACKET_FANOUT_FLAG_UNIQUEID) << 16
	}
	if err := d.set(q.fd, unix.SOL_PACKET, unix.PACKET_FANOUT, v, "PACKET_FANOUT"); err != nil {
		return d.Fail("deal frames out to several queues", err, "open it with one receive queue (rx=1)")
	}
	if i > 0 {
		return nil
	}
	err := d.Gate.Do("getsockopt(PACKET_FANOUT)", func() (err error) {
		v, err = unix.GetsockoptInt(q.fd, unix.SOL_PACKET, unix.PACKET_FANOUT)
		return err
	})
	if err != nil {
		return d.Fail("ask for the group of the queues", err, "")
	}
	d.group = v & 0xffff
	return nil
}

// openTx opens a send queue: a socket that receives nothing.
func (d *device) openTx() error {
	fd, err := d.socket()
	if err != nil {
		return err
	}
	q := &txQueue{d: d, fd: fd}
	d.tx = append(d.tx, q)
	if !d.qdisc {
		if err := d.set(fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1, "PACKET_QDISC_BYPASS"); err != nil {
			if err := d.Refuse("queueing discipline", fmt.Sprintf("it can't be bypassed (%v)", err)); err != nil {
				return err
			}
		}
	}
	if d.set(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, sendRoom, "SO_SNDBUFFORCE") != nil {
		_ = d.set(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, sendRoom, "SO_SNDBUF") // the default does as well
	}
	return d.bind(fd, 0)
}

// reject is a filter that takes no frame.
var reject = [1]unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K}}

// shut makes a socket take no frames.
func (d *device) shut(fd int) error {
	return d.Gate.Do("setsockopt(SO_ATTACH_FILTER)", func() error {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &reject[0]})
	})
}

// add adds n to a counter that only the caller writes.
func add(c *relax.Uint64, n uint64) { c.StoreRel(c.LoadAcq() + n) }
