// SPDX-License-Identifier: Apache-2.0

package relax

import "testing"

func BenchmarkStoreRel(b *testing.B) {
	var x Uint32
	for i := uint32(0); b.Loop(); i++ {
		x.StoreRel(i)
	}
}

func BenchmarkStoreSeq(b *testing.B) {
	var x Uint32
	for i := uint32(0); b.Loop(); i++ {
		x.StoreSeq(i)
	}
}

func BenchmarkAdd(b *testing.B) {
	var x Uint64
	for b.Loop() {
		x.Add(1)
	}
}

func BenchmarkPause(b *testing.B) {
	for b.Loop() {
		Pause()
	}
}
