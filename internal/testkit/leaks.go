// SPDX-License-Identifier: Apache-2.0

// Package testkit is what the tests of several packages need: a leak check for
// TestMain, assertions about allocations, and about what the compiler made of a function
// (inlined, escapes, bounds checks, locked instructions).
//
//	func TestMain(m *testing.M) { testkit.Main(m) }
package testkit

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/internal/sys"
)

// Check finds what should be gone when all tests have ended: one line for each.
type Check struct {
	Name string
	Find func() []string
}

// Main runs the tests of a package, and fails them when goroutines, descriptors,
// mapped files or ranges of the arena are left that were not there before, or when
// one of the extra checks (pools, devices) finds something. What ends by itself
// is given two seconds.
func Main(m *testing.M, extra ...Check) {
	find := Leaks(extra...)
	code := m.Run()
	if code == 0 {
		if left := find(); len(left) > 0 {
			fmt.Fprintf(os.Stderr, "left behind by the tests:\n  %s\n", strings.Join(left, "\n  "))
			code = 1
		}
	}
	os.Exit(code)
}

// Leaks notes what the process has open now. find says what it has open beyond that,
// as Main does; what ends by itself is given two seconds.
func Leaks(extra ...Check) (find func() []string) {
	checks := append([]Check{arenaCheck(), descriptorCheck(), mappingCheck()}, extra...)
	old := goleak.IgnoreCurrent() // packages start some when they are imported (ants)
	return func() []string {
		var left []string
		for end := time.Now().Add(2 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if left = leftovers(checks); len(left) == 0 || time.Now().After(end) {
				break
			}
		}
		if err := goleak.Find(old); err != nil {
			left = append(left, "goroutines: "+err.Error())
		}
		return left
	}
}

func leftovers(checks []Check) (left []string) {
	for _, c := range checks {
		for _, x := range c.Find() {
			left = append(left, c.Name+": "+x)
		}
	}
	return left
}

// arenaCheck finds ranges of the arena that were not closed.
func arenaCheck() Check {
	before := map[uint64]bool{}
	for _, r := range arena.OpenRanges() {
		before[r.Off] = true
	}
	return Check{"arena range not closed", func() (left []string) {
		for _, r := range arena.OpenRanges() {
			if !before[r.Off] {
				left = append(left, fmt.Sprintf("%q, %d bytes (%s)", r.Name, r.Size, r.Backing))
			}
		}
		return left
	}}
}

// descriptorCheck finds descriptors that were not closed; nothing where they can't be listed.
func descriptorCheck() Check {
	// the runtime's own descriptors are opened with the first pipe
	if r, w, err := os.Pipe(); err == nil {
		r.Close()
		w.Close()
	}
	before, _ := sys.Descriptors(sys.Root())
	return Check{"descriptor not closed", func() (left []string) {
		now, _ := sys.Descriptors(sys.Root())
		for _, d := range now {
			if !slices.Contains(before, d) && !harmless(d.Target) {
				left = append(left, fmt.Sprintf("%d: %s", d.FD, d.Target))
			}
		}
		return left
	}}
}

// harmless are files that the standard library or the test driver keeps open.
func harmless(target string) bool {
	return strings.HasPrefix(target, "/dev/urandom") || strings.HasPrefix(target, "/dev/null") || strings.HasSuffix(target, "testlog.txt")
}

// mappingCheck finds mapped files and devices that were not unmapped.
func mappingCheck() Check {
	list := func() map[string]int {
		n := map[string]int{}
		ms, _ := sys.Mappings(sys.Root())
		for _, m := range ms {
			if strings.HasPrefix(m.Name, "/") && !strings.HasSuffix(m.Name, ".so") && !strings.Contains(m.Name, ".so.") && m.Perm != "" && m.Perm[2] != 'x' {
				n[m.Name]++
			}
		}
		return n
	}
	before := list()
	return Check{"mapping not given back", func() (left []string) {
		for name, n := range list() {
			if n > before[name] {
				left = append(left, fmt.Sprintf("%s (%d, before %d)", name, n, before[name]))
			}
		}
		return left
	}}
}
