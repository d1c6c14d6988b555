// SPDX-License-Identifier: Apache-2.0

//go:build !linux || race || portable

package arena

import (
	"errors"
	"unsafe"
)

// Under the race detector the arena is a Go slice, so that the detector sees
// packet memory; it ignores memory outside the heap.
func init() {
	size = 1 << 30
	b := make([]byte, size+hugeSize)
	base = unsafe.Pointer(unsafe.SliceData(b))
	skip := -uintptr(base) & (hugeSize - 1)
	base = unsafe.Add(base, skip)
}

func back(off, n uint64, huge bool) (Backing, error) {
	clear(Bytes(off, int(n)))
	return GoHeap, nil
}

func backFD(off, n uint64, fd int) error {
	return errors.New("mapping a device is not supported in this build (race detector or portable)")
}

func drop(off, n uint64, b Backing) error { clear(Bytes(off, int(n))); return nil }
