// SPDX-License-Identifier: Apache-2.0

//go:build !race

package buffer

import (
	"unsafe"

	"github.com/odp-go/godp/internal/relax"
)

// loadWords copies len(src) words out of a chunk. The chunk is the caller's, or
// a CAS on its head tells afterwards whether it was.
func loadWords(dst []uintptr, src []relax.Uint64) {
	copy(dst, unsafe.Slice((*uintptr)(unsafe.Pointer(unsafe.SliceData(src))), len(src)))
}

// storeWords fills a chunk that the caller owns; the CAS that follows publishes it.
func storeWords(dst []relax.Uint64, src []uintptr) {
	copy(unsafe.Slice((*uintptr)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst)), src)
}
