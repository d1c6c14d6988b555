// SPDX-License-Identifier: Apache-2.0

// Package sample makes route tables of a known shape for tests and measurements: the
// same seed gives the same table, so that a figure can be repeated.
package sample

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
)

// Router4 is the number of routes of each length (from /3 on) in the IPv4 table of a real
// router, by the class of the address: leading bits 0, 10 and 110. It is the shape that
// DPDK's lpm_perf and fib_perf tests have: 1 076 806 routes with the five single ones.
var Router4 = [3][30]int{
	{1, 0, 2, 1, 3, 185, 26, 16, 39, 144, 233, 528, 866, 3856, 3268, 5662, 17301, 22226, 11147, 16746, 17120, 77578, 401, 656, 1107, 1121, 2316, 717, 10, 66},
	{0, 0, 1, 1, 1, 3, 3, 30, 25, 168, 305, 569, 1129, 50800, 1645, 1820, 3506, 3258, 3424, 4971, 6885, 39771, 424, 170, 433, 92, 366, 377, 2, 200},
	{0, 0, 0, 0, 0, 12, 8, 9, 33, 69, 237, 1007, 1717, 14663, 8070, 16185, 48261, 36870, 33960, 50638, 61422, 466549, 1829, 4824, 4927, 5914, 10254, 4905, 1, 716},
}

func prefix4(a uint32, bits int) netip.Prefix {
	p, _ := netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, a))).Prefix(bits)
	return p
}

// Router returns the table of Router4: the routes of each class and length lie at equal
// distances from a random start on, as in DPDK's tests. every takes each n-th only: 16
// gives DPDK's lpm_perf table of 67 300 routes as it was measured for the comparison.
func Router(seed uint64, every int) []netip.Prefix {
	r := rand.New(rand.NewPCG(seed, 4))
	var all []netip.Prefix
	for class, counts := range Router4 {
		fixed := class + 1
		head := uint32(0xfffffffe<<(31-class)) << 1
		if class == 0 {
			head = 0
		}
		for i, n := range counts {
			bits := i + 3
			if n == 0 {
				continue
			}
			room := 1 << (bits - fixed)
			step := max(1, (room+n/2)/n)
			at := r.IntN(room)
			for range n {
				all = append(all, prefix4(head|uint32(at)<<(32-bits), bits))
				at = (at + step) & (room - 1)
			}
		}
	}
	for _, s := range []string{"0.0.0.0/8", "10.2.23.147/32", "192.168.100.10/24", "192.168.25.100/24", "192.168.129.124/32"} {
		all = append(all, netip.MustParsePrefix(s).Masked())
	}
	if every <= 1 {
		return all
	}
	var some []netip.Prefix
	for i := 0; i < len(all); i += every {
		some = append(some, all[i])
	}
	return some
}

// share is how many of 1000 routes have a length.
type share struct{ bits, of1000 int }

// Internet4 and Internet6 are about the shares of the lengths in the tables of the
// internet (of 2024, rounded by hand).
var (
	Internet4 = []share{{24, 600}, {23, 100}, {22, 115}, {21, 52}, {20, 45}, {19, 26}, {18, 14}, {17, 8}, {16, 14}, {15, 2}, {14, 1}, {13, 1}, {12, 1}, {11, 1}, {25, 5}, {26, 5}, {27, 3}, {28, 2}, {29, 2}, {30, 1}, {32, 2}}
	Internet6 = []share{{48, 460}, {32, 110}, {44, 110}, {40, 85}, {36, 35}, {29, 25}, {33, 20}, {34, 10}, {38, 10}, {42, 15}, {45, 10}, {46, 25}, {47, 25}, {28, 5}, {24, 2}, {56, 20}, {64, 25}, {128, 8}}
)

func pick(r *rand.Rand, shares []share) int {
	n := r.IntN(1000)
	for _, s := range shares {
		if n -= s.of1000; n < 0 {
			return s.bits
		}
	}
	return shares[0].bits
}

// IPv4 returns n different routes with lengths as Internet4, at random addresses of
// 1.0.0.0 to 223.255.255.255.
func IPv4(seed uint64, n int) []netip.Prefix {
	r := rand.New(rand.NewPCG(seed, 44))
	seen := make(map[netip.Prefix]bool, n)
	list := make([]netip.Prefix, 0, n)
	for len(list) < n {
		p := prefix4(uint32(r.IntN(223<<24))+1<<24, pick(r, Internet4))
		if !seen[p] {
			seen[p] = true
			list = append(list, p)
		}
	}
	return list
}

// IPv6 returns n different routes with lengths as Internet6. They lie in n/8 blocks of
// 29 bits, most in the first /32 of their block, in 64 parts of 16 bits of 2000::/3 that
// the registries would have given out.
func IPv6(seed uint64, n int) []netip.Prefix {
	r := rand.New(rand.NewPCG(seed, 66))
	blocks := make([]uint32, max(1, n/8))
	for i := range blocks {
		blocks[i] = 0x24000000 + uint32(r.IntN(64))<<19 | uint32(r.IntN(0x2000))<<3
	}
	seen := make(map[netip.Prefix]bool, n)
	list := make([]netip.Prefix, 0, n)
	for len(list) < n {
		var b [16]byte
		block := blocks[r.IntN(len(blocks))]
		if r.IntN(4) == 0 {
			block |= uint32(r.IntN(8))
		}
		binary.BigEndian.PutUint32(b[:], block)
		// most networks number their subnets from below
		binary.BigEndian.PutUint16(b[4:], uint16(r.IntN(1<<r.IntN(17))))
		binary.BigEndian.PutUint64(b[8:], r.Uint64()>>r.IntN(64))
		p, _ := netip.AddrFrom16(b).Prefix(pick(r, Internet6))
		if !seen[p] {
			seen[p] = true
			list = append(list, p)
		}
	}
	return list
}

// Even6 returns 1000 routes at random addresses whose lengths are spread evenly over 1
// to 128: the shape of the table of DPDK's lpm6_perf and fib6_perf tests.
func Even6(seed uint64) []netip.Prefix {
	r := rand.New(rand.NewPCG(seed, 6))
	list := make([]netip.Prefix, 1000)
	for i := range list {
		list[i], _ = Inside(r, netip.PrefixFrom(netip.IPv6Unspecified(), 0)).Prefix(1 + i*128/1000)
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// Inside returns a random address of a prefix.
func Inside(r *rand.Rand, p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := range b {
		keep := min(max(p.Bits()-8*i, 0), 8)
		b[i] = b[i]&^(0xff>>keep) | byte(r.Uint32())&(0xff>>keep)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}
