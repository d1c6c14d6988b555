// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 || race

package lookup

import (
	"sync/atomic"
	"unsafe"
)

// putAtomic writes entry i with a release store of the 32 bit word that it lies in.
// There is one writer at a time.
func putAtomic[H Hop](p unsafe.Pointer, i uintptr, v H) {
	off := i * unsafe.Sizeof(H(0))
	w := (*uint32)(unsafe.Add(p, off&^3))
	if unsafe.Sizeof(H(0)) == 4 {
		atomic.StoreUint32(w, uint32(v))
		return
	}
	x := atomic.LoadUint32(w)
	(*[2]uint16)(unsafe.Pointer(&x))[i&1] = uint16(v)
	atomic.StoreUint32(w, x)
}
