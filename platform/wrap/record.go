// SPDX-License-Identifier: Apache-2.0

package wrap

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/internal/pcapfile"
	"github.com/odp-go/godp/worker"
)

// recorder writes what passes to one file; the queues share it.
type recorder struct {
	device string
	log    driver.Logger
	render func(b []byte, ns int64, dir string, queue int, k *buffer.Packet) []byte
	left   relax.Uint64 // packets that are still to be recorded
	done   relax.Uint64

	mu   sync.Mutex
	f    *os.File
	own  bool // f is closed at the end
	fail bool
}

func openDump(d *device, a *args, cfg driver.Config) error {
	path := a.text("", "FILE")
	if p := a.text("file", "file=FILE"); p != "" {
		path = p
	}
	rx, tx := a.direction("both")
	if path == "" {
		return errors.New("no file is given")
	}
	if err := a.err(); err != nil {
		return err
	}
	ng := strings.HasSuffix(path, ".pcapng")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	r := &recorder{f: f, own: true, render: func(b []byte, ns int64, _ string, _ int, k *buffer.Packet) []byte {
		b = pcapfile.AppendBegin(b, ng, ns, k.Len())
		for s := k.FirstSeg(); s != nil; s = s.Next() {
			b = append(b, s.Data()...)
		}
		return pcapfile.AppendEnd(b, ng, k.Len())
	}}
	r.left.StoreRel(1 << 62)
	r.wrap(d, cfg, rx, tx)
	if _, err = f.Write(pcapfile.AppendHeader(nil, ng)); err != nil {
		return err
	}
	return nil
}

func openTrace(d *device, a *args, cfg driver.Config) error {
	path := a.text("file", "file=FILE")
	most := a.number("max", 1<<62)
	rx, tx := a.direction("both")
	if err := a.err(); err != nil {
		return err
	}
	r := &recorder{f: os.Stderr, render: line}
	r.left.StoreRel(most)
	if path != "" {
		var err error
		if r.f, err = os.Create(path); err != nil {
			return err
		}
		r.own = true
	}
	r.wrap(d, cfg, rx, tx)
	return nil
}

// wrap puts the recorder around the queues of d.
func (r *recorder) wrap(d *device, cfg driver.Config, rx, tx bool) {
	r.device, r.log = d.name, cfg.Log
	for i := range d.rx {
		if rx {
			d.rx[i] = &recordRx{in: d.rx[i], r: r, i: i}
		}
	}
	for i := range d.tx {
		if tx {
			d.tx[i] = &recordTx{in: d.tx[i], r: r, i: i}
		}
	}
	d.counters = func(m map[string]uint64) { m["recorded"] += r.done.LoadAcq() }
	d.release = func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.f == nil || !r.own {
			return nil
		}
		f := r.f
		r.f = nil
		return f.Close()
	}
}

// take reserves room for n packets of those that are still to be recorded.
func (r *recorder) take(n int) int {
	for {
		left := r.left.LoadAcq()
		m := min(left, uint64(n))
		if m == 0 || r.left.CAS(left, left-m) {
			return int(m)
		}
	}
}

// write writes what was rendered of n packets.
func (r *recorder) write(b []byte, n int) {
	if n == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.f == nil || r.fail {
		return
	}
	if _, err := r.f.Write(b); err != nil {
		r.fail = true
		if r.log != nil {
			r.log.Warn("recording ends, traffic goes on: "+err.Error(), "device", r.device)
		}
		return
	}
	r.done.Add(uint64(n))
}

type recordRx struct {
	in  driver.RxQueue
	r   *recorder
	i   int
	buf []byte
}

// Recv implements driver.RxQueue.
func (q *recordRx) Recv(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	n, err := q.in.Recv(w, pkts)
	if n == 0 {
		return n, err
	}
	m := q.r.take(n)
	q.buf = q.buf[:0]
	t := time.Now().UnixNano()
	for _, k := range pkts[:m] {
		q.buf = q.r.render(q.buf, t, "rx", q.i, k)
	}
	q.r.write(q.buf, m)
	return n, err
}

// Arm implements driver.Waiter.
func (q *recordRx) Arm(wake func()) (fd int, due time.Duration, ready bool) { return arm(q.in, wake) }

// Disarm implements driver.Waiter.
func (q *recordRx) Disarm() { disarm(q.in) }

// Drops implements driver.RxQueue.
func (q *recordRx) Drops() map[string]uint64 { return q.in.Drops() }

type recordTx struct {
	in   driver.TxQueue
	r    *recorder
	i    int
	buf  []byte
	ends []int // where each packet's part of buf ends
}

// Send implements driver.TxQueue. Packets are rendered before they are sent, since they
// are gone afterwards; those that were not taken are not recorded.
func (q *recordTx) Send(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	m := q.r.take(len(pkts))
	q.buf, q.ends = q.buf[:0], q.ends[:0]
	if m > 0 {
		t := time.Now().UnixNano()
		for _, k := range pkts[:m] {
			q.buf = q.r.render(q.buf, t, "tx", q.i, k)
			q.ends = append(q.ends, len(q.buf))
		}
	}
	n, err := q.in.Send(w, pkts)
	if n < m {
		q.r.left.Add(uint64(m - n))
		m = n
	}
	if m > 0 {
		q.r.write(q.buf[:q.ends[m-1]], m)
	}
	return n, err
}

// Drops implements driver.TxQueue.
func (q *recordTx) Drops() map[string]uint64 { return q.in.Drops() }

// line describes a packet in one line of text.
func line(b []byte, ns int64, dir string, queue int, k *buffer.Packet) []byte {
	d := k.Data()
	b = time.Unix(0, ns).UTC().AppendFormat(b, "15:04:05.000000000")
	b = fmt.Appendf(b, " %s%d %d bytes", dir, queue, k.Len())
	if len(d) < 14 {
		return fmt.Appendf(b, " % x\n", d)
	}
	b = fmt.Appendf(b, " %v > %v", net.HardwareAddr(d[6:12]), net.HardwareAddr(d[:6]))
	f, l3, l4 := header.ParseSegment(k.DataPtr(), uint32(k.SegLen()), uint32(k.Len()), meta.LayerL4)
	at := 12
	for at+4 <= len(d) && (d[at] == 0x81 && d[at+1] == 0 || d[at] == 0x88 && d[at+1] == 0xa8) {
		b = fmt.Appendf(b, " vlan %d", int(d[at+2]&15)<<8|int(d[at+3]))
		at += 4
	}
	if at+2 <= len(d) {
		b = fmt.Appendf(b, " type %02x%02x", d[at], d[at+1])
	}
	var src, dst netip.Addr
	switch {
	case f&meta.IPv4 != 0 && int(l3)+20 <= len(d):
		src, _ = netip.AddrFromSlice(d[l3+12 : l3+16])
		dst, _ = netip.AddrFromSlice(d[l3+16 : l3+20])
	case f&meta.IPv6 != 0 && int(l3)+40 <= len(d):
		src, _ = netip.AddrFromSlice(d[l3+8 : l3+24])
		dst, _ = netip.AddrFromSlice(d[l3+24 : l3+40])
	}
	if src.IsValid() {
		b = fmt.Appendf(b, " %v > %v", src, dst)
	}
	for _, x := range marks {
		switch {
		case f&x.bit == 0:
		case x.ports && int(l4)+4 <= len(d):
			b = fmt.Appendf(b, " %s %d > %d", x.name, int(d[l4])<<8|int(d[l4+1]), int(d[l4+2])<<8|int(d[l4+3]))
		default:
			b = append(append(b, ' '), x.name...)
		}
	}
	return append(b, '\n')
}

// marks are what line says beside the addresses.
var marks = []struct {
	bit   meta.Flags
	name  string
	ports bool
}{
	{meta.ARP, "ARP", false}, {meta.TCP, "TCP", true}, {meta.UDP, "UDP", true}, {meta.SCTP, "SCTP", true}, {meta.ICMP, "ICMP", false},
	{meta.IPFrag, "fragment", false}, {meta.ErrL3, "bad L3", false}, {meta.ErrL4, "bad L4", false},
}
