// SPDX-License-Identifier: Apache-2.0

package pktio

// Watched reports whether somebody sleeps on the queue's descriptor.
func (in *In) Watched() bool { return in.ring.armed.LoadAcq() == armedFD }
