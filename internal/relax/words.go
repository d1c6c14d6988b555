// SPDX-License-Identifier: Apache-2.0

package relax

import "sync/atomic"

// Uint32 is a shared 32 bit word. It must not be copied after first use.
type Uint32 struct{ v uint32 }

// Uint64 is a shared 64 bit word. It must not be copied after first use. It is 8
// byte aligned on every architecture, except within memory that is not Go's.
type Uint64 struct {
	_ [0]atomic.Uint64 // aligns; vet finds copies
	v uint64
}

// Pad keeps two writers off each other's cache line and its prefetched pair.
type Pad [128]byte

// LoadAcq reads the word; later reads and writes are not moved before it.
func (x *Uint32) LoadAcq() uint32 { return atomic.LoadUint32(&x.v) }

// LoadAcq reads the word; later reads and writes are not moved before it.
func (x *Uint64) LoadAcq() uint64 { return atomic.LoadUint64(&x.v) }

// StoreSeq writes the word and orders it before every later read (a full
// barrier): for a store that is followed by a decision read from another word.
func (x *Uint32) StoreSeq(v uint32) { atomic.StoreUint32(&x.v, v) }

// StoreSeq writes the word and orders it before every later read.
func (x *Uint64) StoreSeq(v uint64) { atomic.StoreUint64(&x.v, v) }

// Add adds d (two's complement for a subtraction) and returns the new value.
func (x *Uint32) Add(d uint32) uint32 { return atomic.AddUint32(&x.v, d) }

// Add adds d and returns the new value.
func (x *Uint64) Add(d uint64) uint64 { return atomic.AddUint64(&x.v, d) }

// CAS replaces old by new and reports whether it did.
func (x *Uint32) CAS(old, new uint32) bool { return atomic.CompareAndSwapUint32(&x.v, old, new) }

// CAS replaces old by new and reports whether it did.
func (x *Uint64) CAS(old, new uint64) bool { return atomic.CompareAndSwapUint64(&x.v, old, new) }

// Swap writes v and returns what was there.
func (x *Uint32) Swap(v uint32) uint32 { return atomic.SwapUint32(&x.v, v) }

// Swap writes v and returns what was there.
func (x *Uint64) Swap(v uint64) uint64 { return atomic.SwapUint64(&x.v, v) }

// Or sets bits and returns the old value.
func (x *Uint32) Or(bits uint32) uint32 { return atomic.OrUint32(&x.v, bits) }

// And keeps only bits and returns the old value.
func (x *Uint32) And(bits uint32) uint32 { return atomic.AndUint32(&x.v, bits) }

// Or sets bits and returns the old value.
func (x *Uint64) Or(bits uint64) uint64 { return atomic.OrUint64(&x.v, bits) }

// And keeps only bits and returns the old value.
func (x *Uint64) And(bits uint64) uint64 { return atomic.AndUint64(&x.v, bits) }
