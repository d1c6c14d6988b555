// SPDX-License-Identifier: Apache-2.0

package template

import (
	"sync"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/worker"
)

// record is a frame that fits in one cell, apart from its neighbours by two lines so
// that the next one is fetched along.
type record struct {
	data [cell]byte
	n    uint32
	_    [60]byte
}

type rxQueue struct {
	dev     *device
	records []record // all frames, if none is longer than a cell
	frames  [][]byte // else
	alloc   int      // length to allocate
	next    int
	limit   int
	given   int
	empty   relax.Uint64
}

func newRx(d *device, longest int) *rxQueue {
	r := &rxQueue{dev: d, limit: d.feed.Limit, alloc: longest}
	if longest > cell {
		r.frames = d.feed.Frames
		return r
	}
	r.records = make([]record, len(d.feed.Frames))
	for i, b := range d.feed.Frames {
		r.records[i].n = uint32(len(b))
		copy(r.records[i].data[:], b)
	}
	r.alloc = len(d.feed.Frames[0])
	return r
}

// Recv implements driver.RxQueue.
func (r *rxQueue) Recv(w *worker.Worker, pkts []*buffer.Packet) (int, error) {
	if r.dev.running.LoadAcq() == 0 {
		return 0, nil
	}
	if r.limit != 0 {
		pkts = pkts[:min(len(pkts), r.limit-r.given)]
	}
	n := r.dev.pool.AllocPackets(w, pkts, r.alloc)
	if n < len(pkts) {
		r.empty.StoreRel(r.empty.LoadAcq() + 1)
	}
	if r.given += n; r.records == nil {
		r.copyLong(pkts[:n])
		return n, nil
	}
	next, records, length := r.next, r.records, uint32(r.alloc)
	for _, k := range pkts[:n] {
		f := &records[next]
		if next++; next == len(records) {
			next = 0
		}
		*(*[cell]byte)(k.DataPtr()) = f.data
		if f.n != length {
			k.SetData(k.DataOff(), f.n)
		}
	}
	r.next = next
	return n, nil
}

func (r *rxQueue) copyLong(pkts []*buffer.Packet) {
	for _, k := range pkts {
		b := r.frames[r.next]
		if r.next++; r.next == len(r.frames) {
			r.next = 0
		}
		k.SetData(k.DataOff(), uint32(len(b)))
		copy(k.Data(), b)
	}
}

type txQueue struct {
	dev       *device
	keep      bool
	swallowed relax.Uint64

	mu   sync.Mutex // kept, in a run that keeps frames
	kept [][]byte
	_    relax.Pad
}

func (t *txQueue) copyOut(pkts []*buffer.Packet) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range pkts {
		if len(t.kept) == t.dev.feed.Keep {
			return
		}
		b := make([]byte, k.Len())
		_ = k.CopyToMem(0, b) // the length is the packet's own
		t.kept = append(t.kept, b)
	}
}

// defaultFrame is a UDP frame of 60 bytes with the addresses of RFC 2544.
func defaultFrame() []byte {
	b := make([]byte, 60)
	e := header.Ethernet(b)
	e.SetDst(header.MAC{2, 0, 0, 0, 0, 1})
	e.SetSrc(header.MAC{2, 0, 0, 0, 0, 2})
	e.SetType(0x0800)
	header.IPv4(b[14:]).Encode(&header.IPv4Fields{TotalLen: 46, TTL: 64, Protocol: 17, Src: [4]byte{198, 18, 0, 1}, Dst: [4]byte{198, 19, 0, 1}})
	u := header.UDP(b[34:])
	u.SetSrcPort(9)
	u.SetDstPort(9)
	u.SetLength(26)
	return b
}
