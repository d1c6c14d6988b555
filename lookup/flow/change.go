// SPDX-License-Identifier: Apache-2.0

package flow

import "fmt"

// Insert returns the place of a key's flow, which is made with Seen = now and a Value
// of zeroes if it is not there; Seen of one that is there is not changed. ErrFull: it
// was turned away, see Config.Full. The owner only.
func (t *Table) Insert(k *Key, now uint32) (int32, error) {
	b1, b2, tag := t.hash(k)
	if at := t.find(b1, tag, k); at >= 0 {
		return at, nil
	}
	if at := t.find(b2, tag, k); at >= 0 {
		return at, nil
	}
	b := b1
	if n := t.used(b1); n >= prefer && t.used(b2) < n {
		b = b2
	}
	at := int32(-1)
	if t.stats.Flows < t.cfg.Flows {
		at = t.free(b)
	}
	if at < 0 {
		if at = t.evict(b1, b2, now); at < 0 {
			t.stats.Refused++
			return -1, fmt.Errorf("flow: table %q: %w: %d flows of %d", t.cfg.Name, ErrFull, t.stats.Flows, t.cfg.Flows)
		}
	}
	*t.Flow(at) = Flow{Key: *k, Seen: now}
	t.mark(at, tag)
	t.stats.Flows++
	t.stats.Inserted++
	return at, nil
}

// tagAt returns the tag of a place.
func (t *Table) tagAt(at int32) uint64 {
	return t.bucket(uint64(at) / ways)[at>>2&1] >> (at & 3 * 16) & 0xffff
}

func (t *Table) mark(at int32, tag uint64) {
	w := &t.bucket(uint64(at) / ways)[at>>2&1]
	*w = *w&^(0xffff<<(at&3*16)) | tag<<(at&3*16)
}

func (t *Table) used(b uint64) (n int) {
	for i := range int32(ways) {
		if t.tagAt(int32(b*ways)+i) != 0 {
			n++
		}
	}
	return n
}

func (t *Table) free(b uint64) int32 {
	for i := range int32(ways) {
		if at := int32(b*ways) + i; t.tagAt(at) == 0 {
			return at
		}
	}
	return -1
}

func (t *Table) idle(at int32, now uint32) uint32 { return now - t.Flow(at).Seen }

// evict frees the place of the flow that was idle longest in two buckets.
func (t *Table) evict(b1, b2 uint64, now uint32) int32 {
	if t.cfg.Full != EvictIdle {
		return -1
	}
	best, longest := int32(-1), t.cfg.Idle
	for _, b := range [2]uint64{b1, b2} {
		for i := range int32(ways) {
			at := int32(b*ways) + i
			if d := t.idle(at, now); t.tagAt(at) != 0 && d > longest && d < 1<<31 {
				best, longest = at, d
			}
		}
	}
	if best >= 0 {
		t.mark(best, 0)
		t.stats.Flows--
		t.stats.Evicted++
	}
	return best
}

// Delete takes a flow away and reports whether it was there. The owner only.
func (t *Table) Delete(k *Key) bool {
	at := t.Lookup(k)
	if at < 0 {
		return false
	}
	t.mark(at, 0)
	t.stats.Flows--
	t.stats.Deleted++
	return true
}

// Expire looks at the next n places, going round the table, takes away the flows that
// were idle longer than Config.Idle, and returns how many. So the work of ageing comes
// in pieces of a size that the caller chooses. The owner only.
func (t *Table) Expire(now uint32, n int) (gone int) {
	places := int(t.nb) * ways
	for range min(n, places) {
		at := int32(t.hand)
		if t.hand++; t.hand == places {
			t.hand = 0
		}
		if t.tagAt(at) == 0 {
			continue
		}
		if d := t.idle(at, now); d > t.cfg.Idle && d < 1<<31 {
			t.mark(at, 0)
			gone++
		}
	}
	t.stats.Flows -= gone
	t.stats.Expired += uint64(gone)
	return gone
}

// All calls f for each flow, until it returns false. The owner only; f may change the
// flow's Value and Seen.
func (t *Table) All(f func(*Flow) bool) {
	for at := range int32(t.nb * ways) {
		if t.tagAt(at) != 0 && !f(t.Flow(at)) {
			return
		}
	}
}
