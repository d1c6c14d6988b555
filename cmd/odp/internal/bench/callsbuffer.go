// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"github.com/odp-go/godp/buffer"
)

// bufferFunctions are those of odp_bench_buffer.
var bufferFunctions = []function{
	{"buffer_alloc", nil, func(x *calls) {
		pool, w := x.bufs, x.w
		for i := range numCalls {
			x.bs[i] = pool.AllocBuffer(w)
		}
	}, freeBuffers},
	{"buffer_alloc_multi", nil, func(x *calls) {
		for i := 0; i < len(x.bs); i += x.burst {
			if x.bufs.AllocBuffers(x.w, x.bs[i:i+x.burst]) != x.burst {
				x.fault(errShort)
			}
		}
	}, freeBuffersMany},
	{"buffer_free", buffersOne, func(x *calls) {
		pool, w := x.bufs, x.w
		for _, b := range x.bs[:numCalls] {
			pool.FreeBuffer(w, b)
		}
	}, nil},
	{"buffer_free_multi", buffersMany, func(x *calls) {
		for i := 0; i < len(x.bs); i += x.burst {
			buffer.FreeBuffers(x.w, x.bs[i:i+x.burst])
		}
	}, nil},
	{"buffer_alloc_free", nil, func(x *calls) {
		pool, w := x.bufs, x.w
		for range numCalls {
			pool.FreeBuffer(w, pool.AllocBuffer(w))
		}
	}, nil},
	{"buffer_alloc_free_multi", nil, func(x *calls) {
		for range numCalls {
			n := x.bufs.AllocBuffers(x.w, x.bs[:x.burst])
			buffer.FreeBuffers(x.w, x.bs[:n])
		}
	}, nil},
	{"buffer_addr", buffersOne, func(x *calls) {
		for i, b := range x.bs[:numCalls] {
			x.views[i] = b.Data()
		}
	}, freeBuffers},
	{"buffer_size", buffersOne, func(x *calls) {
		s := 0
		for _, b := range x.bs[:numCalls] {
			s += b.Size()
		}
		x.sum = s
	}, freeBuffers},
	{"buffer_user_area", buffersOne, func(x *calls) {
		for i, b := range x.bs[:numCalls] {
			x.views[i] = b.UserArea()
		}
	}, freeBuffers},
	{"buffer_pool", buffersOne, func(x *calls) {
		s := 0
		for _, b := range x.bs[:numCalls] {
			if b.PoolOf() == x.bufs {
				s++
			}
		}
		x.sum = s
	}, freeBuffers},
	{"buffer_is_valid", buffersOne, func(x *calls) {
		s := 0
		for _, b := range x.bs[:numCalls] {
			if b.Valid() {
				s++
			}
		}
		x.sum = s
	}, freeBuffers},
}
