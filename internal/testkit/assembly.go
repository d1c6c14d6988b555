// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Assembly is the machine code of a package, function by function, with everything
// that is inlined into them: for budgets of read-modify-writes, and for stores that must
// be plain.
type Assembly struct {
	funcs map[string][]Instr
}

// Instr is one instruction in the Go assembler's notation.
type Instr struct {
	Op   string // "MOVL"
	Args string // "BX, (AX)"
	Pos  string // "words.go:31"
}

var (
	textLine  = regexp.MustCompile(`^(\S.*?) STEXT(?: |$)`)
	instrLine = regexp.MustCompile(`^\t0x[0-9a-f]+ \d+ \(([^)]*)\)\t(\S+)(?:\t(.*))?$`)
)

// Assemble compiles the package in dir ("." is the package under test), with its tests
// if asked for. It skips the test on other processors than amd64, under the race
// detector, in short mode and without a go command.
func Assemble(t testing.TB, dir string, tests bool) *Assembly {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("instructions are counted on amd64")
	}
	out := goBuild(t, dir, tests, "-S")
	a := &Assembly{funcs: map[string][]Instr{}}
	name := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if m := textLine.FindStringSubmatch(line); m != nil {
			name = localName(m[1])
			a.funcs[name] = nil // with tests the package is listed twice
			continue
		}
		if m := instrLine.FindStringSubmatch(line); m != nil && name != "" {
			pos := m[1]
			pos = pos[strings.LastIndexAny(pos, `/\`)+1:]
			in := Instr{m[2], m[3], pos}
			if !in.isNop() {
				a.funcs[name] = append(a.funcs[name], in)
			}
		}
	}
	if len(a.funcs) == 0 {
		t.Fatalf("no assembly in the compiler's output:\n%s", tail(out))
	}
	return a
}

// isNop finds what does nothing: notes for the linker, and the mark of an inlined
// call, which is an exchange of a register with itself.
func (in Instr) isNop() bool {
	switch in.Op {
	case "TEXT", "FUNCDATA", "PCDATA", "NOP":
		return true
	case "XCHGL":
		return in.Args == "AX, AX"
	}
	return false
}

// localName cuts the import path off: path/pkg.(*T).M becomes (*T).M.
func localName(s string) string {
	generic := strings.IndexByte(s, '[')
	if generic < 0 {
		generic = len(s)
	}
	slash := strings.LastIndexByte(s[:generic], '/')
	if dot := strings.IndexByte(s[slash+1:], '.'); dot >= 0 {
		return s[slash+1+dot+1:]
	}
	return s
}

// Func returns the instructions of a function: F, T.M, (*T).M, F[go.shape.int] or F.func1.
func (a *Assembly) Func(t testing.TB, name string) []Instr {
	t.Helper()
	code, ok := a.funcs[name]
	if !ok {
		var near []string
		short := name[strings.LastIndexByte(name, '.')+1:]
		for n := range a.funcs {
			if strings.Contains(n, short) {
				near = append(near, n)
			}
		}
		slices.Sort(near)
		t.Fatalf("there is no function %s (inlined everywhere?); near: %q", name, near)
	}
	return code
}

// Count returns how many instructions of the function have one of the names.
func (a *Assembly) Count(t testing.TB, name string, ops ...string) int {
	t.Helper()
	n := 0
	for _, in := range a.Func(t, name) {
		if slices.Contains(ops, in.Op) {
			n++
		}
	}
	return n
}

// RMW returns the number of locked read-modify-writes in the code of the function:
// LOCK prefixes and exchanges. Those in loops and on slow paths count once.
func (a *Assembly) RMW(t testing.TB, name string) int {
	t.Helper()
	return a.Count(t, name, "LOCK", "XCHGB", "XCHGW", "XCHGL", "XCHGQ")
}

// Calls returns what the function calls; calls of the runtime for growing the stack
// and for panics are left out.
func (a *Assembly) Calls(t testing.TB, name string) []string {
	t.Helper()
	var calls []string
	for _, in := range a.Func(t, name) {
		if in.Op != "CALL" && !(in.Op == "JMP" && strings.HasSuffix(in.Args, "(SB)")) {
			continue
		}
		callee := strings.TrimSuffix(in.Args, "(SB)")
		if strings.HasPrefix(callee, "runtime.morestack") || strings.HasPrefix(callee, "runtime.panic") || strings.HasPrefix(callee, "runtime.goPanic") {
			continue
		}
		calls = append(calls, callee)
	}
	return calls
}

// MaxRMW fails the test when a function has more read-modify-writes than allowed.
func (a *Assembly) MaxRMW(t testing.TB, budget map[string]int) {
	t.Helper()
	for name, limit := range budget {
		if n := a.RMW(t, name); n > limit {
			t.Errorf("%s has %d read-modify-writes, allowed %d:", name, n, limit)
			for _, in := range a.Func(t, name) {
				if in.Op == "LOCK" || strings.HasPrefix(in.Op, "XCHG") {
					t.Logf("  %s: %s %s", in.Pos, in.Op, in.Args)
				}
			}
		}
	}
}
