// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the list of cases in docs/conformance.md")

const (
	docsFile  = "../docs/conformance.md"
	casesHead = "## The cases\n"
)

// caseList is the generated part of the document.
func caseList() string {
	var b strings.Builder
	area, n := "", 0
	count := map[string]int{}
	for _, c := range Cases() {
		count[c.Area()]++
	}
	for _, c := range Cases() {
		if c.Area() != area {
			area = c.Area()
			fmt.Fprintf(&b, "\n### %s (%d)\n\n| id | what must hold | state |\n|---|---|---|\n", area, count[area])
		}
		state := "pass"
		if lacks, ok := loopSkips[c.ID]; ok {
			state = "skipped on `loop`: " + string(lacks)
		} else if len(c.Needs) > 0 {
			var needs []string
			for _, need := range c.Needs {
				needs = append(needs, string(need))
			}
			state = "pass; needs: " + strings.Join(needs, ", ")
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.ID, c.Objective, state)
		n++
	}
	return fmt.Sprintf("%d cases. `pass` means on every platform of this repository unless a skip is named.\nThis list is written by `go test ./conformance -run Docs -update`.\n", n) + b.String()
}

func TestDocsListAllCases(t *testing.T) {
	b, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	head, list, ok := strings.Cut(string(b), casesHead)
	if !ok {
		t.Fatalf("%s has no line %q", docsFile, casesHead)
	}
	if *update {
		if err := os.WriteFile(docsFile, []byte(head+casesHead+"\n"+caseList()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if testing.Short() {
		t.Skip("the list of cases is compared in the full run")
	}
	for _, c := range Cases() {
		if !strings.Contains(list, "### "+c.Area()+" (") {
			continue // the list is written area by area
		}
		if !strings.Contains(list, "| "+c.ID+" |") {
			t.Errorf("%s does not list %s: run go test ./conformance -run Docs -update", docsFile, c.ID)
		}
	}
}
