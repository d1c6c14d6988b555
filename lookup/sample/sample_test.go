// SPDX-License-Identifier: Apache-2.0

package sample

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
)

func TestShapes(t *testing.T) {
	all := Router(1, 1)
	if len(all) != 1076806 {
		t.Errorf("the router's table has %d routes", len(all))
	}
	if n := len(Router(1, 16)); n != 67301 {
		t.Errorf("each 16th: %d routes", n)
	}
	longer := 0
	for _, p := range all {
		if p != p.Masked() || !p.IsValid() {
			t.Fatal(p)
		}
		if p.Bits() > 24 {
			longer++
		}
	}
	if longer < 40000 || longer > 50000 {
		t.Errorf("%d routes are longer than /24", longer)
	}
	for _, f := range []func(uint64, int) []netip.Prefix{IPv4, IPv6} {
		a, b := f(7, 2000), f(7, 2000)
		if !slices.Equal(a, b) || slices.Equal(a, f(8, 2000)) {
			t.Error("the seed does not decide the table")
		}
		slices.SortFunc(a, func(x, y netip.Prefix) int { return x.Addr().Compare(y.Addr())*256 + x.Bits() - y.Bits() })
		if n := len(slices.Compact(a)); n != 2000 {
			t.Errorf("%d different routes of 2000", n)
		}
	}
	for _, s := range [][]share{Internet4, Internet6} {
		sum := 0
		for _, x := range s {
			sum += x.of1000
		}
		if sum != 1000 {
			t.Errorf("shares add up to %d of 1000", sum)
		}
	}
	if l := Even6(1); len(l) != 1000 || l[0].Bits() < 1 {
		t.Error(len(l), l[0])
	}
	r := rand.New(rand.NewPCG(1, 1))
	for _, p := range append(Even6(2), IPv4(2, 500)...) {
		if a := Inside(r, p); !p.Contains(a) {
			t.Fatalf("%v is not in %v", a, p)
		}
	}
}
