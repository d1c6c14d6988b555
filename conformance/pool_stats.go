// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"github.com/odp-go/godp/odp"
)

// Pools: counters.

func init() {
	register("POOL",
		Case{"POOL-46", "The counters of buffer pools agree with what was done.", nil, func(e *Env) { poolStats(e, kindBuffer) }},
		Case{"POOL-47", "The counters of packet pools agree with what was done.", nil, func(e *Env) { poolStats(e, kindPacket) }},
		Case{"POOL-48", "The counters of pools of vectors agree with what was done.", nil, func(e *Env) { poolStats(e, kindVector) }},
		Case{"POOL-49", "The counters of pools of vectors count vectors only, whatever is in them.", nil, poolStatsEventVector},
		Case{"POOL-50", "The counters of time-out pools agree with what was done.", nil, func(e *Env) { poolStats(e, kindTimeout) }},
	)
}

// perThread sums what the caches of all threads hold.
func perThread(e *Env, p *odp.Pool) (n uint64) {
	for id := range e.Instance().Set().Max() {
		n += uint64(p.CacheAvailable(id))
	}
	return n
}

func poolStats(e *Env, k kind) {
	w := e.worker()
	const num, more = 200, 100
	cfg := k.config(num)
	cfg.Cache, cfg.Need = 4, 1
	two := []*odp.Pool{e.pool(cfg), e.pool(cfg)}
	for _, p := range two {
		e.free(w, e.alloc(p, w, 1)) // something to reset
		p.ResetStats()
		s := e.Ops.Stats(p)
		e.Check(s.AllocOps == 0 && s.AllocFails == 0 && s.FreeOps == 0 && s.TotalOps == 0 && s.CacheAllocOps == 0 && s.CacheFreeOps == 0, "after the reset: %+v", s)
		e.Check(s.Available+s.CacheAvailable == num, "after the reset: %d available + %d cached, the pool has %d", s.Available, s.CacheAvailable, num)
	}
	for _, p := range two {
		var ev []*odp.Event
		for i := range num + more {
			if x := e.alloc(p, w, 1); x != nil {
				ev = append(ev, x)
			}
			s := e.Ops.Stats(p)
			e.Must(s.Available+s.CacheAvailable == uint64(num-len(ev)), "attempt %d: %d available + %d cached, %d of %d are out", i, s.Available, s.CacheAvailable, len(ev), num)
			e.Must(s.CacheAvailable == perThread(e, p), "attempt %d: %d cached in all, %d by thread", i, s.CacheAvailable, perThread(e, p))
		}
		const attempts = num + more
		s := e.Ops.Stats(p)
		e.Must(len(ev) == num, "%d events of %d", len(ev), num)
		e.Check(s.Available == 0 && s.CacheAvailable == 0 && perThread(e, p) == 0, "all are out, and %d available, %d cached", s.Available, s.CacheAvailable)
		e.Check(s.AllocOps > 0 && s.AllocOps <= attempts, "%d allocations from the shared list of %d attempts", s.AllocOps, attempts)
		e.Check(s.AllocFails == more, "%d failed allocations, want %d", s.AllocFails, more)
		e.Check(s.TotalOps > 0 && s.TotalOps <= attempts, "%d calls of %d attempts", s.TotalOps, attempts)
		e.Check(s.FreeOps == 0 && s.CacheFreeOps == 0, "%d and %d frees, nothing was freed", s.FreeOps, s.CacheFreeOps)
		e.Check(s.CacheAllocOps <= attempts && s.AllocOps+s.CacheAllocOps == attempts, "%d + %d allocations, want %d", s.AllocOps, s.CacheAllocOps, attempts)
		for _, x := range ev {
			e.free(w, x)
		}
		s = e.Ops.Stats(p)
		e.Check(s.Available+s.CacheAvailable == num, "all were freed, and %d available + %d cached of %d", s.Available, s.CacheAvailable, num)
		e.Check(s.FreeOps > 0 && s.TotalOps > 0 && s.FreeOps+s.CacheFreeOps == num, "%d + %d frees, want %d", s.FreeOps, s.CacheFreeOps, num)
		e.Check(s.TotalOps == s.AllocOps+s.FreeOps, "%d calls, %d + %d", s.TotalOps, s.AllocOps, s.FreeOps)
		p.ResetStats()
		s = e.Ops.Stats(p)
		e.Check(s.AllocOps+s.AllocFails+s.FreeOps+s.TotalOps+s.CacheAllocOps+s.CacheFreeOps == 0, "after the reset: %+v", s)
	}
}

func poolStatsEventVector(e *Env) {
	bufs := e.pool(kindBuffer.config(10))
	p := e.pool(kindVector.config(4))
	p.ResetStats()
	bufs.ResetStats()
	v := e.Ops.AllocVector(p, nil)
	e.Must(v != nil, "no vector")
	var ev [10]*odp.Event
	n := e.allocMulti(bufs, nil, ev[:], 0)
	v.Append(ev[:n]...)
	s, b := e.Ops.Stats(p), e.Ops.Stats(bufs)
	e.Check(s.AllocOps == 1 && s.Available == 3, "vectors: %+v", s)
	e.Check(b.AllocOps == 1 && b.Available == 0, "buffers: %+v", b)
	e.free(nil, &v.Event)
	s, b = e.Ops.Stats(p), e.Ops.Stats(bufs)
	e.Check(s.FreeOps == 1 && s.Available == 4, "vectors: %+v", s)
	e.Check(b.FreeOps == 1 && b.Available == 10, "buffers: %+v", b)
}
