// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/worker"
)

// PoolConfig describes a pool. The zero value of a field is its default.
type PoolConfig struct {
	Name     string // at most 31 bytes; for errors and reports
	Type     Type   // TypePacket by default
	Num      int    // packets or buffers; required
	Size     int    // packet: data bytes one segment holds (default 1856); buffer: bytes, required
	MaxLen   int    // packet: largest length ever allocated (default 65536)
	Headroom int    // packet: bytes before the data of a new packet (default 128, -1 = 0)
	Align    int    // start of a buffer, a power of two (default 64)
	UserArea int    // bytes of user area per event (default 0)
	Cache    int    // events a worker may cache (default 256, -1 = none)
	Strict   bool   // refuse what would otherwise be reported and reduced (cache size, huge pages)
}

// Pool is a set of events of one type and size.
type Pool struct {
	cfg   PoolConfig
	idx   uint16
	hdr   *arena.Range
	data  *arena.Range
	mu    sync.Mutex
	free  []*Event
	total int
}

// ErrPool is wrapped by every error of a pool's creation.
var ErrPool = errors.New("pool")

// pools is the table that resolves Event.pool.
var (
	poolMu sync.Mutex
	pools  [256]*Pool
)

// NewPool makes a pool whose workers come from set.
func NewPool(set *worker.Set, cfg PoolConfig) (*Pool, error) {
	if cfg.Num < 1 {
		return nil, fmt.Errorf("%w %q: Num %d: must be at least 1", ErrPool, cfg.Name, cfg.Num)
	}
	if cfg.Type == 0 {
		cfg.Type = TypePacket
	}
	if cfg.Size == 0 {
		cfg.Size = 1856
	}
	switch {
	case cfg.Headroom == 0 && cfg.Type == TypePacket:
		cfg.Headroom = 128
	case cfg.Headroom < 0:
		cfg.Headroom = 0
	}
	poolMu.Lock()
	defer poolMu.Unlock()
	p := &Pool{cfg: cfg, total: cfg.Num}
	for i := 1; i < len(pools); i++ {
		if pools[i] == nil {
			p.idx = uint16(i)
			break
		}
	}
	stride := uint64(cfg.Size+cfg.Headroom+63)&^63 + 64
	var err error
	if p.hdr, err = arena.New(arena.Config{Name: cfg.Name, Size: uint64(cfg.Num) * 64, Huge: true}); err != nil {
		return nil, err
	}
	if p.data, err = arena.New(arena.Config{Name: cfg.Name, Size: uint64(cfg.Num) * stride, Huge: true}); err != nil {
		p.hdr.Close()
		return nil, err
	}
	for i := 0; i < cfg.Num; i++ {
		e := (*Event)(arena.At(p.hdr.Off + uint64(i)*64))
		e.pool, e.typ, e.index = p.idx, cfg.Type, uint32(i)
		e.buf = uint32((p.data.Off + uint64(i)*stride) >> 6)
		e.bufLen = uint32(stride)
		p.free = append(p.free, e)
	}
	pools[p.idx] = p
	return p, nil
}

// PoolOf returns the pool that the event belongs to.
func (e *Event) PoolOf() *Pool { return pools[e.pool] }

// AllocPackets fills pkts from the front with packets of length data bytes and
// returns how many it got; fewer means that the pool has no more now.
func (p *Pool) AllocPackets(w *worker.Worker, pkts []*Packet, length int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for n < len(pkts) && len(p.free) > 0 {
		e := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		e.Packet().reset(uint32(p.cfg.Headroom), uint32(length))
		pkts[n] = e.Packet()
		n++
	}
	return n
}

// FreePackets gives back packets of this pool, each with one reference and one
// segment: it reads no header. Use the package's FreePackets for all others.
func (p *Pool) FreePackets(w *worker.Worker, pkts []*Packet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range pkts {
		p.free = append(p.free, &k.Event)
	}
}

// FreePackets gives packets of any pools back, all segments, honouring references.
func FreePackets(w *worker.Worker, pkts []*Packet) {
	for _, k := range pkts {
		k.PoolOf().FreePackets(w, []*Packet{k})
	}
}

// Available returns the number of events that are not allocated. Control plane.
func (p *Pool) Available() int { p.mu.Lock(); defer p.mu.Unlock(); return len(p.free) }

// Num returns the number of events of the pool.
func (p *Pool) Num() int { return p.total }

// Close gives the memory back. All events must be back, else an error names how
// many are out.
func (p *Pool) Close() error {
	if n := p.total - p.Available(); n != 0 {
		return fmt.Errorf("%w %q: %d of %d events are still allocated", ErrPool, p.cfg.Name, n, p.total)
	}
	poolMu.Lock()
	defer poolMu.Unlock()
	pools[p.idx] = nil
	return errors.Join(p.hdr.Close(), p.data.Close())
}

func (k *Packet) reset(headroom, length uint32) {
	k.data = uint64(k.buf)<<6 + uint64(headroom)
	k.segLen, k.len = length, length
	k.flags, k.hash, k.next, k.input, k.queue = 0, 0, 0, 0, 0
	k.l2, k.l3, k.l4 = 0, meta.NoOffset, meta.NoOffset
	k.nsegs = 1
	k.refs.StoreRel(1)
}

// Len returns the data bytes in all segments.
func (k *Packet) Len() int { return int(k.len) }

// SegLen returns the data bytes in the first segment.
func (k *Packet) SegLen() int { return int(k.segLen) }

// DataPtr returns the address of the first data byte.
func (k *Packet) DataPtr() unsafe.Pointer { return arena.At(k.data) }

// Data views the data of the first segment; the slice lives as long as the caller
// owns the packet.
func (k *Packet) Data() []byte { return unsafe.Slice((*byte)(arena.At(k.data)), k.segLen) }
