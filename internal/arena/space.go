// SPDX-License-Identifier: Apache-2.0

package arena

import "sort"

// piece is address space that nobody uses.
type piece struct{ off, size uint64 }

// space hands out the address space of the arena. What was closed longest ago is used
// first, and space never used before that: a stale pointer then points into empty
// pages for as long as possible. Sizes and offsets are multiples of align.
type space struct {
	free []piece // oldest first
}

// take finds n bytes. Pieces are merged with their neighbours only when no single one
// is large enough, since a merged piece is as young as its youngest part.
func (s *space) take(n uint64) (off uint64, ok bool) {
	if off, ok = s.first(n); ok {
		return off, true
	}
	s.merge()
	return s.first(n)
}

func (s *space) first(n uint64) (off uint64, ok bool) {
	for i := range s.free {
		p := &s.free[i]
		if p.size < n {
			continue
		}
		off = p.off
		p.off += n
		p.size -= n
		if p.size == 0 {
			s.free = append(s.free[:i], s.free[i+1:]...)
		}
		return off, true
	}
	return 0, false
}

// give returns what take handed out.
func (s *space) give(off, n uint64) { s.free = append(s.free, piece{off, n}) }

// merge joins neighbours.
func (s *space) merge() {
	type aged struct {
		piece
		age int
	}
	list := make([]aged, len(s.free))
	for i, p := range s.free {
		list[i] = aged{p, i}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].off < list[j].off })
	out := list[:0]
	for _, p := range list {
		if k := len(out) - 1; k >= 0 && out[k].off+out[k].size == p.off {
			out[k].size += p.size
			out[k].age = max(out[k].age, p.age)
			continue
		}
		out = append(out, p)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].age < out[j].age })
	s.free = s.free[:len(out)]
	for i, p := range out {
		s.free[i] = p.piece
	}
}

// total and largest describe what is left, for errors.
func (s *space) total() (sum, largest uint64) {
	for _, p := range s.free {
		sum += p.size
		largest = max(largest, p.size)
	}
	return sum, largest
}
