// SPDX-License-Identifier: Apache-2.0

//go:build amd64 && !race

package lookup

import "unsafe"

// get reads entry i of the table at p, put writes it. On amd64 a plain aligned access
// of 2 or 4 bytes is one access, and stores keep their order.
func get[H Hop](p unsafe.Pointer, i uintptr) H {
	return *(*H)(unsafe.Add(p, i*unsafe.Sizeof(H(0))))
}

func put[H Hop](p unsafe.Pointer, i uintptr, v H) {
	*(*H)(unsafe.Add(p, i*unsafe.Sizeof(H(0)))) = v
}
