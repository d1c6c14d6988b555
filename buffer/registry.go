// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"sync"
	"sync/atomic"
)

// MaxPools is how many pools a process may have at a time.
const MaxPools = 255

// pools is the table that resolves Event.pool. Entry 0 stays nil: a header in
// memory that was given back reads as zeroes and resolves to no pool.
var (
	poolMu sync.Mutex
	pools  [MaxPools + 1]atomic.Pointer[Pool]
)

func (p *Pool) register() error {
	poolMu.Lock()
	defer poolMu.Unlock()
	for i := 1; i < len(pools); i++ {
		if pools[i].Load() == nil {
			p.idx = uint16(i)
			pools[i].Store(p)
			return nil
		}
	}
	return p.bad("the process has %d pools already, the most allowed: close one, or share pools between ports", MaxPools)
}

func (p *Pool) unregister() {
	poolMu.Lock()
	defer poolMu.Unlock()
	pools[p.idx].CompareAndSwap(p, nil)
}

// PoolOf returns the pool that the event belongs to, nil if that pool was closed.
func (e *Event) PoolOf() *Pool {
	if p := pools[e.pool&0xff].Load(); p != nil && p.owns(e) {
		return p
	}
	return nil
}

// Lookup returns a pool of this name, nil if there is none. Names need not be
// unique; the oldest table entry wins. Any goroutine.
func Lookup(name string) *Pool {
	for i := range pools {
		if p := pools[i].Load(); p != nil && p.cfg.Name == name {
			return p
		}
	}
	return nil
}

// Pools calls f for each open pool of the process. Any goroutine.
func Pools(f func(*Pool)) {
	for i := range pools {
		if p := pools[i].Load(); p != nil {
			f(p)
		}
	}
}
