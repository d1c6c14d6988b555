// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Case is one behaviour.
type Case struct {
	// ID is the area and a number: POOL-01.
	ID string
	// Objective says in one sentence what must hold.
	Objective string
	// Needs are the capabilities without which the case is skipped. What only the
	// open device tells is asked inside, with Env.Skip.
	Needs []Capability
	run   func(e *Env)
}

// Area returns the part of the id before the number.
func (c Case) Area() string { return areaOf(c.ID) }

func areaOf(id string) string { return id[:max(0, strings.LastIndexByte(id, '-'))] }

func (c Case) number() int {
	n, _ := strconv.Atoi(c.ID[strings.LastIndexByte(c.ID, '-')+1:])
	return n
}

// areaOrder is the order of the areas in a run and in a report: from the bottom
// of the house to its top.
var areaOrder = []string{"POOL", "BUF", "PKT", "VEC", "EV", "EVV", "HASH", "CHK", "TIME", "THR", "CPU", "BARR", "LOCK", "QUEUE", "SCHED", "PKTIO"}

var cases = map[string]Case{}

// register adds the cases of an area, at start. Wrong entries are mistakes of this
// package, so they panic.
func register(area string, list ...Case) {
	if !slices.Contains(areaOrder, area) {
		panic("conformance: area " + area + " is not in areaOrder")
	}
	for _, c := range list {
		_, dup := cases[c.ID]
		if dup || c.Area() != area || c.number() <= 0 || c.Objective == "" || c.run == nil {
			panic(fmt.Sprintf("conformance: case %q of area %q is there twice or incomplete", c.ID, area))
		}
		cases[c.ID] = c
	}
}

// Cases lists all cases in the order in which they run.
func Cases() []Case {
	list := make([]Case, 0, len(cases))
	for _, c := range cases {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Case) int {
		return cmp.Or(cmp.Compare(slices.Index(areaOrder, a.Area()), slices.Index(areaOrder, b.Area())),
			cmp.Compare(a.number(), b.number()), cmp.Compare(a.ID, b.ID))
	})
	return list
}
