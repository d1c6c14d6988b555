// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/odp-go/godp/internal/arena"
)

func TestMain(m *testing.M) { Main(m) }

// recorder is a test that may fail without this one failing.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Errorf(format string, a ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, a...))
}

// wants fails the test unless f reports exactly as many errors as there are texts,
// each containing its text.
func wants(t *testing.T, what string, f func(t testing.TB), texts ...string) {
	t.Helper()
	r := &recorder{TB: t}
	f(r)
	if len(r.errors) != len(texts) {
		t.Errorf("%s: %d errors %q, want %d", what, len(r.errors), r.errors, len(texts))
		return
	}
	for i, s := range texts {
		if !strings.Contains(r.errors[i], s) {
			t.Errorf("%s: error %q does not say %q", what, r.errors[i], s)
		}
	}
}

func TestCompileFacts(t *testing.T) {
	f := CompileFacts(t, "testdata/sample")
	wants(t, "inlined", func(t testing.TB) { f.Inlined(t, "(*T).Small", "T.Value", "Unchecked", "Generic") })
	wants(t, "not inlined", func(t testing.TB) { f.Inlined(t, "Noinline", "Smal", "(*T).Value") }, "Noinline", "Smal", "Value")
	wants(t, "no escapes", func(t testing.TB) { f.NoEscapes(t, "(*T).Small", "Checked") })
	wants(t, "escapes", func(t testing.TB) { f.NoEscapes(t, "Escaping") }, "moved to heap")
	wants(t, "unknown", func(t testing.TB) { f.NoEscapes(t, "Nobody") }, "no function Nobody")
	wants(t, "no checks", func(t testing.TB) { f.NoBoundsChecks(t, "Unchecked") })
	wants(t, "checks", func(t testing.TB) { f.NoBoundsChecks(t, "Checked") }, "IsInBounds")
	wants(t, "the file", func(t testing.TB) { f.Files(t, "sample.go") }, "moved to heap", "IsInBounds")
	wants(t, "the package", func(t testing.TB) { f.NoIndexChecks(t) }, "IsInBounds")
	wants(t, "no file", func(t testing.TB) { f.Files(t, "other.go") }, "nothing about other.go")
}

func TestAssembly(t *testing.T) {
	a := Assemble(t, "testdata/sample", false)
	if n := a.RMW(t, "Locked"); n != 2 {
		t.Errorf("Locked has %d, want 2: %v", n, a.Func(t, "Locked"))
	}
	if n := a.RMW(t, "Plain"); n != 0 {
		t.Errorf("Plain has %d", n)
	}
	wants(t, "within budget", func(t testing.TB) { a.MaxRMW(t, map[string]int{"Locked": 2, "Plain": 0, "(*T).Small": 0}) })
	wants(t, "over budget", func(t testing.TB) { a.MaxRMW(t, map[string]int{"Locked": 1}) }, "Locked has 2")
	if c := a.Calls(t, "Calling"); len(c) != 1 || !strings.HasSuffix(c[0], ".Noinline") {
		t.Errorf("Calling calls %q", c)
	}
	if c := a.Calls(t, "Checked"); len(c) != 0 {
		t.Errorf("Checked calls %q", c)
	}
	if n := a.Count(t, "generic[go.shape.int32]", "ADDL"); n != 1 {
		t.Errorf("generic: %v", a.Func(t, "generic[go.shape.int32]"))
	}
}

func TestLocalNames(t *testing.T) {
	for in, want := range map[string]string{
		"github.com/a/b.c/pkg.F":                        "F",
		"github.com/a/pkg.(*T).M":                       "(*T).M",
		"pkg.T.M.func1":                                 "T.M.func1",
		"a/pkg.F[go.shape.*uint8,github.com/x/y.Z]":     "F[go.shape.*uint8,github.com/x/y.Z]",
		"a/pkg.(*T[go.shape.struct { x/y.A int }]).Get": "(*T[go.shape.struct { x/y.A int }]).Get",
	} {
		if got := localName(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestNoAllocs(t *testing.T) {
	if race {
		t.Skip("allocations are not counted under the race detector")
	}
	var sink []byte
	wants(t, "none", func(t testing.TB) { NoAllocs(t, "x", 10, func() {}) })
	wants(t, "one", func(t testing.TB) { NoAllocs(t, "x", 10, func() { sink = make([]byte, 1000) }) }, "x: 1 allocations")
	_ = sink
}

func TestLeaksAreFound(t *testing.T) {
	ac, dc, mc := arenaCheck(), descriptorCheck(), mappingCheck()
	r, err := arena.New(arena.Config{Name: "forgotten", Size: 4096})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.CreateTemp(t.TempDir(), "forgotten")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(4096); err != nil {
		t.Fatal(err)
	}
	m, mapErr := arena.MapFD("device", int(f.Fd()), 4096)
	found := func(c Check, text string) bool {
		return slices.ContainsFunc(c.Find(), func(s string) bool { return strings.Contains(s, text) })
	}
	if !found(ac, `"forgotten", 4096 bytes`) {
		t.Errorf("the range is not found: %q", ac.Find())
	}
	_, listable := os.Stat("/proc/self/fd")
	if listable == nil && !found(dc, f.Name()) {
		t.Errorf("the descriptor is not found: %q", dc.Find())
	}
	if listable == nil && mapErr == nil && !found(mc, f.Name()) {
		t.Errorf("the mapping is not found: %q", mc.Find())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if mapErr == nil {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	f.Close()
	if left := leftovers([]Check{ac, dc, mc, {"extra", func() []string { return []string{"one"} }}}); len(left) != 1 || left[0] != "extra: one" {
		t.Errorf("after closing all: %q", left)
	}
}
