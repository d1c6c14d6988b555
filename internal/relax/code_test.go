// SPDX-License-Identifier: Apache-2.0

package relax

import (
	"strings"
	"testing"

	"github.com/odp-go/godp/internal/testkit"
)

// publish32 is how a ring publishes: plain data, then the index. Both indices must
// be stored, each after the data before it.
//
//go:noinline
func publish32(data *[2]uint32, x *Uint32) {
	data[0] = 71
	x.StoreRel(101)
	data[1] = 72
	x.StoreRel(102)
}

//go:noinline
func publish64(data *[2]uint64, x *Uint64) {
	data[0] = 71
	x.StoreRel(101)
	data[1] = 72
	x.StoreRel(102)
}

// spin must read the word in every round.
//
//go:noinline
func spin(x *Uint32, v uint32) {
	for x.LoadAcq() != v {
	}
}

//go:noinline
func announce(x, y *Uint32) uint32 {
	x.StoreSeq(1)
	return y.LoadAcq()
}

func TestEverythingIsInlined(t *testing.T) {
	testkit.CompileFacts(t, ".").Inlined(t,
		"(*Uint32).LoadAcq", "(*Uint32).StoreRel", "(*Uint32).StoreSeq", "(*Uint32).Add", "(*Uint32).CAS", "(*Uint32).Swap", "(*Uint32).Or", "(*Uint32).And",
		"(*Uint64).LoadAcq", "(*Uint64).StoreRel", "(*Uint64).StoreSeq", "(*Uint64).Add", "(*Uint64).CAS", "(*Uint64).Swap", "(*Uint64).Or", "(*Uint64).And")
}

// A store-release is a plain store: not locked, not left out, not moved.
func TestStoreRelIsAPlainStore(t *testing.T) {
	publish32(new([2]uint32), new(Uint32))
	publish64(new([2]uint64), new(Uint64))
	a := testkit.Assemble(t, ".", true)
	for _, name := range []string{"publish32", "publish64"} {
		if n := a.RMW(t, name); n != 0 {
			t.Errorf("%s has %d locked instructions", name, n)
		}
		if c := a.Calls(t, name); len(c) != 0 {
			t.Errorf("%s calls %q: not inlined", name, c)
		}
		order := ""
		for _, in := range a.Func(t, name) {
			for _, v := range []string{"$71,", "$101,", "$72,", "$102,"} {
				if strings.HasPrefix(in.Op, "MOV") && strings.HasPrefix(in.Args, v) {
					order += v
				}
			}
		}
		if order != "$71,$101,$72,$102," {
			t.Errorf("%s stores in the order %q: %v", name, order, a.Func(t, name))
		}
	}
}

func TestLoadsAndFullBarriers(t *testing.T) {
	x := new(Uint32)
	spin(x, 0)
	announce(x, x)
	a := testkit.Assemble(t, ".", true)
	if n := a.RMW(t, "spin"); n != 0 {
		t.Errorf("a load has %d locked instructions", n)
	}
	code := a.Func(t, "spin")
	loads := a.Count(t, "spin", "MOVL")
	if loads == 0 || !strings.HasPrefix(code[len(code)-1].Op, "RET") && a.Count(t, "spin", "JMP", "JNE") == 0 {
		t.Errorf("spin does not read in its loop: %v", code)
	}
	if n := a.RMW(t, "announce"); n != 1 {
		t.Errorf("a store-seq has %d locked instructions, want 1: %v", n, a.Func(t, "announce"))
	}
}
