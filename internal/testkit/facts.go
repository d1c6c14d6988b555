// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Facts is what the compiler said about the functions of a package: which are
// inlined, what escapes to the heap, where bounds checks are left. Performance needs
// them, and no test of behaviour notices when they change.
type Facts struct {
	notes []note
	funcs []extent
}

type note struct {
	file string
	line int
	text string
}

// extent is where a function stands; name is as the compiler prints it: F, T.M or (*T).M.
type extent struct {
	file       string
	first, end int
	name       string
}

var noteLine = regexp.MustCompile(`(?m)^(?:\./)?([^\s:]+\.go):(\d+):\d+: (.*)$`)

// CompileFacts compiles the package in dir ("." is the package under test). The test
// is skipped under the race detector, in short mode and without a go command.
func CompileFacts(t testing.TB, dir string) *Facts {
	t.Helper()
	out := goBuild(t, dir, false, "-m -d=ssa/check_bce/debug=1")
	f := &Facts{}
	for _, m := range noteLine.FindAllStringSubmatch(out, -1) {
		line, _ := strconv.Atoi(m[2])
		f.notes = append(f.notes, note{filepath.Base(m[1]), line, m[3]})
	}
	if len(f.notes) == 0 {
		t.Fatalf("the compiler says nothing about %s:\n%s", dir, tail(out))
	}
	fset := token.NewFileSet()
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range files {
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				f.funcs = append(f.funcs, extent{filepath.Base(name), fset.Position(fn.Pos()).Line, fset.Position(fn.End()).Line, funcName(fn)})
			}
		}
	}
	return f
}

func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	switch r := fn.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		return fmt.Sprintf("(*%s).%s", typeName(r.X), fn.Name.Name)
	default:
		return fmt.Sprintf("%s.%s", typeName(r), fn.Name.Name)
	}
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	}
	return "?"
}

// Inlined fails the test unless every function (F, T.M or (*T).M) can be inlined.
func (f *Facts) Inlined(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if !f.has("can inline "+name, name) {
			t.Errorf("%s is not inlined", name)
		}
	}
}

func (f *Facts) has(text, name string) bool {
	for _, n := range f.notes {
		if n.text == text || strings.HasPrefix(n.text, text+" ") || strings.HasPrefix(n.text, text+"[") {
			return true
		}
	}
	return false
}

// NoEscapes fails the test when anything within the functions is moved to the heap.
func (f *Facts) NoEscapes(t testing.TB, names ...string) {
	t.Helper()
	f.none(t, names, escapes)
}

// NoBoundsChecks fails the test when the compiler left a bounds check in the functions.
func (f *Facts) NoBoundsChecks(t testing.TB, names ...string) {
	t.Helper()
	f.none(t, names, func(text string) bool { return strings.HasPrefix(text, "Found Is") })
}

// Files looks at whole source files: nothing in them may escape to the heap, and no
// index be checked.
func (f *Facts) Files(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		said := false
		for _, n := range f.notes {
			if n.file != name {
				continue
			}
			said = true
			if escapes(n.text) || checksIndex(n.text) {
				t.Errorf("%s:%d: %s", n.file, n.line, n.text)
			}
		}
		if !said {
			t.Errorf("the compiler says nothing about %s", name)
		}
	}
}

// NoIndexChecks fails the test when an index is checked anywhere in the package.
func (f *Facts) NoIndexChecks(t testing.TB) {
	t.Helper()
	for _, n := range f.notes {
		if checksIndex(n.text) {
			t.Errorf("%s:%d: %s", n.file, n.line, n.text)
		}
	}
}

// checksIndex finds the check of one index; that of a slice's bounds is once a burst.
func checksIndex(text string) bool { return text == "Found IsInBounds" }

func escapes(text string) bool {
	return strings.Contains(text, "escapes to heap") || strings.HasPrefix(text, "moved to heap")
}

func (f *Facts) none(t testing.TB, names []string, bad func(string) bool) {
	t.Helper()
	for _, name := range names {
		found := false
		for _, x := range f.funcs {
			if x.name != name {
				continue
			}
			found = true
			for _, n := range f.notes {
				if n.file == x.file && n.line >= x.first && n.line <= x.end && bad(n.text) {
					t.Errorf("%s: %s:%d: %s", name, n.file, n.line, n.text)
				}
			}
		}
		if !found {
			t.Errorf("there is no function %s", name)
		}
	}
}
