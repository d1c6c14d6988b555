// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
)

// ErrFull is what Insert returns when the flow was turned away.
var ErrFull = errors.New("flow table full")

// Key names a flow; all 40 bytes count. V4 and V6 make the usual ones.
type Key [5]uint64

// V4 is the key of an IPv4 flow, all in host order.
func V4(src, dst uint32, sport, dport uint16, proto uint8) Key {
	return Key{0: uint64(src)<<32 | uint64(dst), 4: 4<<56 | ports(sport, dport, proto)}
}

// V6 is the key of an IPv6 flow; src and dst are the 16 bytes of the header.
func V6(src, dst *[16]byte, sport, dport uint16, proto uint8) Key {
	return Key{
		binary.BigEndian.Uint64(src[:8]), binary.BigEndian.Uint64(src[8:]),
		binary.BigEndian.Uint64(dst[:8]), binary.BigEndian.Uint64(dst[8:]),
		6<<56 | ports(sport, dport, proto),
	}
}

func ports(sport, dport uint16, proto uint8) uint64 {
	return uint64(proto)<<32 | uint64(sport)<<16 | uint64(dport)
}

// Flow is one flow, a cache line. Value is the program's, Seen its last sign of life;
// a new flow has a Value of zeroes. The pointer is good until the flow is deleted,
// expires or is evicted.
type Flow struct {
	Key   Key
	Value [2]uint64
	Seen  uint32
	_     uint32
}

// Policy says what happens to a new flow that has no place.
type Policy uint8

// The policies.
const (
	Refuse    Policy = iota // it is turned away
	EvictIdle               // it takes the place of one that was idle longer than Config.Idle, if there is one
)

// Config describes a table. The zero value of a field is its default.
type Config struct {
	Name  string // for errors
	Flows int    // most flows at a time; default 65536
	// Idle is how long a flow may be without a sign of life before Expire and EvictIdle
	// may take it, in the unit of the caller's clock. Default 0: they take any that was
	// not seen at this very time.
	Idle uint32
	Full Policy
	// Seed makes the hash repeatable, for tests: who knows it can make keys that collide.
	// Default 0: a random one.
	Seed uint64
}

// Stats counts since New.
type Stats struct {
	Flows    int    // now
	Inserted uint64 // new flows
	Deleted  uint64 // by Delete
	Expired  uint64 // by Expire
	Evicted  uint64 // for the sake of new ones
	Refused  uint64 // new flows turned away
}

// Info says what the table costs.
type Info struct {
	Name   string
	Flows  int // most
	Places int
	Bytes  uint64
	Memory string
}

const (
	ways   = 8
	prefer = 6 // a bucket with fewer flows takes a new one without a look at the other
	lanes  = 0x0001000100010001
	tops   = 0x8000800080008000
)

// bucket is the tags of 8 places, 0 = free; place i of bucket b holds flow b*8+i.
//
//	written by Insert, Delete and Expire, read by look-ups
type bucket [2]uint64

// Table is a table of flows, see the package.
type Table struct {
	tags   unsafe.Pointer // of nb buckets
	flows  unsafe.Pointer // of nb*8 flows
	nb     uint64
	secret [6]uint64

	cfg   Config
	mem   *arena.Range
	stats Stats
	hand  int // where Expire goes on
}

// New makes an empty table with all its memory.
func New(cfg Config) (*Table, error) {
	if cfg.Flows == 0 {
		cfg.Flows = 65536
	}
	if cfg.Flows < 1 || cfg.Flows > 1<<26 {
		return nil, fmt.Errorf("flow: table %q: %d flows: allowed are 1 to %d", cfg.Name, cfg.Flows, 1<<26)
	}
	// at 60 % of the places two full buckets are rare: see TestFillsUp
	nb := max(2, (cfg.Flows*5/3+ways-1)/ways)
	places := uint64(nb * ways)
	size := uint64(unsafe.Sizeof(Flow{}))*places + uint64(unsafe.Sizeof(bucket{}))*uint64(nb)
	mem, err := arena.New(arena.Config{Name: "flow " + cfg.Name, Size: size, Huge: true})
	if err != nil {
		return nil, fmt.Errorf("flow: table %q: %w", cfg.Name, err)
	}
	t := &Table{
		flows: arena.At(mem.Off), tags: arena.At(mem.Off + uint64(unsafe.Sizeof(Flow{}))*places),
		nb: uint64(nb), cfg: cfg, mem: mem,
	}
	t.seed(cfg.Seed)
	return t, nil
}

func (t *Table) seed(s uint64) {
	var b [48]byte
	rand.Read(b[:]) // never fails
	for i := range t.secret {
		t.secret[i] = binary.LittleEndian.Uint64(b[8*i:])
		if s != 0 { // splitmix64
			s += 0x9e3779b97f4a7c15
			z := (s ^ s>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			t.secret[i] = z ^ z>>31
		}
	}
}

// Info says what the table costs.
func (t *Table) Info() Info {
	i := Info{Name: t.cfg.Name, Flows: t.cfg.Flows, Places: int(t.nb) * ways}
	if t.mem != nil {
		i.Bytes, i.Memory = t.mem.Size, string(t.mem.Backing)
	}
	return i
}

// Stats returns the counters. The owner only.
func (t *Table) Stats() Stats { return t.stats }

// Len returns the number of flows.
func (t *Table) Len() int { return t.stats.Flows }

// Close gives the memory back; no call may follow but Close.
func (t *Table) Close() error {
	mem := t.mem
	t.mem = nil
	return mem.Close()
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// hash returns the two buckets and the tag of a key.
func (t *Table) hash(k *Key) (b1, b2, tag uint64) {
	s := &t.secret
	h := fold(k[0]^s[0], k[1]^s[1]) ^ fold(k[2]^s[2], k[3]^s[3]) ^ fold(k[4]^s[4], s[5]|1)
	h = fold(h, 0x9e3779b97f4a7c15^s[1])
	b1, _ = bits.Mul64(h, t.nb)
	b2, _ = bits.Mul64(h<<32|h>>32, t.nb)
	if tag = h >> 8 & 0xffff; tag == 0 {
		tag = 1
	}
	return b1, b2, tag
}

func (t *Table) bucket(b uint64) *bucket {
	return (*bucket)(unsafe.Add(t.tags, uintptr(b)*unsafe.Sizeof(bucket{})))
}

// Flow returns the flow at a place that LookupBulk, Lookup or Insert gave. at must be
// such a place.
func (t *Table) Flow(at int32) *Flow {
	return (*Flow)(unsafe.Add(t.flows, uintptr(uint32(at))*unsafe.Sizeof(Flow{})))
}

// match marks the top bit of each lane of w that equals the tag, and perhaps some above
// such a lane that don't: the key is compared anyway.
func match(w, tag uint64) uint64 {
	x := w ^ tag*lanes
	return (x - lanes) &^ x & tops
}

// Lookup returns the place of a flow, -1 if it is not there.
func (t *Table) Lookup(k *Key) int32 {
	b1, b2, tag := t.hash(k)
	if at := t.find(b1, tag, k); at >= 0 {
		return at
	}
	return t.find(b2, tag, k)
}

// find looks for a key in one bucket.
func (t *Table) find(b, tag uint64, k *Key) int32 {
	w := t.bucket(b)
	for half, x := range w {
		for m := match(x, tag); m != 0; m &= m - 1 {
			at := int32(b*ways) + int32(half*4+bits.TrailingZeros64(m)>>4)
			if t.Flow(at).Key == *k {
				return at
			}
		}
	}
	return -1
}

const chunk = 32

// LookupBulk writes the place of each key's flow to at, which must be as long as keys,
// or -1. It is the same as that many Lookups, but the cache misses of many keys overlap.
func (t *Table) LookupBulk(keys []Key, at []int32) {
	for len(keys) > chunk {
		t.lookup(keys[:chunk], at[:chunk])
		keys, at = keys[chunk:], at[chunk:]
	}
	t.lookup(keys, at[:len(keys)])
}

// lookup is LookupBulk for at most 32 keys, in three passes: hashes; the first place
// whose tag matches; its key. Only then a branch depends on what was read.
func (t *Table) lookup(keys []Key, at []int32) {
	var h [chunk]struct{ b1, b2, tag uint64 }
	for i := range keys {
		x := &h[i&(chunk-1)]
		x.b1, x.b2, x.tag = t.hash(&keys[i])
	}
	for i := range keys {
		x := &h[i&(chunk-1)]
		w, v := t.bucket(x.b1), t.bucket(x.b2)
		// one bit a place: 4 of each word
		m := match(w[0], x.tag)>>15 | match(w[1], x.tag)>>14
		n := match(v[0], x.tag)>>15 | match(v[1], x.tag)>>14
		// lane l of word j is bit 16*l+j
		b, p := x.b1, m
		if m == 0 {
			b, p = x.b2, n
		}
		at[i] = -1
		if p != 0 {
			z := bits.TrailingZeros64(p)
			at[i] = int32(b*ways) + int32(z>>4+z&15*4)
		}
	}
	for i, k := range at {
		if k >= 0 && t.Flow(k).Key != keys[i] {
			at[i] = t.Lookup(&keys[i]) // another flow with this tag
		}
	}
}
