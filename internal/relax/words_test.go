// SPDX-License-Identifier: Apache-2.0

package relax

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestWords32(t *testing.T) {
	var x Uint32
	check := func(op string, got, want uint32) {
		t.Helper()
		if got != want || x.LoadAcq() != x.v {
			t.Errorf("%s: %#x, want %#x (word %#x)", op, got, want, x.v)
		}
	}
	check("zero", x.LoadAcq(), 0)
	x.StoreRel(3)
	check("StoreRel", x.LoadAcq(), 3)
	x.StoreSeq(4)
	check("StoreSeq", x.LoadAcq(), 4)
	check("Add", x.Add(^uint32(0)), 3)
	check("Swap", x.Swap(9), 3)
	if x.CAS(8, 1) || !x.CAS(9, 0xf0) || x.CAS(9, 1) {
		t.Error("CAS")
	}
	check("Or", x.Or(0x0f), 0xf0)
	check("And", x.And(0x3c), 0xff)
	check("after And", x.LoadAcq(), 0x3c)
	x.StoreRel(^uint32(0))
	check("wraps", x.Add(2), 1)
}

func TestWords64(t *testing.T) {
	const big = 1 << 40
	var x Uint64
	check := func(op string, got, want uint64) {
		t.Helper()
		if got != want || x.LoadAcq() != x.v {
			t.Errorf("%s: %#x, want %#x (word %#x)", op, got, want, x.v)
		}
	}
	check("zero", x.LoadAcq(), 0)
	x.StoreRel(big + 3)
	check("StoreRel", x.LoadAcq(), big+3)
	x.StoreSeq(big + 4)
	check("StoreSeq", x.LoadAcq(), big+4)
	check("Add", x.Add(^uint64(0)), big+3)
	check("Swap", x.Swap(big<<1), big+3)
	if x.CAS(big, 1) || !x.CAS(big<<1, big|0xf0) || x.CAS(big<<1, 1) {
		t.Error("CAS")
	}
	check("Or", x.Or(0x0f), big|0xf0)
	check("And", x.And(0x3c), big|0xff)
	check("after And", x.LoadAcq(), 0x3c)
	x.StoreRel(^uint64(0))
	check("wraps", x.Add(2), 1)
}

// A 64 bit word is aligned wherever it stands, on 32 bit machines too.
func TestAlignment(t *testing.T) {
	var s struct {
		a uint32
		x Uint64
		b uint32
		y Uint64
	}
	if unsafe.Sizeof(Uint64{}) != 8 || unsafe.Alignof(s.x) != 8 || unsafe.Offsetof(s.y)%8 != 0 {
		t.Errorf("size %d, alignment %d, offset %d", unsafe.Sizeof(Uint64{}), unsafe.Alignof(s.x), unsafe.Offsetof(s.y))
	}
	if unsafe.Sizeof(Uint32{}) != 4 || unsafe.Sizeof(Pad{}) != 128 {
		t.Error("sizes")
	}
	s.x.Add(1)
	s.y.Add(1)
	Pause()
}

func TestAtomicFromMany(t *testing.T) {
	var n32 Uint32
	var n64, bits Uint64
	var wg sync.WaitGroup
	const each = 2000
	for g := range 4 {
		wg.Go(func() {
			for i := range each {
				n32.Add(1)
				for !n64.CAS(n64.LoadAcq(), n64.LoadAcq()) {
				}
				n64.Add(1 << 32)
				bits.Or(1 << (16*g + i%16))
			}
		})
	}
	wg.Wait()
	if n32.LoadAcq() != 4*each || n64.LoadAcq() != 4*each<<32 || bits.LoadAcq() != ^uint64(0) {
		t.Errorf("%d %#x %#x", n32.LoadAcq(), n64.LoadAcq(), bits.LoadAcq())
	}
}
