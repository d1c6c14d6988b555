// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"github.com/odp-go/godp/header"
)

// dataFunctions move the borders of the data, copy it, and parse it.
var dataFunctions = []function{
	{"packet_push_head", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			x.views[i] = k.PushHead(64)
		}
	}, free},
	{"packet_pull_head", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			x.views[i] = k.PullHead(32)
		}
	}, free},
	{"packet_push_tail", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			x.views[i] = k.PushTail(64)
		}
	}, free},
	{"packet_pull_tail", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if !k.PullTail(32) {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_extend_head", half, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			k, err := k.ExtendHead(x.w, x.length/2)
			if err != nil {
				x.fault(err)
				continue
			}
			x.pkts[i] = k
		}
	}, free},
	{"packet_trunc_head", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			k, err := k.TruncHead(x.w, 32)
			if err != nil {
				x.fault(err)
				continue
			}
			x.pkts[i] = k
		}
	}, free},
	{"packet_extend_tail", half, func(x *calls) {
		for _, k := range x.pkts[:numCalls] {
			if err := k.ExtendTail(x.w, x.length/2); err != nil {
				x.fault(err)
			}
		}
	}, free},
	{"packet_trunc_tail", one, func(x *calls) {
		for _, k := range x.pkts[:numCalls] {
			if err := k.TruncTail(x.w, 32); err != nil {
				x.fault(err)
			}
		}
	}, free},
	{"packet_add_data", half, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			k, err := k.AddData(x.w, 0, x.length/2)
			if err != nil {
				x.fault(err)
				continue
			}
			x.pkts[i] = k
		}
	}, free},
	{"packet_rem_data", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			k, err := k.RemData(x.w, 0, x.length/2)
			if err != nil {
				x.fault(err)
				continue
			}
			x.pkts[i] = k
		}
	}, free},
	{"packet_align", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			k, err := k.Align(x.w, 16, 32, 32)
			if err != nil {
				x.fault(err)
				continue
			}
			x.pkts[i] = k
		}
	}, free},
	{"packet_copy_to_mem", one, func(x *calls) {
		for _, k := range x.pkts[:numCalls] {
			if err := k.CopyToMem(0, x.mem[:x.length]); err != nil {
				x.fault(err)
			}
		}
	}, free},
	{"packet_copy_from_mem", one, func(x *calls) {
		for _, k := range x.pkts[:numCalls] {
			if err := k.CopyFromMem(0, x.mem[:x.length]); err != nil {
				x.fault(err)
			}
		}
	}, free},
	{"packet_copy_from_pkt", two, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			if err := k.CopyFromPacket(0, x.second[i], 0, x.length); err != nil {
				x.fault(err)
			}
		}
	}, freeTwo},
	{"packet_copy_data", one, func(x *calls) {
		for _, k := range x.pkts[:numCalls] {
			if err := k.CopyData(0, x.length/2, x.length/2); err != nil {
				x.fault(err)
			}
		}
	}, free},
	{"packet_move_data", one, func(x *calls) {
		for _, k := range x.pkts[:numCalls] {
			if err := k.MoveData(x.length/4, 0, x.length/2); err != nil {
				x.fault(err)
			}
		}
	}, free},
	{"packet_parse ipv4/udp", frames, func(x *calls) {
		for _, k := range x.pkts[:numCalls] {
			if err := header.ParsePacket(k, 0, header.ParseConfig{}); err != nil {
				x.fault(err)
			}
		}
	}, free},
	{"packet_parse ipv4/udp, checksums", frames, func(x *calls) {
		for _, k := range x.pkts[:numCalls] {
			if err := header.ParsePacket(k, 0, header.ParseConfig{Checksums: true}); err != nil {
				x.fault(err)
			}
		}
	}, free},
	{"packet_parse_multi ipv4/udp", framesMany, func(x *calls) {
		for i := 0; i < len(x.pkts); i += x.burst {
			if _, err := header.ParsePackets(x.pkts[i:i+x.burst], x.offs[i:i+x.burst], header.ParseConfig{}); err != nil {
				x.fault(err)
			}
		}
	}, freeMany},
}
