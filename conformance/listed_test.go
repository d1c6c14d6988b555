// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const (
	mappingFile = "../docs/odp-mapping.md"
	mappingHead = "## Behaviours without a case\n"
)

// Every behaviour of an area that is listed is a case or mapped, and never both.
func TestListedAreCasesOrMapped(t *testing.T) {
	reason := map[string]string{}
	for _, m := range mapped {
		if m.From > m.To || len(m.Reason) < 20 || m.What == "" {
			t.Errorf("%+v is incomplete", m)
		}
		for n := m.From; n <= m.To; n++ {
			id := fmt.Sprintf("%s-%02d", m.Area, n)
			if reason[id] != "" {
				t.Errorf("%s is mapped twice", id)
			}
			reason[id] = m.Reason
		}
	}
	sum := 0
	for _, l := range listed {
		for n := 1; n <= l.N; n++ {
			id := fmt.Sprintf("%s-%02d", l.Area, n)
			_, isCase := cases[id]
			if isCase == (reason[id] != "") {
				t.Errorf("%s: a case: %v, mapped: %q", id, isCase, reason[id])
			}
			delete(reason, id)
			sum++
		}
	}
	for id := range reason {
		t.Errorf("%s is mapped and not listed", id)
	}
	c := Covered()
	if c.Listed != sum || c.Listed != c.Cases+c.Mapped {
		t.Errorf("%+v, of %d: the sum is wrong", c, sum)
	}
	t.Log(c)
}

// What may not be mapped away: a case of its own, which passes on every platform
// that has a device.
func TestCoreIsNeverMapped(t *testing.T) {
	core := map[string][][2]int{
		"POOL": {{1, 35}, {42, 43}, {46, 46}}, "BUF": {{1, 18}}, "PKT": {{1, 41}}, "QUEUE": {{1, 32}}, "SCHED": {{1, 33}, {46, 60}}, "PKTIO": {{1, 34}},
	}
	for area, ranges := range core {
		for _, r := range ranges {
			for n := r[0]; n <= r[1]; n++ {
				id := fmt.Sprintf("%s-%02d", area, n)
				c, ok := cases[id]
				if lacks, skipped := loopSkips[id]; !ok || skipped || slices.ContainsFunc(c.Needs, func(n Capability) bool { return n != CapDevice }) {
					t.Errorf("%s: a case: %v, needs %v, skipped for %q", id, ok, c.Needs, lacks)
				}
			}
		}
	}
}

func mappedTable() string {
	var b strings.Builder
	c := Covered()
	fmt.Fprintf(&b, "\nThe [suites](conformance.md) restate ODP's validation suite. Areas: ")
	for i, l := range listed {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%d)", l.Area, l.N)
	}
	fmt.Fprintf(&b, ".\n%d behaviours are listed: %d are cases, %d stand here. %d further cases are this project's own.\n", c.Listed, c.Cases, c.Mapped, c.Own)
	fmt.Fprintf(&b, "This section is written by `go test ./conformance -run Docs -update`.\n\n| behaviours | what | why there is no case, and what to use instead |\n|---|---|---|\n")
	for _, m := range mapped {
		first, last := m.IDs()
		if m.From != m.To {
			first += " to " + last
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", first, m.What, m.Reason)
	}
	return b.String()
}

func TestDocsListWhatIsMapped(t *testing.T) {
	b, err := os.ReadFile(mappingFile)
	if err != nil {
		t.Fatal(err)
	}
	head, list, ok := strings.Cut(string(b), mappingHead)
	if !ok {
		t.Fatalf("%s has no line %q", mappingFile, mappingHead)
	}
	if *update {
		if err := os.WriteFile(mappingFile, []byte(head+mappingHead+mappedTable()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if list != mappedTable() {
		t.Errorf("%s is not up to date: go test ./conformance -run Docs -update", mappingFile)
	}
}
