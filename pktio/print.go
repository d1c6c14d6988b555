// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// String describes the port for people, in a few lines: what was got, its limits, the
// state of its link and its counters. Any goroutine.
func (p *Port) String() string {
	var b strings.Builder
	i, c, s := p.Info(), p.Capability(), p.Stats()
	state := [...]string{"running", "running, input stopped", "stopped", "closed"}[p.state.LoadAcq()]
	fmt.Fprintf(&b, "port %d %q (%s), %s, lock level %v\n", p.index, p.name, i.Driver, state, p.level)
	fmt.Fprintf(&b, "  receive queues %d of %d with %d slots, send queues %d of %d with %d slots\n", len(p.in), c.MaxRxQueues, i.RxSlots, len(p.out), c.MaxTxQueues, i.TxSlots)
	promisc := "unknown"
	if on, err := p.Promisc(); err == nil {
		promisc = map[bool]string{true: "on", false: "off"}[on]
	}
	fmt.Fprintf(&b, "  address %v, largest frame %d (%d to %d), promiscuous mode %s\n", p.MAC(), p.MTU(), c.MinMTU, c.MaxMTU, promisc)
	fmt.Fprintf(&b, "  link %v\n", p.Link())
	copies := "packets move without a copy"
	if !i.ZeroCopy {
		copies = "packets are copied: " + i.Why
	}
	if pool := p.Pool(); pool != nil {
		copies += fmt.Sprintf(", pool %q", pool.Name())
	}
	fmt.Fprintf(&b, "  %s\n", copies)
	fmt.Fprintf(&b, "  received %d packets, sent %d\n", s.RxPackets(), s.TxPackets())
	for _, m := range []map[string]uint64{s.Drops(), s.Device} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if m[k] > 0 {
				fmt.Fprintf(&b, "  %s %d\n", k, m[k])
			}
		}
	}
	for _, n := range i.Notes {
		fmt.Fprintf(&b, "  note: %s\n", n)
	}
	return b.String()
}
