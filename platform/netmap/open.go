// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/abi"
)

// defaultPackets is the size of a region's pool when a port asks for none.
const defaultPackets = 8192

// ownOptions are the options of the client, behind the '?' of a name.
var ownOptions = []string{"mode", "ring", "mem", "flags", "exclusive", "headroom", "split"}

// handle is one bound descriptor.
type handle struct {
	fd  int
	nif iface
}

// opening is the state of one Open. Whatever it holds is given back by undo.
type opening struct {
	c     *conn
	ctx   context.Context
	cfg   driver.Config
	spec  abi.Spec
	d     *device
	base  binding
	want  int  // extra buffers for the pool
	first bool // nothing is bound yet: the first binding asks for extra buffers
	joint map[string]handle
}

// open opens a port. Only one open or close runs at a time for one kernel.
func (c *conn) open(ctx context.Context, name string, cfg driver.Config) (driver.Device, error) {
	full := c.prefix + ":" + name
	spec, err := abi.FromOptions(name, cfg.Options)
	if err != nil {
		return nil, err
	}
	if spec.Option != "" {
		return nil, &abi.NameError{Name: full, Found: "option " + strconv.Quote(spec.Option), Want: "no options behind @ but a memory id; godp's own options follow a '?'"}
	}
	if cfg.Set == nil {
		return nil, &Error{Op: "open", Device: full, Why: "Config.Set is nil", Cure: "open the port through an instance, or give a worker.Set"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.probe(full); err != nil {
		return nil, err
	}
	d, err := c.try(ctx, full, spec, cfg, false)
	if errors.Is(err, syscall.ENOMEM) && spec.Kind() != abi.KindNIC && !cfg.Strict {
		// the private region of a software port has room for few descriptors
		if j, jerr := c.try(ctx, full, spec, cfg, true); jerr == nil {
			j.note("one descriptor for both directions: the memory region has no room for more (" + c.cure(c.knob("priv_if_num", 64), simLarger["priv_if_num"]) + ")")
			return j, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// try opens a port. joint: with one descriptor for both directions.
func (c *conn) try(ctx context.Context, name string, spec abi.Spec, cfg driver.Config, joint bool) (*device, error) {
	o := &opening{c: c, ctx: ctx, cfg: cfg, spec: spec, first: true, d: newDevice(c, name, spec, cfg)}
	if err := o.options(); err != nil {
		return nil, err
	}
	if err := o.look(); err != nil {
		return nil, err
	}
	rx := spec.Flags&abi.FlagTxRingsOnly == 0
	tx := spec.Flags&(abi.FlagRxRingsOnly|abi.FlagMonitorRX|abi.FlagMonitorTX) == 0
	if (joint || cfg.Options["split"] == "0") && rx && tx {
		o.joint, o.d.split = map[string]handle{}, false
	}
	if err := o.run(rx, tx); err != nil {
		o.d.undo()
		return nil, err
	}
	return o.d, nil
}

// options reads the port's options and makes the binding that all descriptors share.
func (o *opening) options() error {
	opt := o.cfg.Options
	number := func(key string, hi int) (uint32, error) {
		v, ok := opt[key]
		if !ok {
			return 0, nil
		}
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > hi {
			return 0, &Error{Op: "open", Device: o.d.name, Why: "option " + key + "=" + v, Cure: fmt.Sprintf("allowed are 0 to %d", hi)}
		}
		return uint32(n), nil
	}
	headroom, err := number("headroom", abi.DefBufSize/2)
	if err != nil {
		return err
	}
	for k := range opt {
		if !slices.Contains(ownOptions, k) {
			return &Error{Op: "open", Device: o.d.name, Why: "option " + k + " is not known", Cure: "allowed are " + strings.Join(ownOptions, " ")}
		}
	}
	for _, k := range []string{"exclusive", "split"} {
		if v, ok := opt[k]; ok && v != "0" && v != "1" {
			return &Error{Op: "open", Device: o.d.name, Why: "option " + k + "=" + v, Cure: "allowed are 0 and 1"}
		}
	}
	shared := opt["exclusive"] == "0"
	o.base = binding{port: o.spec.Port, mode: abi.ModeAllNIC, memID: o.spec.MemID,
		flags:   o.spec.Flags&^(abi.FlagTxRingsOnly|abi.FlagRxRingsOnly) | abi.FlagNoTxPoll,
		rxSlots: uint32(max(0, o.cfg.RxSlots)), txSlots: uint32(max(0, o.cfg.TxSlots)),
		headroom: headroom,
	}
	if !shared && o.spec.Flags&(abi.FlagMonitorRX|abi.FlagMonitorTX) == 0 {
		o.base.flags |= abi.FlagExclusive
	}
	if o.spec.Kind() != abi.KindNIC {
		o.base.rxRings, o.base.txRings = uint16(max(0, o.cfg.RxQueues)), uint16(max(0, o.cfg.TxQueues))
	}
	if headroom > 0 && o.spec.Kind() == abi.KindPipe {
		if err := o.refuse("headroom", "a pipe's receiver would read at its own offset what the sender put at another"); err != nil {
			return err
		}
		o.base.headroom = 0
	}
	if o.cfg.Pool == nil {
		if o.want = o.cfg.PoolPackets; o.want <= 0 {
			o.want = defaultPackets
		}
	}
	return nil
}

// look asks the system about the interface: what is known to fail is refused with
// its reason, what will disturb is reported.
func (o *opening) look() error {
	d, c := o.d, o.c
	if d.kind != abi.KindNIC || c.sys == nil {
		return nil
	}
	info, err := c.sys.Interface(o.spec.Port)
	if err != nil {
		return c.registerError(d.name, "open", binding{port: o.spec.Port}, syscall.ENXIO)
	}
	d.info = info
	if !info.Up {
		return &Error{Op: "open", Device: d.name, Why: o.spec.Port + " is down", Cure: c.pick("ip link set dev "+o.spec.Port+" up", "ifconfig "+o.spec.Port+" up")}
	}
	if len(info.Offloads) > 0 {
		msg := fmt.Sprintf("offloads are on that change or hide frames: %s; turn them off: %s", strings.Join(info.Offloads, " "), info.Cure)
		if o.cfg.Strict {
			return &Error{Op: "open", Device: d.name, Why: "offloads are on: " + strings.Join(info.Offloads, " "), Cure: info.Cure}
		}
		d.note(msg)
	}
	if o.spec.Host() && !o.spec.NIC() {
		d.note("what the system sends shows up in the host rings only while the NIC's own rings are in netmap mode too: open " + o.spec.Port + "* or the NIC rings as well")
	}
	return nil
}

// run binds all descriptors, then makes the pool and the queues.
func (o *opening) run(rx, tx bool) error {
	d := o.d
	if rx {
		if err := o.bindRx(); err != nil {
			return err
		}
	}
	if tx {
		if err := o.bindTx(); err != nil {
			return err
		}
	}
	d.multi = d.kind == abi.KindVALE || d.kind == abi.KindPipe || d.info.MultiSlot
	if d.kind == abi.KindNIC && o.c.sys != nil && !d.info.Native {
		d.note("emulated: the driver has no netmap code, frames are copied in the kernel and VLAN tags may be missing")
	}
	if err := o.compare(); err != nil {
		return err
	}
	if err := o.makePool(); err != nil {
		return err
	}
	d.finish()
	return d.watch()
}

// bind registers one descriptor for one direction.
func (o *opening) bind(what string, mode uint32, num uint16, dir uint64) (handle, error) {
	d := o.d
	if err := o.ctx.Err(); err != nil {
		return handle{}, &Error{Op: what, Device: d.name, Why: err.Error()}
	}
	key := fmt.Sprint(mode, " ", num)
	if o.joint != nil {
		if h, ok := o.joint[key]; ok {
			return h, nil
		}
		dir = 0
	}
	b := o.base
	b.mode, b.ring = mode, num
	b.flags |= dir
	software := d.kind != abi.KindNIC
	if o.first && software && o.c.bases[d.base] == 0 {
		// its region may be made by this very call, large enough for what is asked now
		b.extra = uint32(o.want)
	}
	if b.headroom > 0 {
		b.maxOffset = abi.DefBufSize
	}
	fd, got, errno := o.c.register(b)
	if (errno == syscall.EOPNOTSUPP || errno == syscall.EINVAL) && b.headroom > 0 {
		if o.cfg.Strict {
			return handle{}, &Error{Op: what, Device: d.name, Errno: errno, Why: "the port has no offsets", Cure: "open it without headroom="}
		}
		d.note("no headroom: the port does not support offsets")
		o.base.headroom, b.headroom = 0, 0
		fd, got, errno = o.c.register(b)
	}
	d.headroom = b.headroom
	if errno != 0 {
		return handle{}, o.c.registerError(d.name, what, b, errno)
	}
	d.fds = append(d.fds, fd)
	if o.first {
		o.first = false
		g, err := o.c.openRegion(d.name, got)
		if err != nil {
			return handle{}, err
		}
		d.reg = g
	} else if got.MemID != d.reg.id {
		return handle{}, &Error{Op: what, Device: d.name, Why: fmt.Sprintf("the kernel put this ring into memory region %d, the others are in %d", got.MemID, d.reg.id)}
	}
	if w := o.spec.MemID; w != 0 && got.MemID != w {
		if o.cfg.Strict {
			return handle{}, &Error{Op: what, Device: d.name, Why: fmt.Sprintf("asked for memory region %d, got %d", w, got.MemID), Cure: "the port is open already, or its memory is fixed: open it first, or without @"}
		}
		d.note(fmt.Sprintf("asked for memory region %d, got %d", w, got.MemID))
	}
	f, err := d.reg.netif(d.name, got.Offset)
	if err != nil {
		return handle{}, err
	}
	d.reg.takeExtra(f.f, got.ExtraBufs)
	h := handle{fd, f}
	if o.joint != nil {
		o.joint[key] = h
	}
	return h, nil
}

// compare looks at what was got: frames that a buffer can't hold, and ring sizes.
func (o *opening) compare() error {
	d := o.d
	const header = 14 + 4 // with a VLAN tag
	if size := int(d.reg.bufs.size); d.kind == abi.KindNIC && !d.multi && d.info.MTU+header > size {
		if err := o.refuse("MTU", fmt.Sprintf("frames of MTU %d need %d bytes, a buffer has %d; lower the MTU to %d, or %s",
			d.info.MTU, d.info.MTU+header, size, size-header, o.c.larger("buf_size", (d.info.MTU+header+1023)&^1023))); err != nil {
			return err
		}
	}
	if n := o.cfg.RxSlots; n > 0 && len(d.rx) > 0 && int(d.rx[0].rings[0].n) != n {
		if err := o.refuse("receive ring size", fmt.Sprintf("%d slots asked, the ring has %d", n, d.rx[0].rings[0].n)); err != nil {
			return err
		}
	}
	if n := o.cfg.TxSlots; n > 0 && len(d.tx) > 0 && int(d.tx[0].g.n) != n {
		return o.refuse("send ring size", fmt.Sprintf("%d slots asked, the ring has %d", n, d.tx[0].g.n))
	}
	return nil
}

// makePool chooses the pool of received packets, and whether buffers are exchanged.
func (o *opening) makePool() error {
	d, g := o.d, o.d.reg
	if p := o.cfg.Pool; p != nil {
		d.pool = p
		if own := g.pools[o.cfg.Set]; own != nil && own.Pool == p {
			own.refs++
			d.own = own
			return nil
		}
		d.why = fmt.Sprintf("packets go to pool %q, which is not the pool of the port's memory region %d; open it without a pool", p.Name(), g.id)
		return o.refuse("zero copy", d.why)
	}
	if g.pools[o.cfg.Set] == nil && len(g.spare) < o.want {
		g.ask(o.want - len(g.spare))
	}
	own, err := g.pool(o.cfg.Set, o.want, o.base.headroom, o.cfg.Strict)
	if err != nil {
		return &Error{Op: fmt.Sprintf("make a pool of %d packets", o.want), Device: d.name, Why: err.Error(),
			Cure: o.c.larger("buf_num", 2*abi.DefBufNum) + "; or ask for fewer packets (option packets=), or give a pool of your own (frames are then copied)"}
	}
	d.own, d.pool = own, own.Pool
	if n := own.Num(); n < o.want {
		return o.refuse("pool size", fmt.Sprintf("%d packets asked, %d are in the pool of memory region %d", o.want, n, g.id))
	}
	return nil
}

// refuse is an error under Strict, else a note.
func (o *opening) refuse(what, why string) error {
	if o.cfg.Strict {
		return &Error{Op: what, Device: o.d.name, Why: why, Cure: "or open it without Strict"}
	}
	o.d.note(what + ": " + why)
	return nil
}

// exchanges returns the pool whose packets' buffers the port exchanges, nil = none.
func (d *device) exchanges() *buffer.Pool {
	if d.own == nil {
		return nil
	}
	return d.own.Pool
}
