// SPDX-License-Identifier: Apache-2.0

package pcap

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/internal/nic"
	"github.com/odp-go/godp/platform/internal/pcapfile"
	"github.com/odp-go/godp/queue"
)

func init() { driver.Register("pcap", drv{}) }

type drv struct{}

const (
	maxFrameLen    = 65535
	defaultPackets = 4096
)

// States of a device, written by control operations, read by bursts.
const (
	stateStopped uint32 = iota
	stateRunning
	stateClosed
)

type device struct {
	name    string
	pool    *buffer.Pool
	ownPool bool
	rx      rxQueue
	tx      txQueue
	state   relax.Uint32
	mtu     atomic.Int64
}

// Open implements driver.Driver.
func (drv) Open(_ context.Context, name string, cfg driver.Config) (driver.Device, error) {
	d := &device{name: "pcap:" + name}
	in, out, err := split(name)
	if err != nil {
		return nil, d.fail("open", err.Error(), nil, "write pcap:in=FILE, pcap:out=FILE or pcap:in=FILE,out=FILE")
	}
	o := driver.NewOptions(d.name, cfg.Options)
	q, t := &d.rx, &d.tx
	q.d, t.d = d, d
	q.paced = o.Choice("timing", "fast", "file") == "file"
	rate := o.Int("rate", 0, 0, 1_000_000_000)
	q.loops = o.Int("loops", 1, 0, math.MaxInt32)
	t.rotate = int64(o.Int("rotate", 0, 0, math.MaxInt))
	t.keep = o.Int("files", 0, 0, 1<<20)
	if err := o.Err(); err != nil {
		return nil, err
	}
	if rate > 0 {
		if q.paced {
			return nil, d.fail("open", "options timing=file and rate are two ways to pace", nil, "give one of them")
		}
		q.gap = time.Second / time.Duration(rate)
		q.rate = int64(rate)
	}
	for what, n := range map[string]int{"receive queues": cfg.RxQueues, "send queues": cfg.TxQueues} {
		if n > 1 && cfg.Strict {
			return nil, d.fail("open with Strict", fmt.Sprintf("%d %s asked, a file has 1", n, what), nil, "")
		}
	}
	d.mtu.Store(maxFrameLen)
	if err := d.open(in, out, cfg); err != nil {
		d.undo()
		return nil, err
	}
	return d, nil
}

// split reads "in=FILE,out=FILE" in any order.
func split(name string) (in, out string, err error) {
	for _, p := range strings.Split(name, ",") {
		k, v, ok := strings.Cut(p, "=")
		switch {
		case !ok || v == "":
			return "", "", fmt.Errorf("%q is not in=FILE or out=FILE", p)
		case k == "in" && in == "":
			in = v
		case k == "out" && out == "":
			out = v
		default:
			return "", "", fmt.Errorf("%q is not in=FILE or out=FILE, or given twice", p)
		}
	}
	if a, err := os.Stat(in); err == nil {
		if b, err := os.Stat(out); err == nil && os.SameFile(a, b) {
			return "", "", errors.New("in and out are the same file")
		}
	}
	return in, out, nil
}

func (d *device) fail(op, why string, err error, cure string) error {
	return &nic.Error{Op: op, Device: d.name, Why: why, Err: err, Cure: cure}
}

func (d *device) open(in, out string, cfg driver.Config) error {
	if in != "" {
		if err := d.rx.open(in); err != nil {
			return err
		}
	}
	if out != "" {
		d.tx.path, d.tx.ng = out, strings.HasSuffix(out, ".pcapng")
		if err := d.tx.create(); err != nil {
			return d.fail("create "+out, "", err, "")
		}
	}
	if d.pool = cfg.Pool; d.pool == nil {
		n := cfg.PoolPackets
		if n == 0 {
			n = defaultPackets
		}
		var err error
		if d.pool, err = buffer.NewPool(cfg.Set, buffer.PoolConfig{Name: "pcap", Num: n, Strict: cfg.Strict}); err != nil {
			return d.fail("make the pool", "", err, "")
		}
		d.ownPool = true
	}
	return nil
}

// Info implements driver.Device.
func (d *device) Info() driver.Info {
	return driver.Info{Name: d.name, Driver: "pcap", RxQueues: 1, TxQueues: 1, MemID: d.pool.Index(), Why: "packets are read from a file and written to one", SplitDir: true}
}

// Capability implements driver.Device.
func (d *device) Capability() driver.Capability {
	return driver.Capability{
		MaxRxQueues: 1, MaxTxQueues: 1, MinMTU: 60, MaxMTU: maxFrameLen, SetMTU: true, MultiSegment: true, Link: true, VLANInFrame: true, Blocking: true,
		ParseLayers: []meta.Layer{meta.LayerNone, meta.LayerL2, meta.LayerL3, meta.LayerL4},
	}
}

// Rx implements driver.Device.
func (d *device) Rx(int) driver.RxQueue { return &d.rx }

// Tx implements driver.Device.
func (d *device) Tx(int) driver.TxQueue { return &d.tx }

// Pool implements driver.Device.
func (d *device) Pool() *buffer.Pool { return d.pool }

// MTU implements driver.Device.
func (d *device) MTU() int { return int(d.mtu.Load()) }

// SetMTU implements driver.Device: longer packets are not written.
func (d *device) SetMTU(n int) error {
	if n < 60 || n > maxFrameLen {
		return d.fail("set the MTU", fmt.Sprintf("a frame of %d bytes", n), nil, fmt.Sprintf("allowed are 60 to %d", maxFrameLen))
	}
	d.mtu.Store(int64(n))
	return nil
}

// MAC implements driver.Device.
func (d *device) MAC() net.HardwareAddr { return net.HardwareAddr{0x02, 0x9c, 0xa9, 0, 0, 1} }

// Promisc implements driver.Device: a file gives all it has.
func (d *device) Promisc() (bool, error) { return true, nil }

// SetPromisc implements driver.Device.
func (d *device) SetPromisc(on bool) error {
	if on {
		return nil
	}
	return d.fail("leave promiscuous mode", "a file gives every packet that it has", nil, "")
}

// Link implements driver.Device.
func (d *device) Link() driver.Link { return driver.Link{Up: true, Known: true} }

// Start implements driver.Device. The clock of a paced replay starts here.
func (d *device) Start() error {
	if d.state.LoadAcq() == stateClosed {
		return queue.ErrClosed
	}
	d.rx.resume.StoreSeq(1)
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

// Drain implements driver.Device: each burst is written when Send returns.
func (d *device) Drain(context.Context) error { return nil }

// Counters implements driver.Device.
func (d *device) Counters() map[string]uint64 {
	return map[string]uint64{
		"rx_loops": d.rx.ended.LoadAcq(), "rx_cut_short": d.rx.cut.LoadAcq(), "tx_files": d.tx.files.LoadAcq(), "tx_swallowed": d.tx.swallowed.LoadAcq(),
	}
}

// Close implements driver.Device.
func (d *device) Close() error {
	var err error
	if d.state.LoadAcq() != stateClosed {
		d.state.StoreSeq(stateClosed)
		err = d.undo()
	}
	if d.ownPool {
		if perr := d.pool.Close(); perr != nil {
			return errors.Join(err, fmt.Errorf("device %q: %w: %w", d.name, driver.ErrPacketsOut, perr))
		}
		d.ownPool = false
	}
	return err
}

func (d *device) undo() error {
	if d.rx.file != nil {
		d.rx.file.Close()
	}
	err := d.tx.closeFile()
	if d.ownPool && d.state.LoadAcq() != stateClosed {
		d.pool.Close()
	}
	if err != nil {
		return d.fail("close "+d.tx.path, "", err, "")
	}
	return nil
}

func (d *device) fault(why string, err error) error {
	return &nic.Fault{Device: d.name, Why: why, Err: err}
}

func linkError(link int) string {
	return fmt.Sprintf("link type %d, only Ethernet (%d) is taken; convert it, for example with editcap -T ether", link, pcapfile.Ethernet)
}
