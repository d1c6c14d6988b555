// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"fmt"
	"iter"
	"math"
	"net/netip"
	"slices"
	"sync"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/internal/relax"
)

// Hop is what a V4 stores: 2 bytes are faster, since more of the table is in the
// caches; 4 bytes are for more next hops or groups than 65536 together.
type Hop interface{ ~uint16 | ~uint32 }

// V4 finds the longest prefix of an IPv4 address (DIR-24-8).
//
//	     first level, by address>>8                  groups, by the last byte
//	     ┌──────┐
//	0.0.0│ hop  │                                    ┌─────┬─────┬─ … ─┬─────┐
//	     ├──────┤   value <= MaxHop: the answer   ┌─▶│ hop │ hop │     │ hop │ 256
//	0.0.1│ group├─── else group value-MaxHop-1 ───┘  └─────┴─────┴─ … ─┴─────┘
//	     ├──────┤
//	     │  …   │   2^24 entries, then the groups; all written by changes, read by look-ups
//	     └──────┘
//
// Beside each entry there is the length of the route that is in it, written and read
// by changes only: a change leaves the entries of longer routes alone.
//
// Look-ups may be made from any goroutine; see the package on changes under them.
type V4[H Hop] struct {
	base  unsafe.Pointer // entry 0
	first H              // MaxHop + 1, the value of group 0
	l2    uintptr        // entry of the (never used) group of value 0: 1<<24 - first<<8

	mu    sync.Mutex // the fields below
	cfg   Config
	mem   *arena.Range
	depth []uint8 // of each entry; 0 for Default too
	grp   groups
	long  []uint16 // routes longer than /24 in each group
	rib   map[uint64]H
	count [33]int // routes of each length
	order relax.Uint32
}

const l1Size = 1 << 24

// NewV4 makes a table without routes. Close it when no look-up can come any more.
func NewV4[H Hop](cfg Config) (*V4[H], error) {
	space := uint64(math.MaxUint32) + 1
	if unsafe.Sizeof(H(0)) == 2 {
		space = math.MaxUint16 + 1
	}
	if cfg.MaxHop == 0 {
		cfg.MaxHop = uint32(space/2 - 1)
	}
	if cfg.Groups == 0 {
		cfg.Groups = int(min(4096, space-min(space, uint64(cfg.MaxHop)+1)))
	}
	switch room := int64(space) - int64(cfg.MaxHop) - 1; {
	case cfg.Groups < 0 || int64(cfg.Groups) > min(room, l1Size):
		return nil, fmt.Errorf("lookup: table %q: %d groups with MaxHop %d: allowed are 1 to %d: use a smaller MaxHop or entries of 4 bytes", cfg.Name, cfg.Groups, cfg.MaxHop, max(0, min(room, l1Size)))
	case cfg.Default > cfg.MaxHop:
		return nil, fmt.Errorf("lookup: table %q: default next hop %d is above MaxHop %d", cfg.Name, cfg.Default, cfg.MaxHop)
	}
	n := uint64(l1Size + cfg.Groups*256)
	mem, err := arena.New(arena.Config{Name: "lookup " + cfg.Name, Size: n*uint64(unsafe.Sizeof(H(0))) + n, Huge: true})
	if err != nil {
		return nil, fmt.Errorf("lookup: table %q: %w", cfg.Name, err)
	}
	hot := n * uint64(unsafe.Sizeof(H(0)))
	t := &V4[H]{
		base: arena.At(mem.Off), first: H(cfg.MaxHop + 1), l2: l1Size - (uintptr(cfg.MaxHop)+1)<<8,
		cfg: cfg, mem: mem, depth: arena.Bytes(mem.Off+hot, int(n)),
		grp:  groups{max: uint32(cfg.Groups), grace: cfg.Grace},
		long: make([]uint16, cfg.Groups),
		rib:  make(map[uint64]H, cfg.Routes),
	}
	fill(unsafe.Slice((*H)(t.base), l1Size), H(cfg.Default))
	return t, nil
}

// Lookup returns the next hop of an address (in host order, 10.0.0.1 = 0x0a000001).
func (t *V4[H]) Lookup(addr uint32) H {
	e := get[H](t.base, uintptr(addr>>8))
	if e >= t.first {
		e = get[H](t.base, t.l2+uintptr(e)<<8+uintptr(addr&255))
	}
	return e
}

// LookupBulk writes the next hop of addrs[i] to hops[i]; hops must be as long as addrs.
// It is the same as that many Lookups, but the cache misses of many addresses overlap.
func (t *V4[H]) LookupBulk(addrs []uint32, hops []H) {
	base, first, l2 := t.base, t.first, t.l2
	hops = hops[:len(addrs)]
	for i, a := range addrs {
		e := get[H](base, uintptr(a>>8))
		if e >= first {
			e = get[H](base, l2+uintptr(e)<<8+uintptr(a&255))
		}
		hops[i] = e
	}
}

// key4 is a prefix as a map key. The bits behind the length are 0.
func key4(addr uint32, bits int) uint64 { return uint64(addr)<<6 | uint64(bits) }

func mask4(bits int) uint32 { return uint32(uint64(math.MaxUint32) << (32 - bits)) }

func split4(p netip.Prefix) (addr uint32, bits int) {
	b := p.Addr().As4()
	bits = p.Bits()
	return (uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])) & mask4(bits), bits
}

// Add makes hop the next hop of a prefix of 0 to 32 bits; a route of the same prefix
// is replaced. Bits behind the length are ignored. An error (ErrRange, ErrFull, or that
// of Config.Grace) has changed nothing. It may be called while others look up, and
// waits for other changes; a worker may call it only if Config.Grace allows that.
func (t *V4[H]) Add(p netip.Prefix, hop H) error {
	if err := check("add", t.cfg.Name, p, true); err != nil {
		return err
	}
	if hop >= t.first {
		return fail("add", t.cfg.Name, p, fmt.Errorf("%w: next hop %d: allowed are 0 to %d (MaxHop)", ErrRange, hop, t.first-1))
	}
	addr, bits := split4(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mem == nil {
		return fail("add", t.cfg.Name, p, ErrClosed)
	}
	key := key4(addr, bits)
	_, known := t.rib[key]
	block := uintptr(addr >> 8)
	if bits > 24 {
		e := get[H](t.base, block)
		if e < t.first {
			if err := t.grp.reserve(1); err != nil {
				return fail("add", t.cfg.Name, p, err)
			}
			e = t.open(block, e)
		}
		t.write(t.slot(e, addr), 1<<(32-bits), 0, bits, uint8(bits), hop)
		if !known {
			t.long[e-t.first]++
		}
	} else {
		t.spread(block, 1<<(24-bits), 0, bits, uint8(bits), hop)
	}
	t.rib[key] = hop
	if !known {
		t.count[bits]++
	}
	return nil
}

// open gives a block of 256 addresses a group, which answers what the block did.
func (t *V4[H]) open(block uintptr, e H) H {
	g := t.grp.take()
	v := t.first + H(g)
	at := t.slot(v, 0)
	for i := range uintptr(256) {
		put(t.base, at+i, e)
		t.depth[at+i] = t.depth[block]
	}
	t.long[g] = 0
	t.order.StoreRel(uint32(g)) // the group before the entry that leads to it
	put(t.base, block, v)
	return v
}

// slot is the entry of an address in the group of value v.
func (t *V4[H]) slot(v H, addr uint32) uintptr {
	return t.l2 + uintptr(v)<<8 + uintptr(addr&255)
}

// write changes those of n entries whose route has a length of lo to hi bits to a
// route of depth bits.
func (t *V4[H]) write(at, n uintptr, lo, hi int, depth uint8, hop H) {
	for i := at; i < at+n; i++ {
		if d := int(t.depth[i]); lo <= d && d <= hi {
			put(t.base, i, hop)
			t.depth[i] = depth
		}
	}
}

// spread is write for n blocks, of which those with a group have 256 entries there.
func (t *V4[H]) spread(block, n uintptr, lo, hi int, depth uint8, hop H) {
	for i := block; i < block+n; i++ {
		if e := get[H](t.base, i); e >= t.first {
			t.write(t.slot(e, 0), 256, lo, hi, depth, hop)
			continue
		}
		t.write(i, 1, lo, hi, depth, hop)
	}
}

// Delete takes a route away; its addresses are then those of the next shorter route
// that covers them, or of the default. ErrNoRoute: there is no route of exactly this
// prefix. As for callers see Add.
func (t *V4[H]) Delete(p netip.Prefix) error {
	if err := check("delete", t.cfg.Name, p, true); err != nil {
		return err
	}
	addr, bits := split4(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	key := key4(addr, bits)
	if _, known := t.rib[key]; !known {
		return fail("delete", t.cfg.Name, p, ErrNoRoute)
	}
	delete(t.rib, key)
	t.count[bits]--
	hop, depth := t.cover(addr, bits)
	block := uintptr(addr >> 8)
	if bits <= 24 {
		t.spread(block, 1<<(24-bits), bits, bits, depth, hop)
		return nil
	}
	e := get[H](t.base, block)
	at := t.slot(e, addr)
	t.write(at, 1<<(32-bits), bits, bits, depth, hop)
	g := e - t.first
	if t.long[g]--; t.long[g] == 0 {
		// all 256 entries are the same now
		put(t.base, block, get[H](t.base, at))
		t.depth[block] = t.depth[at]
		t.grp.retire(uint32(g))
	}
	return nil
}

// cover finds the longest route that is shorter than bits and holds addr.
func (t *V4[H]) cover(addr uint32, bits int) (hop H, depth uint8) {
	for l := bits - 1; l >= 0; l-- {
		if t.count[l] == 0 {
			continue
		}
		if h, ok := t.rib[key4(addr&mask4(l), l)]; ok {
			return h, uint8(l)
		}
	}
	return H(t.cfg.Default), 0
}

// Get returns the next hop of exactly this prefix, and whether there is one.
func (t *V4[H]) Get(p netip.Prefix) (H, bool) {
	if check("get", t.cfg.Name, p, true) != nil {
		return 0, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	hop, ok := t.rib[key4(split4(p))]
	return hop, ok
}

// All lists the routes as they are at the call, by address and then length.
func (t *V4[H]) All() iter.Seq2[netip.Prefix, H] {
	type route struct {
		key uint64
		hop H
	}
	t.mu.Lock()
	list := make([]route, 0, len(t.rib))
	for k, h := range t.rib {
		list = append(list, route{k, h})
	}
	t.mu.Unlock()
	slices.SortFunc(list, func(a, b route) int {
		if a.key < b.key {
			return -1
		}
		return 1
	})
	return func(yield func(netip.Prefix, H) bool) {
		for _, r := range list {
			a := uint32(r.key >> 6)
			p := netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)}), int(r.key&63))
			if !yield(p, r.hop) {
				return
			}
		}
	}
}

// Info says what the table holds and costs.
func (t *V4[H]) Info() Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	return info(&t.cfg, t.mem, &t.grp, len(t.rib), uint64(len(t.depth))*uint64(unsafe.Sizeof(H(0))))
}

// Close gives the memory back. No look-up may be under way or follow (wait for the
// workers' end, or for Grace). Closing twice does nothing.
func (t *V4[H]) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	mem := t.mem
	t.mem, t.depth = nil, nil
	clear(t.rib)
	t.count = [33]int{}
	return mem.Close()
}
