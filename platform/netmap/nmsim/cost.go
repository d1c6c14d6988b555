// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/platform/netmap/abi"
)

// OwnCost measures what the simulator itself takes for a frame from a source to a sink: a
// World of its own, saturated, one goroutine, and a client that does nothing but exchange
// the buffers of two slots, for about d. A rate that was measured with a source and a sink
// contains that cost; a real card does this work beside the processor.
func OwnCost(d time.Duration) (perFrame time.Duration, err error) {
	w := NewWorld(Config{Mem: Geometry{RingNum: 8, BufNum: 8192, BufSize: 2112}})
	defer w.Close()
	var c [2]costPort
	for i, name := range []string{"eth0", "eth1"} {
		if err := w.NIC(name, NICConfig{Source: &SourceConfig{}, Sink: &SinkConfig{}}); err != nil {
			return 0, err
		}
		if c[i], err = w.costOpen(name); err != nil {
			return 0, err
		}
	}
	frames, start := 0, time.Now()
	for end := start.Add(d); ; {
		for i := range c {
			rx, tx := &c[i], &c[1-i]
			rx.b.sync(false)
			frames += exchange(rx.rx, tx.tx, 32)
			tx.b.sync(true)
		}
		if frames&0xfff == 0 && time.Now().After(end) {
			break
		}
	}
	took := time.Since(start)
	if r := w.ReportAll(); r.Corrupt+r.Reordered+r.Duplicate > 0 || r.Delivered != uint64(frames) {
		return 0, fmt.Errorf("nmsim: %d of %d frames delivered intact", r.Delivered, frames)
	}
	return took / time.Duration(frames), nil
}

// costPort is a registered port with a ring in each direction.
type costPort struct {
	b      *binding
	rx, tx *abi.Ring
}

func (w *World) costOpen(name string) (p costPort, err error) {
	k := w.Kernel()
	fd, e := k.Open()
	if e != 0 {
		return p, e
	}
	call, err := abi.NewCall()
	if err != nil {
		return p, err
	}
	defer call.Close()
	_, r, err := call.Register(name)
	if err != nil {
		return p, err
	}
	r.Mode = abi.ModeAllNIC
	if e := k.Ioctl(fd, k.Numbers().Ctrl, call.Arg()); e != 0 {
		return p, e
	}
	m, e := k.Map(fd, r.MemSize)
	if e != 0 {
		return p, e
	}
	ifp := (*abi.If)(arena.At(m.Off() + r.Offset))
	at := func(entry uint32) *abi.Ring { return (*abi.Ring)(unsafe.Add(unsafe.Pointer(ifp), ifp.RingOfs(entry))) }
	return costPort{b: w.file(fd).bind.Load(), rx: at(ifp.RxEntry(0)), tx: at(ifp.TxEntry(0))}, nil
}

// exchange forwards up to n frames by exchanging buffers.
func exchange(rx, tx *abi.Ring, n int) (done int) {
	rh, rt, th, tt := rx.Head(), rx.Tail(), tx.Head(), tx.Tail()
	for done < n && rh != rt && th != tt {
		rs, ts := rx.Slot(rh), tx.Slot(th)
		ri, ln, _ := rs.Load()
		ti, _, _ := ts.Load()
		rs.Store(ti, 0, abi.SlotBufChanged)
		ts.Store(ri, ln, abi.SlotBufChanged)
		rh, th = abi.Next(rh, rx.NumSlots()), abi.Next(th, tx.NumSlots())
		done++
	}
	rx.SetHead(rh)
	tx.SetHead(th)
	return done
}
