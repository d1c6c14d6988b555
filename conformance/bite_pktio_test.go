// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/worker"
)

// brokenDevice is a loop device that a wrapper breaks in one way. The wrapper's hooks
// are nil where it is not broken.
type brokenDevice struct {
	what  string
	slow  bool                                                                                   // its cases take long or depend on timing
	fails string                                                                                 // the ids of the cases that must see it
	recv  func(q driver.RxQueue, w *worker.Worker, pkts []*buffer.Packet) (int, error)           //
	send  func(q driver.TxQueue, w *worker.Worker, pkts []*buffer.Packet) (int, error)           //
	dev   func(d *wrapped)                                                                       // changes the answers below
	open  func(ctx context.Context, name string, cfg driver.Config) (driver.Device, error, bool) //
}

// wrapped is an open broken device.
type wrapped struct {
	driver.Device
	b       *brokenDevice
	kind    string
	caps    func(c *driver.Capability)
	info    func(i *driver.Info)
	link    func(l *driver.Link)
	setMTU  func(n int) error
	promisc func() (bool, error)
	mac     func() net.HardwareAddr
	counter func(m map[string]uint64)
	close   func() error
}

type brokenDriver struct {
	b    *brokenDevice
	kind string
}

func (v brokenDriver) Open(ctx context.Context, name string, cfg driver.Config) (driver.Device, error) {
	if v.b.open != nil {
		if d, err, done := v.b.open(ctx, name, cfg); done {
			return d, err
		}
	}
	loop, _, err := driver.Lookup("loop:x")
	if err != nil {
		return nil, err
	}
	d, err := loop.Open(ctx, name, cfg)
	if err != nil {
		return nil, fmt.Errorf("device %q: %w", v.kind+":"+name, err)
	}
	w := &wrapped{Device: d, b: v.b, kind: v.kind}
	if v.b.dev != nil {
		v.b.dev(w)
	}
	return w, nil
}

func (d *wrapped) Info() driver.Info {
	i := d.Device.Info()
	i.Name, i.Driver = d.kind+strings.TrimPrefix(i.Name, "loop"), d.kind
	if d.info != nil {
		d.info(&i)
	}
	return i
}

func (d *wrapped) Capability() driver.Capability {
	c := d.Device.Capability()
	if d.caps != nil {
		d.caps(&c)
	}
	return c
}

func (d *wrapped) Link() driver.Link {
	l := d.Device.Link()
	if d.link != nil {
		d.link(&l)
	}
	return l
}

func (d *wrapped) SetMTU(n int) error {
	if d.setMTU != nil {
		return d.setMTU(n)
	}
	return d.Device.SetMTU(n)
}

func (d *wrapped) SetMAC(a net.HardwareAddr) error {
	return d.Device.(driver.AddressSetter).SetMAC(a)
}

func (d *wrapped) MAC() net.HardwareAddr {
	if d.mac != nil {
		return d.mac()
	}
	return d.Device.MAC()
}

func (d *wrapped) Promisc() (bool, error) {
	if d.promisc != nil {
		return d.promisc()
	}
	return d.Device.Promisc()
}

func (d *wrapped) Counters() map[string]uint64 {
	m := d.Device.Counters()
	if d.counter != nil {
		d.counter(m)
	}
	return m
}

func (d *wrapped) Close() error {
	err := d.Device.Close()
	if d.close != nil && err == nil {
		err = d.close()
	}
	return err
}

func (d *wrapped) Rx(i int) driver.RxQueue { return &wrappedRx{d.Device.Rx(i), d.b} }
func (d *wrapped) Tx(i int) driver.TxQueue { return &wrappedTx{d.Device.Tx(i), d.b} }

type wrappedRx struct {
	driver.RxQueue
	b *brokenDevice
}

func (q *wrappedRx) Recv(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if q.b.recv != nil {
		return q.b.recv(q.RxQueue, w, pkts)
	}
	return q.RxQueue.Recv(w, pkts)
}

// Arm and Disarm keep the loop's way to sleep.
func (q *wrappedRx) Arm(wake func()) (fd int, due time.Duration, ready bool) {
	return q.RxQueue.(driver.Waiter).Arm(wake)
}
func (q *wrappedRx) Disarm() { q.RxQueue.(driver.Waiter).Disarm() }

type wrappedTx struct {
	driver.TxQueue
	b *brokenDevice
}

func (q *wrappedTx) Send(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if q.b.send != nil {
		return q.b.send(q.TxQueue, w, pkts)
	}
	return q.TxQueue.Send(w, pkts)
}

// changing makes a receive hook that changes each packet.
func changing(f func(w *worker.Worker, k *buffer.Packet)) func(driver.RxQueue, *worker.Worker, []*buffer.Packet) (int, error) {
	return func(q driver.RxQueue, w *worker.Worker, pkts []*buffer.Packet) (int, error) {
		n, err := q.Recv(w, pkts)
		for _, k := range pkts[:n] {
			f(w, k)
		}
		return n, err
	}
}

// brokenDevices are the devices that the PKTIO suite must see, each with exactly the cases
// of the fast ones (biteCases) that must fail.
var brokenDevices = []brokenDevice{
	{what: "the link has values that there are not", fails: "08",
		dev: func(d *wrapped) { d.link = func(l *driver.Link) { l.Duplex = 9 } }},
	{what: "promiscuous mode is always on", fails: "30",
		dev: func(d *wrapped) { d.promisc = func() (bool, error) { return true, nil } }},
	{what: "the address that was set is forgotten", fails: "31",
		dev: func(d *wrapped) { a := d.MAC(); d.mac = func() net.HardwareAddr { return slices.Clone(a) } }},
	{what: "the largest frame that was set is forgotten", fails: "28 29",
		dev: func(d *wrapped) { d.setMTU = func(int) error { return nil } }},
	{what: "the least frame is larger than the largest", fails: "27 28 29",
		dev: func(d *wrapped) { d.caps = func(c *driver.Capability) { c.MinMTU = 66000 } }},
	{what: "a counter falls", fails: "40",
		dev: func(d *wrapped) {
			n := uint64(1 << 20)
			d.counter = func(m map[string]uint64) { n--; m["frames"] = n }
		}},
	{what: "packets are copied and nobody says why", fails: "07",
		dev: func(d *wrapped) { d.info = func(i *driver.Info) { i.ZeroCopy, i.Why = false, "" } }},
	{what: "VLAN tags are taken off", fails: "82 83 88 204",
		recv: changing(func(w *worker.Worker, k *buffer.Packet) {
			for k.NumSegs() == 1 && k.Len() > 18 && (k.Data()[12] == 0x81 && k.Data()[13] == 0 || k.Data()[12] == 0x88 && k.Data()[13] == 0xa8) {
				copy(k.Data()[4:16], append([]byte(nil), k.Data()[:12]...))
				k.PullHead(4)
			}
		})},
	{what: "frames are cut at 1536 bytes", fails: "26 29 205",
		recv: changing(func(w *worker.Worker, k *buffer.Packet) {
			if k.Len() > 1536 {
				_ = k.TruncTail(w, k.Len()-1536)
			}
		})},
	{what: "options that nobody knows are accepted", fails: "213",
		open: func(ctx context.Context, name string, cfg driver.Config) (driver.Device, error, bool) {
			if cfg.Options["no-such-option"] == "" {
				return nil, nil, false
			}
			delete(cfg.Options, "no-such-option")
			d, err := brokenDriver{&brokenDevice{}, "broken"}.Open(ctx, name, cfg)
			return d, err, true
		}},
	{what: "the device is busy for a while after it was closed", slow: true, fails: "02",
		open: func(ctx context.Context, name string, cfg driver.Config) (driver.Device, error, bool) {
			if time.Since(lastClose) < 2*time.Millisecond {
				return nil, fmt.Errorf("device %q: busy", name), true
			}
			return nil, nil, false
		},
		dev: func(d *wrapped) { d.close = func() error { lastClose = time.Now(); return nil } }},
	{what: "what a full device refuses is freed all the same", slow: true, fails: "209",
		send: func(q driver.TxQueue, w *worker.Worker, pkts []*buffer.Packet) (int, error) {
			n, err := q.Send(w, pkts)
			for _, k := range pkts[n:] {
				clear(k.Data())
			}
			return n, err
		}},
	{what: "a full device takes everything and loses it", slow: true, fails: "209",
		send: func(q driver.TxQueue, w *worker.Worker, pkts []*buffer.Packet) (int, error) {
			n, err := q.Send(w, pkts)
			buffer.FreePackets(w, pkts[n:])
			return len(pkts), err
		}},
}

var lastClose time.Time

// biteCases are the cases that run against broken devices.
var biteCases = strings.Fields("01 02 03 04 05 06 07 08 09 12 13 14 20 24 26 27 28 29 30 31 33 34 36 40 42 77 80 82 83 88 204 205 206 209 213")

func TestPktioBites(t *testing.T) {
	for i := range brokenDevices {
		b := &brokenDevices[i]
		t.Run(strings.ReplaceAll(b.what, " ", "_"), func(t *testing.T) {
			if b.slow {
				needBite(t)
			}
			kind := fmt.Sprintf("broken%d", i)
			driver.Register(kind, brokenDriver{b, kind})
			ids := biteCases
			if b.slow {
				ids = append(slices.Clone(ids), "201")
			}
			f := Factory{Name: b.what, Single: kind + ":0", patience: 300 * time.Millisecond}
			r := RunAll(t.Context(), f, Options{Run: regexp.MustCompile("^PKTIO-(" + strings.Join(ids, "|") + ")$"), Short: true})
			var got []string
			for _, c := range r.Cases {
				if c.State == Failed {
					got = append(got, strings.TrimPrefix(c.ID, "PKTIO-"))
				}
			}
			if strings.Join(got, " ") != b.fails {
				t.Errorf("failed are %q, want %q", strings.Join(got, " "), b.fails)
				for _, c := range r.Cases {
					if c.State == Failed && !slices.Contains(strings.Fields(b.fails), strings.TrimPrefix(c.ID, "PKTIO-")) {
						t.Logf("%s: %s", c.ID, c.Log[0])
					}
				}
			}
		})
	}
}
