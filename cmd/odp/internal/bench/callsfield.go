// SPDX-License-Identifier: Apache-2.0

package bench

// fieldFunctions read and write what a packet knows about itself.
var fieldFunctions = []function{
	{"packet_buf_len", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			s += k.BufLen()
		}
		x.sum = s
	}, free},
	{"packet_seg_len", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			s += k.SegLen()
		}
		x.sum = s
	}, free},
	{"packet_len", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			s += k.Len()
		}
		x.sum = s
	}, free},
	{"packet_headroom", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			s += k.Headroom()
		}
		x.sum = s
	}, free},
	{"packet_tailroom", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			s += k.Tailroom()
		}
		x.sum = s
	}, free},
	{"packet_num_segs", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			s += k.NumSegs()
		}
		x.sum = s
	}, free},
	{"packet_data", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			x.views[i] = k.Data()
		}
	}, free},
	{"packet_offset", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			x.views[i] = k.Offset(x.length / 2)
		}
	}, free},
	{"packet_is_segmented", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.Segmented() {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_seg_data", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			x.views[i] = k.FirstSeg().Data()
		}
	}, free},
	{"packet_next_seg", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.FirstSeg().Next() == nil {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_pool", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.PoolOf() == x.pool {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_input", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			port, _ := k.Input()
			s += port
		}
		x.sum = s
	}, free},
	{"packet_user_area", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			x.views[i] = k.UserArea()
		}
	}, free},
	{"packet_user_ptr", one, func(x *calls) {
		s := uint64(0)
		for _, k := range x.pkts[:numCalls] {
			s += k.UserWord()
		}
		x.sum = int(s)
	}, free},
	{"packet_user_ptr_set", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			k.SetUserWord(uint64(i))
		}
	}, free},
	{"packet_user_flag", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.UserFlag() {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_user_flag_set", one, func(x *calls) {
		for _, k := range x.pkts[:numCalls] {
			k.SetUserFlag(true)
		}
	}, free},
	{"event_type", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			s += int(k.Type())
		}
		x.sum = s
	}, free},
	{"packet_has_error", parsed, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.HasError() {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_has_l2", parsed, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.HasL2() {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_has_l3", parsed, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.HasL3() {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_has_l4", parsed, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.HasL4() {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_has_ipv4", parsed, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.HasIPv4() {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_has_ipv6", parsed, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.HasIPv6() {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_has_udp", parsed, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.HasUDP() {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_has_tcp", parsed, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.HasTCP() {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_has_vlan", parsed, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.HasVLAN() {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_has_ipfrag", parsed, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.HasIPFrag() {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_l2_ptr", parsed, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			x.views[i] = k.L2()
		}
	}, free},
	{"packet_l2_offset", parsed, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			s += int(k.L2Offset())
		}
		x.sum = s
	}, free},
	{"packet_l2_offset_set", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if !k.SetL2Offset(16) {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_l3_ptr", parsed, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			x.views[i] = k.L3()
		}
	}, free},
	{"packet_l3_offset", parsed, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			s += int(k.L3Offset())
		}
		x.sum = s
	}, free},
	{"packet_l3_offset_set", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if !k.SetL3Offset(16) {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_l4_ptr", parsed, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			x.views[i] = k.L4()
		}
	}, free},
	{"packet_l4_offset", parsed, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			s += int(k.L4Offset())
		}
		x.sum = s
	}, free},
	{"packet_l4_offset_set", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if !k.SetL4Offset(16) {
				s++
			}
		}
		x.sum = s
	}, free},
	{"packet_l3_type", parsed, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			s += int(k.L3Type())
		}
		x.sum = s
	}, free},
	{"packet_flow_hash", one, func(x *calls) {
		s := uint32(0)
		for _, k := range x.pkts[:numCalls] {
			h, _ := k.FlowHash()
			s += h
		}
		x.sum = int(s)
	}, free},
	{"packet_flow_hash_set", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			k.SetFlowHash(uint32(i))
		}
	}, free},
	{"packet_ts", one, func(x *calls) {
		s := uint64(0)
		for _, k := range x.pkts[:numCalls] {
			t, _ := k.Time()
			s += t
		}
		x.sum = int(s)
	}, free},
	{"packet_ts_set", one, func(x *calls) {
		for i, k := range x.pkts[:numCalls] {
			k.SetTime(uint64(i))
		}
	}, free},
	{"packet_has_ref", one, func(x *calls) {
		s := 0
		for _, k := range x.pkts[:numCalls] {
			if k.HasRef() {
				s++
			}
		}
		x.sum = s
	}, free},
}
