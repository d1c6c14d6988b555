// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package bench

import "time"

var clockStart = time.Now()

// cycles counts nanoseconds where there is no time stamp counter to read.
func cycles() uint64 { return uint64(time.Since(clockStart)) }

func cyclesStrict() uint64 { return cycles() }
