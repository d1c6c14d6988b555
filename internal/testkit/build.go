// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/odp-go/godp/internal/invariants"
)

// Race says whether the race detector is on: allocations and instructions are then
// not those of the product, and everything is some 10 times slower.
const Race = race

// goBuild runs the compiler over the package in dir (relative to the test's own) with
// flags that make it print, and returns what it printed. The go command keeps
// the output with the object file, so that only the first call after a change compiles.
func goBuild(t testing.TB, dir string, tests bool, gcflags string) string {
	t.Helper()
	switch {
	case race:
		t.Skip("facts about the compiled code hold without the race detector")
	case testing.CoverMode() != "":
		t.Skip("facts about the compiled code hold without coverage")
	case testing.Short():
		t.Skip("compiles the package: not in short mode")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command: ", err)
	}
	args := []string{"build", "-o", os.DevNull}
	if tests {
		args = []string{"test", "-c", "-o", os.DevNull, "-vet=off"}
	}
	args = append(args, "-gcflags="+gcflags)
	if tags := activeTags(); tags != "" {
		args = append(args, "-tags="+tags)
	}
	key := dir + strings.Join(args, " ")
	buildMu.Lock()
	defer buildMu.Unlock()
	if out, ok := builds[key]; ok {
		return out
	}
	cmd := exec.Command(goTool, append(args, ".")...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, tail(string(out)))
	}
	builds[key] = string(out)
	return string(out)
}

var (
	buildMu sync.Mutex
	builds  = map[string]string{}
)

// activeTags are the build tags of this test, so that what is compiled is what runs.
func activeTags() string {
	var tags []string
	if invariants.Enabled {
		tags = append(tags, "invariants")
	}
	if portable {
		tags = append(tags, "portable")
	}
	return strings.Join(tags, ",")
}

func tail(s string) string {
	if len(s) > 4000 {
		return "..." + s[len(s)-4000:]
	}
	return s
}
