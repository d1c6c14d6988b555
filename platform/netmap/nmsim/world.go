// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/platform/netmap/abi"
)

// Personality is the operating system whose netmap is simulated: ioctl numbers, the
// fast path of poll, unknown ioctls, the bounds of a mapping.
type Personality uint8

// The personalities.
const (
	Linux Personality = iota
	FreeBSD
)

// Config is the configuration of a World. The zero value is the default.
type Config struct {
	Personality Personality
	// Mem is the geometry of the regions of NICs (default: netmap's, with 32768
	// buffers), Private of the regions that VALE ports get.
	Mem, Private Geometry
	// KeepIdle keeps the memory of an idle region, for the next user.
	KeepIdle bool
	// BlockWhenDown lets sync and poll sleep while an interface is down, as
	// Linux does since 2021. Otherwise they answer EIO and POLLERR.
	BlockWhenDown bool
	// NoTimestamp leaves the time in RX rings alone, but for rings with NR_TIMESTAMP.
	NoTimestamp bool
	// Now is the clock of paced sources and delays (default: the monotonic clock).
	Now func() time.Duration
}

// World is one simulated kernel with its ports. Its methods may be called from any
// goroutine. Close ends it.
type World struct {
	cfg     Config
	start   time.Time
	startUS int64        // wall clock at start
	hooked  relax.Uint32 // a scribbler is set
	faulty  relax.Uint32 // call faults are set: every call is counted
	sources sourceTable

	mu      sync.Mutex
	wake    *sync.Cond // interface up, removed, or World closed
	ports   map[string]*port
	order   []*port // NICs; nil where one was removed
	pipes   map[string]*port
	bridges map[string]*bridge
	regions map[uint16]*region
	mapped  map[*file]bool // closed, and bound as long as they are mapped
	files   [maxFiles]atomic.Pointer[file]
	leaks   Leaks
	faults  callFaults
	hook    scribbler
	closed  bool
}

const maxFiles = 1024

// Leaks is what clients did not give back, or gave back wrongly, counted whenever a
// region becomes idle.
type Leaks struct {
	Leaked     uint64 // buffers that were in no ring and in no list at the end
	DoubleFree uint64 // buffers given back twice (in a ring and in the extra list, or in two rings)
	Foreign    uint64 // indices given back that are no buffers
	Ungranted  uint64 // extra buffers given back beyond the number granted
}

// NewWorld makes a kernel without ports.
func NewWorld(cfg Config) *World {
	cfg.Mem = cfg.Mem.or(Geometry{abi.DefIfSize, abi.DefIfNum, abi.DefRingSize, abi.DefRingNum, abi.DefBufSize, 32768})
	cfg.Private = cfg.Private.or(Geometry{abi.PrivIfSize, abi.PrivIfNum, abi.PrivRingSize, abi.PrivRingNum, abi.PrivBufSize, abi.PrivBufNum})
	w := &World{cfg: cfg, start: time.Now(), ports: map[string]*port{}, pipes: map[string]*port{},
		bridges: map[string]*bridge{}, regions: map[uint16]*region{}, mapped: map[*file]bool{}}
	w.startUS = w.start.UnixMicro()
	w.wake = sync.NewCond(&w.mu)
	w.regions[1] = newRegion(1, 1, false, cfg.Mem)
	return w
}

var defaultWorld = sync.OnceValue(func() *World {
	return NewWorld(Config{Mem: Geometry{BufSize: 2112, BufNum: 65536}})
})

// Default is the World of the process, behind the device names "nmsim:...". Its buffers
// have 2112 bytes (as with netmap's buf_size=2112): a distance of 2048 puts the headers of
// all frames into few sets of the processor's cache, which costs a fifth of the rate.
func Default() *World { return defaultWorld() }

func (w *World) now() int64 {
	if w.cfg.Now != nil {
		return int64(w.cfg.Now())
	}
	return int64(time.Since(w.start))
}

func (w *World) wall() (sec, usec int64) {
	us := w.startUS + int64(time.Since(w.start)/time.Microsecond) // one clock read, not two
	return us / 1e6, us % 1e6
}

// NIC makes a port. Its name is what clients register.
func (w *World) NIC(name string, cfg NICConfig) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.newNIC(name, cfg)
}

func (w *World) newNIC(name string, cfg NICConfig) error {
	if name == "" || len(name) >= abi.IfNameSize {
		return fmt.Errorf("nmsim: port %q: a name has 1 to %d bytes", name, abi.IfNameSize-1)
	}
	if w.ports[name] != nil {
		return fmt.Errorf("nmsim: port %q: exists; Remove it first", name)
	}
	cfg, err := cfg.filled(name)
	if err != nil {
		return fmt.Errorf("nmsim: port %q: %w", name, err)
	}
	if !w.cfg.Mem.valid() {
		return fmt.Errorf("nmsim: Config.Mem %+v: outside netmap's limits", w.cfg.Mem)
	}
	p := &port{w: w, name: name, kind: kindNIC, cfg: cfg}
	p.mem = w.regions[cfg.MemID]
	if p.mem == nil {
		p.mem = newRegion(cfg.MemID, int(cfg.MemID), false, w.cfg.Mem)
		w.regions[cfg.MemID] = p.mem
	}
	p.addRings(cfg.TxRings, cfg.RxRings, cfg.HostRings, cfg.TxSlots, cfg.RxSlots)
	p.farEnds()
	w.ports[name] = p
	if i := slices.Index(w.order, nil); i >= 0 {
		w.order[i] = p
	} else {
		w.order = append(w.order, p)
	}
	return nil
}

// dropNIC forgets a port and its sources.
func (w *World) dropNIC(p *port) {
	delete(w.ports, p.name)
	if i := slices.Index(w.order, p); i >= 0 {
		w.order[i] = nil
	}
	for _, k := range p.rx {
		if k.src != nil {
			w.sources.remove(k.src)
		}
	}
}

// Cable joins two ports: what one sends, the other receives. A port with a Source
// or a Sink has its far end already.
func (w *World) Cable(a, b string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	pa, pb := w.ports[a], w.ports[b]
	for _, x := range []struct {
		p    *port
		name string
	}{{pa, a}, {pb, b}} {
		switch {
		case x.p == nil:
			return fmt.Errorf("nmsim: cable %s - %s: no port %q", a, b, x.name)
		case x.p.cfg.Source != nil || x.p.cfg.Sink != nil:
			return fmt.Errorf("nmsim: cable %s - %s: %s has a source or sink at its far end", a, b, x.name)
		case x.p.peer != nil:
			return fmt.Errorf("nmsim: cable %s - %s: %s is joined to %s", a, b, x.name, x.p.peer.name)
		case x.p.fds > 0:
			return fmt.Errorf("nmsim: cable %s - %s: %s is open", a, b, x.name)
		}
	}
	pa.peer, pb.peer = pb, pa
	return nil
}

// Kernel returns the system calls of this World.
func (w *World) Kernel() abi.Kernel { return (*kernel)(w) }

// Leaks returns what was lost so far. Buffers of a region that is in use are not
// lost yet.
func (w *World) Leaks() Leaks {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.leaks
}

// Open returns the number of open descriptors.
func (w *World) Open() (n int) {
	for i := range w.files {
		if w.files[i].Load() != nil {
			n++
		}
	}
	return n
}

// Close ends the World: open descriptors are closed and all memory is given back. No
// client may touch a mapping afterwards.
func (w *World) Close() {
	for fd := range w.files {
		if w.files[fd].Load() != nil {
			w.Kernel().Close(fd + firstFD)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for f := range w.mapped {
		f.unbind()
	}
	clear(w.mapped)
	w.closed = true
	w.wake.Broadcast()
	for _, r := range w.regions {
		r.release()
	}
}

// sourceTable finds a source by the number in its frames.
type sourceTable struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*source]
}

func (t *sourceTable) at(id uint32) *source {
	l := t.list.Load()
	if l == nil || id >= uint32(len(*l)) {
		return nil
	}
	return (*l)[id]
}

// add makes a source under a free number; nil when there is none.
func (t *sourceTable) add(f func(id uint16) *source) *source {
	t.mu.Lock()
	defer t.mu.Unlock()
	var l []*source
	if old := t.list.Load(); old != nil {
		l = append(l, *old...)
	}
	id := slices.Index(l, nil)
	if id < 0 {
		if id = len(l); id > 65535 {
			return nil
		}
		l = append(l, nil)
	}
	l[id] = f(uint16(id))
	t.list.Store(&l)
	return l[id]
}

// remove frees the number of a source: its frames are nobody's from now on.
func (t *sourceTable) remove(s *source) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := append([]*source(nil), *t.list.Load()...)
	l[s.id] = nil
	t.list.Store(&l)
}
