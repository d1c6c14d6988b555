// SPDX-License-Identifier: Apache-2.0

//go:build invariants

package buffer

import (
	"fmt"
	"strings"
	"testing"
)

// mustPanic runs f and checks that its panic says all of want.
func mustPanic(t *testing.T, f func(), want ...string) {
	t.Helper()
	defer func() {
		t.Helper()
		s := fmt.Sprint(recover())
		for _, w := range want {
			if !strings.Contains(s, w) {
				t.Errorf("panic %q: wanted %q", s, w)
			}
		}
	}()
	f()
}

func TestDoubleFreeIsNamed(t *testing.T) {
	set, ws := kit(t, 1)
	p := newPool(t, set, PoolConfig{Name: "dbl", Num: 8})
	k := p.AllocPacket(ws[0], 60)
	p.FreePacket(ws[0], k)
	for _, f := range []func(){
		func() { p.FreePacket(ws[0], k) },
		func() { FreePacket(ws[0], k) },
		func() { p.FreePackets(nil, []*Packet{k}) },
	} {
		mustPanic(t, f, `"dbl"`, "freed twice", "TestDoubleFreeIsNamed", "check_test.go")
	}
}

func TestFreeToTheWrongPool(t *testing.T) {
	set, ws := kit(t, 1)
	a, b := newPool(t, set, PoolConfig{Name: "a", Num: 8}), newPool(t, set, PoolConfig{Name: "b", Num: 8})
	k := a.AllocPacket(ws[0], 60)
	mustPanic(t, func() { b.FreePacket(ws[0], k) }, `"b"`, "not of this pool")
	a.FreePacket(ws[0], k)
}

func TestWriteAfterFree(t *testing.T) {
	set, _ := kit(t, 1)
	p := newPool(t, set, PoolConfig{Name: "uaf", Num: 1, Cache: -1})
	k := p.AllocPacket(nil, 60)
	data := k.Buffer().Data()
	p.FreePacket(nil, k)
	if k.Len() != 0 || len(k.Data()) != 0 {
		t.Error("a freed packet shows data")
	}
	data[7] = 1
	mustPanic(t, func() { p.AllocPacket(nil, 60) }, "byte 7 of packet 0", "written after the free", "TestWriteAfterFree")
	data[7] = poisonByte
	p.give(nil, []uintptr{p.store.base}) // the failed allocation had taken it
	k.state = 77
	mustPanic(t, func() { p.AllocPacket(nil, 60) }, "state 77", "header was written after the free")
	k.state = stateFree
	p.give(nil, []uintptr{p.store.base})
}

func TestLeaksAreNamed(t *testing.T) {
	set, ws := kit(t, 3)
	p := newPool(t, set, PoolConfig{Name: "leaky", Num: 8})
	if s := p.Leaks(); s != "" {
		t.Errorf("fresh pool: %s", s)
	}
	a, b, c := p.AllocPacket(ws[2], 60), p.AllocPacket(ws[2], 60), p.AllocPacket(nil, 60)
	c.MarkKernel(true)
	s := p.Leaks()
	for _, w := range []string{`"leaky"`, "3 of 8", "by worker 2 at", "TestLeaksAreNamed", "in the kernel's hands, allocated by the control plane"} {
		if !strings.Contains(s, w) {
			t.Errorf("%q: wanted %q", s, w)
		}
	}
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "worker 2") {
		t.Errorf("Close: %v", err)
	}
	c.MarkKernel(false)
	FreePackets(nil, []*Packet{a, b, c})
}
