// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"fmt"
	"net/netip"
	"unsafe"
)

// A route longer than 24 bits ends in the node that looks at the byte of its last bit;
// it fills 1 to 128 entries there (256 for none of its bits: a route of 32 bits ends in
// the node of byte 3). A node is there because a route ends in it, or because two nodes
// lie below it that it tells apart.

// place is a slot on the way to a route, and the node that it lies in (-1: first level).
type place struct {
	slot uintptr
	node int32
}

// Add makes hop the next hop of a prefix of 0 to 128 bits; a route of the same
// prefix is replaced. Bits behind the length are ignored. An error (ErrRange, ErrFull, or
// that of Config.Grace) has changed nothing. It may be called while others look up,
// and waits for other changes; a worker may call it only if Config.Grace allows that.
func (t *V6) Add(p netip.Prefix, hop uint32) error {
	if err := check("add", t.cfg.Name, p, false); err != nil {
		return err
	}
	if hop > t.cfg.MaxHop {
		return fail("add", t.cfg.Name, p, fmt.Errorf("%w: next hop %d: allowed are 0 to %d (MaxHop)", ErrRange, hop, t.cfg.MaxHop))
	}
	a, bits := split6(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mem == nil {
		return fail("add", t.cfg.Name, p, ErrClosed)
	}
	key := key6{a, uint8(bits)}
	_, known := t.rib[key]
	if bits <= 24 {
		t.write(uintptr(a.Hi>>40), 1<<(24-bits), 0, bits, uint8(bits), hop)
	} else {
		last := (bits - 1) / 8
		if err := t.grp.reserve(t.need(a, last)); err != nil {
			return fail("add", t.cfg.Name, p, err)
		}
		n := t.reach(a, last)
		t.write(first(n)+a.byte(last), 1<<(8*last+8-bits), 0, bits, uint8(bits), hop)
		if !known {
			t.nodes[n].routes++
		}
	}
	t.rib[key] = hop
	if !known {
		t.count[bits]++
	}
	return nil
}

// step looks at an entry on the way to byte last of a. next is the node that it leads
// to, level its byte; at is where the way of a and the node's part, or its level.
func (t *V6) step(e uint32, a Addr6, last int) (next uint32, level, at int) {
	next = e & nodeMask
	level = int(t.nodes[next].level)
	h := t.head(next)
	return next, level, min(level, last, a.differ(Addr6{h.hi, h.lo}))
}

// need counts the nodes that reach will take.
func (t *V6) need(a Addr6, last int) int {
	for slot := uintptr(a.Hi >> 40); ; {
		e := get[uint32](t.base, slot)
		if e < nodeFlag {
			return 1
		}
		n, level, at := t.step(e, a, last)
		switch {
		case at < level && at < last:
			return 3
		case at < level:
			return 2
		case level == last:
			return 0
		}
		slot = first(n) + a.byte(level)
	}
}

// reach returns the node that looks at byte last on the way of a, and makes it, and
// one where the way parts from that of other routes, if it is not there.
func (t *V6) reach(a Addr6, last int) uint32 {
	at := place{uintptr(a.Hi >> 40), -1}
	for {
		e := get[uint32](t.base, at.slot)
		if e < nodeFlag {
			n := t.open(a, last, e, t.depth[at.slot])
			t.link(at, n, last)
			if at.node >= 0 {
				t.nodes[at.node].below++
			}
			return n
		}
		n, level, part := t.step(e, a, last)
		if part < level {
			n, level = t.between(at, n, part), part
		}
		if level == last {
			return n
		}
		at = place{first(n) + a.byte(level), int32(n)}
	}
}

// between hangs a new node for byte level over node n, which hung from at, and
// answers what was answered before. A copy takes n's place, since its miss will be
// for fewer addresses from now on: a look-up that is at n already still finds there what
// was right for all of them.
func (t *V6) between(at place, n uint32, level int) uint32 {
	h := t.head(n)
	k := Addr6{h.hi, h.lo}
	c := t.grp.take()
	*t.head(c) = head{hi: h.hi, lo: h.lo, mask: h.mask, miss: h.miss}
	for i := range uintptr(256) {
		put(t.base, first(c)+i, get[uint32](t.base, first(n)+i))
		t.depth[first(c)+i] = t.depth[first(n)+i]
	}
	t.nodes[c] = t.nodes[n]
	m := t.open(k, level, h.miss, t.nodes[n].missAt)
	put(t.base, first(m)+k.byte(level), entryOf(c, int(t.nodes[c].level), level+1))
	t.nodes[m].below = 1
	t.link(at, m, level)
	t.grp.retire(n)
	return m
}

// open takes a node all of whose answers are hop.
func (t *V6) open(a Addr6, level int, hop uint32, depth uint8) uint32 {
	n := t.grp.take()
	h := t.head(n)
	k := a.mask(8 * level)
	h.hi, h.lo, h.mask = k.Hi, k.Lo, ^uint64(0)<<shiftOf(level)<<8
	put(unsafe.Pointer(&h.miss), 0, hop)
	at := first(n)
	for i := range uintptr(256) {
		put(t.base, at+i, hop)
		t.depth[at+i] = depth
	}
	t.nodes[n] = node6{missAt: depth, level: uint8(level)}
	return n
}

// next is the byte behind those that the way to a place has looked at.
func (t *V6) next(at place) int {
	if at.node < 0 {
		return 3
	}
	return int(t.nodes[at.node].level) + 1
}

// link makes a slot lead to a node.
func (t *V6) link(at place, n uint32, level int) {
	t.order.StoreRel(n) // the node before the entry that leads to it
	put(t.base, at.slot, entryOf(n, level, t.next(at)))
}

// write changes n entries, and all below them, whose route has a length of lo to hi
// bits, to a route of depth bits.
func (t *V6) write(at, n uintptr, lo, hi int, depth uint8, hop uint32) {
	for i := at; i < at+n; i++ {
		e := get[uint32](t.base, i)
		if e < nodeFlag {
			if d := int(t.depth[i]); lo <= d && d <= hi {
				put(t.base, i, hop)
				t.depth[i] = depth
			}
			continue
		}
		m := e & nodeMask
		if d := int(t.nodes[m].missAt); lo <= d && d <= hi {
			put(unsafe.Pointer(&t.head(m).miss), 0, hop)
			t.nodes[m].missAt = depth
		}
		t.write(first(m), 256, lo, hi, depth, hop)
	}
}

// Delete takes a route away; its addresses are then those of the next shorter route
// that covers them, or of the default. ErrNoRoute: there is no route of exactly this
// prefix. As for callers see Add.
func (t *V6) Delete(p netip.Prefix) error {
	if err := check("delete", t.cfg.Name, p, false); err != nil {
		return err
	}
	a, bits := split6(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	key := key6{a, uint8(bits)}
	if _, known := t.rib[key]; !known {
		return fail("delete", t.cfg.Name, p, ErrNoRoute)
	}
	delete(t.rib, key)
	t.count[bits]--
	hop, depth := t.cover(a, bits)
	if bits <= 24 {
		t.write(uintptr(a.Hi>>40), 1<<(24-bits), bits, bits, depth, hop)
		return nil
	}
	last := (bits - 1) / 8
	var way [14]place
	k := 0
	way[0] = place{uintptr(a.Hi >> 40), -1}
	n := get[uint32](t.base, way[0].slot) & nodeMask
	for int(t.nodes[n].level) != last {
		k++
		way[k] = place{first(n) + a.byte(int(t.nodes[n].level)), int32(n)}
		n = get[uint32](t.base, way[k].slot) & nodeMask
	}
	t.write(first(n)+a.byte(last), 1<<(8*last+8-bits), bits, bits, depth, hop)
	t.nodes[n].routes--
	for ; k >= 0 && t.fold(way[k], n); k-- {
		n = uint32(way[k].node)
	}
	return nil
}

// fold takes a node away that no route needs any more. It reports whether the node
// that it hung from lost one below it and so may be needless too.
func (t *V6) fold(at place, n uint32) bool {
	x := &t.nodes[n]
	if x.routes > 0 || x.below > 1 {
		return false
	}
	gone := x.below == 0
	if gone {
		// before the entry: a change reads both, and a look-up reads neither again
		t.depth[at.slot] = x.missAt
		put(t.base, at.slot, t.head(n).miss)
	} else {
		c := t.only(n)
		put(t.base, at.slot, entryOf(c, int(t.nodes[c].level), t.next(at)))
	}
	t.grp.retire(n)
	if !gone || at.node < 0 {
		return false
	}
	t.nodes[at.node].below--
	return true
}

// only returns the one node that hangs from node n.
func (t *V6) only(n uint32) uint32 {
	for i := range uintptr(256) {
		if e := get[uint32](t.base, first(n)+i); e >= nodeFlag {
			return e & nodeMask
		}
	}
	panic(fmt.Sprintf("lookup: table %q: node %d has lost what is below it", t.cfg.Name, n))
}

// cover finds the longest route that is shorter than bits and holds a.
func (t *V6) cover(a Addr6, bits int) (hop uint32, depth uint8) {
	for l := bits - 1; l >= 0; l-- {
		if t.count[l] == 0 {
			continue
		}
		if h, ok := t.rib[key6{a.mask(l), uint8(l)}]; ok {
			return h, uint8(l)
		}
	}
	return t.cfg.Default, 0
}
