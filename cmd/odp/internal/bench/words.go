// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/binary"

	"github.com/odp-go/godp/odp"
)

func word(b []byte) uint64       { return binary.NativeEndian.Uint64(b) }
func putWord(b []byte, v uint64) { binary.NativeEndian.PutUint64(b, v) }
func word32(b []byte) uint32     { return binary.NativeEndian.Uint32(b) }

func numCPU() int { return max(1, odp.EffectiveCPUs().Count()) }
