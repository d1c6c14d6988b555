// SPDX-License-Identifier: Apache-2.0

//go:build amd64 || arm64

package relax

// Pause tells the processor that the caller spins (PAUSE on amd64, YIELD on
// arm64): about 16 ns. Unbounded spinning is not allowed anywhere: see worker.Spin.
func Pause()
