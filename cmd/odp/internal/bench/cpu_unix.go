// SPDX-License-Identifier: Apache-2.0

//go:build linux || freebsd

package bench

import "golang.org/x/sys/unix"

// cpuTime returns the nanoseconds of CPU time that the calling thread has had, 0 where
// the system does not tell.
func cpuTime() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
