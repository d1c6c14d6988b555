// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// States of a device.
const (
	stateNew uint32 = iota
	stateRunning
	stateStopped
	stateClosed
)

// Values of device.blocked.
const (
	blockedDown uint32 = 1 // the interface is down: a sync could sleep in the kernel
	blockedGone uint32 = 2 // the interface was removed
)

// defaultLinkWait is how long Start waits for the link: entering netmap mode
// resets many NICs.
const defaultLinkWait = 10 * time.Second

// device is an open port.
type device struct {
	c    *conn
	name string // with the prefix
	spec abi.Spec
	kind abi.Kind
	base string // name without pipe id: ports with the same base share a region
	cfg  driver.Config
	info abi.IfInfo // of a NIC, at open

	num      abi.Numbers // of the kernel at open
	reg      *region
	fds      []int
	rx       []*rxQueue
	tx       []*txQueue
	rxRings  uint32 // NIC rings of the port, bound or not
	txRings  uint32
	headroom uint32 // granted bytes before received data
	pool     *buffer.Pool
	own      *regionPool // nil: frames are copied
	why      string      // why they are
	split    bool        // each direction has its own descriptors
	multi    bool        // frames may take several slots
	counted  bool        // in conn.bases
	released bool        // own was given back
	freed    bool        // and reg
	mac      net.HardwareAddr

	state   relax.Uint32 // written by control operations, read by bursts
	blocked relax.Uint32 // written by the watcher, read by bursts
	mu      sync.Mutex   // notes, faults, mac
	notes   []string
	faults  uint64
	unwatch func()
}

func newDevice(c *conn, name string, spec abi.Spec, cfg driver.Config) *device {
	d := &device{c: c, num: c.k.Numbers(), name: name, spec: spec, kind: spec.Kind(), cfg: cfg, split: true, base: spec.Port}
	if i := strings.IndexAny(d.base, "{}"); i >= 0 {
		d.base = d.base[:i]
	}
	return d
}

// note keeps what the user should know, and logs it.
func (d *device) note(msg string) {
	d.mu.Lock()
	d.notes = append(d.notes, msg)
	d.mu.Unlock()
	if d.cfg.Log != nil {
		d.cfg.Log.Warn(msg, "device", d.name)
	}
}

// finish completes the queues once rings, pool and kind are known.
func (d *device) finish() {
	for _, q := range d.rx {
		q.bufs, q.pool, q.own = d.reg.bufs, d.pool, d.own
		q.zero = d.own != nil
		q.head, q.segCap = uint32(d.pool.Headroom()), uint32(d.pool.SegCap())
		q.half = ^uint32(0)
		for i := range q.rings {
			q.half = min(q.half, q.rings[i].n/2)
		}
	}
	for _, q := range d.tx {
		q.bufs, q.own, q.multi, q.most = d.reg.bufs, d.exchanges(), d.multi, uint32(d.maxFrame())
		q.pad, q.floor = d.kind == abi.KindNIC, d.kind == abi.KindPipe
	}
	d.mac = net.HardwareAddr(d.info.MAC[:])
	if d.info.MAC == [6]byte{} {
		d.mac = softMAC(d.spec.Port)
	}
	d.c.bases[d.base]++
	d.counted = true
}

// softMAC derives a locally administered address from a port's name.
func softMAC(port string) net.HardwareAddr {
	h := uint64(14695981039346656037)
	for i := 0; i < len(port); i++ {
		h = (h ^ uint64(port[i])) * 1099511628211
	}
	return net.HardwareAddr{0x02, byte(h), byte(h >> 8), byte(h >> 16), byte(h >> 24), byte(h >> 32)}
}

// watch follows the interface's state, so that no call is made that could sleep
// in the kernel until the interface is up again.
func (d *device) watch() error {
	if d.kind != abi.KindNIC || d.c.sys == nil {
		return nil
	}
	stop, err := d.c.sys.Watch(d.spec.Port, func(s abi.IfState) {
		switch {
		case s.Gone:
			d.blocked.StoreSeq(blockedGone)
		case !s.Up:
			d.blocked.StoreSeq(blockedDown)
		case d.blocked.LoadAcq() == blockedDown:
			d.blocked.StoreSeq(0)
		}
	})
	if err != nil {
		return &Error{Op: "watch the interface", Device: d.name, Why: err.Error()}
	}
	d.unwatch = stop
	return nil
}

// Info implements driver.Device.
func (d *device) Info() driver.Info {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := driver.Info{
		Name: d.name, Driver: d.c.prefix, RxQueues: len(d.rx), TxQueues: len(d.tx), MemID: int(d.reg.id),
		ZeroCopy: d.own != nil, Why: d.why, SplitDir: d.split,
		HWHash: len(d.rx) > 1 && d.kind == abi.KindNIC, Notes: append([]string(nil), d.notes...),
	}
	if len(d.rx) > 0 {
		i.RxSlots = int(d.rx[0].rings[0].n)
	}
	if len(d.tx) > 0 {
		i.TxSlots = int(d.tx[0].g.n)
	}
	return i
}

// Capability implements driver.Device.
func (d *device) Capability() driver.Capability {
	nic := d.kind == abi.KindNIC
	rx, tx := d.maxQueues()
	return driver.Capability{
		MaxRxQueues: rx, MaxTxQueues: tx, MinMTU: 68 + 14, MaxMTU: d.maxFrame(),
		SetMTU: nic && d.c.sys != nil, SetPromisc: nic && d.c.sys != nil, SetMAC: nic && d.c.sys != nil, MultiSegment: d.multi, Link: true,
		Blocking: d.kind == abi.KindPipe, VLANInFrame: !nic || d.info.Native,
		ParseLayers: []meta.Layer{meta.LayerNone, meta.LayerL2, meta.LayerL3, meta.LayerL4},
	}
}

// Queues in each direction that software ports have room for under the kernel's default
// priv_if_num: each takes a descriptor, and both ends of a pipe share a region.
const (
	maxValeQueues = 4
	maxPipeQueues = 2
)

// maxQueues is how many queues an open of this name can get.
func (d *device) maxQueues() (rx, tx int) {
	soft := map[abi.Kind]int{abi.KindVALE: maxValeQueues, abi.KindPipe: maxPipeQueues}[d.kind]
	switch d.spec.Mode {
	case abi.ModeAllNIC, 0:
		if d.split && soft == 0 {
			rx, tx = int(d.rxRings), int(d.txRings)
		} else if d.split {
			rx, tx = soft, soft
		}
	case abi.ModeNICSW:
		if d.split {
			rx, tx = int(d.rxRings)+1, int(d.txRings)+1
		}
	}
	limit := func(n, have int) int {
		if have == 0 {
			return 0 // the direction is not open
		}
		return max(n, have)
	}
	return limit(rx, len(d.rx)), limit(tx, len(d.tx))
}

// maxFrame is the longest frame that can be sent.
func (d *device) maxFrame() int {
	n := int(min(d.reg.bufs.size, 0xffff))
	if d.multi {
		n = min(n*abi.MaxFrags, 65536)
	}
	return n
}

// Rx and Tx implement driver.Device.
func (d *device) Rx(i int) driver.RxQueue { return d.rx[i] }

// Tx returns send queue i.
func (d *device) Tx(i int) driver.TxQueue { return d.tx[i] }

// Pool implements driver.Device.
func (d *device) Pool() *buffer.Pool { return d.pool }

// MTU implements driver.Device: of a NIC what the system has set, else what a
// buffer holds.
func (d *device) MTU() int {
	if d.kind == abi.KindNIC && d.c.sys != nil {
		if i, err := d.c.sys.Interface(d.spec.Port); err == nil && i.MTU > 0 {
			return min(i.MTU+14, d.maxFrame())
		}
	}
	return int(min(d.reg.bufs.size, 0xffff))
}

// SetMTU implements driver.Device.
func (d *device) SetMTU(frame int) error {
	const op = "set MTU"
	switch {
	case d.kind != abi.KindNIC || d.c.sys == nil:
		return &Error{Op: op, Device: d.name, Why: "a " + d.kind.String() + " port has no MTU", Cure: fmt.Sprintf("frames may have up to %d bytes", d.maxFrame())}
	case frame < 68+14 || frame > d.maxFrame():
		return &Error{Op: op, Device: d.name, Why: fmt.Sprintf("a frame of %d bytes", frame),
			Cure: fmt.Sprintf("allowed %d to %d (the region's buffer size); larger buffers: %s", 68+14, d.maxFrame(), d.c.larger("buf_size", (frame+4+1023)&^1023))}
	}
	if err := d.c.sys.SetMTU(d.spec.Port, frame-14); err != nil {
		return &Error{Op: op, Device: d.name, Why: err.Error()}
	}
	return nil
}

// MAC implements driver.Device.
func (d *device) MAC() net.HardwareAddr {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append(net.HardwareAddr(nil), d.mac...)
}

// SetMAC implements driver.AddressSetter.
func (d *device) SetMAC(a net.HardwareAddr) error {
	const op = "set the address"
	if d.kind != abi.KindNIC || d.c.sys == nil {
		return &Error{Op: op, Device: d.name, Why: "a " + d.kind.String() + " port has none in the system"}
	}
	if err := d.c.sys.SetMAC(d.spec.Port, [6]byte(a)); err != nil {
		return &Error{Op: op, Device: d.name, Why: err.Error(), Cure: "some drivers take an address only while the interface is down"}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mac = append(net.HardwareAddr(nil), a...)
	return nil
}

// Promisc implements driver.Device. Ports that are no NIC always get everything.
func (d *device) Promisc() (bool, error) {
	if d.kind != abi.KindNIC || d.c.sys == nil {
		return true, nil
	}
	i, err := d.c.sys.Interface(d.spec.Port)
	return i.Promisc, err
}

// SetPromisc implements driver.Device. It is done after the registration: some
// drivers forget it when they enter netmap mode.
func (d *device) SetPromisc(on bool) error {
	if d.kind != abi.KindNIC || d.c.sys == nil {
		if on {
			return nil
		}
		return &Error{Op: "leave promiscuous mode", Device: d.name, Why: "a " + d.kind.String() + " port gets every frame that the other side sends"}
	}
	if err := d.c.sys.SetPromisc(d.spec.Port, on); err != nil {
		return &Error{Op: "set promiscuous mode", Device: d.name, Why: err.Error()}
	}
	return nil
}

// Link implements driver.Device.
func (d *device) Link() driver.Link {
	if d.kind != abi.KindNIC || d.c.sys == nil {
		return driver.Virtual()
	}
	i, err := d.c.sys.Interface(d.spec.Port)
	if err != nil {
		return driver.Link{}
	}
	return driver.Link{Up: i.Up && i.Running, Known: true, Speed: i.Speed, Duplex: driver.Duplex(i.Duplex), Autoneg: driver.Switch(i.Autoneg),
		PauseRx: driver.Switch(i.PauseRx), PauseTx: driver.Switch(i.PauseTx), Media: i.Media}
}

// Start implements driver.Device. It waits for the link, since frames sent before
// vanish; a link that stays down is an error under Strict, else a note.
func (d *device) Start() error {
	if d.state.LoadAcq() == stateClosed {
		return queue.ErrClosed
	}
	if d.cfg.Promisc {
		if err := d.SetPromisc(true); err != nil {
			return err
		}
	}
	wait := d.cfg.LinkWait
	if wait == 0 {
		wait = defaultLinkWait
	}
	end := time.Now().Add(wait)
	for l := d.Link(); wait > 0 && l.Known && !l.Up; l = d.Link() {
		if time.Now().After(end) {
			msg := fmt.Sprintf("no link after %v; check the cable and the other side, or give the switch more time (LinkWait)", wait)
			if d.cfg.Strict {
				return &Error{Op: "start", Device: d.name, Why: msg}
			}
			d.note(msg)
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	d.state.StoreSeq(stateRunning)
	return nil
}

// Stop implements driver.Device: from now on Recv takes nothing and Send takes nothing.
func (d *device) Stop() error {
	if d.state.LoadAcq() == stateClosed {
		return queue.ErrClosed
	}
	d.state.StoreSeq(stateStopped)
	return nil
}

// replace gets a valid buffer for a slot that has none: it takes the one of a
// free packet, whose header is then of no more use. 0 = there is none.
// The buffer that was in the slot is lost.
func (d *device) replace(w *worker.Worker) (ext uint32) {
	d.reg.lost.Add(1)
	if d.own == nil {
		return 0
	}
	var one [1]*buffer.Packet
	if d.own.AllocPackets(w, one[:], 0) == 0 {
		return 0
	}
	_, ext = one[0].SwapBuf(0, 0)
	d.own.Lose(one[0])
	return ext
}

// fault makes the error that a queue returns from now on.
func (d *device) fault(ring, why string, errno syscall.Errno) error {
	f := &Fault{Device: d.name, Ring: ring, Why: why, Errno: errno}
	d.mu.Lock()
	d.faults++
	d.mu.Unlock()
	if d.cfg.Log != nil {
		d.cfg.Log.Warn(why, "device", d.name, "ring", ring)
	}
	return f
}

func (q *rxQueue) fail(g *ring, why string, errno syscall.Errno) {
	if q.failed == nil {
		q.failed = q.d.fault(ringName("rx", g), why, errno)
	}
}

func (q *txQueue) fail(why string, errno syscall.Errno) {
	if q.failed == nil {
		q.failed = q.d.fault(ringName("tx", &q.g), why, errno)
	}
}

func ringName(dir string, g *ring) string {
	switch {
	case g == nil:
		return ""
	case g.id >= hostRing:
		return fmt.Sprintf("host %s %d", dir, g.id-hostRing)
	}
	return fmt.Sprintf("%s %d", dir, g.id)
}

// wentDown handles a sync that failed with EIO, the n-th in a row: true when the
// reason is that the interface is down, which the watcher has not told yet, or was a
// moment ago. It is no fault then.
func (d *device) wentDown(errno syscall.Errno, n int) bool {
	if errno != syscall.EIO || d.kind != abi.KindNIC || d.c.sys == nil {
		return false
	}
	i, err := d.c.sys.Interface(d.spec.Port)
	if err != nil {
		return false
	}
	if i.Up {
		return n < 3
	}
	d.blocked.CAS(0, blockedDown)
	if i, err = d.c.sys.Interface(d.spec.Port); err == nil && i.Up {
		d.blocked.CAS(blockedDown, 0) // the watcher may have told before
	}
	return true
}

// removed makes the error of a port whose interface was removed.
func (d *device) removed(g *ring, dir string) error {
	return d.fault(ringName(dir, g), "the interface was removed", 0)
}

// syncReason explains the errno of a sync call.
func syncReason(errno syscall.Errno) string {
	switch errno {
	case syscall.EIO:
		return "the kernel has stopped the ring: the interface or its driver went away"
	case syscall.ENXIO:
		return "the port is not bound any more"
	case syscall.EBUSY:
		return "the port is driven by a kernel loop (CSB mode)"
	}
	return "the sync call failed"
}

// Drain implements driver.Device: it asks the kernel to send until nothing is
// pending, the interface is down, or ctx ends.
func (d *device) Drain(ctx context.Context) error {
	if d.state.LoadAcq() == stateClosed {
		return queue.ErrClosed
	}
	pause := 20 * time.Microsecond
	for {
		left, ring := 0, ""
		for _, q := range d.tx {
			if q.failed == nil {
				if _, bad := q.g.slots(); bad != "" { // its frames are not the kernel's any more
					add(&q.resets, 1)
					q.fail(bad, 0)
				}
			}
			if q.failed == nil && q.g.pending() {
				left++
				ring = ringName("tx", &q.g)
				if d.blocked.LoadAcq() == 0 {
					q.sync()
				}
			}
		}
		if left == 0 {
			return nil
		}
		if d.blocked.LoadAcq() != 0 {
			return &Error{Op: "drain " + ring, Device: d.name, Why: "the interface is down", Cure: "frames that were queued are lost when the port is closed"}
		}
		select {
		case <-ctx.Done():
			return &Error{Op: "drain " + ring, Device: d.name, Why: "frames are still queued: " + context.Cause(ctx).Error(), Cure: "the other side does not take them, or there is no link", Err: context.Cause(ctx)}
		case <-time.After(pause):
		}
		pause = min(2*pause, time.Millisecond)
	}
}
