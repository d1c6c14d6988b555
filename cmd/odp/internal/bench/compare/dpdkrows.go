// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"strings"
)

const (
	noteHuge    = "the peer needs huge pages for its best (vm.nr_hugepages=256 before the run); without them it is about half as fast"
	notePMDNull = "both devices give full bursts of packets from a pool, whose bytes nobody writes, and free what is sent; no parsing; both MAC addresses are rewritten"
	notePMDRing = "32 packets go round in each of two rings, so that all lies in the first cache; no parsing; both MAC addresses are rewritten. The peer's device is a bare ring; ours is a port over it, with input marks and counters"
)

// dpdkRows are forwarders without parsing. Worker 1 of the peer is on CPU 1, its second on CPU 0 beside
// its main thread, which sleeps.
func dpdkRows() (rows []Row) {
	for _, x := range []struct {
		id, work, device, ours, extra, note string
		workers                             int
		want                                float64
	}{
		{"null-c1", "null devices, 1 worker", "net_null", "null:0?feed=64,null:1?feed=64", "", notePMDNull, 1, 1.5},
		{"null-c2", "null devices, 2 workers", "net_null", "null:0?feed=64,null:1?feed=64", "", notePMDNull, 2, 0},
		{"ring-c1", "rings, 1 worker", "net_ring", "loop:0?seed=32,loop:1?seed=32", " --tx-first", notePMDRing, 1, 0},
	} {
		lcores := "0@0,1@1"
		if x.workers == 2 {
			lcores += ",2@0"
		}
		peer := fmt.Sprintf("dpdk-testpmd --lcores %s --no-pci --in-memory --no-telemetry -m 400 --vdev %s0 --vdev %s1 -- --forward-mode=mac --auto-start --stats-period 1 --burst=32 --nb-cores=%d%s",
			lcores, x.device, x.device, x.workers, x.extra)
		rows = append(rows, Row{
			ID:      "testpmd-" + x.id,
			Work:    "l2fwd without parsing, burst mode, " + x.work,
			Ours:    strings.Fields(fmt.Sprintf("l2fwd -i %s -m 0 -c %d -parse none", x.ours, x.workers)),
			Peer:    strings.Fields(peer),
			Want:    x.want,
			Workers: x.workers,
			Seconds: 5,
			Note:    x.note + "; " + noteHuge,
			read:    readTestpmd,
		})
	}
	return append(rows, lookupRows()...)
}

// lookupRows are DPDK's test of its IPv6 table. Those of IPv4 take minutes to fill their
// tables, or gigabytes of huge pages.
func lookupRows() (rows []Row) {
	for _, x := range []struct{ id, work, args, label string }{
		{"bulk", "in bursts", "-b 32", "BULK LPM Lookup"},
		{"single", "one at a time", "-b 0", "Average LPM Lookup"},
	} {
		rows = append(rows, Row{
			ID:      "lookup-v6-" + x.id,
			Work:    "look-up in 1000 IPv6 routes of even lengths, 1 worker, " + x.work,
			Ours:    strings.Fields("lookup -c 1 -table even6 -addrs ordered " + x.args),
			Peer:    strings.Fields("dpdk-test -l 1 --no-pci --in-memory --no-telemetry"),
			Env:     []string{"DPDK_TEST=lpm6_perf_autotest"},
			Unit:    Cycles,
			Pick:    "cycles",
			Want:    1,
			Workers: 1,
			Note:    "addresses of the routes in their order, about 100 000; tables of the same shape from different random numbers; " + noteHuge,
			read:    readAfter(x.label),
		})
	}
	return rows
}
