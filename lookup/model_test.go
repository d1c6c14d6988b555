// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"encoding/binary"
	"flag"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/odp-go/godp/internal/testkit"
)

var heavy = flag.Bool("heavy", false, "run the rounds that take minutes")

func TestMain(m *testing.M) { testkit.Main(m) }

// model is the slow and obvious table: the longest of all routes that hold the address.
type model map[netip.Prefix]uint32

func (m model) lookup(a netip.Addr, def uint32) uint32 {
	best, hop := -1, def
	for p, h := range m {
		if p.Contains(a) && p.Bits() > best {
			best, hop = p.Bits(), h
		}
	}
	return hop
}

// table is what both families have in common, for the tests of both.
type table interface {
	Add(p netip.Prefix, hop uint32) error
	Delete(p netip.Prefix) error
	Get(p netip.Prefix) (uint32, bool)
	Lookup(a netip.Addr) uint32
	Bulk(a []netip.Addr) []uint32
	Info() Info
	Close() error
}

type table4[H Hop] struct{ *V4[H] }

func word4(a netip.Addr) uint32 { b := a.As4(); return binary.BigEndian.Uint32(b[:]) }

func addr4(a uint32) netip.Addr {
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, a)))
}

func (t table4[H]) Add(p netip.Prefix, hop uint32) error { return t.V4.Add(p, H(hop)) }
func (t table4[H]) Get(p netip.Prefix) (uint32, bool) {
	h, ok := t.V4.Get(p)
	return uint32(h), ok
}
func (t table4[H]) Lookup(a netip.Addr) uint32 { return uint32(t.V4.Lookup(word4(a))) }
func (t table4[H]) Bulk(list []netip.Addr) []uint32 {
	in, out := make([]uint32, len(list)), make([]H, len(list)+2)
	for i, a := range list {
		in[i] = word4(a)
	}
	guard := ^H(0)
	out[len(list)], out[len(list)+1] = guard, guard
	t.V4.LookupBulk(in, out)
	if out[len(list)] != guard || out[len(list)+1] != guard {
		panic("wrote behind the burst")
	}
	res := make([]uint32, len(list))
	for i := range res {
		res[i] = uint32(out[i])
	}
	return res
}

type table6 struct{ *V6 }

func word6(a netip.Addr) Addr6              { b := a.As16(); return ToAddr6(b[:]) }
func (t table6) Lookup(a netip.Addr) uint32 { return t.V6.Lookup(word6(a)) }
func (t table6) Bulk(list []netip.Addr) []uint32 {
	in, out := make([]Addr6, len(list)), make([]uint32, len(list)+1)
	for i, a := range list {
		in[i] = word6(a)
	}
	out[len(list)] = 0xdeadbeef
	t.V6.LookupBulk(in, out)
	if out[len(list)] != 0xdeadbeef {
		panic("wrote behind the burst")
	}
	return out[:len(list)]
}

// kinds are the tables under test.
var kinds = map[string]func(t testing.TB, cfg Config) table{
	"v4-2": func(t testing.TB, cfg Config) table { return made4[uint16](t, cfg) },
	"v4-4": func(t testing.TB, cfg Config) table { return made4[uint32](t, cfg) },
	"v6":   func(t testing.TB, cfg Config) table { return made6(t, cfg) },
}

func made4[H Hop](t testing.TB, cfg Config) table4[H] {
	t.Helper()
	v, err := NewV4[H](cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return table4[H]{v}
}

func made6(t testing.TB, cfg Config) table6 {
	t.Helper()
	v, err := NewV6(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return table6{v}
}

func each(t *testing.T, f func(t *testing.T, kind string)) {
	for _, kind := range []string{"v4-2", "v4-4", "v6"} {
		t.Run(kind, func(t *testing.T) { f(t, kind) })
	}
}

// near makes prefixes and addresses that lie close together, so that they nest, split
// and share bytes: each byte is one of a few values.
type near struct {
	r  *rand.Rand
	v6 bool
	lo int // shortest prefix
}

func (n near) addr() netip.Addr {
	var b [16]byte
	for i := range b {
		b[i] = []byte{0, 0, 0, 1, 127, 128, 255}[n.r.IntN(7)]
	}
	if n.r.IntN(4) == 0 {
		b[n.r.IntN(16)] = byte(n.r.Uint32())
	}
	if n.v6 {
		return netip.AddrFrom16(b)
	}
	return netip.AddrFrom4([4]byte(b[:4]))
}

func (n near) prefix() netip.Prefix {
	bits := 32
	if n.v6 {
		bits = 128
	}
	l := n.lo + n.r.IntN(bits-n.lo+1)
	switch {
	case n.r.IntN(40) == 0:
		l = n.r.IntN(n.lo-7) + 8 // shorter ones are slow: see TestNested
	case n.r.IntN(4) == 0:
		l = min(bits, (l+7)/8*8) // where nodes end
	}
	p, _ := n.addr().Prefix(l)
	return p
}

// inside returns an address of a prefix: its first, its last, or one next to either.
func inside(p netip.Prefix, which int) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	if which&1 != 0 {
		for i := p.Bits(); i < len(b)*8; i++ {
			b[i/8] |= 0x80 >> (i % 8)
		}
	}
	a, _ := netip.AddrFromSlice(b)
	switch which {
	case 2:
		return a.Prev() // just before it
	case 3:
		return a.Next() // just behind it
	}
	return a
}
