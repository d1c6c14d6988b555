// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"fmt"
	"runtime"
	"sort"
	"strings"
	"sync"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/internal/invariants"
	"github.com/odp-go/godp/worker"
)

// The checks of the invariants tag: who holds what, double free, use after free.

// checked compiles the checks of this file in or out.
const checked = invariants.Enabled

const (
	poisonByte = 0xdb
	poisonSpan = 256 // bytes at the start of a buffer that are looked at

	ownerKernel = 1 << 31 // in coldPart.owner
	ownerQueue  = 1 << 30 // the same: it is in a queue
)

// checkAlloc takes events out of the pool: they must be free and untouched.
func (p *Pool) checkAlloc(w *worker.Worker, ev []uintptr) {
	site := caller()
	for _, x := range ev {
		e := (*Event)(p.ptr(x))
		c := p.cold(e)
		if e.state != stateFree {
			panic(fmt.Sprintf("buffer: pool %q: event %d came out of the pool in state %d: its header was written after the free at %s", p.cfg.Name, e.index, e.state, place(c.freed)))
		}
		if p.typ == TypePacket && !p.ext {
			for i, b := range arena.Bytes(uint64(e.buf)<<6, int(min(e.bufLen, poisonSpan))) {
				if b != poisonByte {
					panic(fmt.Sprintf("buffer: pool %q: byte %d of packet %d was written after the free at %s", p.cfg.Name, i, e.index, place(c.freed)))
				}
			}
		}
		e.state = stateAlloc
		c.site.StoreRel(uint64(site))
		c.owner.StoreRel(uint32(w.ID() + 2))
	}
}

// checkFree takes events back: they must be of this pool and allocated.
func (p *Pool) checkFree(w *worker.Worker, ev []uintptr) {
	site := caller()
	for _, x := range ev {
		if uint64(x-p.store.base)>>6 >= p.store.num {
			panic(fmt.Sprintf("buffer: pool %q: an event that is not of this pool is freed to it", p.cfg.Name))
		}
		e := (*Event)(p.ptr(x))
		c := p.cold(e)
		switch {
		case e.state == stateFree:
			panic(fmt.Sprintf("buffer: pool %q: event %d is freed twice: by %s, before by %s; it was allocated by %s", p.cfg.Name, e.index, place(uint64(site)), place(c.freed), place(c.site.LoadAcq())))
		case e.state == stateRing:
			panic(fmt.Sprintf("buffer: pool %q: event %d is freed by %s after it was sent by %s; it was allocated by %s", p.cfg.Name, e.index, place(uint64(site)), place(c.freed), place(c.site.LoadAcq())))
		case e.state != stateAlloc:
			panic(fmt.Sprintf("buffer: pool %q: event %d is freed in state %d by %s", p.cfg.Name, e.index, e.state, place(uint64(site))))
		case c.owner.LoadAcq()&ownerQueue != 0:
			panic(fmt.Sprintf("buffer: pool %q: event %d is freed by %s while it is in a queue", p.cfg.Name, e.index, place(uint64(site))))
		}
		c.freed = uint64(site)
		c.owner.StoreRel(0)
		p.poison(e)
	}
}

// handOver takes packets from their owner; those already in a ring, or free, are
// named with who put them there.
func handOver(pkts []*Packet) {
	site := sender()
	for _, k := range pkts {
		p := k.PoolOf()
		if p == nil {
			panic(fmt.Sprintf("buffer: %s sends a packet of no pool", place(uint64(site))))
		}
		c := p.cold(&k.Event)
		switch k.state {
		case stateRing:
			panic(fmt.Sprintf("buffer: pool %q: packet %d is sent twice: by %s, before by %s; it was allocated by %s", p.cfg.Name, k.index, place(uint64(site)), place(c.freed), place(c.site.LoadAcq())))
		case stateFree:
			panic(fmt.Sprintf("buffer: pool %q: packet %d is sent by %s after it was freed by %s", p.cfg.Name, k.index, place(uint64(site)), place(c.freed)))
		}
		if k.state == stateAlloc {
			k.state, c.freed = stateRing, uint64(site)
		}
	}
}

// between remembers which program counters are of packet I/O.
var between sync.Map

// sender returns the program counter of the first frame outside of packet I/O.
func sender() uintptr {
	var pcs [16]uintptr
	for _, pc := range pcs[:runtime.Callers(4, pcs[:])] {
		in, known := between.Load(pc)
		if !known {
			f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
			in = strings.Contains(f.Function, "godp/buffer.") || strings.Contains(f.Function, "godp/pktio.(") || strings.Contains(f.Function, "godp/platform/loop.(")
			between.Store(pc, in)
		}
		if !in.(bool) {
			return pc - 1
		}
	}
	return 0
}

func takeOver(pkts []*Packet) {
	for _, k := range pkts {
		if k.state == stateRing {
			k.state = stateAlloc
		}
	}
}

// poison marks a header free; the data pointer then leads to address space that
// is never backed, so that a late access faults.
func (p *Pool) poison(e *Event) {
	e.state = stateFree
	if p.typ != TypePacket {
		return
	}
	e.data, e.len, e.segLen = 0, 0, 0
	if !p.ext {
		b := arena.Bytes(uint64(e.buf)<<6, int(min(e.bufLen, poisonSpan)))
		for i := range b {
			b[i] = poisonByte
		}
	}
}

// inside remembers which program counters are of this package.
var inside sync.Map

// caller returns the program counter of the first frame outside of this package.
func caller() uintptr {
	var pcs [16]uintptr
	n := runtime.Callers(3, pcs[:])
	for _, pc := range pcs[:n] {
		in, known := inside.Load(pc)
		if !known {
			f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
			in = strings.Contains(f.Function, "godp/buffer.(") || strings.Contains(f.Function, "godp/buffer.Free") || strings.Contains(f.Function, "godp/buffer.free") ||
				strings.Contains(f.Function, "godp/buffer.Check") || strings.Contains(f.Function, "godp/queue.(*Queue)") || strings.Contains(f.Function, "godp/schedule.(*Queue)")
			inside.Store(pc, in)
		}
		if !in.(bool) {
			return pc - 1
		}
	}
	return 0
}

func place(pc uint64) string {
	f := runtime.FuncForPC(uintptr(pc))
	if pc == 0 || f == nil {
		return "(never)"
	}
	file, line := f.FileLine(uintptr(pc))
	return fmt.Sprintf("%s (%s:%d)", f.Name(), file[strings.LastIndexByte(file, '/')+1:], line)
}

// holders says, under the invariants tag, who holds the events that are out.
func (p *Pool) holders() string {
	if !checked {
		return " (build with -tags invariants to see who holds them)"
	}
	count := map[string]int{}
	for i := 0; i < p.num; i++ {
		c := p.cold(p.EventAt(i))
		owner := c.owner.LoadAcq()
		if owner == 0 {
			continue
		}
		what, who := "allocated", "the control plane"
		if owner&ownerKernel != 0 {
			what = "in the kernel's hands, allocated"
		}
		if owner&ownerQueue != 0 {
			what = "in a queue, allocated"
		}
		if owner &^= ownerKernel | ownerQueue; owner > 1 {
			who = fmt.Sprintf("worker %d", owner-2)
		}
		count[fmt.Sprintf("%s by %s at %s", what, who, place(c.site.LoadAcq()))]++
	}
	var lines []string
	for s, n := range count {
		lines = append(lines, fmt.Sprintf("%d %s", n, s))
	}
	sort.Strings(lines)
	return ": " + strings.Join(lines, "; ")
}

// CheckEnqueue is called by queues, before others can see the events: under the
// invariants tag it panics when one of them is free or in a queue already, and from
// then on freeing it is a failure. What is no event of an open pool is not looked at.
// Without the tag it does nothing.
func CheckEnqueue(queue string, ev []*Event) {
	if !checked {
		return
	}
	site := caller()
	for _, e := range ev {
		c := coldOf(e)
		if c == nil {
			continue
		}
		switch owner := c.owner.LoadAcq(); {
		case owner == 0:
			panic(fmt.Sprintf("buffer: event %d is put into queue %q by %s: it was freed by %s", e.index, queue, place(uint64(site)), place(c.freed)))
		case owner&ownerQueue != 0:
			panic(fmt.Sprintf("buffer: event %d is put into queue %q by %s: it is in a queue already", e.index, queue, place(uint64(site))))
		default:
			c.owner.StoreRel(owner | ownerQueue)
		}
	}
}

// CheckDequeue is called by queues when they hand events to a worker (nil: the
// control plane), and for those that an enqueue did not accept. See CheckEnqueue.
func CheckDequeue(w *worker.Worker, ev []*Event) {
	if !checked {
		return
	}
	for _, e := range ev {
		if c := coldOf(e); c != nil {
			if owner := c.owner.LoadAcq(); owner&ownerQueue != 0 {
				c.owner.StoreRel(owner&ownerKernel | uint32(w.ID()+2))
			}
		}
	}
}

// coldOf finds the cold part of what may be an event: the header is not read before it
// is known to be one.
func coldOf(e *Event) *coldPart {
	a := uintptr(unsafe.Pointer(e))
	for i := range pools {
		p := pools[i].Load()
		if p == nil {
			continue
		}
		if off := a - p.store.base; off < uintptr(p.store.num)<<6 && off&63 == 0 {
			return p.cold(e)
		}
	}
	return nil
}
