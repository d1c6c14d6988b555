// SPDX-License-Identifier: Apache-2.0

//go:build race

package buffer

import "github.com/odp-go/godp/internal/relax"

// loadWords copies len(src) words out of a chunk. The words are read atomically,
// since a reader whose CAS will fail may read while a new owner writes.
func loadWords(dst []uintptr, src []relax.Uint64) {
	for i := range src {
		dst[i] = uintptr(src[i].LoadAcq())
	}
}

// storeWords fills a chunk that the caller owns.
func storeWords(dst []relax.Uint64, src []uintptr) {
	for i, e := range src {
		dst[i].StoreRel(uint64(e))
	}
}
