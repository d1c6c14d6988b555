// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"time"
)

// drops are what the devices dropped, by reason.
func (r *run) drops() map[string]uint64 {
	all := map[string]uint64{}
	seen := map[string]bool{}
	for _, hs := range r.ports {
		for _, p := range hs {
			if !seen[p.Name()] { // drops are the device's, not the handle's
				seen[p.Name()] = true
				for k, v := range p.Stats().Drops() {
					if v > 0 {
						all[k] += v
					}
				}
			}
		}
	}
	return all
}

// logLocks says which share of the workers' time went into locks (-v).
func (r *run) logLocks(took time.Duration) {
	if !r.o.verbose {
		return
	}
	var wait, held time.Duration
	for _, hs := range r.ports {
		for _, p := range hs {
			st := p.Stats()
			for i := range st.In {
				wait, held = wait+st.In[i].LockWait, held+st.In[i].LockHeld
			}
			for i := range st.Out {
				wait, held = wait+st.Out[i].LockWait, held+st.Out[i].LockHeld
			}
		}
	}
	share := func(d time.Duration) string {
		return fmt.Sprintf("%.1f%%", 100*d.Seconds()/(took.Seconds()*float64(len(r.pubs))))
	}
	r.log.Info("time of the workers under locks", "lock_wait", share(wait), "lock_held", share(held))
}

// zeroCopy reports whether no interface copies.
func (r *run) zeroCopy() bool {
	for _, hs := range r.ports {
		if !hs[0].Info().ZeroCopy {
			return false
		}
	}
	return true
}

// result is the account of the run, but for what the far ends know.
func (r *run) result(c counts, seconds, ppsMax float64, drops map[string]uint64, zero bool) result {
	end := sum(r.pubs)
	res := result{
		Mode: r.o.mode.String(), Lock: r.o.lock, Workers: len(r.pubs), Interfaces: r.o.ifs, Seconds: seconds,
		Packets: end.packets, PPSAvg: float64(c.packets) / seconds, PPSMax: ppsMax, RxDrops: end.rxDrops, TxDrops: end.txDrops,
		DropsByReason: maps.Clone(drops), MeanBurst: end.meanBurst(), EmptyPolls: c.emptyPolls, ZeroCopy: zero, Idle: r.o.idle,
		PoolLeaked: int(r.inst.Snapshot().LeakedAtEnd),
	}
	if end.txDrops > 0 {
		res.DropsByReason["app_tx_full"] = end.txDrops
	}
	if end.rxDrops > 0 {
		res.DropsByReason["app_rx"] = end.rxDrops
	}
	if n := r.inst.Snapshot().FreedAtEnd; n > 0 {
		res.DropsByReason["freed_at_end"] = n
	}
	return res
}

// describe prints the tables that odp_l2fwd prints at its start.
func (r *run) describe() {
	fmt.Fprintf(r.text, "mode %s, lock %s, %d worker threads, burst %d, idle %s\n", r.o.mode, r.o.lock, len(r.pubs), r.o.burst, r.o.idle)
	for i, hs := range r.ports {
		in := hs[0].Info()
		copying := "zero copy"
		if !in.ZeroCopy {
			copying = "copying: " + in.Why
		}
		fmt.Fprintf(r.text, "interface %d (%s) -> %d: %d input and %d output queues, %d handle(s), MAC %s, %s\n",
			i, r.o.ifs[i], r.o.out[i], hs[0].NumIn(), hs[0].NumOut(), len(hs), hs[0].MAC(), copying)
		if r.o.verbose {
			for _, n := range in.Notes {
				fmt.Fprintf(r.text, "  %s\n", n)
			}
		}
	}
}
