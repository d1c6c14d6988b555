// SPDX-License-Identifier: Apache-2.0

//go:build !race && !portable

package arena

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// populate gives the pages of a fresh mapping their memory, from one offset to another.
func populate(b []byte, from, to int) error {
	for {
		err := unix.Madvise(b[from:to], unix.MADV_POPULATE_WRITE)
		switch err {
		case nil:
			return nil
		case unix.EINTR, unix.EAGAIN:
		case unix.EINVAL: // kernels before 5.14
			return touch(b, from, to)
		default:
			return fmt.Errorf("the system gives no memory for it: %w: free memory or raise the limits", os.NewSyscallError("madvise(MADV_POPULATE_WRITE)", err))
		}
	}
}
