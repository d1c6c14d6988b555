// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"flag"
	"fmt"
	"os"
	"slices"
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
		if skip := skippedOn(c.ID); skip != "" {
			state = skip
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

// skippedOn says on which platforms a case is skipped, and for what.
func skippedOn(id string) string {
	lists := []struct {
		name  string
		skips map[string]Capability
	}{{"loop", loopSkips}, {"nmsim cards", nicSkips}, {"nmsim cards without frames of several slots", plainNICSkips}, {"pipes and switch ports", softSkips}}
	if !strings.HasPrefix(id, "PKTIO-") {
		lists = lists[:1] // no device takes part
	}
	var on []string
	why := map[Capability]bool{}
	for _, l := range lists {
		if lacks, ok := l.skips[id]; ok {
			on = append(on, l.name)
			why[lacks] = true
		}
	}
	if len(on) == 0 {
		return ""
	}
	var lacks []string
	for c := range why {
		lacks = append(lacks, string(c))
	}
	slices.Sort(lacks)
	where := "`" + strings.Join(on, "`, `") + "`"
	if len(on) == len(lists) {
		where = "every platform"
	}
	return "skipped on " + where + ": " + strings.Join(lacks, "; ")
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
