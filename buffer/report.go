// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"errors"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
)

// PoolInfo says what a pool is and what it got.
type PoolInfo struct {
	Config      PoolConfig // as asked, with the defaults filled in and Cache as it is
	Index       int
	External    bool
	Backing     arena.Backing
	Memory      uint64 // bytes that the pool took, with headers
	CacheSize   int    // events a worker caches
	Burst       int    // events that move between a cache and the shared list
	Stride      int    // bytes from one data chunk to the next
	MinDataAddr uintptr
	MaxDataAddr uintptr  // last byte; both 0 when the data is a platform's
	Notes       []string // what was asked and not granted
}

// Info describes the pool. Any goroutine.
func (p *Pool) Info() PoolInfo {
	i := PoolInfo{Config: p.cfg, Index: int(p.idx), External: p.ext, Backing: p.mem.Backing, Memory: p.mem.Size,
		CacheSize: max(p.cfg.Cache, 0), Burst: p.store.per, Stride: int(p.stride), Notes: p.notes}
	if !p.ext && p.mem.Size != 0 {
		i.MinDataAddr = uintptr(arena.At(p.dataOff))
		i.MaxDataAddr = i.MinDataAddr + uintptr(p.num)*uintptr(p.stride) - 1
	}
	return i
}

// PoolStats are counters since creation or the last ResetStats, as ODP has them:
// an operation is a call, of any burst size. Calls that the worker's cache serves are
// counted apart from those that go to the shared list.
type PoolStats struct {
	Available      uint64 // events in the shared list now
	CacheAvailable uint64 // events in the workers' caches now
	AllocOps       uint64 // calls to the shared list, failed ones too
	AllocFails     uint64 // calls that got less than they asked for
	FreeOps        uint64
	TotalOps       uint64 // AllocOps + FreeOps
	CacheAllocOps  uint64
	CacheFreeOps   uint64
	FlushRequests  uint64 // failed calls that asked the workers to flush their caches
}

// Stats sums the counters of all workers. Any goroutine; the sum is exact when no
// call runs.
func (p *Pool) Stats() PoolStats {
	s := p.rawStats()
	p.statsMu.Lock()
	defer p.statsMu.Unlock()
	z := &p.zero
	s.AllocOps -= z.AllocOps
	s.AllocFails -= z.AllocFails
	s.FreeOps -= z.FreeOps
	s.TotalOps -= z.TotalOps
	s.CacheAllocOps -= z.CacheAllocOps
	s.CacheFreeOps -= z.CacheFreeOps
	s.FlushRequests -= z.FlushRequests
	return s
}

// ResetStats makes the counters start from 0 again. Any goroutine.
func (p *Pool) ResetStats() {
	s := p.rawStats()
	p.statsMu.Lock()
	defer p.statsMu.Unlock()
	p.zero = s
}

func (p *Pool) rawStats() PoolStats {
	s := PoolStats{Available: uint64(max(p.tally(), 0)), AllocOps: p.shared.allocs.LoadAcq(), AllocFails: p.shared.allocFails.LoadAcq(),
		FreeOps: p.shared.frees.LoadAcq(), FlushRequests: p.shared.misses.LoadAcq()}
	for i := range p.caches {
		c := &p.caches[i]
		s.CacheAvailable += uint64(c.n.LoadAcq())
		s.AllocOps += c.allocs.LoadAcq()
		s.AllocFails += c.allocFails.LoadAcq()
		s.FreeOps += c.frees.LoadAcq()
		s.CacheAllocOps += c.allocSeq.LoadAcq()/2 - c.allocs.LoadAcq()
		s.CacheFreeOps += c.freeSeq.LoadAcq()/2 - c.frees.LoadAcq() - c.flushes.LoadAcq()
		s.FlushRequests += c.misses.LoadAcq()
	}
	s.TotalOps = s.AllocOps + s.FreeOps
	return s
}

// CacheAvailable returns the events in the cache of the worker with this id. Any goroutine.
func (p *Pool) CacheAvailable(id int) int {
	if uint(id) >= uint(len(p.caches)) {
		return 0
	}
	return int(p.caches[id].n.LoadAcq())
}

// Available returns the number of events that are not allocated, in the shared
// list and in the caches. Any goroutine; exact when no call runs.
func (p *Pool) Available() int {
	n := uint64(max(p.tally(), 0))
	for i := range p.caches {
		n += uint64(p.caches[i].n.LoadAcq())
	}
	return int(n)
}

// Out returns the number of events that are allocated. Any goroutine; exact
// when no call runs.
func (p *Pool) Out() int {
	if p.closed.Load() {
		return 0
	}
	n := p.num
	if p.ext {
		n = p.Attached()
	}
	return n - p.Available()
}

// Leaks describes who holds the events that are out: "" when none is. With the
// invariants tag it names the worker and the place of the allocation. No call may
// run meanwhile.
func (p *Pool) Leaks() string {
	n := p.Out()
	if n == 0 {
		return ""
	}
	if n < 0 {
		return p.bad("%d more events came back than were allocated: something was freed twice (the invariants build tag names it)", -n).Error()
	}
	return p.bad("%d of %d events are still allocated%s", n, p.num, p.holders()).Error()
}

// Close gives the memory back. All events must be back, else an error names how
// many are out and nothing changes but that workers do not cache any more. An
// external pool must be detached first. Control plane; no worker uses the pool
// any more. A late access reads zeroes or faults at an address of packet memory, and
// a late free panics with a message.
func (p *Pool) Close() error {
	if p.closed.Load() {
		if p.abandoned.Load() {
			return nil
		}
		return p.bad("closed already")
	}
	if err := p.revoke(); err != nil {
		return err
	}
	if n := p.Out(); n < 0 {
		return p.bad("Close: %d more events came back than were allocated: something was freed twice (the invariants build tag names it)", -n)
	} else if n > 0 {
		return p.bad("Close: %d of %d events are still allocated%s", n, p.num, p.holders())
	}
	if n := p.Attached(); n != 0 {
		return p.bad("Close: %d buffers of the platform are still attached: Detach them first", n)
	}
	return p.end()
}

// Abandon is Close whatever is still allocated: an access to an event that is out
// then reads zeroes or faults, and its free panics with a message. For the end of a
// program that has lost packets; Leaks, asked before, names them. The buffers that an
// external pool still has are lost to the platform. Closing again does nothing.
func (p *Pool) Abandon() error {
	if p.closed.Load() {
		return nil
	}
	p.abandoned.Store(true)
	err := p.revoke()
	return errors.Join(err, p.end())
}

// Closed reports whether the pool was closed. Any goroutine.
func (p *Pool) Closed() bool { return p.closed.Load() }

func (p *Pool) end() error {
	if !p.closed.CompareAndSwap(false, true) {
		return p.bad("closed already")
	}
	p.unregister()
	if p.unflush != nil {
		p.unflush()
	}
	p.store.drain()
	p.values.Store(nil)
	return p.mem.Close()
}

// Bytes of memory that a header needs, hot and cold part, for size estimates.
const HeaderBytes = int(unsafe.Sizeof(Event{})) + coldSize
