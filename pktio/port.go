// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// States of a handle. Written under Port.ctl with store-seq; read by every burst.
const (
	stRunning uint32 = iota
	stNoInput        // StopInput: sends, and receives no more
	stStopped
	stClosed
)

// ErrBusy is wrapped by the error of an Open of a device that is open already.
var ErrBusy = errors.New("device is in use")

// Port is a handle on an open device: its receive queues (In) and send queues
// (Out). Control calls may come from any goroutine.
type Port struct {
	dev    *device
	cfg    Config
	name   string
	index  int
	set    *worker.Set
	in     []*In
	out    []*Out
	log    *slog.Logger
	level  LockLevel
	notes  []string
	spread bool // OpenAll spreads flows over lanes

	state relax.Uint32
	tick  ticket // level pktio

	ctl sync.Mutex // Start, Stop, Close
}

// Open opens the device named "kind:device?key=value&key=value". The kind
// chooses the platform among those that the program imports; device is the
// platform's name for it; the options rx, tx, rxslots, txslots, slots, packets,
// lock, parse, hash, promisc, strict, shared, takeover, linkwait and maxlen fill in Config,
// others are the platform's. The port is stopped: Start lets frames flow.
//
// A device can be open once in a process, unless every Open of it says Shared.
// An error says what was found, what is allowed and what to do; a failed Open
// leaves nothing behind.
func Open(ctx context.Context, set *worker.Set, name string, cfg Config) (*Port, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("device %q: open: %w", name, err)
	}
	if set == nil {
		return nil, fmt.Errorf("device %q: open: no worker set: pass the instance's (worker.NewSet)", name)
	}
	dev, opts, err := splitName(name)
	if err != nil {
		return nil, err
	}
	if err := cfg.merge(name, opts); err != nil {
		return nil, err
	}
	if err := cfg.check(name); err != nil {
		return nil, err
	}
	if err := checkPool(name, set, cfg.Pool); err != nil {
		return nil, err
	}
	drv, rest, err := driver.Lookup(dev)
	if err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	p := &Port{cfg: cfg, name: dev, set: set, log: cfg.Log, level: cfg.LockLevel, index: -1}
	if p.level == LockDefault {
		p.level = LockQueue
	}
	p.state.StoreSeq(stStopped)

	reap()
	key := devKey{netNS(), dev}
	d, first, err := reserve(key, p)
	if err != nil {
		return nil, err
	}
	if first {
		err = d.open(ctx, drv, rest, opts, p)
	} else {
		err = p.matches(d, opts)
	}
	if err == nil {
		err = p.attach(d)
	}
	if err != nil {
		return nil, errors.Join(err, d.leave(p))
	}
	return p, nil
}

// reserve finds the device in the registry, or enters it.
func reserve(key devKey, p *Port) (d *device, first bool, err error) {
	regMu.Lock()
	defer regMu.Unlock()
	if d = devices[key]; d != nil {
		d.mu.Lock()
		ok := d.shared && p.cfg.Shared && d.ready && len(d.handles) > 0 && d.level == p.level && d.set == p.set
		if ok {
			d.handles = append(d.handles, p)
		}
		d.mu.Unlock()
		if ok {
			return d, false, nil
		}
		cure := "close that one first, or open both with Shared (option shared=1)"
		if d.shared && p.cfg.Shared {
			cure = fmt.Sprintf("handles on one device must be of one worker set and have the same lock level: asked for %s", p.level)
		}
		return nil, false, fmt.Errorf("device %q: open: %w: held by %s: %s", key.dev, ErrBusy, d.holders(), cure)
	}
	d = &device{key: key, set: p.set, level: p.level, shared: p.cfg.Shared, opened: time.Now()}
	d.handles = append(d.handles, p)
	devices[key] = d
	return d, true, nil
}

func (d *device) open(ctx context.Context, drv driver.Driver, rest string, opts map[string]string, p *Port) error {
	c := p.cfg
	dd, err := drv.Open(ctx, rest, driver.Config{
		Set: p.set, Pool: c.Pool, PoolPackets: c.PoolPackets,
		RxQueues: c.RxQueues, TxQueues: c.TxQueues, RxSlots: c.RxSlots, TxSlots: c.TxSlots,
		Strict: c.Strict, Promisc: c.Promisc, TakeOver: c.TakeOver, LinkWait: c.LinkWait, Options: opts, Log: p.log,
	})
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	d.info = dd.Info()
	slots := c.StageSlots
	if slots == 0 {
		slots = 1024
	}
	d.drv = dd
	if err := d.build(slots); err != nil {
		return err
	}
	if c.MaxLen != 0 && c.MaxLen != dd.MTU() {
		if err := p.setMTU(dd, c.MaxLen); err != nil {
			return err
		}
	}
	if c.Promisc {
		if err := dd.SetPromisc(true); err != nil {
			if c.Strict {
				return fmt.Errorf("device %q: promiscuous mode: %w", d.key.dev, err)
			}
			p.note("promiscuous mode was not granted: " + err.Error())
		}
	}
	p.wanted("receive queues", c.RxQueues, d.info.RxQueues)
	p.wanted("send queues", c.TxQueues, d.info.TxQueues)
	if err := p.strict(d); err != nil {
		return err
	}
	d.mu.Lock()
	d.ready = true
	d.mu.Unlock()
	return nil
}

// wanted notes what was not granted.
func (p *Port) wanted(what string, want, got int) {
	if want != 0 && want != got {
		p.note(fmt.Sprintf("%d %s were asked for, the device has %d", want, what, got))
	}
}

func (p *Port) note(s string) {
	p.notes = append(p.notes, s)
	p.log.Warn("packet I/O: not as asked for", "device", p.name, "what", s)
}

func (p *Port) strict(d *device) error {
	if p.cfg.Strict && len(p.notes) > 0 {
		return fmt.Errorf("device %q: open with Strict: %s", d.key.dev, p.notes[0])
	}
	return nil
}

// matches checks a further handle's Config against the open device.
func (p *Port) matches(d *device, opts map[string]string) error {
	c := p.cfg
	if len(opts) > 0 {
		return fmt.Errorf("device %q: open: it is open already: options of the platform are allowed at its first Open only", p.name)
	}
	if c.Pool != nil && c.Pool != d.drv.Pool() {
		return fmt.Errorf("device %q: open: the open device receives into another pool: give the same Config.Pool, or none", p.name)
	}
	for _, x := range []struct {
		what      string
		want, got int
	}{
		{"receive queues", c.RxQueues, d.info.RxQueues}, {"send queues", c.TxQueues, d.info.TxQueues},
		{"receive slots", c.RxSlots, d.info.RxSlots}, {"send slots", c.TxSlots, d.info.TxSlots},
		{"bytes of frame length", c.MaxLen, d.drv.MTU()},
	} {
		p.wanted(x.what, x.want, x.got)
	}
	return p.strict(d)
}

// attach gives the port its queues and its index.
func (p *Port) attach(d *device) error {
	p.dev = d
	if !p.cfg.NoInput {
		for _, r := range d.rx {
			p.in = append(p.in, newIn(p, r))
		}
	}
	if !p.cfg.NoOutput {
		for _, r := range d.tx {
			p.out = append(p.out, newOut(p, r))
		}
	}
	regMu.Lock()
	defer regMu.Unlock()
	for i := range ports {
		if ports[i].Load() == nil {
			p.index = i
			for _, in := range p.in {
				in.ing.port = i
			}
			ports[i].Store(p)
			return nil
		}
	}
	return fmt.Errorf("device %q: open: %d ports are open: allowed are %d", p.name, MaxPorts, MaxPorts)
}

// ByIndex returns the port that a packet's input index names, nil when it was
// closed. Any goroutine.
func ByIndex(i int) *Port {
	if i < 0 || i >= MaxPorts {
		return nil
	}
	return ports[i].Load()
}

// Lookup returns an open handle of the device "kind:device", nil when there is none.
func Lookup(name string) *Port {
	dev, _, err := splitName(name)
	if err != nil {
		return nil
	}
	regMu.Lock()
	d := devices[devKey{netNS(), dev}]
	regMu.Unlock()
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.handles) == 0 {
		return nil
	}
	return d.handles[0]
}

// Name returns "kind:device".
func (p *Port) Name() string { return p.name }

// Index returns the small number of the port, which its packets carry.
func (p *Port) Index() int { return p.index }

// NumIn returns the number of receive queues.
func (p *Port) NumIn() int { return len(p.in) }

// NumOut returns the number of send queues.
func (p *Port) NumOut() int { return len(p.out) }

// In returns receive queue i, 0 <= i < NumIn.
func (p *Port) In(i int) *In { return p.in[i] }

// Out returns send queue i, 0 <= i < NumOut.
func (p *Port) Out(i int) *Out { return p.out[i] }

// Pool returns the pool that received packets come from.
func (p *Port) Pool() *buffer.Pool { return p.dev.drv.Pool() }

// LockLevel returns the lock level in use.
func (p *Port) LockLevel() LockLevel { return p.level }

// notRunning is the error of a burst on a port that is not started.
func (p *Port) notRunning() error {
	if p.state.LoadAcq() == stClosed {
		return queue.ErrClosed
	}
	return queue.ErrStopped
}

// Set returns the worker set of the port.
func (p *Port) Set() *worker.Set { return p.set }
