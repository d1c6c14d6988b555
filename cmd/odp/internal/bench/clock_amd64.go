// SPDX-License-Identifier: Apache-2.0

package bench

// cycles reads the time stamp counter.
func cycles() uint64

// cyclesStrict reads it when everything before has been done, and before anything after
// is begun (ODP's strict clocks).
func cyclesStrict() uint64
