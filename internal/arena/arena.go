// SPDX-License-Identifier: Apache-2.0

// Package arena is the one address range that holds everything packets are
// made of: headers, data, rings, mapped device memory.
//
// The range is reserved when the process starts and never given back, so a
// packet is a typed pointer in the API and a 32 bit id (offset / 64) where it
// crosses cores. The collector never sees it. Nothing in it is a Go pointer.
//
//	base                                                            base+Size()
//	 |unused|-- Range --|g|-- Range --|g|~~ closed ~~|g|   reserved ...  |
//	        ^ id = (address - base) / 64
//
//	unused    PROT_NONE: id 0 is never valid
//	Range     backed by huge or plain pages, populated; or a device
//	g         guard, PROT_NONE: a run over the end is a fault
//	closed    empty read-only pages until the space is used again, oldest first
//	reserved  PROT_NONE, costs no memory and no swap
//
// On Linux and FreeBSD the range is mapped memory (128 GiB, less where the system
// refuses). Under the race detector, in the portable build and on other systems it is
// a Go byte slice of 1 GiB, of which only what is touched costs memory: so the
// race detector sees ownership errors on packets (it ignores memory outside the heap).
package arena

import "unsafe"

// Line is the unit of an id: every header starts on a multiple of it.
const Line = 64

// Set once at start, by reserve of the file for the platform.
var (
	base        unsafe.Pointer
	size        uint64
	reservedWhy string // how size came about, for errors
	reserveErr  error  // why size is 0
)

func init() {
	base, size, reservedWhy, reserveErr = reserve()
	room = newSpace()
}

// Size returns the bytes of the reserved range; 0 when the system refused, and New
// says why.
func Size() uint64 { return size }

// Ptr resolves an id. The id must come from ID, or from memory that was checked
// (see Range.Contains): it is not checked here.
func Ptr(id uint32) unsafe.Pointer { return unsafe.Add(base, uintptr(id)<<6) }

// ID is the inverse of Ptr, for a pointer on a multiple of Line.
func ID(p unsafe.Pointer) uint32 { return uint32((uintptr(p) - uintptr(base)) >> 6) }

// At resolves a byte offset.
func At(off uint64) unsafe.Pointer { return unsafe.Add(base, uintptr(off)) }

// Off is the inverse of At.
func Off(p unsafe.Pointer) uint64 { return uint64(uintptr(p) - uintptr(base)) }

// Bytes views n bytes at off as a slice whose capacity is n.
func Bytes(off uint64, n int) []byte { return unsafe.Slice((*byte)(At(off)), n) }
