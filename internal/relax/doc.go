// SPDX-License-Identifier: Apache-2.0

// Package relax holds the shared words of the dataplane: 32 and 64 bit words
// with load-acquire, store-release and store-seq, and the read-modify-writes.
//
// # What is cheap
//
// On amd64 Go's atomic store is an exchange (6 to 9 ns: it drains the store
// buffer). A store-release here is a plain store followed by an atomic load of the same
// word (0.35 ns): the load keeps the compiler from eliminating or moving the store,
// and the processor (TSO) never reorders two stores, nor a store with an earlier load.
// Under the race detector, which does not know of it, and on other architectures every
// call is a sync/atomic call. Tests look at the compiled code, and run two-thread
// litmus tests on the fast build.
//
// # Which one to take
//
//	StoreRel   publish: what was written before is seen by whoever LoadAcq's the new value
//	           (ring index, sequence number, counter, unlock of a lock that is only tried)
//	StoreSeq   announce, then decide by another word: "I sleep" then "is there work?"
//	Add, CAS…  as StoreSeq, and atomic
//
// A processor may answer a load while an earlier store of its own still waits in the
// store buffer. So where two parties each write one word and then read the other's, a
// StoreRel lets both miss the other: the packet stays in the ring, the worker sleeps.
//
//	worker                        producer
//	  asleep.StoreSeq(1)            tail.StoreSeq(n)     or an Add, CAS, Swap
//	  if tail.LoadAcq() == head     if asleep.LoadAcq() == 1
//	      sleep                         wake
//
// # The places that need a full barrier on both sides
//
// Each has a litmus test of its shape in litmus_test.go; the comment on each word names
// its partner.
//
//	worker   parker.state         asleep by CAS, then the kernel's wait | what is to be found, then wake
//	         Worker.grace         StoreSeq at both ends of Park | Set.epoch.Add, then grace is read
//	         Set.slot.w           exchange in Join | Set.epoch.Add, then the slot is read
//	         Worker.requests      Or by others, And by the owner before the flush and the answer
//	schedule state.sleep          StoreSeq before the last look at queues and inputs | queue made ready by an Add, then sleep is read
//	         Queue.ring.tail      CAS by the producer: token when there was none | CAS by the consumer: token dropped when nothing was reserved
//	         Queue.flags          Or, then the token is claimed if there is none | token dropped by CAS, then flags is read again
//	         lane.w, state.sleep  published; by StoreSeq if somebody is idle, then sleep is read | sleep by StoreSeq, then the lanes are read
//	         lane.busy, shutLanes busy stored, then shutLanes is read | shutLanes by StoreSeq, 1 ms, then busy is read
//	         order.serving, done  serving by StoreSeq, then done of the next | done by StoreSeq, then serving
//	         feed.armed, closing  armed by StoreSeq, polled taken away, at the end set, then closing is read | closing by StoreSeq, polled taken away, then armed is read
//	queue    Queue.enq, deq       closing by StoreSeq, then Grace | read at each burst
//	pktio    lock and staging     burst staged, dirty set by StoreSeq, then the lock is tried again | unlock by StoreSeq, then dirty is read
//	         ring.armed           StoreSeq before the last look | frames made visible, then armed is read
//	drivers  need-wakeup flags    ring index by StoreSeq, then the flag is read (AF_XDP: the kernel is the partner)
//	         loop, nmsim: asleep, armed   as in pktio
package relax
