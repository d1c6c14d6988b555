// SPDX-License-Identifier: Apache-2.0

// Package lookup holds the tables that a forwarding program asks once a packet, or
// better once a burst: longest prefix match for IPv4 and IPv6. Exact match of flows is in
// lookup/flow.
//
//	t, err := lookup.NewV4[uint16](lookup.Config{Name: "fib", Default: noRoute, Grace: inst.Grace})
//	err = t.Add(netip.MustParsePrefix("10.0.0.0/8"), 3)
//	hop := t.Lookup(0x0a000001)
//	t.LookupBulk(addrs[:n], hops[:n])   // a burst: the cache misses overlap
//
// A next hop is a small number that the program gives a meaning to: an index of its own
// table of ports and MAC patterns. Every address has an answer, Config.Default where
// there is no route: so no look-up has a branch for a miss.
//
// # Readers and the writer
//
// Lookup and LookupBulk may be called by any number of goroutines at any time, while
// one changes the table (changes wait for each other). A reader takes no lock and never
// waits. For each address it finds the route from before or from after a change; a
// burst is no snapshot: a later address of it may see a later state than an earlier one.
//
// Pieces of the table that a change took away are used again after a grace period:
// Config.Grace must return when every reader has passed a point where it is in no
// look-up. worker.Set.Grace (odp.Instance.Grace) does that for workers. It is called
// only when no unused piece is left, so that most changes don't wait.
//
// # Memory
//
// The tables are in the arena, outside of the Go heap, on huge pages where there are
// any; Info says how much and on what. They have their full size from the start; when
// no room is left a change returns ErrFull and has changed nothing.
//
//	V4   2^24 first-level entries + Groups x 256, 2 or 4 bytes each; and a byte of
//	     length for each entry, which only changes touch
//	V6   2^24 first-level entries of 4 bytes + Groups nodes of 1 KiB, and lengths
//
// The routes themselves are in a Go map without pointers, for changes only.
//
// Sources: DIR-24-8 is Gupta, Lin and McKeown (Infocom 1998); an answer in every entry,
// so that there is neither hit nor miss, is DPDK's rte_fib's idea, and the 24 bit first
// level for IPv6 too; skipping the bytes that all routes below share is Morrison's
// PATRICIA (1968).
package lookup
