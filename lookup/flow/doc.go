// SPDX-License-Identifier: Apache-2.0

// Package flow holds an exact-match table of flows: fixed memory outside of the Go
// heap, look-ups of whole bursts, ageing, and a decision made at set-up about what
// happens when it is full.
//
//	t, err := flow.New(flow.Config{Name: "conntrack", Flows: 1 << 20, Idle: 300, Full: flow.EvictIdle})
//	t.LookupBulk(keys[:n], at[:n])
//	for i, k := range at[:n] {
//		if k < 0 {
//			k, err = t.Insert(&keys[i], now)
//		}
//		f := t.Flow(k)       // its Value is the program's
//		f.Seen = now
//	}
//	t.Expire(now, 256)           // now and then: a piece of the table
//
// now counts in whatever unit Config.Idle does (seconds, say).
//
// # Who may call
//
// A table has one owner at a time: a worker's own table, or one behind an atomic
// queue. Look-ups alone change nothing, so any number of goroutines may make them
// while nobody changes the table.
//
// # What a flood can do
//
// The hash has a random seed for each table, so that nobody can prepare keys that
// collide. Each key has two buckets of 8 places and is in one of them: no call looks at
// more than 16 places, whatever is in the table, nothing is ever moved, and no memory is
// taken after New. When there is no place for a new flow, Refuse turns it away, and
// EvictIdle takes the place of the flow that was idle longest among those, if it was
// longer than Config.Idle: flows in use stay. Both are counted.
//
// Sources: two choices are Azar, Broder, Karlin and Upfal's balanced allocations (1994);
// buckets with short tags in front of the keys are Fan, Andersen and Kaminsky's (MemC3,
// 2013) and in DPDK's rte_hash; the hash is a sum of folded 64 by 64 bit products of the
// key with secret words, as wyhash and its kin.
package flow
