// SPDX-License-Identifier: Apache-2.0

//go:build (linux || freebsd) && !race && !portable

package arena

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"github.com/odp-go/godp/internal/sys"
)

// touch writes to every page from one offset to another; a page that the kernel can't give is an error here and
// not the end of the process.
func touch(b []byte, from, to int) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			fault, ok := p.(interface{ Addr() uintptr })
			if !ok {
				panic(p)
			}
			at := uint64(fault.Addr() - uintptr(unsafe.Pointer(unsafe.SliceData(b))))
			err = fmt.Errorf("the system gives no memory for it: %s of %s were populated: free memory or raise the limits", sys.Size(at), sys.Size(uint64(len(b))))
		}
	}()
	for off := from; off < to; off += int(page) {
		atomic.AddUint32((*uint32)(unsafe.Pointer(&b[off])), 0)
	}
	return nil
}
