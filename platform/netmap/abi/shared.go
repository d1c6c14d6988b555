// SPDX-License-Identifier: Apache-2.0

package abi

import (
	"unsafe"

	"github.com/odp-go/godp/internal/relax"
)

// The structures of the mapped region. Other processes may have the region
// mapped: every word is read once, atomically, and checked before it is used.
//
//	region:  [ If objects ][ Ring objects ][ buffers 0, 1, 2 ... ]
//
//	If (56 + table)                       written by
//	  0 [16] name                         kernel, at open
//	 16 u32 version                       nobody: do not check
//	 20 u32 flags                         kernel, at open
//	 24 u32 txRings   28 u32 rxRings      kernel, at open (NIC rings of the port)
//	 32 u32 bufsHead                      both: head of the list of extra buffers
//	 36 u32 hostTx    40 u32 hostRx       kernel, at open; 0 counts as 1
//	 44 u32[3] spare
//	 56 i64[] ringOfs                     kernel, at open; 0 = not bound by this descriptor
//	          [tx NIC][tx host][rx NIC][rx host]
//
//	Ring (256, then slots)                written by
//	  0 i64 bufOfs                        kernel, at open: buffer 0 from this ring
//	  8 u32 numSlots   12 u32 bufSize     kernel, at open
//	 16 u16 ringid     18 u16 dir         kernel; dir is not what the C header says: unused
//	 20 u32 head       24 u32 cur         client, outside sync and poll of this ring
//	 28 u32 tail                          kernel, inside sync and poll of this ring
//	 32 u32 flags                         client
//	 40 i64 sec        48 i64 usec        kernel, inside rxsync
//	 56 u64 offsetMask 64 u64 bufAlign    kernel, at open
//	128 [128] sem                         client's scratch
//	256 Slot[numSlots]
//
//	Slot (16)                             written by
//	  0 u32 bufIdx 4 u16 len 6 u16 flags  client in [head, tail), kernel elsewhere
//	  8 u64 ptr                           the same (offset of the data, where granted)

// If is one descriptor's view of a port.
type If struct {
	name     [IfNameSize]byte
	version  uint32
	flags    relax.Uint32
	txRings  relax.Uint32
	rxRings  relax.Uint32
	bufsHead relax.Uint32
	hostTx   relax.Uint32
	hostRx   relax.Uint32
	spare    [3]uint32
}

// Ring is one ring; its slots follow.
type Ring struct {
	bufOfs     relax.Uint64
	numSlots   relax.Uint32
	bufSize    relax.Uint32
	ids        relax.Uint32 // ringid, dir
	head       relax.Uint32
	cur        relax.Uint32
	tail       relax.Uint32
	flags      relax.Uint32
	_          uint32
	sec        relax.Uint64
	usec       relax.Uint64
	offsetMask relax.Uint64
	bufAlign   relax.Uint64
	_          [56]byte
	sem        [128]byte
}

// Slot is one slot. bufIdx, len and flags are read and written as one word.
type Slot struct {
	word relax.Uint64
	ptr  relax.Uint64
}

// Sizes of the mapped structures.
const (
	IfSize   = 56
	RingSize = 256
	SlotSize = 16
)

// Init fills a fresh If (the kernel's side).
func (f *If) Init(name string, flags, tx, rx, hostTx, hostRx uint32) {
	f.name = [IfNameSize]byte{}
	copy(f.name[:IfNameSize-1], name)
	f.version = 0
	f.flags.StoreRel(flags)
	f.txRings.StoreRel(tx)
	f.rxRings.StoreRel(rx)
	f.bufsHead.StoreRel(0)
	f.hostTx.StoreRel(hostTx)
	f.hostRx.StoreRel(hostRx)
}

// Name returns the port's name, cut to 15 bytes.
func (f *If) Name() string { return cstring(f.name[:]) }

// Flags returns ni_flags.
func (f *If) Flags() uint32 { return f.flags.LoadAcq() }

// Rings returns the numbers of NIC rings of the port.
func (f *If) Rings() (tx, rx uint32) { return f.txRings.LoadAcq(), f.rxRings.LoadAcq() }

// HostRings returns how many entries host rings take in the table: at least 1
// each, also where the port has none and on kernels that leave the field 0.
func (f *If) HostRings() (tx, rx uint32) {
	return max(1, f.hostTx.LoadAcq()), max(1, f.hostRx.LoadAcq())
}

// BufsHead is the first extra buffer, 0 = none.
func (f *If) BufsHead() uint32 { return f.bufsHead.LoadAcq() }

// SetBufsHead stores the head of the list of extra buffers.
func (f *If) SetBufsHead(idx uint32) { f.bufsHead.StoreSeq(idx) }

// Entries returns the number of entries of the ring table.
func (f *If) Entries() uint32 {
	tx, rx := f.Rings()
	htx, hrx := f.HostRings()
	return tx + htx + rx + hrx
}

// TxEntry and RxEntry return the index in the table of ring i; ring numbers at
// or above the NIC rings are host rings.
func (f *If) TxEntry(i uint32) uint32 { return i }

// RxEntry is TxEntry for receive rings.
func (f *If) RxEntry(i uint32) uint32 {
	tx, _ := f.Rings()
	htx, _ := f.HostRings()
	return tx + htx + i
}

// RingOfs returns an entry of the table: distance in bytes from f to the ring,
// 0 = not bound. The caller has checked that the table is inside the region.
func (f *If) RingOfs(entry uint32) int64 { return int64(f.entry(entry).LoadAcq()) }

// SetRingOfs writes an entry (the kernel's side).
func (f *If) SetRingOfs(entry uint32, ofs int64) { f.entry(entry).StoreRel(uint64(ofs)) }

func (f *If) entry(i uint32) *relax.Uint64 {
	return (*relax.Uint64)(unsafe.Add(unsafe.Pointer(f), IfSize+8*uintptr(i)))
}

// Init fills a fresh ring (the kernel's side). Slots are not touched.
func (r *Ring) Init(bufOfs int64, numSlots, bufSize uint32, ringID, dir uint16, tail uint32) {
	r.bufOfs.StoreRel(uint64(bufOfs))
	r.numSlots.StoreRel(numSlots)
	r.bufSize.StoreRel(bufSize)
	r.ids.StoreRel(pack16(ringID, dir))
	r.head.StoreRel(0)
	r.cur.StoreRel(0)
	r.tail.StoreRel(tail)
	r.flags.StoreRel(0)
	r.offsetMask.StoreRel(0)
	r.bufAlign.StoreRel(0)
}

// BufOfs returns the distance from the ring to buffer 0.
func (r *Ring) BufOfs() int64 { return int64(r.bufOfs.LoadAcq()) }

// NumSlots returns the number of slots.
func (r *Ring) NumSlots() uint32 { return r.numSlots.LoadAcq() }

// BufSize returns the size of a buffer.
func (r *Ring) BufSize() uint32 { return r.bufSize.LoadAcq() }

// RingID returns the kernel's number of the ring.
func (r *Ring) RingID() uint16 { id, _ := unpack16(r.ids.LoadAcq()); return id }

// Head returns the client's head.
func (r *Ring) Head() uint32 { return r.head.LoadAcq() }

// Cur returns the client's cur.
func (r *Ring) Cur() uint32 { return r.cur.LoadAcq() }

// Tail returns the kernel's tail.
func (r *Ring) Tail() uint32 { return r.tail.LoadAcq() }

// SetTail stores tail (the kernel's side).
func (r *Ring) SetTail(v uint32) { r.tail.StoreRel(v) }

// SetHead publishes everything before v: cur, then head. Slots and buffers
// were written before.
func (r *Ring) SetHead(v uint32) {
	r.cur.StoreRel(v)
	r.head.StoreRel(v)
}

// SetHeadCur stores different values: cur ahead of head asks to be woken only
// when more arrives than the slots before cur.
func (r *Ring) SetHeadCur(head, cur uint32) {
	r.cur.StoreRel(cur)
	r.head.StoreRel(head)
}

// Flags returns the ring's flags.
func (r *Ring) Flags() uint32 { return r.flags.LoadAcq() }

// SetFlags stores the ring's flags.
func (r *Ring) SetFlags(v uint32) { r.flags.StoreRel(v) }

// Time returns the wall clock time of the last receive sync.
func (r *Ring) Time() (sec, usec int64) { return int64(r.sec.LoadAcq()), int64(r.usec.LoadAcq()) }

// SetTime stores the time (the kernel's side).
func (r *Ring) SetTime(sec, usec int64) {
	r.sec.StoreRel(uint64(sec))
	r.usec.StoreRel(uint64(usec))
}

// OffsetMask returns the part of a slot's ptr that is an offset; 0 = none granted.
func (r *Ring) OffsetMask() uint64 { return r.offsetMask.LoadAcq() }

// SetOffsetMask stores the mask (the kernel's side).
func (r *Ring) SetOffsetMask(m uint64) { r.offsetMask.StoreRel(m) }

// Slot returns slot i; the caller has checked i < NumSlots, and that the ring
// with its slots is inside the region.
func (r *Ring) Slot(i uint32) *Slot {
	return (*Slot)(unsafe.Add(unsafe.Pointer(r), RingSize+SlotSize*uintptr(i)))
}

// Load reads index, length and flags at once.
func (s *Slot) Load() (idx uint32, n, flags uint16) { return unpackSlot(s.word.LoadAcq()) }

// Store writes index, length and flags at once.
func (s *Slot) Store(idx uint32, n, flags uint16) { s.word.StoreRel(packSlot(idx, n, flags)) }

// Ptr returns the ptr word.
func (s *Slot) Ptr() uint64 { return s.ptr.LoadAcq() }

// SetPtr stores the ptr word.
func (s *Slot) SetPtr(v uint64) { s.ptr.StoreRel(v) }

// Next returns the slot after i in a ring of n slots (n may be any number).
func Next(i, n uint32) uint32 {
	if i++; i == n {
		return 0
	}
	return i
}

// Avail returns the number of slots from head to tail in a ring of n slots:
// what the client owns.
func Avail(head, tail, n uint32) uint32 {
	if tail >= head {
		return tail - head
	}
	return tail + n - head
}

// Advance returns the slot k after i, for k < n.
func Advance(i, k, n uint32) uint32 {
	if i += k; i >= n {
		i -= n
	}
	return i
}
