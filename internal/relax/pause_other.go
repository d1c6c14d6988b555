// SPDX-License-Identifier: Apache-2.0

//go:build !amd64 && !arm64

package relax

// Pause tells the processor that the caller spins; there is no hint for this one.
func Pause() {}
