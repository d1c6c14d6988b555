// SPDX-License-Identifier: Apache-2.0

// Package sys reads what the operating system grants this process: CPUs
// (affinity, cgroup, quota, topology), memory (cgroup limits, huge pages),
// descriptors and mappings; and it sets what belongs to one thread: affinity and
// nice value.
//
// Every reader of files takes the file system it reads (Root for the real one), so
// that tests use trees recorded on other machines. All functions belong to the
// control plane: they allocate and may read many files.
package sys

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// ErrNotSupported says that this system has no such thing.
var ErrNotSupported = errors.New("not supported on this system")

// Root is the real file system.
func Root() fs.FS { return os.DirFS("/") }

// text returns the content of a small file without surrounding white space.
func text(fsys fs.FS, name string) (string, error) {
	b, err := fs.ReadFile(fsys, name)
	return strings.TrimSpace(string(b)), err
}

// number reads a file that holds one number; "max" and what does not fit are the largest.
func number(fsys fs.FS, name string) (uint64, error) {
	s, err := text(fsys, name)
	if err != nil {
		return 0, err
	}
	if s == "max" || s == "-1" {
		return 1<<64 - 1, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return n, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %q is no number", name, s)
	}
	return n, nil
}

// integer reads a file that holds a small, possibly negative number; def if there is none.
func integer(fsys fs.FS, name string, def int) int {
	s, err := text(fsys, name)
	if err != nil {
		return def
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return def
	}
	return n
}

// fields reads a file of lines "name value..." (memory.stat, meminfo) and returns the
// values of the names asked for, 0 where there is none. Values in kB become bytes.
func fields(fsys fs.FS, name string, want ...string) (map[string]uint64, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	got := make(map[string]uint64, len(want))
	for sc := bufio.NewScanner(f); sc.Scan(); {
		w := strings.Fields(sc.Text())
		if len(w) < 2 {
			continue
		}
		key := strings.TrimSuffix(w[0], ":")
		for _, k := range want {
			if k != key {
				continue
			}
			n, err := strconv.ParseUint(w[1], 10, 64)
			if err != nil {
				continue
			}
			if len(w) > 2 && w[2] == "kB" {
				n <<= 10
			}
			got[k] = n
		}
	}
	return got, nil
}

// Size prints bytes for people: "350 MiB".
func Size(n uint64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.0f GiB", float64(n)/(1<<30))
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
