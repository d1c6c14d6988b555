// SPDX-License-Identifier: Apache-2.0

package invariants

import (
	"errors"
	"strings"
	"testing"
	"unsafe"
)

// failure runs f and returns the Failure that it panics with.
func failure(t *testing.T, f func()) (got string) {
	t.Helper()
	defer func() {
		switch p := recover().(type) {
		case nil:
		case Failure:
			got = p.Error()
			var err error = p
			if !errors.As(err, new(Failure)) {
				t.Error("a Failure is no error")
			}
		default:
			t.Errorf("panic with %v", p)
		}
	}()
	f()
	return ""
}

func TestAssert(t *testing.T) {
	if s := failure(t, func() { Assert(true, "x") }); s != "" {
		t.Error(s)
	}
	if s := failure(t, func() { Assert(false, "double free") }); strings.Contains(s, "double free") != Enabled {
		t.Errorf("enabled %v: %q", Enabled, s)
	}
	if s := failure(t, func() { Failf("%d of %d", 3, 4) }); s != "invariant broken: 3 of 4" {
		t.Error(s)
	}
}

func TestPoison(t *testing.T) {
	b := []byte{1, 2, 3}
	Poison(b)
	if (b[1] == PoisonByte) != Enabled || !Poisoned(b) {
		t.Errorf("enabled %v: %x", Enabled, b)
	}
	b[2] = 7
	if Poisoned(b) == Enabled {
		t.Errorf("enabled %v: a write after free is not found in %x", Enabled, b)
	}
	Poison(nil)
}

func TestExclusive(t *testing.T) {
	var x Exclusive
	x.Enter("a")
	x.Leave()
	x.Enter("b")
	if s := failure(t, func() { x.Enter("SPSC enqueue") }); strings.Contains(s, "SPSC enqueue: used by two") != Enabled {
		t.Errorf("enabled %v: %q", Enabled, s)
	}
	x.Leave()
	if s := failure(t, func() { x.Enter("c") }); s != "" {
		t.Error(s)
	}
	if !Enabled && unsafe.Sizeof(x) != 0 {
		t.Errorf("costs %d bytes when not enabled", unsafe.Sizeof(x))
	}
}
