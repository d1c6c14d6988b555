// SPDX-License-Identifier: Apache-2.0

//go:build !(ppc64 || s390x || mips64)

package abi

func packSlot(idx uint32, n, flags uint16) uint64 {
	return uint64(idx) | uint64(n)<<32 | uint64(flags)<<48
}

func unpackSlot(w uint64) (idx uint32, n, flags uint16) {
	return uint32(w), uint16(w >> 32), uint16(w >> 48)
}

func pack16(a, b uint16) uint32 { return uint32(a) | uint32(b)<<16 }

func unpack16(w uint32) (a, b uint16) { return uint16(w), uint16(w >> 16) }
