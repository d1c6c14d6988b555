// SPDX-License-Identifier: Apache-2.0

package buffer

import "fmt"

// How many events are in the shared list is not one counter, which all workers
// would fight for, but the sum of what was put minus the sum of what was taken. Workers
// without a cache count for themselves; the rest, one call per chunk of a cache,
// counts in two shared words. A put is counted before it is done and a get after it,
// and the puts are summed before the gets: so the sum is never above the truth by more
// than what is being taken at the moment, and never above Num unless an event came
// back twice.

// take gets events of the shared list and counts them. c may be nil.
func (p *Pool) take(c *cache, dst []uintptr) int {
	n := p.store.get(dst, c.spares())
	switch {
	case n == 0:
	case c != nil && c.limit.LoadAcq() == 0:
		c.gets.StoreRel(c.gets.LoadAcq() + uint64(n))
	default:
		p.shared.gets.Add(uint64(n))
	}
	return n
}

// give puts events into the shared list and counts them. It panics when more come
// back than the pool has: some event was freed twice.
func (p *Pool) give(c *cache, ev []uintptr) {
	if len(ev) == 0 {
		return
	}
	if p.closed.Load() {
		panic(fmt.Sprintf("buffer: pool %q: %d events are freed to it after its Close: close pools after the last event came back", p.cfg.Name, len(ev)))
	}
	n := uint64(len(ev))
	if c != nil && c.limit.LoadAcq() == 0 {
		v := c.puts.LoadAcq() + n
		c.puts.StoreRel(v)
		if v>>8 != (v-n)>>8 { // every 256 events
			p.checkTally()
		}
	} else if p.shared.puts.Add(n)-p.shared.gets.LoadAcq() > p.store.num {
		p.checkTally()
	}
	p.store.put(ev, c.spares())
}

// tally returns the number of events in the shared list. Any goroutine; exact
// when no call runs.
func (p *Pool) tally() int64 {
	sum := p.shared.puts.LoadAcq()
	for i := range p.caches {
		sum += p.caches[i].puts.LoadAcq()
	}
	sum -= p.shared.gets.LoadAcq()
	for i := range p.caches {
		sum -= p.caches[i].gets.LoadAcq()
	}
	return int64(sum)
}

func (p *Pool) checkTally() {
	if n := p.tally(); n > int64(p.store.num) {
		panic(fmt.Sprintf("buffer: pool %q: %d events came back, it has %d: an event was freed twice (build with -tags invariants to see which)", p.cfg.Name, n, p.store.num))
	}
}
