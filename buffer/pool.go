// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/worker"
)

// PoolConfig describes a pool. The zero value of a field is its default.
type PoolConfig struct {
	Name     string // at most 31 bytes; for errors, reports and Lookup; need not be unique
	Type     Type   // TypePacket by default
	Num      int    // events; required
	Size     int    // packet: data bytes the first segment holds (default 1856); buffer: bytes, required; vector: events, required; time-out: bytes (default 64)
	MaxLen   int    // packet: largest length ever allocated (default 65536)
	Headroom int    // packet: bytes before the data of a new packet (default 128, -1 = 0)
	Align    int    // start of a buffer or of a new packet's data, a power of two up to 4096 (default 64 for buffers; packets: that of Headroom)
	UserArea int    // bytes of user area per event (default 0)

	// Sub are further lengths that a packet pool holds packets of: beside the Num
	// packets of Size bytes there is room for the Num packets of each entry, at the
	// same time (ODP's pkt.sub[]). All come from one set of segments: an entry adds
	// as many as its packets need. At most MaxSub, with lengths that increase and are
	// above Size.
	Sub []SubConfig

	// Cache is how many events a worker may cache: 0 = up to 256, as many as
	// the rule allows; -1 = none; at most 1024.
	// The rule: an allocation never fails while the application holds fewer
	// than Need events, if Num >= Need + workers x Cache, where workers is the
	// Max of the set. Where it does not hold the cache is made smaller; Info
	// says so, and it is an error if Cache was given and Strict is set.
	Cache int
	// Need is how many events the application wants to hold at the same time;
	// 0 = Num / 2.
	Need int

	// UserAreaInit is called once for each event at creation, with its user
	// area and index. What it writes stays: neither free nor alloc touch the area.
	UserAreaInit func(area []byte, index int)

	Strict bool // refuse what would otherwise be reported and reduced (cache size, huge pages)
}

// SubConfig is one more length that a packet pool holds packets of.
type SubConfig struct {
	Num int // packets
	Len int // data bytes of each
}

// Pool is a set of events of one type and size. Its memory is outside of the Go
// heap and backed when it is created:
//
//	headers   64 bytes each, dense: the hot part (Event)
//	cold      64 bytes each: time stamp, user word, owner, …
//	areas     user areas
//	data      one chunk per event; its stride is an odd number of lines, so
//	          that the first lines of packets spread over all cache sets
//
// Allocation and free may be called by any worker, for its own account, and by
// anybody with a nil worker. Free events are kept last in first out, in a cache
// per worker over a list that all share.
type Pool struct {
	// read by every call
	set       *worker.Set
	caches    []cache
	tmpl      [8]uint64 // a fresh header; words 0, 1, 2, 4 and 7 are not used
	plainMask uint64    // the bits of word 6 that Pool.plain compares
	segCap    uint32    // data bytes of a new packet's first segment
	head      uint32    // headroom of a new packet
	maxLen    uint32
	idx       uint16
	typ       Type
	ext       bool // headers only, the platform attaches the buffers

	// set at creation
	cfg      PoolConfig
	mem      *arena.Range
	hdrOff   uint64
	coldOff  uint64
	areaOff  uint64
	areaStep uint32
	dataOff  uint64
	stride   uint32
	num      int
	notes    []string
	unflush  func()

	statsMu sync.Mutex
	zero    PoolStats // the counters at the last ResetStats

	values    atomic.Pointer[[]any]
	closed    atomic.Bool
	revoked   atomic.Bool  // no worker caches any more
	abandoned atomic.Bool  // closed with events out
	attached  relax.Uint64 // external: headers with a buffer

	shared struct {
		_                                 relax.Pad
		puts                              relax.Uint64 // see tally
		_                                 relax.Pad
		gets                              relax.Uint64
		_                                 relax.Pad
		allocs, allocFails, frees, misses relax.Uint64
		_                                 relax.Pad
	}
	store store
}

// ErrPool is wrapped by every error of a pool's creation and closing.
var ErrPool = errors.New("pool")

// States of a header (Event.state). Outside of the invariants tag a header keeps
// stateAlloc while it is free.
const (
	stateFree     = iota
	stateAlloc    // owned by the application
	stateIndirect // owned; its data belongs to the segment that the cold part names
	stateKernel   // a driver gave the buffer to the kernel
	stateRing     // in a ring between sender and receiver (invariants tag only)
	stateDetached // external pool: has no buffer
)

// NewPool makes a pool whose workers come from set. All memory is there when it
// returns; a shortage is an error now. Any goroutine; the pool is closed with Close.
func NewPool(set *worker.Set, cfg PoolConfig) (*Pool, error) {
	return NewPoolContext(context.Background(), set, cfg)
}

// NewPoolContext is NewPool that gives up, and gives all memory back, when ctx ends
// meanwhile: a pool of gigabytes takes seconds. The error wraps ctx's.
func NewPoolContext(ctx context.Context, set *worker.Set, cfg PoolConfig) (*Pool, error) {
	p := &Pool{set: set}
	if err := p.configure(cfg); err != nil {
		return nil, err
	}
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	p.fill()
	return p, nil
}

// fill gives each header its chunk and puts all events into the shared list.
func (p *Pool) fill() {
	ev := make([]uintptr, p.num)
	for i := range ev {
		e := p.EventAt(i)
		e.buf = uint32((p.dataOff + uint64(i)*uint64(p.stride)) >> 6)
		e.bufLen = p.stride
		e.state = stateAlloc
		if checked {
			p.poison(e)
		}
		if p.cfg.UserAreaInit != nil && p.areaStep != 0 {
			p.cfg.UserAreaInit(p.area(uint32(i)), i)
		}
		ev[i] = uintptr(unsafe.Pointer(e))
	}
	// chunk by chunk, so that the first events come out first
	for end := len(ev); end > 0; {
		n := min(p.store.per, end)
		if r := end % p.store.per; r != 0 {
			n = r
		}
		p.give(nil, ev[end-n:end])
		end -= n
	}
}

// open gets the memory, fills in what is equal in all headers and enters the pool
// in the table.
func (p *Pool) open(ctx context.Context) error {
	n := uint64(p.num)
	size := n * (64 + coldSize)
	areaAt := size
	size = (size + n*uint64(p.areaStep) + 4095) &^ 4095
	dataAt := size
	if !p.ext {
		size += n * uint64(p.stride)
	}
	mem, err := arena.NewContext(ctx, arena.Config{Name: "pool " + p.cfg.Name, Size: size, Huge: size >= 1<<20})
	if err != nil {
		return wrapPool(p.cfg.Name, err)
	}
	p.mem = mem
	p.hdrOff, p.coldOff, p.areaOff, p.dataOff = mem.Off, mem.Off+n*64, mem.Off+areaAt, mem.Off+dataAt
	if err := p.checkBacking(); err != nil {
		mem.Close()
		return err
	}
	if err := p.register(); err != nil {
		mem.Close()
		return err
	}
	per := 32
	p.caches = make([]cache, p.set.Max())
	for i := range p.caches {
		p.caches[i].sp.shard = i
	}
	if c := p.cfg.Cache; c > 0 {
		per = max(1, min(c/2, maxPer))
		for i := range p.caches {
			p.caches[i].ev = make([]uintptr, c)
			p.caches[i].limit.StoreRel(uint32(c))
		}
	}
	p.store.initStore(uintptr(arena.At(p.hdrOff)), p.num, per, p.set.Max())
	t := Event{pool: p.idx, typ: p.typ, l2: meta.NoOffset, l3: meta.NoOffset, l4: meta.NoOffset, state: stateAlloc, nsegs: 1}
	t.refs.StoreRel(1)
	p.tmpl = *(*[8]uint64)(unsafe.Pointer(&t))
	m := Event{pool: 0xffff, typ: 0xff, state: 0xff, nsegs: 0xffff}
	p.plainMask = (*[8]uint64)(unsafe.Pointer(&m))[6]
	for i := 0; i < p.num; i++ {
		e := p.EventAt(i)
		*(*[8]uint64)(unsafe.Pointer(e)) = p.tmpl
		e.index = uint32(i)
		e.state = stateDetached
	}
	if p.typ == TypeVector {
		p.tmpl[6] = 0 // a vector is never plain: it is freed with what is in it
	}
	if p.cfg.Cache > 0 {
		p.unflush = p.set.OnFlush(p.flush)
	}
	return nil
}

// EventAt returns the header with this index, 0 <= i < Num. For platforms that bind
// buffers to headers, and for reports; it gives no ownership.
func (p *Pool) EventAt(i int) *Event {
	if uint(i) >= uint(p.num) {
		panic("buffer: EventAt: index out of range")
	}
	return (*Event)(arena.At(p.hdrOff + uint64(i)<<6))
}

// owns reports whether e is a header of this pool.
func (p *Pool) owns(e *Event) bool {
	return uint64(uintptr(unsafe.Pointer(e))-p.store.base)>>6 < p.store.num
}

// area returns the user area of header i.
func (p *Pool) area(i uint32) []byte {
	return arena.Bytes(p.areaOff+uint64(i)*uint64(p.areaStep), p.cfg.UserArea)
}

// Name returns the name from the configuration.
func (p *Pool) Name() string { return p.cfg.Name }

// Type returns the kind of event.
func (p *Pool) Type() Type { return p.typ }

// Set returns the workers whose pool it is.
func (p *Pool) Set() *worker.Set { return p.set }

// Index returns the pool's place in the process's pool table, 1 to MaxPools.
func (p *Pool) Index() int { return int(p.idx) }

// Num returns the number of events of the pool; of an external pool, the headers.
func (p *Pool) Num() int { return p.num }

// Headroom returns the bytes before the data of a new packet.
func (p *Pool) Headroom() int { return int(p.head) }

// SegCap returns the data bytes that a new packet's first segment holds.
func (p *Pool) SegCap() int { return int(p.segCap) }

// MaxLen returns the largest length of a packet.
func (p *Pool) MaxLen() int { return int(p.maxLen) }
