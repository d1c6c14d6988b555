// SPDX-License-Identifier: Apache-2.0

// Package buffer holds the memory of the dataplane: pools, and the events that
// they give out: packets, buffers, vectors and time-outs.
//
// # Pools
//
// A [Pool] is made once, with all its memory outside of the Go heap:
//
//	set, _ := worker.NewSet(8)
//	pool, err := buffer.NewPool(set, buffer.PoolConfig{Name: "rx", Num: 8192})
//
// From then on an allocation is a copy out of the worker's own array, without a
// locked instruction and without work for the garbage collector:
//
//	var pkts [32]*buffer.Packet
//	n := pool.AllocPackets(w, pkts[:], 60)
//	… pkts[:n] …
//	buffer.FreePackets(w, pkts[:n])
//
// w is the calling worker. A nil worker means the control plane: any goroutine, no
// cache. n short means that the pool has no more now.
//
// # Sizes
//
// What a worker caches nobody else can have. A pool therefore keeps the rule
//
//	Num >= Need + workers x Cache
//
// and then no allocation fails while the application holds fewer than Need events.
// If the numbers don't fit, the cache is made smaller and [Pool.Info] says so. A
// worker gives its cache back before it sleeps, when it leaves, and when somebody
// else found the pool empty.
//
// # Ownership
//
// An event has one owner: who allocated, received or dequeued it, until he frees,
// sends or enqueues it. Then he must not touch it any more. The slices that Data
// and its kind return live as long as the ownership. To find who breaks the rule,
// build with -tags invariants: a double free panics with the places of both, a
// write after a free is found at the next allocation, and [Pool.Leaks] says who
// allocated what is still out. Under -race packet memory is part of the Go heap, so
// that the race detector sees it.
//
// # Packets
//
// A packet is data with room before and after it:
//
//	|◀ headroom ▶|◀── Data ──▶|◀ tailroom ▶|
//
// PushHead, PullHead, PushTail and PullTail move the borders inside of the first and
// last segment and never fail halfway. ExtendHead, ExtendTail, TruncHead, TruncTail,
// AddData, RemData and Align may add and remove segments; those that may change the
// front return the packet, since its header is that of the first segment:
//
//	k, err = k.ExtendHead(w, 14)
//
// Frames longer than one segment are chains; Offset, the segment loop and the copying
// calls hide that. Ref makes a second packet over the same bytes, which are then
// read-only for both.
//
// # Memory
//
//	header, 64 bytes, dense      what receive, forward, send and free touch
//	cold part, 64 bytes, apart   time stamp, user word, mark, …: untouched until set
//	user area                    yours, survives free and allocation
//	data                         apart from the headers; starts spread over cache sets
//
// The ideas are OpenDataPlane's (pools, packets, references, the meaning of the
// calls); the terms are kept so that its users find them again. The free list is
// Treiber's stack with tags.
package buffer
