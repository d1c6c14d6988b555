// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// geometry are the accessors of words that never change in a kernel that keeps the
// rules: what is checked is kept, and they are not read again.
var geometry = []string{"Rings", "HostRings", "Entries", "TxEntry", "RxEntry", "RingOfs", "NumSlots", "BufSize", "BufOfs", "OffsetMask"}

// once are those that a function may read once of one object: a second reading may
// differ from the one that was checked.
var once = append([]string{"Head", "Cur", "Tail", "Ptr", "BufsHead", "Load"}, geometry...)

// geometryReaders are the functions that check these words; the last two measure costs on
// a world of their own.
var geometryReaders = []string{"netif", "ringAt", "findBuffers", "ringOf", "costOpen", "exchange"}

// twice are functions that read a word of one object again on purpose.
var twice = map[string]string{
	"txPrologue": "the kernel compares the client's tail with its own, and stores its own",
	"rxPrologue": "the same",
	"reinit":     "the same",
	"copyJoin":   "the flags of a slot whose index was checked by slotBuf, which read them in the same word",
	"pipeTx":     "a first look finds the end of the last whole frame, the second one checks again what it moves",
	"pipeRx":     "the same",
	"pollFast":   "indices of a send ring, then of a receive ring; they decide the answer only",
	"scribble":   "it is the one who writes rubbish",
	"sendChain":  "slots get valid buffers before anything is moved, and are checked again then",
}

// frameReaders are the functions that read bytes of frames, which decide nothing about memory.
var frameReaders = []string{"at64", "macAt", "writeFrame", "frameIn"}

var (
	rawRead = regexp.MustCompile(`^\*\(\*u?int(8|16|32|64)?\)\(`)
	slotVar = regexp.MustCompile(`^(s|slot)$|Slot\(|slot\(`)
)

// TestSharedWords looks at the code on both sides of the shared memory: no word of it is
// read but through abi's accessors or relax types, those of the geometry only where
// they are checked, and none twice from one object in a function.
func TestSharedWords(t *testing.T) {
	seen := map[string]bool{}
	for _, dir := range []string{".", "nmsim"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(filepath.Base(name), "system_") {
				continue
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					for _, msg := range sharedReads(fset, fn) {
						t.Errorf("%s: %s", fset.Position(fn.Pos()), msg)
					}
					seen[fn.Name.Name] = true
				}
			}
		}
	}
	for name := range twice {
		if !seen[name] {
			t.Errorf("the list of exceptions names %s, which is gone", name)
		}
	}
	for _, bad := range []string{
		"func f(r *abi.Ring) uint32 { return r.NumSlots() }",
		"func f(r *abi.Ring) bool { return r.Tail() < n && r.Tail() > 0 }",
		"func f(s *abi.Slot) { a, _, _ := s.Load(); b, _, _ := s.Load() }",
		"func f(p unsafe.Pointer) uint32 { return *(*uint32)(p) }",
	} {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "bad.go", "package p\n"+bad, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(sharedReads(fset, f.Decls[0].(*ast.FuncDecl))) != 1 {
			t.Errorf("not seen: %s", bad)
		}
	}
}

func sharedReads(fset *token.FileSet, fn *ast.FuncDecl) (msgs []string) {
	text := func(n ast.Node) string {
		var b bytes.Buffer
		printer.Fprint(&b, fset, n)
		return b.String()
	}
	name, count := fn.Name.Name, map[string]int{}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StarExpr:
			if s := text(n); rawRead.MatchString(s) && !slices.Contains(frameReaders, name) {
				msgs = append(msgs, name+" reads memory without an accessor: "+s)
			}
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains(once, sel.Sel.Name) {
				break
			}
			recv := text(sel.X)
			if sel.Sel.Name == "Load" && !slotVar.MatchString(recv) {
				break // of an atomic pointer
			}
			if slices.Contains(geometry, sel.Sel.Name) && !slices.Contains(geometryReaders, name) {
				msgs = append(msgs, name+" reads "+text(n)+": only "+strings.Join(geometryReaders, ", ")+" do, which check it")
			}
			if call := text(n); sel.Sel.Name != "RingOfs" {
				count[call]++
				if count[call] == 2 && twice[name] == "" {
					msgs = append(msgs, name+" reads "+call+" twice")
				}
			}
		}
		return true
	})
	return msgs
}
