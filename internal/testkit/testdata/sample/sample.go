// SPDX-License-Identifier: Apache-2.0

// Package sample is compiled by the tests of testkit, which know what the compiler makes of it.
package sample

import "sync/atomic"

// T has methods of both kinds.
type T struct{ n int }

// Small is inlined.
func (t *T) Small() int { return t.n + 1 }

// Value is inlined.
func (t T) Value() int { return t.n }

// Noinline is not.
//
//go:noinline
func Noinline(t *T) int { return t.n }

// Escaping moves a variable to the heap.
func Escaping() *T {
	t := T{1}
	keep = &t
	return &t
}

var keep *T

// Checked has a bounds check.
func Checked(b []byte, i int) byte { return b[i] }

// Unchecked has none.
func Unchecked(b []byte) (n int) {
	for i := range b {
		n += int(b[i])
	}
	return n
}

// Locked has two locked instructions, one of them an exchange.
func Locked(p *uint32) uint32 {
	atomic.StoreUint32(p, 1)
	return atomic.AddUint32(p, 2)
}

// Plain has none.
func Plain(p *uint32) uint32 { return atomic.LoadUint32(p) }

// Calling calls Noinline.
func Calling(t *T) int { return Noinline(t) + 1 }

// Generic is compiled once per shape.
func Generic[N int32 | int64](p *N, n N) { *p += n }

// UseGeneric makes one of each.
func UseGeneric(a *int32) { Generic(a, 2); generic(a, 3) }

//go:noinline
func generic[N int32 | int64](p *N, n N) { *p += n }
