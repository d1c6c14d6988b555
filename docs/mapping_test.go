// SPDX-License-Identifier: Apache-2.0

// Package docs holds the tests of the documents: what they name must exist.
package docs

import (
	"bytes"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite odp-index.md")

const (
	callsFile   = "testdata/odp-1.50-calls.txt"
	mappingFile = "odp-mapping.md"
	indexFile   = "odp-index.md"
	module      = "github.com/odp-go/godp/"
)

// packages are the short names that the mapping uses, with import paths.
var packages = map[string]string{
	"odp": module + "odp", "buffer": module + "buffer", "queue": module + "queue", "schedule": module + "schedule",
	"pktio": module + "pktio", "driver": module + "pktio/driver", "header": module + "header", "worker": module + "worker",
	"odptest": module + "odptest", "conformance": module + "conformance", "ring": module + "queue/ring",

	"atomic": "sync/atomic", "binary": "encoding/binary", "rand": "math/rand/v2", "crand": "crypto/rand", "crc32": "hash/crc32",
	"zlib": "compress/zlib", "flate": "compress/flate", "sha1": "crypto/sha1", "sha256": "crypto/sha256", "aes": "crypto/aes",
	"cipher": "crypto/cipher", "hmac": "crypto/hmac", "sync": "sync", "time": "time", "slog": "log/slog", "errors": "errors",
	"bytes": "bytes", "debug": "runtime/debug", "runtime": "runtime", "os": "os", "netip": "net/netip", "flag": "flag",
	"testing": "testing", "context": "context",
}

// row is one line of a table of the mapping.
type row struct {
	line    int
	section string
	calls   []string // of ODP; may end in *
	goNames []string
	notes   []string // code spans of the last column
}

var span = regexp.MustCompile("`([^`]+)`")

func spans(s string) (list []string) {
	for _, m := range span.FindAllStringSubmatch(s, -1) {
		list = append(list, m[1])
	}
	return list
}

// readMapping returns the rows whose first column names ODP calls.
func readMapping(t *testing.T) []row {
	t.Helper()
	b, err := os.ReadFile(mappingFile)
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	section := ""
	for i, line := range strings.Split(string(b), "\n") {
		if s, ok := strings.CutPrefix(line, "## "); ok {
			section = s
		}
		col := strings.Split(line, "|")
		if len(col) != 5 || col[0] != "" {
			continue
		}
		r := row{line: i + 1, section: section, calls: spans(col[1]), goNames: spans(col[2]), notes: spans(col[3])}
		if len(r.calls) == 0 || !isCall(r.calls[0]) {
			continue
		}
		if len(r.goNames) == 0 && strings.TrimSpace(col[2]) != "–" {
			t.Errorf("%s:%d: the Go column names nothing: write – and say why", mappingFile, r.line)
		}
		if strings.TrimSpace(col[2]) == "–" && strings.TrimSpace(col[3]) == "" {
			t.Errorf("%s:%d: no Go name and no reason", mappingFile, r.line)
		}
		rows = append(rows, r)
	}
	return rows
}

func isCall(s string) bool {
	return strings.HasPrefix(s, "odp_") || strings.HasPrefix(s, "odph_") || strings.HasPrefix(s, "ODP")
}

func readCalls(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile(callsFile)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] != "#" {
			list = append(list, f[0])
		}
	}
	if len(list) < 1000 {
		t.Fatalf("%s has %d names only", callsFile, len(list))
	}
	return list
}

// resolve finds the row of each call: the one that names it, else the group with the
// longest common beginning.
func resolve(calls []string, rows []row) (found map[string]row, faults []string) {
	found = map[string]row{}
	group := map[string]int{} // length of the beginning that matched; len(call)+1 when named
	known := map[string]bool{}
	for _, c := range calls {
		known[c] = true
	}
	for _, r := range rows {
		for _, name := range r.calls {
			begin, isGroup := strings.CutSuffix(name, "*")
			if !isGroup {
				switch {
				case !known[name]:
					faults = append(faults, fmt.Sprintf("line %d: ODP 1.50 has no %s", r.line, name))
				case group[name] > len(name):
					faults = append(faults, fmt.Sprintf("line %d: %s stands in line %d too", r.line, name, found[name].line))
				}
				found[name], group[name] = r, len(name)+1
				continue
			}
			n := 0
			for _, c := range calls {
				if strings.HasPrefix(c, begin) {
					n++
					if group[c] < len(begin) {
						found[c], group[c] = r, len(begin)
					}
				}
			}
			if n < 2 {
				faults = append(faults, fmt.Sprintf("line %d: %s is no group: %d calls of ODP 1.50 begin so", r.line, name, n))
			}
		}
	}
	for _, c := range calls {
		if _, ok := found[c]; !ok {
			faults = append(faults, c+" is not there")
		}
	}
	return found, faults
}

func TestMappingCoversODP(t *testing.T) {
	_, faults := resolve(readCalls(t), readMapping(t))
	for _, f := range faults {
		t.Errorf("%s: %s", mappingFile, f)
	}
}

func TestMappingFindsFaults(t *testing.T) {
	calls := []string{"odp_a_x", "odp_a_y", "odp_b"}
	_, faults := resolve(calls, []row{{line: 1, calls: []string{"odp_a_*"}}, {line: 2, calls: []string{"odp_a_x", "odp_c"}}, {line: 3, calls: []string{"odp_a_x", "odp_d*"}}})
	want := []string{"line 2: ODP 1.50 has no odp_c", "line 3: odp_a_x stands in line 2 too", "line 3: odp_d* is no group: 0 calls of ODP 1.50 begin so", "odp_b is not there"}
	if !slices.Equal(faults, want) {
		t.Errorf("got %q\nwant %q", faults, want)
	}
	if msg := lookup(load(t), "odp.Instance.Nothing"); !strings.Contains(msg, "has no Nothing") {
		t.Errorf("odp.Instance.Nothing: %q", msg)
	}
}

// anchor is the fragment that a heading has on the usual viewers.
func anchor(heading string) string {
	s := strings.ToLower(heading)
	return strings.ReplaceAll(regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(s, ""), " ", "-")
}

func TestIndex(t *testing.T) {
	calls, rows := readCalls(t), readMapping(t)
	found, _ := resolve(calls, rows)
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- SPDX-License-Identifier: Apache-2.0 -->\n# Index of ODP calls\n\n"+
		"The %d calls of ODP 1.50's public headers, with what takes their place; the section has the differences.\n"+
		"Written by `go test ./docs -run Index -update`.\n\n| ODP | Go | section |\n|---|---|---|\n", len(calls))
	for _, c := range calls {
		r := found[c]
		names := "–"
		if len(r.goNames) > 0 {
			names = "`" + strings.Join(r.goNames, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | [%s](%s#%s) |\n", c, names, r.section, mappingFile, anchor(r.section))
	}
	if *update {
		if err := os.WriteFile(indexFile, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(indexFile)
	if err != nil || !bytes.Equal(old, b.Bytes()) {
		t.Errorf("%s is not up to date (%v): go test ./docs -run Index -update", indexFile, err)
	}
}

// load type-checks what the mapping names, from the compiler's export data.
func load(t *testing.T) map[string]*types.Package {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}
	for _, p := range packages {
		args = append(args, p)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	export := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 2 {
			export[f[0]] = f[1]
		}
	}
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if export[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(export[path])
	})
	all := map[string]*types.Package{}
	for short, path := range packages {
		p, err := imp.Import(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[short] = p
	}
	return all
}

// lookup says what is wrong with a name, package.Name or package.Type.Member.
func lookup(all map[string]*types.Package, name string) string {
	part := strings.Split(name, ".")
	p := all[part[0]]
	if p == nil || len(part) < 2 || len(part) > 3 {
		return fmt.Sprintf("%s: not of the form package.Name or package.Type.Member, with a package of the list", name)
	}
	obj := p.Scope().Lookup(part[1])
	if obj == nil || !obj.Exported() {
		return fmt.Sprintf("%s: package %s has no %s", name, p.Path(), part[1])
	}
	if len(part) == 2 {
		return ""
	}
	if _, ok := obj.(*types.TypeName); !ok {
		return fmt.Sprintf("%s: %s is no type", name, part[1])
	}
	if m, _, _ := types.LookupFieldOrMethod(obj.Type(), true, p, part[2]); m == nil || !m.Exported() {
		return fmt.Sprintf("%s: %s has no %s", name, part[1], part[2])
	}
	return ""
}

// looksGo is a code span of a note that names something of a package of the list.
var looksGo = regexp.MustCompile(`^[a-z0-9]+\.[A-Z]\w*(\.[A-Z]\w*)?$`)

func TestMappingNamesExist(t *testing.T) {
	all := load(t)
	n := 0
	for _, r := range readMapping(t) {
		names := r.goNames
		for _, s := range r.notes {
			if looksGo.MatchString(s) {
				names = append(names[:len(names):len(names)], s)
			}
		}
		for _, name := range names {
			n++
			if msg := lookup(all, name); msg != "" {
				t.Errorf("%s:%d: %s", mappingFile, r.line, msg)
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d Go names were found in the tables", n)
	}
}

// Links from the document into itself lead to a heading.
func TestMappingLinks(t *testing.T) {
	b, err := os.ReadFile(mappingFile)
	if err != nil {
		t.Fatal(err)
	}
	heads := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		if s, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok {
			heads[anchor(s)] = true
		}
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]*))?\)`).FindAllStringSubmatch(string(b), -1) {
		if m[1] != "" {
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s links to %s: %v", mappingFile, m[1], err)
			}
		} else if !heads[m[2]] {
			t.Errorf("%s links to #%s: no such heading", mappingFile, m[2])
		}
	}
}
