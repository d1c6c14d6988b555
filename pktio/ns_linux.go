// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"os"
	"syscall"
)

// netNS returns the number of the calling thread's network namespace, 0 when it
// can't be known.
func netNS() uint64 {
	fi, err := os.Stat("/proc/thread-self/ns/net")
	if err != nil {
		return 0
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}
