// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !race

package lookup

import "unsafe"

// get reads entry i of the table at p: an aligned plain load of 2 or 4 bytes is one
// access, and what an entry points to is read after it, since the address depends on it.
func get[H Hop](p unsafe.Pointer, i uintptr) H {
	return *(*H)(unsafe.Add(p, i*unsafe.Sizeof(H(0))))
}

// put writes entry i, after everything that was written before.
func put[H Hop](p unsafe.Pointer, i uintptr, v H) { putAtomic(p, i, v) }
