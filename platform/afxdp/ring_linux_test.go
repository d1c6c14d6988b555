// SPDX-License-Identifier: Apache-2.0

package afxdp

import (
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// fakeRing is a ring in ordinary memory, with the kernel's side played by the test.
func fakeRing(size, start uint32) *ring {
	o := unix.XDPRingOffset{Producer: 0, Consumer: 64, Flags: 128, Desc: 192}
	r := newRing(make([]byte, 192+16*int(size)), o, size)
	r.producer.StoreSeq(start)
	r.consumer.StoreSeq(start)
	r.own = start
	return &r
}

// Indices run over 2^32, and the kernel's side never sees more or fewer than were
// published, in order.
func TestProduceOverTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := uint32(1) << rapid.IntRange(0, 6).Draw(t, "log2 size")
		r := fakeRing(size, ^uint32(0)-rapid.Uint32Range(0, 3*size).Draw(t, "before the end"))
		next, seen := uint64(0), uint64(0)
		for range 8 * size {
			n := min(rapid.Uint32Range(0, size).Draw(t, "n"), r.room())
			if r.room() != size-uint32(next-seen) {
				t.Fatalf("room %d with %d of %d in the ring", r.room(), next-seen, size)
			}
			for range n {
				*r.addr(r.own) = next
				r.own++
				next++
			}
			r.publish()
			for r.consumer.LoadAcq() != r.producer.LoadAcq() && rapid.Bool().Draw(t, "take") {
				if got := *r.addr(r.consumer.LoadAcq()); got != seen {
					t.Fatalf("the kernel sees %d, want %d", got, seen)
				}
				r.consumer.StoreSeq(r.consumer.LoadAcq() + 1)
				seen++
			}
		}
	})
}

func TestConsumeOverTheEnd(t *testing.T) {
	r := fakeRing(8, ^uint32(0)-20)
	at, next := r.own, uint64(0)
	for round := range 40 {
		n := uint32(round % 9)
		for i := range n {
			r.descr(at).Addr = next + uint64(i)
			at++
		}
		r.producer.StoreSeq(at)
		if got := r.filled(); got != n {
			t.Fatalf("round %d: %d filled, want %d", round, got, n)
		}
		for range n {
			if got := r.descr(r.own).Addr; got != next {
				t.Fatalf("entry %d, want %d", got, next)
			}
			r.own++
			next++
		}
		r.release()
		if r.consumer.LoadAcq() != at {
			t.Fatal("not released")
		}
	}
	r.producer.StoreSeq(r.own + 9) // more than the ring holds
	if n := r.filled(); n != 0 {
		t.Errorf("%d entries of a ring of 8", n)
	}
	r.producer.StoreSeq(r.own - 1)
	if n := r.filled(); n != 0 {
		t.Errorf("%d entries behind the consumer", n)
	}
}
