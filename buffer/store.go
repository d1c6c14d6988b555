// SPDX-License-Identifier: Apache-2.0

package buffer

import "github.com/odp-go/godp/internal/relax"

// store is the shared free list of a pool: lock free, last in first out. It has
// some shards; a worker puts into its own and takes from its own first, so that
// workers with balanced allocations and frees don't meet. Each shard is two
// Treiber stacks: whole chunks of `per` events move with one CAS; what does not fill
// a chunk is linked event by event.
//
//	full   ─▶ chunk 7 (count 128) ─▶ chunk 2 ─▶ …   words of events in slots[]
//	loose  ─▶ event 19 ─▶ event 3 ─▶ …              linked through link[]
//	empty  ─▶ chunk 4 ─▶ chunk 1 ─▶ …               chunks without events, for all shards
//
// Each head is one word: a tag in the high half that every change increments (so
// that a head seen twice with the same value was not changed in between, the ABA
// problem of Treiber's stack), the number of the top in the low half. The count
// of the top chunk is in the head too, so that a reader can take a part of it
// with one CAS: no event is ever in transit in the hands of a thread that may be
// descheduled, except those that this thread is allocating or freeing itself.
//
// A tag of 32 bits comes round after 2^32 operations of the others while one
// thread stands between its load and its CAS (half a minute of nothing else).
//
// A worker keeps a few empty chunks for itself (spares), so that with balanced
// allocations and frees it touches no head but its shard's.
type store struct {
	_      relax.Pad
	empty  relax.Uint64 // tag 32 | chunk 32
	_      relax.Pad
	shards [maxShards]shard

	// constant after init
	mask  int            // shards in use - 1
	per   int            // events in a whole chunk, 1 to 255
	base  uintptr        // address of header 0
	num   uint64         // headers
	slots []relax.Uint64 // chunk c has slots[(c-1)*per : c*per]
	below []relax.Uint32 // low word of the head that was under chunk c
	link  []relax.Uint32 // index + 1 of the event under event i
}

// shard is written by whoever takes or puts; its worker most.
type shard struct {
	full  relax.Uint64 // tag 32 | count 8 | chunk 24
	loose relax.Uint64 // tag 32 | index of the event + 1
	_     relax.Pad
}

const (
	chunkBits = 24
	chunkMask = 1<<chunkBits - 1
	maxPer    = 128
	maxShards = 16 // a power of two
)

// spares is the shard of a worker, and empty chunks that are its own.
type spares struct {
	shard int
	n     uint32
	chunk [4]uint32
}

// initStore makes an empty store. threads is how many may hold chunks at a time;
// when there is none left, events are linked instead. It is also the number of shards.
func (s *store) initStore(base uintptr, num, per, threads int) {
	chunks := num/per + threads*(1+len(spares{}.chunk))
	if chunks > chunkMask {
		chunks = chunkMask
	}
	s.per, s.base, s.num = per, base, uint64(num)
	for s.mask+1 < min(threads, maxShards) {
		s.mask = s.mask<<1 | 1
	}
	s.slots = make([]relax.Uint64, chunks*per)
	s.below = make([]relax.Uint32, chunks)
	s.link = make([]relax.Uint32, num)
	for c := range s.below {
		s.below[c].StoreRel(uint32(c)) // chunk c+1 lies on chunk c
	}
	s.empty.StoreRel(uint64(chunks))
}

func nextTag(head uint64, low uint32) uint64 { return (head>>32+1)<<32 | uint64(low) }

// get fills dst from the front and returns how many events it got. Fewer than
// len(dst) means that there was a moment at which the store was empty. sp may be nil.
func (s *store) get(dst []uintptr, sp *spares) int {
	own, n := 0, 0
	if sp != nil {
		own = sp.shard
	}
	var last uint64
	for looks := 0; n < len(dst); {
		tags, before := uint64(0), n
		for i := 0; i <= s.mask && n < len(dst); i++ {
			sh := &s.shards[(own+i)&s.mask]
			h := sh.full.LoadAcq()
			for uint32(h)&chunkMask != 0 && n < len(dst) {
				n += s.takeChunk(sh, h, dst[n:], sp)
				h = sh.full.LoadAcq()
			}
			l := sh.loose.LoadAcq()
			for uint32(l) != 0 && n < len(dst) {
				n += s.takeLoose(sh, l, dst[n:])
				l = sh.loose.LoadAcq()
			}
			tags += h>>32 + l>>32
		}
		if n != before {
			looks = 0
			continue
		}
		// All heads were seen empty, but one after the other. If no tag moved
		// between two such looks (tags only grow), they were empty at the same time.
		if looks++; looks > 1 && tags == last {
			break
		}
		last = tags
	}
	return n
}

// takeChunk tries once to take the top chunk, or a part of it.
func (s *store) takeChunk(sh *shard, h uint64, dst []uintptr, sp *spares) int {
	c, count := uint32(h)&chunkMask, int(uint32(h)>>chunkBits)
	ev := s.slots[int(c-1)*s.per:][:count]
	if count > len(dst) {
		// read first, then claim: the words are right if the tag is unchanged
		n := len(dst)
		loadWords(dst, ev[count-n:])
		if !sh.full.CAS(h, nextTag(h, c|uint32(count-n)<<chunkBits)) {
			return 0
		}
		return n
	}
	if !sh.full.CAS(h, nextTag(h, s.below[c-1].LoadAcq())) {
		return 0
	}
	loadWords(dst, ev)
	if sp != nil && sp.n < uint32(len(sp.chunk)) {
		sp.chunk[sp.n] = c
		sp.n++
		return count
	}
	for {
		e := s.empty.LoadAcq()
		s.below[c-1].StoreRel(uint32(e))
		if s.empty.CAS(e, nextTag(e, c)) {
			return count
		}
	}
}

// takeLoose tries once to take up to len(dst) linked events.
func (s *store) takeLoose(sh *shard, h uint64, dst []uintptr) int {
	i, n := uint32(h), 0
	for i != 0 && n < len(dst) {
		dst[n] = s.base + uintptr(i-1)<<6
		n++
		i = s.link[i-1].LoadAcq()
	}
	if !sh.loose.CAS(h, nextTag(h, i)) {
		return 0
	}
	return n
}

// put gives events back. sp may be nil.
func (s *store) put(ev []uintptr, sp *spares) {
	sh := &s.shards[0]
	if sp != nil {
		sh = &s.shards[sp.shard&s.mask]
	}
	for len(ev) >= s.per {
		c := s.takeEmpty(sp)
		if c == 0 {
			break
		}
		storeWords(s.slots[int(c-1)*s.per:], ev[:s.per])
		for {
			h := sh.full.LoadAcq()
			s.below[c-1].StoreRel(uint32(h))
			if sh.full.CAS(h, nextTag(h, c|uint32(s.per)<<chunkBits)) {
				break
			}
		}
		ev = ev[s.per:]
	}
	s.putLoose(sh, ev)
}

func (s *store) takeEmpty(sp *spares) uint32 {
	if sp != nil && sp.n != 0 {
		sp.n--
		return sp.chunk[sp.n]
	}
	for {
		h := s.empty.LoadAcq()
		c := uint32(h)
		if c == 0 || s.empty.CAS(h, nextTag(h, s.below[c-1].LoadAcq())) {
			return c
		}
	}
}

func (s *store) putLoose(sh *shard, ev []uintptr) {
	if len(ev) == 0 {
		return
	}
	top := s.index(ev[0])
	last := top
	for _, e := range ev[1:] {
		i := s.index(e)
		s.link[last].StoreRel(i + 1)
		last = i
	}
	for {
		h := sh.loose.LoadAcq()
		s.link[last].StoreRel(uint32(h))
		if sh.loose.CAS(h, nextTag(h, top+1)) {
			return
		}
	}
}

func (s *store) index(e uintptr) uint32 { return uint32((e - s.base) >> 6) }

// drain empties the store for good: an allocation after Close gets nothing.
func (s *store) drain() {
	for i := range s.shards {
		for _, w := range []*relax.Uint64{&s.shards[i].full, &s.shards[i].loose} {
			h := w.LoadAcq()
			for !w.CAS(h, nextTag(h, 0)) {
				h = w.LoadAcq()
			}
		}
	}
}
