// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"fmt"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// InNetNS runs f on a thread of its own inside a new network namespace, which ends
// with it.
func InNetNS(t testing.TB, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Errorf("new network namespace: %v", err)
	}
}

func missingNetNS() string {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- unix.Unshare(unix.CLONE_NEWNET)
	}()
	if err := <-done; err != nil {
		return fmt.Sprintf("network namespaces can't be made: %v", err)
	}
	return ""
}
