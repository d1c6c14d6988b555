// SPDX-License-Identifier: Apache-2.0

package invariants_test

import (
	"testing"

	"github.com/odp-go/godp/internal/invariants"
	"github.com/odp-go/godp/internal/testkit"
)

// checked and bare must compile to the same code when the checks are not enabled.
//
//go:noinline
func checked(p *int, x *invariants.Exclusive, b []byte) {
	x.Enter("checked")
	invariants.Assert(*p != 0, "p is zero")
	*p = 1
	invariants.Poison(b)
	x.Leave()
}

//go:noinline
func bare(p *int, x *invariants.Exclusive, b []byte) {
	*p = 1
}

func TestCostsNothing(t *testing.T) {
	p := 1
	checked(&p, new(invariants.Exclusive), nil)
	bare(&p, nil, nil)
	if invariants.Enabled {
		t.Skip("the checks are enabled")
	}
	a := testkit.Assemble(t, ".", true)
	got, want := a.Func(t, "checked"), a.Func(t, "bare")
	if len(got) > len(want)+1 { // a nil check of p is left by reading it
		t.Errorf("with checks %v\nwithout %v", got, want)
	}
}
