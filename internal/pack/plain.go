// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"unsafe"

	"github.com/odp-go/godp/internal/relax"
)

// Min is the burst length from which the vector forms pay.
const Min = 8

const (
	idShift  = 6 // an id counts units of 64 bytes
	tagShift = 32
	oneTag   = 1 << tagShift
)

func word(p unsafe.Pointer, i int) *relax.Uint64 { return (*relax.Uint64)(unsafe.Add(p, i<<3)) }
func half(p unsafe.Pointer, i int) *relax.Uint32 { return (*relax.Uint32)(unsafe.Add(p, i<<2)) }
func addr(p unsafe.Pointer, i int) *uintptr      { return (*uintptr)(unsafe.Add(p, i<<3)) }

func putTagged(slots, ev unsafe.Pointer, n int, base uintptr, tag uint64) {
	for i := range n {
		word(slots, i).StoreOnce(tag | uint64(*addr(ev, i)-base)>>idShift)
		tag += oneTag
	}
}

func takeTagged(ev, slots unsafe.Pointer, n int, base uintptr, tag uint64) int {
	for i := range n {
		id := word(slots, i).LoadAcq() ^ tag
		if id >= oneTag {
			return i
		}
		*addr(ev, i) = base + uintptr(id)<<idShift
		tag += oneTag
	}
	return n
}

func takeTaggedIDs(ids, slots unsafe.Pointer, n int, tag uint64) int {
	for i := range n {
		id := word(slots, i).LoadAcq() ^ tag
		if id >= oneTag {
			return i
		}
		*(*uint32)(unsafe.Add(ids, i<<2)) = uint32(id)
		tag += oneTag
	}
	return n
}

func putIDs(slots, ev unsafe.Pointer, n int, base uintptr) {
	for i := range n {
		half(slots, i).StoreRel(uint32((*addr(ev, i) - base) >> idShift))
	}
}

func takeIDs(ev, slots unsafe.Pointer, n int, base uintptr) {
	for i := range n {
		*addr(ev, i) = base + uintptr(half(slots, i).LoadAcq())<<idShift
	}
}
