// SPDX-License-Identifier: Apache-2.0

package buffer

import "unsafe"

// Bursts of mixed kinds: what a worker does that takes several kinds of event from
// one queue.

// TypeRun returns the type of the first event and how many at the front have it
// (ODP's odp_event_type_multi); 0 and 0 for an empty burst.
func TypeRun(ev []*Event) (n int, t Type) {
	if len(ev) == 0 {
		return 0, 0
	}
	t = ev[0].typ
	for n = 1; n < len(ev) && ev[n].typ == t; n++ {
	}
	return n, t
}

// FilterPackets sorts a burst into packets and the rest, both in the order of ev
// (ODP's odp_event_filter_packet). Each slice must hold len(ev); rest may be ev
// itself. It returns how many packets there are; the rest is len(ev) minus that.
func FilterPackets(ev []*Event, pkts []*Packet, rest []*Event) (packets int) {
	others := 0
	for _, e := range ev {
		if e.typ == TypePacket {
			pkts[packets] = e.Packet()
			packets++
		} else {
			rest[others] = e
			others++
		}
	}
	return packets
}

// Valid reports whether e is the header of an event of an open pool: for asserts
// and for what comes from outside. Any value may be asked, also garbage: no memory
// is read unless the address is a header's. With the invariants tag an event
// that is in its pool is not valid either. Any goroutine.
func (e *Event) Valid() bool {
	a := uintptr(unsafe.Pointer(e))
	for i := range pools {
		p := pools[i].Load()
		if p == nil || !p.owns(e) {
			continue
		}
		return (a-p.store.base)&63 == 0 && e.pool == p.idx && e.state != stateDetached && e.state != stateFree
	}
	return false
}
