// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"runtime"
	"sync"
)

// procs raises GOMAXPROCS for the workers of all instances of the process, and
// lowers it when the last instance closes. Workers never give their P back, so
// there must be one each and two more for everything else: with less, one busy
// control goroutine stalls a worker for hundreds of milliseconds.
var procs struct {
	sync.Mutex
	workers int // of all open instances
	users   int // open instances
	before  int // GOMAXPROCS when the first opened
	set     int // what was set last, 0 = nothing
}

// extraProcs is for the collector and control goroutines.
const extraProcs = 2

// procsAcquire counts n workers and returns GOMAXPROCS before and after.
func procsAcquire(n int) (before, after int) {
	procs.Lock()
	defer procs.Unlock()
	before = runtime.GOMAXPROCS(0)
	if procs.users == 0 {
		procs.before, procs.set = before, 0
	}
	procs.users++
	procs.workers += n
	after = before
	if want := procs.workers + extraProcs; want > before {
		runtime.GOMAXPROCS(want)
		procs.set, after = want, want
	}
	return before, after
}

// procsRelease takes n workers back; the last user restores what was before,
// unless the program has changed it itself.
func procsRelease(n int) (before, after int) {
	procs.Lock()
	defer procs.Unlock()
	before = runtime.GOMAXPROCS(0)
	procs.users--
	procs.workers -= n
	if procs.users > 0 || procs.set == 0 || before != procs.set {
		return before, before
	}
	// The runtime's own default also follows changes of the CPU quota, which a
	// number set by hand does not: go back to it where it is what there was.
	runtime.SetDefaultGOMAXPROCS()
	if runtime.GOMAXPROCS(0) != procs.before {
		runtime.GOMAXPROCS(procs.before)
	}
	procs.set = 0
	return before, procs.before
}
