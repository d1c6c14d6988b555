// SPDX-License-Identifier: Apache-2.0

//go:build portable || !(linux || freebsd)

package worker

import (
	"runtime"
	"time"
)

func yield()              { runtime.Gosched() }
func nap(d time.Duration) { time.Sleep(d) }
