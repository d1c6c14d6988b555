// SPDX-License-Identifier: Apache-2.0

//go:build race

package lookup

import (
	"sync/atomic"
	"unsafe"
)

// get reads entry i of the table at p, in a way that the race detector knows.
func get[H Hop](p unsafe.Pointer, i uintptr) H {
	off := i * unsafe.Sizeof(H(0))
	w := atomic.LoadUint32((*uint32)(unsafe.Add(p, off&^3)))
	if unsafe.Sizeof(H(0)) == 4 {
		return H(w)
	}
	return H((*[2]uint16)(unsafe.Pointer(&w))[i&1])
}

// put writes entry i.
func put[H Hop](p unsafe.Pointer, i uintptr, v H) { putAtomic(p, i, v) }
