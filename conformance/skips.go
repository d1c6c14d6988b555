// SPDX-License-Identifier: Apache-2.0

package conformance

import "maps"

// noSched is what the scheduler lacks on every platform.
var (
	noSched = map[string]Capability{
		"SCHED-75": CapGroupCount, "SCHED-76": CapPriorityRange, "SCHED-77": CapGroupPriorities, "SCHED-78": CapNoPredefined,
	}
)

// skips is a platform's list, made of parts.
func skips(parts ...map[string]Capability) map[string]Capability {
	all := map[string]Capability{}
	for _, p := range parts {
		maps.Copy(all, p)
	}
	return all
}

var loopSkips = skips(noSched)

// knownSkips are the lists of the platforms of this repository, by the names that
// KnownSkips takes.
var knownSkips = map[string]map[string]Capability{
	"loop": loopSkips,
}

// KnownSkips returns the committed list of expected skips of a platform of this
// repository, for Factory.Skips; nil when there is none, and skips are not judged. The
// names are "loop", and for in-process netmap "nmsim" (two cards on a cable), "nmsim pipe"
// and "nmsim vale".
func KnownSkips(platform string) map[string]Capability { return maps.Clone(knownSkips[platform]) }
