// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// tree reads a recorded tree: files follow lines of the form "-- path --".
func tree(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".tree")
	if err != nil {
		t.Fatal(err)
	}
	m := fstest.MapFS{}
	var cur *fstest.MapFile
	for line := range strings.Lines(string(b)) {
		if p, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok {
			cur = &fstest.MapFile{}
			m[strings.TrimSuffix(p, " --")] = cur
		} else if cur != nil {
			cur.Data = append(cur.Data, line...)
		}
	}
	return m
}

// with replaces files of a tree; an empty content removes the file.
func with(m fstest.MapFS, files map[string]string) fstest.MapFS {
	for name, content := range files {
		if content == "" {
			delete(m, name)
			continue
		}
		m[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return m
}
