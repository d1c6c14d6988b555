// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/gaissmai/bart"

	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/lookup/sample"
)

// The oracle is a dependency too: against the model that a reader can check.
func TestOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, v6 := range []bool{false, true} {
		gen := near{r: r, v6: v6, lo: 17}
		var o bart.Table[uint32]
		m := model{}
		for i := range 2000 {
			p := gen.prefix()
			if i%3 == 2 {
				_, there := m[p]
				if o.Delete(p); there {
					delete(m, p)
				}
			} else {
				m[p] = uint32(i)
				o.Insert(p, uint32(i))
			}
			a := gen.addr()
			got, ok := o.Lookup(a)
			if !ok {
				got = 77777
			}
			if want := m.lookup(a, 77777); got != want {
				t.Fatalf("bart: %v leads to %d, want %d", a, got, want)
			}
		}
	}
}

// Random routes, each added, many replaced and taken away again, against bart.
func TestManyRoutes(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		n, groups := 100_000, 30_000
		if kind == "v6" {
			groups = 110_000
		}
		switch {
		case testkit.Race:
			n, groups = 1000, groups/50
		case *heavy:
			n, groups = 1_000_000, 1_500_000
			if kind == "v4-2" {
				groups = 60_000
			}
		}
		routes := sample.IPv4(11, n)
		if kind == "v6" {
			routes = sample.IPv6(11, n)
		}
		r := rand.New(rand.NewPCG(11, 11))
		tb := kinds[kind](t, Config{Name: "many", Groups: groups, Routes: n, MaxHop: 4000})
		var o bart.Table[uint32]
		check := func(p netip.Prefix) {
			t.Helper()
			a := sample.Inside(r, p)
			want, _ := o.Lookup(a)
			if got := tb.Lookup(a); got != want {
				t.Fatalf("%v of %v leads to %d, want %d", a, p, got, want)
			}
		}
		add := func(p netip.Prefix) {
			h := uint32(r.IntN(4000))
			o.Insert(p, h)
			if err := tb.Add(p, h); err != nil {
				t.Fatal(err)
			}
			check(p)
		}
		for _, p := range routes {
			add(p)
		}
		t.Logf("%d routes: %+v", n, tb.Info())
		var burst []netip.Addr
		for range n {
			p := routes[r.IntN(n)]
			switch _, there := o.Get(p); {
			case there && r.IntN(3) > 0:
				o.Delete(p)
				if err := tb.Delete(p); err != nil {
					t.Fatal(err)
				}
				check(p)
			default:
				add(p)
			}
			burst = append(burst, sample.Inside(r, p))
		}
		for i, h := range tb.Bulk(burst) {
			if want, _ := o.Lookup(burst[i]); h != want {
				t.Fatalf("burst: %v leads to %d, want %d", burst[i], h, want)
			}
		}
		for p := range o.All() {
			if err := tb.Delete(p); err != nil {
				t.Fatal(err)
			}
		}
		for i, h := range tb.Bulk(burst[:1000]) {
			if h != 0 {
				t.Fatalf("the empty table leads %v to %d", burst[i], h)
			}
		}
		if i := tb.Info(); i.Routes != 0 {
			t.Errorf("%+v", i)
		}
	})
}
