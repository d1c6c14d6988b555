// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Descriptor is one open file of this process.
type Descriptor struct {
	FD     int
	Target string // what it is open on: a path, "socket:[123]", "anon_inode:[eventfd]"
}

// Descriptors lists the open files of this process, by number; for leak checks.
func Descriptors(fsys fs.FS) ([]Descriptor, error) {
	dir := "proc/self/fd"
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("open descriptors: /%s: %w", dir, ErrNotSupported)
	}
	var list []Descriptor
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		target, err := fs.ReadLink(fsys, dir+"/"+e.Name())
		if err != nil {
			continue // the one that the directory was read through
		}
		list = append(list, Descriptor{fd, target})
	}
	slices.SortFunc(list, func(a, b Descriptor) int { return a.FD - b.FD })
	return list, nil
}

// Mapping is one mapped range of this process.
type Mapping struct {
	Start, End uint64
	Perm       string // "rw-s"
	Name       string // path of a file, "[heap]", "" = anonymous
}

// Mappings lists the mapped ranges of this process; for leak checks and doctors.
func Mappings(fsys fs.FS) ([]Mapping, error) {
	var list []Mapping
	if _, err := fs.Stat(fsys, "proc/self/maps"); err != nil {
		return nil, fmt.Errorf("mapped ranges: /proc/self/maps: %w", ErrNotSupported)
	}
	eachLine(fsys, "proc/self/maps", func(line string) {
		w := strings.Fields(line)
		if len(w) < 5 {
			return
		}
		lo, hi, _ := strings.Cut(w[0], "-")
		a, err1 := strconv.ParseUint(lo, 16, 64)
		b, err2 := strconv.ParseUint(hi, 16, 64)
		if err1 != nil || err2 != nil {
			return
		}
		list = append(list, Mapping{a, b, w[1], strings.Join(w[5:], " ")})
	})
	return list, nil
}

// HugeBytes returns how much of the range that starts at an address is backed by
// transparent huge pages now (AnonHugePages of /proc/self/smaps).
func HugeBytes(fsys fs.FS, start, end uint64) (uint64, error) {
	if _, err := fs.Stat(fsys, "proc/self/smaps"); err != nil {
		return 0, fmt.Errorf("huge pages of a range: /proc/self/smaps: %w", ErrNotSupported)
	}
	var sum uint64
	inside := false
	eachLine(fsys, "proc/self/smaps", func(line string) {
		w := strings.Fields(line)
		if len(w) >= 5 && !strings.HasSuffix(w[0], ":") {
			lo, hi, _ := strings.Cut(w[0], "-")
			a, err1 := strconv.ParseUint(lo, 16, 64)
			b, err2 := strconv.ParseUint(hi, 16, 64)
			inside = err1 == nil && err2 == nil && a < end && b > start
			return
		}
		if inside && len(w) == 3 && w[0] == "AnonHugePages:" {
			n, _ := strconv.ParseUint(w[1], 10, 64)
			sum += n << 10
		}
	})
	return sum, nil
}
