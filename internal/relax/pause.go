// SPDX-License-Identifier: Apache-2.0

package relax

// Pad keeps two writers off each other's cache line and its prefetched pair.
type Pad [128]byte

// Pause tells the processor that the caller spins (PAUSE on amd64, YIELD on
// arm64): about 16 ns. Unbounded spinning is not allowed anywhere: see Spin.
func Pause()
