// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !freebsd

package bench

// cpuTime returns 0: the system does not tell the CPU time of a thread.
func cpuTime() int64 { return 0 }
