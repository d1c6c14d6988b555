// SPDX-License-Identifier: Apache-2.0

package header

import (
	"encoding/binary"
	"unsafe"
)

// Loads at an offset from a pointer, in network byte order; each compiles to one load
// and one byte swap. The caller has checked the length.

func be16(p unsafe.Pointer, off uint32) uint16 {
	return binary.BigEndian.Uint16((*[2]byte)(unsafe.Add(p, off))[:])
}

func be32(p unsafe.Pointer, off uint32) uint32 {
	return binary.BigEndian.Uint32((*[4]byte)(unsafe.Add(p, off))[:])
}

func be64(p unsafe.Pointer, off uint32) uint64 {
	return binary.BigEndian.Uint64((*[8]byte)(unsafe.Add(p, off))[:])
}

func u8(p unsafe.Pointer, off uint32) uint8 { return *(*uint8)(unsafe.Add(p, off)) }
