// SPDX-License-Identifier: Apache-2.0

package pktio_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/worker"
)

// guard wraps a loop device for tests: it reports callers that meet inside a
// queue, fails calls on demand, holds callers inside, and limits what it takes.
type guard struct {
	joint    bool // receive and send of a queue may not meet either
	maxRx    int  // queues that it has at most; 0 = no limit
	maxTx    int
	noWaiter bool
	fd       func() int              // descriptor that Arm gives; nil = none
	fail     func(call string) error // nil = never
	onSend   func(queue int)         // called inside Send
	onRecv   func(queue int)
	room     atomic.Int64 // packets that Send takes; < 0 = no limit

	met     atomic.Int64 // callers that met
	inside  atomic.Int64 // callers inside a queue
	opens   atomic.Int64
	closes  atomic.Int64
	drained atomic.Int64
}

var (
	guardMu sync.Mutex
	guards  = map[string]*guard{}
)

// newGuard makes the device "guard:name" known and returns the name to open.
func newGuard(name string, g *guard) string {
	g.room.Store(-1)
	guardMu.Lock()
	defer guardMu.Unlock()
	guards[name] = g
	return "guard:" + name
}

func init() { driver.Register("guard", guardDriver{}) }

type guardDriver struct{}

var errInjected = errors.New("injected fault")

func (g *guard) call(name string) error {
	if g.fail == nil {
		return nil
	}
	return g.fail(name)
}

func (guardDriver) Open(ctx context.Context, name string, cfg driver.Config) (driver.Device, error) {
	guardMu.Lock()
	g := guards[name]
	guardMu.Unlock()
	if err := g.call("Open"); err != nil {
		return nil, err
	}
	if g.maxRx > 0 {
		cfg.RxQueues = min(max(cfg.RxQueues, 1), g.maxRx)
	}
	if g.maxTx > 0 {
		cfg.TxQueues = min(max(cfg.TxQueues, 1), g.maxTx)
	}
	inner, rest, err := driver.Lookup("loop:guarded-" + name)
	if err != nil {
		return nil, err
	}
	dev, err := inner.Open(ctx, rest, cfg)
	if err != nil {
		return nil, err
	}
	g.opens.Add(1)
	d := &guardDevice{Device: dev, g: g, in: make([]atomic.Int32, 64), rxIn: make([]atomic.Int32, 64)}
	return d, nil
}

type guardDevice struct {
	driver.Device
	g    *guard
	in   []atomic.Int32 // callers inside send queue i, and inside receive queue i when joint
	rxIn []atomic.Int32
}

func (d *guardDevice) Info() driver.Info {
	i := d.Device.Info()
	i.SplitDir = !d.g.joint
	i.Name = "guard:" + i.Name
	return i
}

func (d *guardDevice) Start() error {
	if err := d.g.call("Start"); err != nil {
		return err
	}
	return d.Device.Start()
}

func (d *guardDevice) Stop() error {
	if err := d.g.call("Stop"); err != nil {
		return err
	}
	return d.Device.Stop()
}

func (d *guardDevice) SetMTU(n int) error {
	if err := d.g.call("SetMTU"); err != nil {
		return err
	}
	return d.Device.SetMTU(n)
}

func (d *guardDevice) SetPromisc(on bool) error {
	if err := d.g.call("SetPromisc"); err != nil {
		return err
	}
	return d.Device.SetPromisc(on)
}

func (d *guardDevice) Drain(ctx context.Context) error {
	d.g.drained.Add(1)
	if err := d.g.call("Drain"); err != nil {
		return err
	}
	return d.Device.Drain(ctx)
}

func (d *guardDevice) Close() error {
	d.g.closes.Add(1)
	return errors.Join(d.g.call("Close"), d.Device.Close())
}

func (d *guardDevice) Rx(i int) driver.RxQueue {
	q := guardRx{d.Device.Rx(i), d, i}
	if d.g.noWaiter {
		return q
	}
	return guardWaiter{q}
}

func (d *guardDevice) Tx(i int) driver.TxQueue { return guardTx{d.Device.Tx(i), d, i} }

// enter counts a caller in; the result counts him out.
func (g *guard) enter(c *atomic.Int32) func() {
	if c.Add(1) != 1 {
		g.met.Add(1)
	}
	g.inside.Add(1)
	return func() {
		c.Add(-1)
		g.inside.Add(-1)
	}
}

type guardRx struct {
	driver.RxQueue
	d *guardDevice
	i int
}

func (q guardRx) Recv(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	defer q.d.g.enter(q.cell())()
	if f := q.d.g.onRecv; f != nil {
		f(q.i)
	}
	if err := q.d.g.call("Recv"); err != nil {
		return 0, err
	}
	return q.RxQueue.Recv(w, pkts)
}

func (q guardRx) cell() *atomic.Int32 {
	if q.d.g.joint {
		return &q.d.in[q.i]
	}
	return &q.d.rxIn[q.i]
}

type guardWaiter struct{ guardRx }

func (q guardWaiter) Arm(wake func()) (int, time.Duration, bool) {
	defer q.d.g.enter(q.cell())()
	if f := q.d.g.fd; f != nil {
		return f(), 0, false
	}
	return q.RxQueue.(driver.Waiter).Arm(wake)
}

func (q guardWaiter) Disarm() {
	defer q.d.g.enter(q.cell())()
	q.RxQueue.(driver.Waiter).Disarm()
}

type guardTx struct {
	driver.TxQueue
	d *guardDevice
	i int
}

func (q guardTx) Send(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	g := q.d.g
	defer g.enter(&q.d.in[q.i])()
	if f := g.onSend; f != nil {
		f(q.i)
	}
	if err := g.call("Send"); err != nil {
		return 0, err
	}
	if room := g.room.Load(); room >= 0 {
		pkts = pkts[:min(int(room), len(pkts))]
	}
	n, err := q.TxQueue.Send(w, pkts)
	if g.room.Load() >= 0 {
		g.room.Add(int64(-n))
	}
	return n, err
}

// yielder lets others run inside a queue, now and then: what a preempted holder does.
func yielder() func(int) {
	var n atomic.Uint32
	return func(int) {
		if n.Add(1)%7 == 0 {
			runtime.Gosched()
		}
	}
}
