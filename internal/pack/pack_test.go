// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

const (
	longest = 2*8 + 1
	base    = uintptr(0x7f00_0000_0000)
	guard   = 0xdeadbeefdeadbeef
)

// arrays of one test: room for the longest burst at any alignment, and a guard.
type arrays struct {
	ev, out [longest + 9]uint64
	slots   [longest + 9]uint64
	ids     [longest + 9]uint32
}

func (a *arrays) fill(r *rand.Rand) {
	for i := range a.ev {
		a.ev[i] = uint64(base) + uint64(r.Uint32())<<6
		a.out[i], a.slots[i], a.ids[i] = guard, guard, guard&0xffffffff
	}
}

func at[T any](s []T, i int) unsafe.Pointer { return unsafe.Pointer(&s[i]) }

// The vector forms do what the plain ones do, for every length, alignment and tag, also
// where the tag wraps, and where a slot is not published; and touch nothing behind.
func TestTwins(t *testing.T) {
	if !Wide {
		t.Skip("no vector forms here")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for n := range longest + 1 {
		for off := range 8 {
			for _, tag := range []uint64{1 << 32, 0xfffffffc << 32, uint64(r.Uint32()) << 32} {
				var a, b arrays
				a.fill(r)
				b = a
				check := func(what string) {
					t.Helper()
					if a != b {
						t.Fatalf("%s, n %d, offset %d, tag %x: differs from its twin", what, n, off, tag)
					}
				}
				PutTagged(at(a.slots[:], off), at(a.ev[:], off), n, base, tag)
				putTagged(at(b.slots[:], off), at(b.ev[:], off), n, base, tag)
				check("PutTagged")
				for bad := range n + 1 {
					if bad < n {
						a.slots[off+bad] ^= 1 << (32 + r.IntN(32))
					}
					k := TakeTagged(at(a.out[:], off), at(a.slots[:], off), n, base, tag)
					if k != bad || !slices.Equal(a.out[off:off+k], a.ev[off:off+k]) {
						t.Fatalf("TakeTagged, n %d, offset %d, tag %x, slot %d is not there: %d taken", n, off, tag, bad, k)
					}
					k = TakeTaggedIDs(at(a.ids[:], off), at(a.slots[:], off), n, tag)
					var ids [longest]uint32
					if m := takeTaggedIDs(at(ids[:], 0), at(a.slots[:], off), n, tag); m != bad || k != bad || !slices.Equal(a.ids[off:off+k], ids[:k]) {
						t.Fatalf("TakeTaggedIDs, n %d, offset %d, tag %x, slot %d is not there: %d taken, %d by the twin", n, off, tag, bad, k, m)
					}
					if a.out[off+n] != guard || a.ids[off+n] != guard&0xffffffff {
						t.Fatal("something behind the burst was written")
					}
					a.slots = b.slots
				}
				a.ids, a.out = b.ids, b.out
				PutIDs(at(a.ids[:], off), at(a.ev[:], off), n, base)
				putIDs(at(b.ids[:], off), at(b.ev[:], off), n, base)
				check("PutIDs")
				TakeIDs(at(a.out[:], off), at(a.ids[:], off), n, base)
				takeIDs(at(b.out[:], off), at(b.ids[:], off), n, base)
				check("TakeIDs")
				if !slices.Equal(a.out[off:off+n], a.ev[off:off+n]) {
					t.Fatalf("TakeIDs, n %d: other events came out", n)
				}
			}
		}
	}
}

// BenchmarkTwins: a burst into slots and out again, ns per event.
func BenchmarkTwins(b *testing.B) {
	for _, n := range []int{8, 32} {
		var a struct{ ev, slots, out [32]uint64 }
		for i := range a.ev {
			a.ev[i] = uint64(base) + uint64(i)<<6
		}
		ev, slots, out := at(a.ev[:], 0), at(a.slots[:], 0), at(a.out[:], 0)
		run := func(name string, f func()) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for i := 0; i < b.N; i += n {
					f()
				}
			})
		}
		run("tagged", func() { PutTagged(slots, ev, n, base, 1<<32); TakeTagged(out, slots, n, base, 1<<32) })
		run("tagged twin", func() { putTagged(slots, ev, n, base, 1<<32); takeTagged(out, slots, n, base, 1<<32) })
		run("bare", func() { PutIDs(slots, ev, n, base); TakeIDs(out, slots, n, base) })
		run("bare twin", func() { putIDs(slots, ev, n, base); takeIDs(out, slots, n, base) })
	}
}
