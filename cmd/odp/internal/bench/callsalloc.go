// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// allocFunctions are about packets coming and going.
var allocFunctions = []function{
	{"packet_alloc", nil, func(x *calls) {
		pool, w, n := x.pool, x.w, x.length
		for i := range numCalls {
			x.pkts[i] = pool.AllocPacket(w, n)
		}
	}, free},
	{"packet_alloc_multi", nil, func(x *calls) {
		for i := 0; i < len(x.pkts); i += x.burst {
			if x.pool.AllocPackets(x.w, x.pkts[i:i+x.burst], x.length) != x.burst {
				x.fault(errShort)
			}
		}
	}, freeMany},
	{"packet_free", one, func(x *calls) {
		w := x.w
		for _, k := range x.pkts[:numCalls] {
			buffer.FreePacket(w, k)
		}
	}, nil},
	{"event_free", one, func(x *calls) {
		w := x.w
		for _, k := range x.pkts[:numCalls] {
			buffer.FreeEvent(w, &k.Event)
		}
	}, nil},
	{"packet_free_multi", many, func(x *calls) {
		for i := 0; i < len(x.pkts); i += x.burst {
			odp.FreePackets(x.w, x.pkts[i:i+x.burst])
		}
	}, nil},
	{"event_free_multi", many, func(x *calls) {
		for i := 0; i < len(x.pkts); i += x.burst {
			buffer.FreeEvents(x.w, odp.EventsOf(x.pkts[i:i+x.burst]))
		}
	}, nil},
	{"packet_free_sp", many, func(x *calls) {
		for i := 0; i < len(x.pkts); i += x.burst {
			x.pool.FreePackets(x.w, x.pkts[i:i+x.burst])
		}
	}, nil},
	{"packet_alloc_free", nil, func(x *calls) {
		pool, w, n := x.pool, x.w, x.length
		for range numCalls {
			buffer.FreePacket(w, pool.AllocPacket(w, n))
		}
	}, nil},
	{"packet_alloc_free_multi", nil, func(x *calls) {
		for range numCalls {
			n := x.pool.AllocPackets(x.w, x.pkts[:x.burst], x.length)
			odp.FreePackets(x.w, x.pkts[:n])
		}
	}, nil},
	{"packet_reset", one, func(x *calls) {
		for _, k := range x.pkts[:numCalls] {
			if err := k.Reset(x.w, x.length); err != nil {
				x.fault(err)
			}
		}
	}, free},
	{"packet_reset_meta", one, func(x *calls) {
		for _, k := range x.pkts[:numCalls] {
			k.ResetMeta()
		}
	}, free},
	{"packet_reset_max_len", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			s += k.ResetMaxLen()
		}
		x.sum = s
	}, free},
	{"packet_to_event", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			x.ev[i] = &k.Event
		}
	}, free},
	{"packet_from_event", one, func(x *calls) {
		ev := odp.EventsOf(x.pkts[:numCalls])
		for i, e := range ev {
			x.second[i] = e.Packet()
		}
	}, free},
	{"packet_ref_static", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			x.second[i] = k.RefStatic()
		}
	}, freeTwo},
	{"packet_ref", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			c, err := k.Ref(x.w, x.length/2)
			if err != nil {
				x.fault(err)
				continue
			}
			x.second[i] = c
		}
	}, freeTwo},
	{"packet_ref_pkt", two, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			r, err := k.RefPacket(x.w, x.length/2, x.second[i])
			if err != nil {
				x.fault(err)
				continue
			}
			x.second[i] = r
		}
	}, freeTwo},
	{"packet_copy", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			c, err := k.Copy(x.w, x.pool)
			if err != nil {
				x.fault(err)
				continue
			}
			x.second[i] = c
		}
	}, freeTwo},
	{"packet_copy_part", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			c, err := k.CopyPart(x.w, 0, x.length/2, x.pool)
			if err != nil {
				x.fault(err)
				continue
			}
			x.second[i] = c
		}
	}, freeTwo},
	{"packet_split", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			c, err := k.Split(x.w, x.length/2)
			if err != nil {
				x.fault(err)
				continue
			}
			x.second[i] = c
		}
	}, freeTwo},
	{"packet_concat", halves, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			if err := k.Concat(x.w, x.second[i]); err != nil {
				x.fault(err)
			}
		}
	}, free},
}
