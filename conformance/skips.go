// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"maps"
)

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

// noPktio is what ports of every kind lack.
var noPktio = func() map[string]Capability {
	m := map[string]Capability{"PKTIO-37": CapCastCounters, "PKTIO-41": CapProtoStats, "PKTIO-43": CapSendTime, "PKTIO-56": CapAging, "PKTIO-60": CapDontFree}
	for _, r := range []struct {
		first, last int
		lacks       Capability
	}{{44, 46, CapInChecksum}, {47, 55, CapOutChecksum}, {57, 59, CapCompletion}, {61, 66, CapFlowControl}, {67, 68, CapClassifier}, {69, 76, CapInVectors}, {89, 105, CapLSO}} {
		for i := r.first; i <= r.last; i++ {
			m[fmt.Sprintf("PKTIO-%d", i)] = r.lacks
		}
	}
	return m
}()

// noControl is what ports that are no network card have no use for.
var noControl = map[string]Capability{
	"PKTIO-28": CapSetMaxLen, "PKTIO-29": CapSetMaxLen, "PKTIO-30": CapSetPromisc, "PKTIO-31": CapSetMAC,
}

// noSwitches: there is no link that could go down, and there are no offloads.
var noSwitches = map[string]Capability{"PKTIO-203": CapSetLink, "PKTIO-212": CapSetOffload}

// The lists of loop, of simulated cards with and without frames of several slots, and of
// pipes and switch ports.
var (
	loopSkips     = skips(noSched, noPktio, noSwitches, map[string]Capability{"PKTIO-208": CapFaults})
	nicSkips      = skips(noPktio)
	plainNICSkips = skips(noPktio, map[string]Capability{"PKTIO-205": CapJumbo})
	softSkips     = skips(noPktio, noControl, noSwitches)
	realSkips     = skips(noPktio, noSwitches, map[string]Capability{"PKTIO-31": CapSetMAC, "PKTIO-208": CapFaults}) // afpacket on veth
	xdpSkips      = skips(realSkips, map[string]Capability{"PKTIO-205": CapJumbo})                                   // afxdp
)

// knownSkips are the lists of the platforms of this repository, by the names that
// KnownSkips takes.
var knownSkips = map[string]map[string]Capability{
	"loop":     loopSkips,
	"afpacket": realSkips, "afxdp": xdpSkips,
	"nmsim nic": nicSkips, "nmsim nic-freebsd": plainNICSkips,
	"nmsim pipe": softSkips, "nmsim pipe-freebsd": softSkips, "nmsim vale": softSkips, "nmsim vale-freebsd": softSkips,
}

// KnownSkips returns the committed list of expected skips of a platform of this
// repository, for Factory.Skips; nil when there is none, and skips are not judged. The
// names are "loop", "afpacket" and "afxdp" (both on veth), and for in-process netmap "nmsim nic" (two cards on a cable, with frames
// of several slots), "nmsim pipe", "nmsim vale", and the same with "-freebsd" (its cards are
// without such frames). The lists of areas without devices are in that of loop only.
func KnownSkips(platform string) map[string]Capability { return maps.Clone(knownSkips[platform]) }
