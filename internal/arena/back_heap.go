// SPDX-License-Identifier: Apache-2.0

//go:build race || portable || !(linux || freebsd)

package arena

import (
	"context"
	"errors"
	"unsafe"

	"github.com/odp-go/godp/internal/sys"
)

const (
	page     = 4096 // unit of Range.Size
	align    = 4096 // unit of Range.Off: guards and huge pages are for mapped memory
	heapSize = 1 << 30
)

// reserve makes the Go slice. The allocator gives such a large one fresh from the
// system: pages that nobody touches cost nothing.
func reserve() (unsafe.Pointer, uint64, string, error) {
	n := uint64(heapSize)
	if unsafe.Sizeof(uintptr(0)) == 4 {
		n >>= 3
	}
	b := make([]byte, n+align)
	p := unsafe.Pointer(unsafe.SliceData(b))
	return unsafe.Add(p, -uintptr(p)&(align-1)), n, "a Go slice in this build", nil
}

func spanOf(n uint64, huge bool) uint64 { return n }

func back(ctx context.Context, r *Range, huge bool) (clean bool, err error) {
	if r.Size > checkFrom {
		if err := sys.MemoryRoom(fsys).Check(r.Size); err != nil {
			return true, err
		}
	}
	err = inSteps(ctx, Bytes(r.Off, int(r.Size)), func(b []byte, from, to int) error { clear(b[from:to]); return nil })
	if err != nil {
		return empty(r) == nil, err
	}
	r.Backing, r.Note = GoHeap, "a Go slice in this build (race detector, portable, or a system without mapped memory)"
	return true, nil
}

func backFD(*Range, int, int64) (clean bool, err error) {
	return true, errors.New("mapping a device is not supported in this build (race detector, portable, or other system)")
}

func empty(r *Range) error { clear(Bytes(r.Off, int(r.Size))); return nil }
