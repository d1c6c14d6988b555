// SPDX-License-Identifier: Apache-2.0

//go:build amd64 && !race

package relax

import "sync/atomic"

// StoreRel writes the word; earlier reads and writes are not moved after it.
func (x *Uint32) StoreRel(v uint32) {
	x.v = v
	_ = atomic.LoadUint32(&x.v)
}

// StoreRel writes the word; earlier reads and writes are not moved after it.
func (x *Uint64) StoreRel(v uint64) {
	x.v = v
	_ = atomic.LoadUint64(&x.v)
}

// StoreOnce is StoreRel for loops that fill many words, each once: a later store to the
// same word by the same goroutine may replace it. It must not be used to wait with.
func (x *Uint64) StoreOnce(v uint64) { x.v = v }
