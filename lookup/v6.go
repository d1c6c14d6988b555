// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"encoding/binary"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"sync"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/internal/relax"
)

// Addr6 is an IPv6 address, or the bits of a prefix, as two words in host order.
type Addr6 struct{ Hi, Lo uint64 }

// ToAddr6 reads an address as it is in a header; b must have 16 bytes.
func ToAddr6(b []byte) Addr6 {
	return Addr6{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:16])}
}

// V6 finds the longest prefix of an IPv6 address: a first level by the upper 24 bits,
// then nodes by one byte each. A node says which byte of the address it looks at; bytes
// that all routes below a node share have no node of their own, and are compared in one
// go instead.
//
//	first level           node                             node
//	by bits 0-23          ┌──────────────────────────┐     ┌──────────────────┐
//	┌──────┐              │ key: the bytes above     │  ┌─▶│ …                │
//	│ hop  │           ┌─▶│ miss: hop if they differ │  │  └──────────────────┘
//	├──────┤           │  ├────┬────┬─ … ─┬──────────┤  │
//	│ node ├───────────┘  │hop │node│     │  256     │  │   entry: bit 31 set: node,
//	├──────┤  byte no. 5  └────┴──┬─┴─ … ─┴──────────┘  │     place of the byte << 26 | number
//	│  …   │                      └─────────────────────┘   else the answer
//	└──────┘  all written by changes, read by look-ups
//
// Look-ups may be made from any goroutine; see the package on changes under them.
type V6 struct {
	base  unsafe.Pointer // entry 0 of the first level; entry 1<<24 is entry 0 of node 0
	heads unsafe.Pointer // of nodes

	mu    sync.Mutex // the fields below
	cfg   Config
	mem   *arena.Range
	depth []uint8 // of each entry; 0 for Default too
	grp   groups
	nodes []node6
	rib   map[key6]uint32
	count [129]int
	order relax.Uint32
}

// head is what a look-up reads of a node that skips bytes, beside one entry. The key is constant while
// the node can be reached.
type head struct {
	hi, lo uint64 // the bits above the node's byte, 0 behind them
	mask   uint64 // which bits of the word with the node's byte are above it
	miss   uint32
	_      uint32
}

// node6 is what only changes know of a node.
type node6 struct {
	routes int32 // routes that end in its byte
	below  int32 // entries that lead to nodes
	missAt uint8 // length of the route in head.miss
	level  uint8 // which byte it looks at: 3 to 15
}

type key6 struct {
	Addr6
	bits uint8
}

const (
	nodeFlag  = 1 << 31
	nodeMask  = 1<<26 - 1
	maxNodes6 = nodeMask + 1
	maxHop6   = nodeFlag - 1
)

// NewV6 makes a table without routes. Close it when no look-up can come any more.
// Config.MaxHop may be up to 2^31-1, its default.
func NewV6(cfg Config) (*V6, error) {
	if cfg.MaxHop == 0 {
		cfg.MaxHop = maxHop6
	}
	if cfg.Groups == 0 {
		cfg.Groups = 4096
	}
	switch {
	case cfg.Groups < 0 || cfg.Groups > maxNodes6:
		return nil, fmt.Errorf("lookup: table %q: %d groups: allowed are 1 to %d", cfg.Name, cfg.Groups, maxNodes6)
	case cfg.MaxHop > maxHop6:
		return nil, fmt.Errorf("lookup: table %q: MaxHop %d: allowed is up to %d", cfg.Name, cfg.MaxHop, maxHop6)
	case cfg.Default > cfg.MaxHop:
		return nil, fmt.Errorf("lookup: table %q: default next hop %d is above MaxHop %d", cfg.Name, cfg.Default, cfg.MaxHop)
	}
	n := uint64(l1Size + cfg.Groups*256)
	heads := uint64(cfg.Groups) * uint64(unsafe.Sizeof(head{}))
	mem, err := arena.New(arena.Config{Name: "lookup " + cfg.Name, Size: 4*n + heads + n, Huge: true})
	if err != nil {
		return nil, fmt.Errorf("lookup: table %q: %w", cfg.Name, err)
	}
	t := &V6{
		base: arena.At(mem.Off), heads: arena.At(mem.Off + 4*n),
		cfg: cfg, mem: mem, depth: arena.Bytes(mem.Off+4*n+heads, int(n)),
		grp:   groups{max: uint32(cfg.Groups), grace: cfg.Grace},
		nodes: make([]node6, cfg.Groups),
		rib:   make(map[key6]uint32, cfg.Routes),
	}
	fill(unsafe.Slice((*uint32)(t.base), l1Size), cfg.Default)
	return t, nil
}

func (t *V6) head(n uint32) *head {
	return (*head)(unsafe.Add(t.heads, uintptr(n)*unsafe.Sizeof(head{})))
}

// first is the entry of a node for byte 0.
func first(n uint32) uintptr { return l1Size + uintptr(n)<<8 }

// shiftOf is how far a byte of an address lies from the end of its word.
func shiftOf(level int) uint32 { return uint32(56 - level&7*8) }

// entryOf leads to node n, which looks at byte level: it says where in an Addr6 that
// byte is, and whether bytes from byte next on are skipped, so that the key has to be
// compared.
func entryOf(n uint32, level, next int) uint32 {
	at := uint32(level)
	if littleEndian {
		at = at&8 | (7 - at&7)
	}
	e := nodeFlag | at<<26 | n
	if level > next {
		e |= skips
	}
	return e
}

const (
	inLo  = 8 << 26 // the byte is in the lower word
	skips = 1 << 30
)

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Lookup returns the next hop of an address.
func (t *V6) Lookup(a Addr6) uint32 {
	one := [1]uint32{get[uint32](t.base, uintptr(a.Hi>>40))}
	if one[0] >= nodeFlag {
		walk(t.base, t.heads, []Addr6{a}, one[:])
	}
	return one[0]
}

// LookupBulk writes the next hop of addrs[i] to hops[i]; hops must be as long as
// addrs. It is the same as that many Lookups, but the cache misses of many addresses
// overlap.
func (t *V6) LookupBulk(addrs []Addr6, hops []uint32) {
	base := t.base
	hops = hops[:len(addrs)]
	for i := range addrs {
		hops[i] = get[uint32](base, uintptr(addrs[i].Hi>>40))
	}
	walk(base, t.heads, addrs, hops)
}

// walk goes on from the entries of the first level in hops, which has the length of
// addrs.
func walk(base, heads unsafe.Pointer, addrs []Addr6, hops []uint32) {
	hops = hops[:len(addrs)]
	for i := range addrs {
		e := hops[i]
		if e < nodeFlag {
			continue
		}
		a := &addrs[i]
		for {
			n := uintptr(e & nodeMask)
			at := *(*byte)(unsafe.Add(unsafe.Pointer(a), uintptr(e>>26&15)))
			if e&skips != 0 {
				h := (*head)(unsafe.Add(heads, n*unsafe.Sizeof(head{})))
				differ := (a.Hi ^ h.hi) & h.mask
				if e&inLo != 0 {
					differ = a.Hi ^ h.hi | (a.Lo^h.lo)&h.mask
				}
				if differ != 0 {
					e = get[uint32](unsafe.Pointer(&h.miss), 0)
					break
				}
			}
			if e = get[uint32](base, l1Size+n<<8+uintptr(at)); e < nodeFlag {
				break
			}
		}
		hops[i] = e
	}
}

// mask keeps the first bits of an address.
func (a Addr6) mask(bits int) Addr6 {
	if bits <= 64 {
		return Addr6{a.Hi & (^uint64(0) << (64 - bits)), 0}
	}
	return Addr6{a.Hi, a.Lo & (^uint64(0) << (128 - bits))}
}

func (a Addr6) byte(level int) uintptr {
	w := a.Hi
	if level >= 8 {
		w = a.Lo
	}
	return uintptr(w >> shiftOf(level) & 255)
}

// differ returns the first byte in which two addresses differ, 16 if they don't.
func (a Addr6) differ(b Addr6) int {
	for l := range 16 {
		if a.byte(l) != b.byte(l) {
			return l
		}
	}
	return 16
}

func split6(p netip.Prefix) (Addr6, int) {
	b := p.Addr().As16()
	return ToAddr6(b[:]).mask(p.Bits()), p.Bits()
}

func (a Addr6) addr() netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], a.Hi)
	binary.BigEndian.PutUint64(b[8:], a.Lo)
	return netip.AddrFrom16(b)
}

// Get returns the next hop of exactly this prefix, and whether there is one.
func (t *V6) Get(p netip.Prefix) (uint32, bool) {
	if check("get", t.cfg.Name, p, false) != nil {
		return 0, false
	}
	a, bits := split6(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	hop, ok := t.rib[key6{a, uint8(bits)}]
	return hop, ok
}

// All lists the routes as they are at the call, by address and then length.
func (t *V6) All() iter.Seq2[netip.Prefix, uint32] {
	t.mu.Lock()
	list := make([]netip.Prefix, 0, len(t.rib))
	hops := make(map[netip.Prefix]uint32, len(t.rib))
	for k, h := range t.rib {
		p := netip.PrefixFrom(k.addr(), int(k.bits))
		list = append(list, p)
		hops[p] = h
	}
	t.mu.Unlock()
	slices.SortFunc(list, func(a, b netip.Prefix) int {
		if c := a.Addr().Compare(b.Addr()); c != 0 {
			return c
		}
		return a.Bits() - b.Bits()
	})
	return func(yield func(netip.Prefix, uint32) bool) {
		for _, p := range list {
			if !yield(p, hops[p]) {
				return
			}
		}
	}
}

// Info says what the table holds and costs.
func (t *V6) Info() Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := uint64(len(t.depth))
	return info(&t.cfg, t.mem, &t.grp, len(t.rib), 4*n+uint64(len(t.nodes))*uint64(unsafe.Sizeof(head{})))
}

// Close gives the memory back. No look-up may be under way or follow (wait for the
// workers' end, or for Grace). Closing twice does nothing.
func (t *V6) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	mem := t.mem
	t.mem, t.depth, t.nodes = nil, nil, nil
	clear(t.rib)
	t.count = [129]int{}
	return mem.Close()
}
