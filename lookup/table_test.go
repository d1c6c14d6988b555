// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/odp-go/godp/internal/testkit"
)

func pfx(s string) netip.Prefix { return netip.MustParsePrefix(s) }

// Routes added and taken away in random order, against the slow model: after each
// change the addresses at the edges of the changed prefix, random ones, and whole bursts.
func TestAgainstModel(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		tb := kinds[kind](t, Config{Name: "m", Default: 9, Groups: 3000})
		seeds := uint64(3)
		if testkit.Race {
			seeds = 1
		}
		for seed := range seeds {
			r := rand.New(rand.NewPCG(seed, 7))
			gen := near{r: r, v6: kind == "v6", lo: 17}
			m := model{}
			var burst []netip.Addr
			look := func(a netip.Addr, what string) {
				if !a.IsValid() {
					return
				}
				if got, want := tb.Lookup(a), m.lookup(a, 9); got != want {
					t.Fatalf("seed %d, %s: %v leads to %d, want %d", seed, what, a, got, want)
				}
				burst = append(burst, a)
			}
			list := func() []netip.Prefix {
				return slices.SortedFunc(maps.Keys(m), func(a, b netip.Prefix) int { return strings.Compare(a.String(), b.String()) })
			}
			for step := range 400 {
				p := gen.prefix()
				what := fmt.Sprint("add ", p)
				if l := list(); len(l) > 0 && r.IntN(5) < 2+step/300*2 {
					p = l[r.IntN(len(l))]
					what = fmt.Sprint("delete ", p)
					if err := tb.Delete(p); err != nil {
						t.Fatal(err)
					}
					delete(m, p)
				} else {
					m[p] = 10 + uint32(r.IntN(1000))
					if err := tb.Add(p, m[p]); err != nil {
						t.Fatal(err)
					}
				}
				for i := range 4 {
					look(inside(p, i), what)
				}
				look(gen.addr(), what)
			}
			for p := range m {
				for i := range 4 {
					look(inside(p, i), "at the end")
				}
				if h, ok := tb.Get(p); !ok || h != m[p] {
					t.Errorf("Get %v: %d, %v", p, h, ok)
				}
			}
			for i, h := range tb.Bulk(burst) {
				if want := m.lookup(burst[i], 9); h != want {
					t.Fatalf("burst: %v leads to %d, want %d", burst[i], h, want)
				}
			}
			if n := tb.Info().Routes; n != len(m) {
				t.Errorf("%d routes, want %d", n, len(m))
			}
			for _, p := range list() {
				if err := tb.Delete(p); err != nil {
					t.Fatal(err)
				}
				delete(m, p)
				look(inside(p, 0), "emptying")
			}
		}
	})
}

// The model itself against what a reader can check by hand; nested prefixes of every
// length, whatever the order in which they come and go.
func TestNested(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		base, bits := netip.MustParseAddr("10.20.30.40"), 32
		if kind == "v6" {
			base, bits = netip.MustParseAddr("2001:db8:aa55:3ccc:1234:5678:9abc:def0"), 128
		}
		tb := kinds[kind](t, Config{Name: "n", Default: 500})
		order := rand.New(rand.NewPCG(1, uint64(bits))).Perm(bits + 1)
		if testkit.Race { // each of the shortest takes seconds there
			order = slices.DeleteFunc(order, func(l int) bool { return l < 12 })
		}
		in := map[int]bool{}
		longest := func() uint32 {
			for l := bits; l >= 0; l-- {
				if in[l] {
					return uint32(l)
				}
			}
			return 500
		}
		for _, l := range order {
			p, _ := base.Prefix(l)
			if err := tb.Add(p, uint32(l)); err != nil {
				t.Fatal(err)
			}
			in[l] = true
			if got := tb.Lookup(base); got != longest() {
				t.Fatalf("after adding /%d: %d, want %d", l, got, longest())
			}
		}
		// an address that leaves the nest at bit l is in the prefixes up to l bits
		for l := range bits {
			b := base.AsSlice()
			b[l/8] ^= 0x80 >> (l % 8)
			a, _ := netip.AddrFromSlice(b)
			if got := tb.Lookup(a); got != uint32(l) && in[l] {
				t.Errorf("%v differs in bit %d: route of %d bits", a, l, got)
			}
		}
		for _, l := range order {
			p, _ := base.Prefix(l)
			if err := tb.Delete(p); err != nil {
				t.Fatal(err)
			}
			delete(in, l)
			if got := tb.Lookup(base); got != longest() {
				t.Fatalf("after deleting /%d: %d, want %d", l, got, longest())
			}
		}
		if i := tb.Info(); i.Routes != 0 {
			t.Errorf("%+v", i)
		}
	})
}

// The default route, an empty table, replacing.
func TestDefaultRoute(t *testing.T) {
	if testkit.Race {
		t.Skip("all 2^24 entries change eight times, which takes a minute here; nothing is concurrent in it")
	}
	each(t, func(t *testing.T, kind string) {
		tb := kinds[kind](t, Config{Name: "d", Default: 3})
		all, some, a := pfx("0.0.0.0/0"), pfx("128.0.0.0/1"), []netip.Addr{addr4(0), addr4(0x7fffffff), addr4(0x80000000), addr4(0xffffffff)}
		if kind == "v6" {
			all, some, a = pfx("::/0"), pfx("8000::/1"), []netip.Addr{netip.MustParseAddr("::"), netip.MustParseAddr("7fff::1"), netip.MustParseAddr("8000::"), netip.MustParseAddr("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")}
		}
		want := func(h ...uint32) {
			t.Helper()
			if got := tb.Bulk(a); !slices.Equal(got, h) {
				t.Fatalf("%d, want %d", got, h)
			}
		}
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		want(3, 3, 3, 3)
		do(tb.Add(all, 1))
		want(1, 1, 1, 1)
		do(tb.Add(some, 2))
		want(1, 1, 2, 2)
		do(tb.Add(all, 4))
		want(4, 4, 2, 2)
		do(tb.Add(some, 5))
		want(4, 4, 5, 5)
		do(tb.Delete(all))
		want(3, 3, 5, 5)
		do(tb.Delete(some))
		want(3, 3, 3, 3)
		if err := tb.Delete(all); !errors.Is(err, ErrNoRoute) {
			t.Error(err)
		}
	})
}

func TestBulkLengths(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		tb := kinds[kind](t, Config{Name: "b", Default: 3})
		gen := near{r: rand.New(rand.NewPCG(3, 3)), v6: kind == "v6", lo: 17}
		for i := range 300 {
			if err := tb.Add(gen.prefix(), uint32(i)); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1000} {
			a := make([]netip.Addr, n)
			for i := range a {
				a[i] = gen.addr()
			}
			for i, h := range tb.Bulk(a) {
				if want := tb.Lookup(a[i]); h != want {
					t.Fatalf("burst of %d, %d: %v leads to %d, one by one to %d", n, i, a[i], h, want)
				}
			}
		}
	})
}

// A table without room says so, and is as it was; room that came back is used again.
func TestFull(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		const room = 20
		tb := kinds[kind](t, Config{Name: "full", Groups: room})
		gen := near{r: rand.New(rand.NewPCG(5, 5)), v6: kind == "v6", lo: 25}
		m := model{}
		full := 0
		for round := range 2 {
			for i := 0; i < 1000 && len(m) < 200; i++ {
				p, h := gen.prefix(), uint32(gen.r.IntN(500))
				if p.Bits() < 16 {
					continue
				}
				before := tb.Info()
				switch err := tb.Add(p, h); {
				case err == nil:
					m[p] = h
				case !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "Groups"):
					t.Fatal(err)
				default:
					full++
					if tb.Info() != before {
						t.Fatalf("a refused route changed %+v to %+v", before, tb.Info())
					}
					if _, ok := m[p]; ok {
						t.Fatalf("%v is there and could not be replaced", p)
					}
				}
				for i := range 4 {
					if a := inside(p, i); a.IsValid() && tb.Lookup(a) != m.lookup(a, 0) {
						t.Fatalf("round %d: %v leads to %d, want %d", round, a, tb.Lookup(a), m.lookup(a, 0))
					}
				}
			}
			if full == 0 {
				t.Fatal("the table never was full")
			}
			for p := range m {
				if err := tb.Delete(p); err != nil {
					t.Fatal(err)
				}
			}
			clear(m)
			full = 0
		}
	})
}

func TestWrongUse(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		tb := kinds[kind](t, Config{Name: "wrong", MaxHop: 100})
		good, other := pfx("10.0.0.0/8"), pfx("2001:db8::/32")
		if kind == "v6" {
			good, other = other, good
		}
		for what, err := range map[string]error{
			"add of the other family":    tb.Add(other, 1),
			"add of no prefix":           tb.Add(netip.Prefix{}, 1),
			"delete of the other family": tb.Delete(other),
			"delete of no prefix":        tb.Delete(netip.Prefix{}),
			"hop above MaxHop":           tb.Add(good, 101),
		} {
			if !errors.Is(err, ErrRange) || !strings.Contains(err.Error(), "wrong") {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := tb.Add(good, 100); err != nil {
			t.Error(err)
		}
		if err := tb.Close(); err != nil {
			t.Error(err)
		}
		if err := tb.Add(good, 1); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if err := tb.Delete(good); !errors.Is(err, ErrNoRoute) {
			t.Error(err)
		}
	})
	for _, cfg := range []Config{{MaxHop: 65535, Groups: 1}, {MaxHop: 100, Groups: 65500}, {Groups: -1}, {MaxHop: 5, Default: 6}} {
		if _, err := NewV4[uint16](cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
	for _, cfg := range []Config{{MaxHop: 1 << 31}, {Groups: -1}, {Groups: 1<<26 + 1}, {MaxHop: 5, Default: 6}} {
		if _, err := NewV6(cfg); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}

// A prefix with bits behind its length is that prefix; listing is in order.
func TestMaskedAndAll(t *testing.T) {
	v4 := made4[uint16](t, Config{})
	for _, s := range []string{"10.1.2.3/8", "10.0.0.0/7", "9.0.0.1/32", "10.0.0.0/16"} {
		if err := v4.Add(pfx(s), uint32(len(s))); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for p, h := range v4.All() {
		got = append(got, fmt.Sprint(p, h))
	}
	if want := []string{"9.0.0.1/32 10", "10.0.0.0/7 10", "10.0.0.0/8 10", "10.0.0.0/16 11"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	v6 := made6(t, Config{})
	for _, s := range []string{"2001:db8::1/32", "2001:db8::/31", "::1/128"} {
		if err := v6.Add(pfx(s), uint32(len(s))); err != nil {
			t.Fatal(err)
		}
	}
	got = got[:0]
	for p := range v6.All() {
		got = append(got, p.String())
	}
	if want := []string{"::1/128", "2001:db8::/31", "2001:db8::/32"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
