// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"sync"
	"unsafe"

	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/platform/netmap/abi"
	"github.com/odp-go/godp/worker"
)

// Ring states.
const (
	ringOff     uint32 = iota // nobody bound it: no memory
	ringOn                    // in netmap mode
	ringLocked                // interface down
	ringStopped               // interface removed
)

// kring is the kernel's side of one ring. What the client can write (the ring, its
// slots) is read once per use and checked against the copies here.
//
//	TX   hwcur: next slot to take from the client   [hwtail+1, hwcur) in flight
//	RX   hwcur: next slot the client gives back     [hwcur, hwtail) with the client
//
// All fields without a note are under the ring's lock (tryLock), the constants change
// only while the ring is locked by open and close.
type kring struct {
	// constants of a ring that is on
	ring    *abi.Ring
	buf0    unsafe.Pointer // buffer 0 of the region
	n       uint32
	bufSize uint32
	nbuf    uint32
	dma     []uint32 // per slot: the buffer that the hardware was told of
	info    []uint64 // per slot: length, flags<<16, offset<<32 of the frame there (RX: arrived; TX: taken)
	offMask uint64   // granted part of a slot's ptr, 0 = none
	offInit uint64
	offMax  uint64

	rhead, rcur, rtail uint32 // what the client said and was told last
	hwcur, hwtail      uint32

	txDone  uint32  // TX: first slot in flight
	due     []int64 // TX with a delay: when the slot's frame is out
	dueSync []uint64
	syncs   uint64 // number of syncs of this ring

	resetDue bool       // fault: the next sync sets the ring back
	breakDue *[2]uint32 // fault: its end breaks a slot: index, length

	given     relax.Uint64 // RX: slots ever handed to the hardware; written in rxsync
	collected uint64       // RX: frames' slots ever shown to the client

	_ relax.Pad
	// written by who delivers, under prod
	produced relax.Uint64 // RX: slots ever filled
	prodSlot uint32
	prod     relax.Uint32 // lock of the delivering side
	_        relax.Pad
	busy     relax.Uint32 // the ring's lock; whoever finds it taken skips the ring
	state    relax.Uint32
	armed    relax.Uint32 // somebody waits for this ring; read after a store-seq of what it waits for
	_        relax.Pad

	waitMu  sync.Mutex
	waiters []*waiter

	// under World.mu
	port      *port
	num       int // index among the rings of its direction, host rings last
	tx        bool
	host      bool
	users     int
	exclusive bool
	off       uint64 // of the ring in the region

	src  *source // RX far end
	sink *sink   // TX far end
	peer *kring  // pipe: the other end's ring
	c    counters
}

// counters of a ring, written under its lock (RX delivery: under prod), read by anyone.
type counters struct {
	frames  relax.Uint64 // TX: left the ring; RX: shown to the client
	bytes   relax.Uint64
	missed  relax.Uint64 // RX: no slot was free
	bad     relax.Uint64 // TX: index or length of the slot out of range, or too short
	reinits relax.Uint64 // indices were wrong: the ring was set back
	nowhere relax.Uint64 // TX: no receiver (nothing on the cable, link partner closed)
	closed  relax.Uint64 // frames in the ring when it was closed
}

func (k *kring) tryLock() bool { return k.busy.LoadAcq() == 0 && k.busy.CAS(0, 1) }
func (k *kring) unlock()       { k.busy.StoreRel(0) }

// lock waits; only open, close and control operations do.
func (k *kring) lock() {
	var s worker.Spin
	for !k.tryLock() {
		s.Wait()
	}
}

func (k *kring) lockProd() {
	if k.prod.CAS(0, 1) {
		return
	}
	var s worker.Spin
	for !k.prod.CAS(0, 1) {
		s.Wait()
	}
}

// unlockProd is a full barrier: what was delivered comes before the look at armed.
func (k *kring) unlockProd() { k.prod.StoreSeq(0) }

func (k *kring) next(i uint32) uint32 {
	if i++; i == k.n {
		return 0
	}
	return i
}

func (k *kring) prev(i uint32) uint32 {
	if i == 0 {
		return k.n - 1
	}
	return i - 1
}

// dist is the number of slots from a forward to b.
func (k *kring) dist(a, b uint32) uint32 {
	if b >= a {
		return b - a
	}
	return b + k.n - a
}

// between reports whether x is on the way from a forward to b, both included.
func (k *kring) between(a, x, b uint32) bool { return k.dist(a, x) <= k.dist(a, b) }

func (k *kring) buf(idx uint32) unsafe.Pointer {
	return unsafe.Add(k.buf0, uintptr(idx)*uintptr(k.bufSize))
}

func (k *kring) validBuf(idx uint32) bool { return idx >= abi.FirstBuf && idx < k.nbuf }

// txPrologue reads the client's indices, once, and checks them: from the last head
// forward to tail come head and then cur. false: nothing may be taken.
func (k *kring) txPrologue() bool {
	head, cur := k.ring.Head(), k.ring.Cur()
	if head >= k.n || cur >= k.n || !k.between(k.rhead, head, k.rtail) || !k.between(head, cur, k.rtail) {
		return false
	}
	if k.ring.Tail() != k.rtail {
		k.ring.SetTail(k.rtail)
	}
	k.rhead, k.rcur = head, cur
	return true
}

// rxPrologue is txPrologue for receive rings, where hwcur and hwtail bound head.
func (k *kring) rxPrologue() bool {
	head, cur := k.ring.Head(), k.ring.Cur()
	if head >= k.n || cur >= k.n || !k.between(k.hwcur, head, k.hwtail) || !k.between(head, cur, k.hwtail) {
		return false
	}
	if k.ring.Tail() != k.rtail {
		k.ring.SetTail(k.rtail)
	}
	k.rhead, k.rcur = head, cur
	return true
}

// reinit is what the kernel does about wrong indices: out of range they are set back
// to its own, in range but wrong ones become its shadow values; slots whose index or
// length is impossible are emptied.
func (k *kring) reinit() {
	add(&k.c.reinits, 1)
	k.rhead, k.rcur, k.rtail = k.ring.Head(), k.ring.Cur(), k.ring.Tail()
	bad := k.rhead >= k.n || k.rcur >= k.n || k.rtail >= k.n
	for i := uint32(0); i < k.n; i++ {
		s := k.ring.Slot(i)
		idx, n, fl := s.Load()
		if !k.validBuf(idx) {
			s.Store(0, 0, fl)
		} else if uint32(n) > k.bufSize {
			s.Store(idx, 0, fl)
		}
	}
	if bad {
		k.rhead, k.rcur, k.rtail = k.hwcur, k.hwcur, k.hwtail
		k.ring.SetHeadCur(k.hwcur, k.hwcur)
		k.ring.SetTail(k.hwtail)
	}
}

// finalize shows the client what the sync did.
func (k *kring) finalize() {
	k.rtail = k.hwtail
	k.ring.SetTail(k.hwtail)
}

// add is a counter's increment: one writer at a time, so no read-modify-write.
func add(c *relax.Uint64, d uint64) { c.StoreRel(c.LoadAcq() + d) }

// start prepares the private state of a ring whose memory was just made.
func (k *kring) start() {
	k.rhead, k.rcur, k.hwcur, k.txDone, k.resetDue = 0, 0, 0, 0, false
	k.breakDue = nil
	k.rtail = 0
	if k.tx {
		k.rtail = k.n - 1
	}
	k.hwtail = k.rtail
	k.collected, k.prodSlot, k.syncs = 0, 0, 0
	k.produced.StoreRel(0)
	k.given.StoreRel(uint64(k.n - 1))
	if k.peer != nil {
		k.given.StoreRel(0)
	}
	k.dma = resize(k.dma, k.n)
	k.info = make([]uint64, k.n)
	for i := uint32(0); i < k.n; i++ {
		k.dma[i], _, _ = k.ring.Slot(i).Load()
	}
	if k.src != nil {
		k.src.begun, k.src.odd.pending, k.src.odd.dup = -1, 0, false
	}
	if k.tx && (k.port.cfg.TxDelay > 0 || k.port.cfg.TxDelaySyncs > 0) {
		k.due, k.dueSync = make([]int64, k.n), make([]uint64, k.n)
	} else {
		k.due, k.dueSync = nil, nil
	}
}

func resize(s []uint32, n uint32) []uint32 {
	if uint32(cap(s)) < n {
		return make([]uint32, n)
	}
	s = s[:n]
	clear(s)
	return s
}
