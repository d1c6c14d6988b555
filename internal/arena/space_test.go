// SPDX-License-Identifier: Apache-2.0

package arena

import (
	"sort"
	"testing"

	"pgregory.net/rapid"
)

func TestSpaceOldestFirst(t *testing.T) {
	s := &space{free: []piece{{10, 30}}}
	take := func(n, want uint64) {
		t.Helper()
		if off, ok := s.take(n); !ok || off != want {
			t.Fatalf("take(%d) = %d, %v; want %d", n, off, ok, want)
		}
	}
	take(10, 10)
	take(10, 20)
	take(10, 30)
	if off, ok := s.take(1); ok {
		t.Fatalf("got %d from nothing", off)
	}
	s.give(20, 10)
	s.give(10, 10)
	take(5, 20) // the older one, although it lies higher
	take(5, 25)
	take(10, 10)
	s.give(20, 5)
	s.give(30, 10)
	s.give(25, 5)
	take(15, 20) // needs merged neighbours
	take(5, 35)
	if sum, largest := s.total(); sum != 0 || largest != 0 {
		t.Errorf("%d left, %d in one piece", sum, largest)
	}
}

// What was freed last is used last, as long as single pieces are large enough.
func TestSpaceLongRotation(t *testing.T) {
	const unit, n = 7, 100
	s := &space{free: []piece{{0, unit * n}}}
	var held []uint64
	for range n - 1 {
		off, ok := s.take(unit)
		if !ok {
			t.Fatal("short")
		}
		held = append(held, off)
	}
	for i := range 10 * n {
		s.give(held[0], unit)
		off, ok := s.take(unit)
		if !ok || off == held[0] {
			t.Fatalf("round %d: the space closed last (%d) is reused at once (%d, %v)", i, held[0], off, ok)
		}
		held = append(held[1:], off)
	}
}

// Against a plain model: nothing overlaps, nothing gets lost, and what fits into one
// hole is found.
func TestSpaceAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 200
		s := &space{free: []piece{{1, size}}}
		used := map[uint64]uint64{}
		hole := func() (largest uint64) { // by looking at every byte
			var busy [size + 2]bool
			for off, n := range used {
				for i := range n {
					busy[off+i] = true
				}
			}
			run := uint64(0)
			for i := 1; i <= size; i++ {
				if run++; busy[i] {
					run = 0
				}
				largest = max(largest, run)
			}
			return largest
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(used) > 0 && rapid.Bool().Draw(t, "give") {
				var offs []uint64
				for off := range used {
					offs = append(offs, off)
				}
				sort.Slice(offs, func(i, j int) bool { return offs[i] < offs[j] })
				off := rapid.SampledFrom(offs).Draw(t, "off")
				s.give(off, used[off])
				delete(used, off)
				continue
			}
			n := rapid.Uint64Range(1, 40).Draw(t, "n")
			largest := hole()
			off, ok := s.take(n)
			if ok != (n <= largest) {
				t.Fatalf("take(%d) = %v with a hole of %d", n, ok, largest)
			}
			if !ok {
				continue
			}
			if off < 1 || off+n > size+1 {
				t.Fatalf("%d+%d is outside", off, n)
			}
			for o, l := range used {
				if off < o+l && o < off+n {
					t.Fatalf("%d+%d overlaps %d+%d", off, n, o, l)
				}
			}
			used[off] = n
		}
		for off, n := range used {
			s.give(off, n)
		}
		s.merge()
		if len(s.free) != 1 || s.free[0] != (piece{1, size}) {
			t.Fatalf("after all came back: %v", s.free)
		}
	})
}
