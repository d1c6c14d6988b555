// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bytes"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/odp-go/godp"

// allowed says what each room may import of this module, and which foreign
// modules. A room is a folder; a subfolder without an entry follows its parent's.
// An entry "x/" stands for x and everything below it. Arrows point down only: a room
// stands below those that import it.
var allowed = map[string][]string{
	"internal":         {"internal/", "golang.org/x/sys/unix", "golang.org/x/sys/cpu"},
	"internal/testkit": {"internal/", "go.uber.org/goleak", "golang.org/x/sys/unix"},
	"tools":            {},
	"docs":             {},
	"worker":           {"internal/", "golang.org/x/sys/unix"},
	"buffer":           {"internal/", "worker"},
	"header":           {"internal/", "buffer"},
	"lookup":           {"internal/"},
	"lookup/flow":      {"internal/"},
	"queue":            {"internal/", "worker", "buffer", "queue/ring"},
	"queue/ring":       {"internal/", "worker", "buffer"},
	"schedule":         {"internal/", "worker", "buffer", "queue", "queue/ring"},
	"pktio/driver":     {"internal/", "worker", "buffer"},
	"pktio":            {"internal/", "worker", "buffer", "header", "queue", "queue/ring", "pktio/driver", "golang.org/x/sys/unix"},
	"platform":         {"internal/", "worker", "buffer", "header", "queue", "queue/ring", "pktio/driver", "golang.org/x/sys/unix"},
	"platform/afxdp": {"internal/", "worker", "buffer", "queue", "pktio/driver", "golang.org/x/sys/unix", "platform/internal/",
		"github.com/cilium/ebpf", "github.com/cilium/ebpf/asm", "github.com/cilium/ebpf/link", "github.com/cilium/ebpf/rlimit"},
	"platform/tap":          {"internal/", "worker", "buffer", "queue", "pktio/driver", "golang.org/x/sys/unix", "platform/internal/"},
	"platform/pcap":         {"internal/", "worker", "buffer", "queue", "pktio/driver", "platform/internal/"},
	"platform/wrap":         {"internal/", "worker", "buffer", "header", "queue", "pktio/driver", "platform/internal/"},
	"platform/internal":     {"internal/", "worker", "buffer", "header", "queue", "pktio/driver", "golang.org/x/sys/unix"},
	"internal/netlab":       {"internal/", "odp", "queue", "worker", "pktio", "pktio/driver", "buffer", "golang.org/x/sys/unix", "github.com/vishvananda/netlink"},
	"platform/afpacket":     {"internal/", "worker", "buffer", "header", "queue", "pktio/driver", "golang.org/x/sys/unix", "platform/internal/"},
	"platform/netmap/abi":   {"internal/"},
	"platform/netmap/nmsim": {"internal/", "worker", "header", "platform/netmap/abi"},
	"platform/netmap": {"internal/", "worker", "buffer", "header", "queue", "queue/ring", "pktio/driver", "golang.org/x/sys/unix",
		"platform/netmap/abi", "platform/netmap/nmsim"},
	"odp": {"internal/", "worker", "buffer", "header", "lookup", "queue", "schedule", "pktio", "pktio/driver",
		"github.com/panjf2000/ants/v2", "go.uber.org/atomic"},
	"odptest":           {"internal/", "worker", "buffer", "header", "queue", "schedule", "pktio", "pktio/driver", "odp", "go.uber.org/goleak"},
	"conformance":       {"internal/", "worker", "buffer", "header", "queue", "schedule", "pktio", "pktio/driver", "odp", "odptest", "go.uber.org/goleak"},
	"conformance/chaos": {"internal/", "odp", "buffer", "queue", "pktio/driver", "platform/netmap", "platform/netmap/nmsim"},
	"examples":          {"examples/internal/", "odp", "odptest", "buffer", "header", "lookup/", "queue", "schedule", "pktio", "worker", "platform/", "go.uber.org/atomic"},
	"cmd":               {"cmd/", "golang.org/x/sys/unix", "odp", "odptest", "conformance/", "buffer", "header", "lookup/", "queue", "schedule", "pktio", "pktio/driver", "worker", "platform/", "internal/"},
}

// testOnly may be imported by tests of every room, beside what the room may. A test
// may use any room that does not stand above all (examples, cmd).
var testOnly = []string{"github.com/gaissmai/bart", "github.com/gopacket/gopacket", "github.com/gopacket/gopacket/layers", "github.com/gopacket/gopacket/pcapgo", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/google/go-cmp/cmp", "golang.org/x/sys/unix"}

const (
	maxLines        = 600
	maxExampleLines = 300
)

// words that are left behind by unfinished work; taken apart, so that this file
// passes its own test.
var words = regexp.MustCompile(`\bTO` + `DO\b|\bFIX` + `ME\b|\bX` + `XX\b|(?i)\bst` + `ubs?\b|(?i)not ` + `implemented|/wor` + `k/`)

func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil && dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatalf("no go.mod above this folder (%v)", err)
	return ""
}

// file is one file of the repository; path is relative, with slashes.
type file struct {
	path string
	text []byte
}

func files(t testing.TB) []file {
	t.Helper()
	dir := root(t)
	var all []file
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == "bin" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".git") {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(p)
		all = append(all, file{rel, b})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 {
		t.Fatalf("only %d files found in %s", len(all), dir)
	}
	return all
}

func isTest(p string) bool { return strings.HasSuffix(p, "_test.go") }

func TestImports(t *testing.T) {
	for _, f := range files(t) {
		if path.Ext(f.path) != ".go" {
			continue
		}
		for _, msg := range importErrors(f) {
			t.Error(msg)
		}
	}
}

// importErrors says which imports of the file the table does not allow.
func importErrors(f file) (msgs []string) {
	ast, err := parser.ParseFile(token.NewFileSet(), f.path, f.text, parser.ImportsOnly)
	if err != nil {
		return []string{err.Error()}
	}
	dir := path.Dir(f.path)
	room, list := roomOf(dir)
	if room == "" {
		return []string{fmt.Sprintf("%s: %q is no room of the house: add it to the table", f.path, dir)}
	}
	for _, imp := range ast.Imports {
		name, _ := strconv.Unquote(imp.Path.Value)
		if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
			continue // standard library
		}
		rel, own := strings.CutPrefix(name, module+"/")
		if own && rel == dir {
			continue // a test of the package from outside
		}
		if isTest(f.path) {
			above := strings.HasPrefix(rel, "examples/") || strings.HasPrefix(rel, "cmd/")
			if own && (!above || matches(list, rel)) || slices.Contains(testOnly, name) {
				continue
			}
		}
		if !matches(list, rel) {
			msgs = append(msgs, fmt.Sprintf("%s: room %q may not import %q; allowed are %v", f.path, room, name, list))
		}
	}
	return msgs
}

func roomOf(dir string) (string, []string) {
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if l, ok := allowed[dir]; ok {
			return dir, l
		}
	}
	return "", nil
}

func matches(list []string, name string) bool {
	for _, a := range list {
		if name == a || strings.HasSuffix(a, "/") && (name == a[:len(a)-1] || strings.HasPrefix(name, a)) {
			return true
		}
	}
	return false
}

// The table itself has no arrow that points up: there is an order of the rooms in
// which each imports only those before it.
func TestTableHasNoCycle(t *testing.T) {
	const (
		open = 1 + iota
		done
	)
	state := map[string]int{}
	var visit func(room string, way []string)
	visit = func(room string, way []string) {
		switch state[room] {
		case open:
			t.Fatalf("a cycle in the table: %v", append(way, room))
		case done:
			return
		}
		state[room] = open
		for _, a := range allowed[room] {
			to, _ := roomOf(strings.TrimSuffix(a, "/"))
			if to != "" && to != room && !strings.HasPrefix(room, to+"/") {
				visit(to, append(way, room))
			}
		}
		state[room] = done
	}
	for room := range allowed {
		visit(room, nil)
	}
}

func TestFiles(t *testing.T) {
	for _, f := range files(t) {
		for _, msg := range fileErrors(f) {
			t.Error(msg)
		}
	}
}

// fileErrors says what is wrong with one file.
func fileErrors(f file) (msgs []string) {
	bad := func(format string, args ...any) { msgs = append(msgs, f.path+": "+fmt.Sprintf(format, args...)) }
	ext := path.Ext(f.path)
	source := ext == ".go" || ext == ".s" || ext == ".sh" || f.path == "Makefile" || bytes.HasPrefix(f.text, []byte("#!"))
	if !source && ext != ".md" {
		return nil
	}
	for i, line := range bytes.Split(f.text, []byte("\n")) {
		if w := words.Find(line); w != nil {
			bad("line %d: %q", i+1, w)
		}
	}
	if !source {
		return msgs
	}
	head := f.text[:min(len(f.text), 300)]
	if !bytes.Contains(head, []byte("SPDX-License-Identifier: Apache-2.0")) {
		bad("the licence line is missing (SPDX-License-Identifier: Apache-2.0)")
	}
	limit := maxLines
	if strings.HasPrefix(f.path, "examples/") && !strings.HasPrefix(f.path, "examples/internal/") {
		limit = maxExampleLines
	}
	if n := bytes.Count(f.text, []byte("\n")); n > limit && !(isTest(f.path) && n <= maxLines) {
		bad("%d lines: at most %d; split it by idea", n, limit)
	}
	if ext == ".go" {
		if out, err := format.Source(f.text); err != nil {
			bad("%v", err)
		} else if !bytes.Equal(out, f.text) {
			bad("not formatted: gofmt -w %s", f.path)
		}
	}
	return msgs
}

// The rules do see what they are for.
func TestRulesSee(t *testing.T) {
	const licence = "// SPDX-License-Identifier: Apache-2.0\n\n"
	for _, c := range []struct {
		path, text, want string
	}{
		{"buffer/a.go", "package buffer\n", "licence"},
		{"buffer/a.go", licence + "package buffer\n\n// TO" + "DO: more\n", "line 5"},
		{"buffer/a.go", licence + "package   buffer\n", "not formatted"},
		{"buffer/a.go", licence + "package buffer\n" + strings.Repeat("\n// a\n", 300), "603 lines"},
		{"examples/x/main.go", licence + "package main\n" + strings.Repeat("\n// a\n", 150), "at most 300"},
		{"docs/a.md", "not " + "implemented yet", "line 1"},
		{"run.sh", "#!/bin/sh\n", "licence"},
	} {
		if got := strings.Join(fileErrors(file{c.path, []byte(c.text)}), "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q lacks %q", c.path, got, c.want)
		}
	}
	for _, c := range []struct {
		path, imp string
		ok        bool
	}{
		{"buffer/a.go", module + "/worker", true},
		{"buffer/a.go", module + "/queue", false},
		{"buffer/a.go", module + "/internal/arena", true},
		{"buffer/a.go", "go.uber.org/atomic", false},
		{"buffer/a.go", "net/netip", true},
		{"buffer/a_test.go", "pgregory.net/rapid", true},
		{"buffer/a_test.go", module + "/odptest", true},
		{"buffer/a_test.go", module + "/examples/x", false},
		{"odp/a.go", module + "/platform/null", false},
		{"schedule/a.go", module + "/pktio", false},
		{"platform/loop/a.go", module + "/pktio", false},
		{"nowhere/a.go", module + "/worker", false},
	} {
		text := fmt.Sprintf("package a\n\nimport _ %q\n", c.imp)
		if got := importErrors(file{c.path, []byte(text)}); (len(got) == 0) != c.ok {
			t.Errorf("%s imports %s: %v", c.path, c.imp, got)
		}
	}
}
