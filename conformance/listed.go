// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"
)

// Listed is how many behaviours ODP's validation suite asserts in an area, restated
// and numbered from 1 on. Each is a case, or Mapped.
type Listed struct {
	Area string
	N    int
}

// listed are the areas of which nothing is left out. Cases with higher numbers are
// this project's own.
var listed = []Listed{
	{"POOL", 62}, {"BUF", 18}, {"PKT", 88}, {"EV", 15}, {"EVV", 7}, {"HASH", 7}, {"CHK", 5}, {"TIME", 28},
	{"THR", 18}, {"CPU", 18}, {"BARR", 5}, {"LOCK", 11}, {"QUEUE", 44}, {"SCHED", 78}, {"PKTIO", 105},
}

// Mapped are behaviours of ODP's suite that have no counterpart in Go, so no case:
// why, and what takes their place.
type Mapped struct {
	Area     string
	From, To int    // numbers
	What     string // the behaviours
	Reason   string // why there is no case, and what to use instead
}

var mapped = []Mapped{
	{"POOL", 51, 62, "packet pools over memory of the application",
		"packet memory must lie in the arena, where a stale pointer can't reach the Go heap: only drivers bring memory (`buffer.NewExternalPool`, with tests of its own in `buffer`); an application that wants its bytes in packets writes them into a packet"},
	{"LOCK", 4, 5, "recursive spinlock", "a goroutine has no identity that a lock could know again; split the function into one that locks and one that asks for the lock to be held"},
	{"LOCK", 6, 7, "ticket lock",
		"threads that spin in line stand still when the system takes one of them off its CPU; `sync.Mutex` is fair after 1 ms. The one of lock level `pktio` is inside of `pktio` and tested there"},
	{"LOCK", 10, 11, "recursive lock of readers and writers", "as the recursive spinlock"},
	{"QUEUE", 37, 44, "event aggregators",
		"every enqueue is a burst already, so there is nothing to collect; who wants one event for many fills a `buffer.Vector`"},
}

// ListedBehaviours returns the areas that are complete, with their numbers of behaviours.
func ListedBehaviours() []Listed { return slices.Clone(listed) }

// MappedBehaviours returns the behaviours that have no case, with the reasons.
func MappedBehaviours() []Mapped { return slices.Clone(mapped) }

// IDs returns the ids of the first and the last behaviour.
func (m Mapped) IDs() (first, last string) {
	return fmt.Sprintf("%s-%02d", m.Area, m.From), fmt.Sprintf("%s-%02d", m.Area, m.To)
}

// Coverage counts the behaviours of ODP's suite.
type Coverage struct {
	Listed int `json:"listed"` // in the areas that are complete
	Cases  int `json:"cases"`  // of them: cases here
	Mapped int `json:"mapped"` // of them: without a counterpart, with a reason
	Own    int `json:"own"`    // further cases that ODP has not
}

// Covered counts over all areas that are complete; Listed is Cases + Mapped.
func Covered() (c Coverage) {
	for _, l := range listed {
		c.Listed += l.N
	}
	for _, m := range mapped {
		c.Mapped += m.To - m.From + 1
	}
	for id := range cases {
		k := Case{ID: id}
		i := slices.IndexFunc(listed, func(l Listed) bool { return l.Area == k.Area() })
		switch {
		case i < 0:
		case k.number() <= listed[i].N:
			c.Cases++
		default:
			c.Own++
		}
	}
	return c
}

func (c Coverage) String() string {
	return fmt.Sprintf("behaviours of ODP's suite: %d listed = %d cases + %d without a counterpart (reasons in docs/odp-mapping.md); %d further cases",
		c.Listed, c.Cases, c.Mapped, c.Own)
}

// listedIn is the number of listed behaviours of an area, "" when it is not complete.
func listedIn(area string) string {
	if i := slices.IndexFunc(listed, func(l Listed) bool { return l.Area == area }); i >= 0 {
		return fmt.Sprint(listed[i].N)
	}
	return ""
}

// Areas lists the areas that have cases, in the order in which they run.
func Areas() (list []string) {
	for _, c := range Cases() {
		if len(list) == 0 || list[len(list)-1] != c.Area() {
			list = append(list, c.Area())
		}
	}
	return list
}
