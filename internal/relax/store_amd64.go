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
