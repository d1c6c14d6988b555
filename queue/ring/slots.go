// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/pack"
	"github.com/odp-go/godp/internal/relax"
)

// slots is the memory of the rings with several producers or consumers: one
// word per slot, position and id together, so that one load says whether the id
// is there and what it is.
//
//	63            32 31             0
//	| position + 1  |      id       |   low 32 bits of the position that wrote it
//
// A slot is free when the reader's position has passed it: readers copy ids out
// before they advance the position, so no slot needs to be marked as read.
// Positions have 64 bits: a reader that sleeps between its loads and its
// compare-and-swap can't meet the same position again.
type slots struct {
	base unsafe.Pointer
	mask uint64
	mem  []uint64 // keeps base alive
}

func newSlots(n int, pos uint64) slots {
	c := mustSize(n)
	m := words[uint64](c)
	s := slots{unsafe.Pointer(unsafe.SliceData(m)), uint64(c) - 1, m}
	for p := pos; p < pos+uint64(c); p++ { // as if written one lap ago
		word(s.base, p&s.mask).StoreRel(tag(p-uint64(c)) << 32)
	}
	return s
}

func word(base unsafe.Pointer, i uint64) *relax.Uint64 {
	return (*relax.Uint64)(unsafe.Add(base, uintptr(i)<<3))
}

// tag is the position part of a slot's word.
func tag(pos uint64) uint64 { return uint64(uint32(pos) + 1) }

// Cap returns how many ids the ring holds.
func (s *slots) Cap() int { return int(s.mask) + 1 }

// free returns how many of n ids fit between the positions.
func (s *slots) free(w, r uint64, n int) int {
	return min(n, int(r+s.mask+1-w), int(s.mask)+1)
}

// nextTag added to a slot's word gives the tag of the next position: the carry out
// of the top is the wrap of the 32 bit tag.
const nextTag = 1 << 32

// split cuts a burst of n at pos where the memory ends: the first slot, how many
// slots follow it up to the end (at most n), the word of pos without an id.
func (s *slots) split(pos uint64, n int) (first unsafe.Pointer, k int, expect uint64) {
	i := pos & s.mask
	return unsafe.Add(s.base, uintptr(i)<<3), int(min(uint64(n), s.mask+1-i)), tag(pos) << 32
}

// write publishes ids at pos, which the caller has reserved. Each slot's StoreRel
// pairs with the LoadAcq in read.
func (s *slots) write(pos uint64, ids []uint32) {
	p, k, v := s.split(pos, len(ids))
	writeRun(p, v, ids[:k])
	if k < len(ids) {
		writeRun(s.base, v+uint64(k)*nextTag, ids[k:])
	}
}

// The runs do four slots a round: a quarter less time per burst of 32.
func writeRun(p unsafe.Pointer, v uint64, ids []uint32) {
	for len(ids) >= 4 {
		word(p, 0).StoreRel(v | uint64(ids[0]))
		word(p, 1).StoreRel(v + nextTag | uint64(ids[1]))
		word(p, 2).StoreRel(v + 2*nextTag | uint64(ids[2]))
		word(p, 3).StoreRel(v + 3*nextTag | uint64(ids[3]))
		v += 4 * nextTag
		if ids = ids[4:]; len(ids) == 0 {
			return
		}
		p = unsafe.Add(p, 32)
	}
	for i, id := range ids {
		word(p, uint64(i)).StoreRel(v | uint64(id))
		v += nextTag
	}
}

// read copies published ids from pos on and returns how many it met.
func (s *slots) read(pos uint64, ids []uint32) int {
	p, k, v := s.split(pos, len(ids))
	n := readRun(p, v, ids[:k])
	if n < k || k == len(ids) {
		return n
	}
	return n + readRun(s.base, v+uint64(k)*nextTag, ids[k:])
}

func readRun(p unsafe.Pointer, v uint64, ids []uint32) int {
	done := 0
	for len(ids) >= 4 {
		a := word(p, 0).LoadAcq() ^ v
		b := word(p, 1).LoadAcq() ^ (v + nextTag)
		c := word(p, 2).LoadAcq() ^ (v + 2*nextTag)
		d := word(p, 3).LoadAcq() ^ (v + 3*nextTag)
		if a|b|c|d >= nextTag {
			break
		}
		ids[0], ids[1], ids[2], ids[3] = uint32(a), uint32(b), uint32(c), uint32(d)
		done += 4
		v += 4 * nextTag
		if ids = ids[4:]; len(ids) == 0 {
			return done
		}
		p = unsafe.Add(p, 32)
	}
	for i := range ids {
		id := word(p, uint64(i)).LoadAcq() ^ v
		if id >= nextTag {
			return done + i
		}
		ids[i] = uint32(id)
		v += nextTag
	}
	return done + len(ids)
}

// writeEvents is write of the events' ids.
func (s *slots) writeEvents(pos uint64, ev []*buffer.Event) {
	if len(ev) == 1 {
		word(s.base, pos&s.mask).StoreRel(tag(pos)<<32 | uint64(ev[0].ID()))
		return
	}
	p, k, v := s.split(pos, len(ev))
	writeEventRun(p, v, ev[:k])
	if k < len(ev) {
		writeEventRun(s.base, v+uint64(k)*nextTag, ev[k:])
	}
}

func writeEventRun(p unsafe.Pointer, v uint64, ev []*buffer.Event) {
	if pack.Wide && len(ev) >= pack.Min {
		pack.PutTagged(p, unsafe.Pointer(unsafe.SliceData(ev)), len(ev), arenaBase, v)
		return
	}
	for len(ev) >= 4 {
		a, b, c, d := ev[0], ev[1], ev[2], ev[3]
		word(p, 0).StoreRel(v | uint64(a.ID()))
		word(p, 1).StoreRel(v + nextTag | uint64(b.ID()))
		word(p, 2).StoreRel(v + 2*nextTag | uint64(c.ID()))
		word(p, 3).StoreRel(v + 3*nextTag | uint64(d.ID()))
		v += 4 * nextTag
		if ev = ev[4:]; len(ev) == 0 {
			return
		}
		p = unsafe.Add(p, 32)
	}
	for i, e := range ev {
		word(p, uint64(i)).StoreRel(v | uint64(e.ID()))
		v += nextTag
	}
}

// readEvents is read into events.
func (s *slots) readEvents(pos uint64, ev []*buffer.Event) int {
	if len(ev) == 1 {
		id := word(s.base, pos&s.mask).LoadAcq() ^ tag(pos)<<32
		if id >= nextTag {
			return 0
		}
		setEvent(&ev[0], uint32(id))
		return 1
	}
	p, k, v := s.split(pos, len(ev))
	n := readEventRun(p, v, ev[:k])
	if n < k || k == len(ev) {
		return n
	}
	return n + readEventRun(s.base, v+uint64(k)*nextTag, ev[k:])
}

func readEventRun(p unsafe.Pointer, v uint64, ev []*buffer.Event) int {
	if pack.Wide && len(ev) >= pack.Min {
		return pack.TakeTagged(unsafe.Pointer(unsafe.SliceData(ev)), p, len(ev), arenaBase, v)
	}
	done := 0
	for len(ev) >= 4 {
		a := word(p, 0).LoadAcq() ^ v
		b := word(p, 1).LoadAcq() ^ (v + nextTag)
		c := word(p, 2).LoadAcq() ^ (v + 2*nextTag)
		d := word(p, 3).LoadAcq() ^ (v + 3*nextTag)
		if a|b|c|d >= nextTag {
			break
		}
		setEvent(&ev[0], uint32(a))
		setEvent(&ev[1], uint32(b))
		setEvent(&ev[2], uint32(c))
		setEvent(&ev[3], uint32(d))
		done += 4
		v += 4 * nextTag
		if ev = ev[4:]; len(ev) == 0 {
			return done
		}
		p = unsafe.Add(p, 32)
	}
	for i := range ev {
		id := word(p, uint64(i)).LoadAcq() ^ v
		if id >= nextTag {
			return done + i
		}
		setEvent(&ev[i], uint32(id))
		v += nextTag
	}
	return done + len(ev)
}

// length is the number of ids between two positions read one after the other.
func (s *slots) length(r, w uint64) int {
	if int64(w-r) <= 0 {
		return 0
	}
	return int(min(w-r, s.mask+1))
}

// producers is the line that writers share.
type producers struct {
	w    relax.Uint64 // next position to reserve
	seen relax.Uint64 // a past reader position: spares the readers' line
}

// reserve takes up to n positions (all: exactly n) after w; r is the readers' position.
// The compare-and-swap orders nothing for readers: each slot's StoreRel does.
func (p *producers) reserve(s *slots, r *relax.Uint64, n int, all bool) (pos uint64, k int) {
	for {
		pos = p.w.LoadAcq()
		k = s.free(pos, p.seen.LoadAcq(), n)
		if k < n {
			// pairs with the readers' advance: they have copied what lies before
			now := r.LoadAcq()
			k = s.free(pos, now, n)
			if k <= 0 || all && k < n {
				if pos == p.w.LoadAcq() {
					return pos, 0
				}
				continue
			}
			p.seen.StoreRel(now)
		}
		if p.w.CAS(pos, pos+uint64(k)) {
			return pos, k
		}
	}
}

// reserveSingle is reserve for one producer at a time.
func (p *producers) reserveSingle(s *slots, r *relax.Uint64, n int, all bool) (pos uint64, k int) {
	pos = p.w.LoadAcq()
	k = s.free(pos, p.seen.LoadAcq(), n)
	if k < n {
		now := r.LoadAcq()
		k = s.free(pos, now, n)
		if k <= 0 || all && k < n {
			return pos, 0
		}
		p.seen.StoreRel(now)
	}
	p.w.StoreRel(pos + uint64(k))
	return pos, k
}
