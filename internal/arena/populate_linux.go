// SPDX-License-Identifier: Apache-2.0

//go:build !race && !portable

package arena

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// populate gives every page of a fresh mapping its memory.
func populate(b []byte) error {
	for {
		err := unix.Madvise(b, unix.MADV_POPULATE_WRITE)
		switch err {
		case nil:
			return nil
		case unix.EINTR, unix.EAGAIN:
		case unix.EINVAL: // kernels before 5.14
			return touch(b)
		default:
			return fmt.Errorf("the system gives no memory for it: %w: free memory or raise the limits", os.NewSyscallError("madvise(MADV_POPULATE_WRITE)", err))
		}
	}
}
