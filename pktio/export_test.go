// SPDX-License-Identifier: Apache-2.0

package pktio

import "time"

// SetCloseWait makes closeWait shorter until restore is called.
func SetCloseWait(d time.Duration) (restore func()) {
	old := closeWait
	closeWait = d
	return func() { closeWait = old }
}

// Watched reports whether somebody sleeps on the queue's descriptor.
func (in *In) Watched() bool { return in.ring.armed.LoadAcq() == armedFD }
