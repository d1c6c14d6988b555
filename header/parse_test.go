// SPDX-License-Identifier: Apache-2.0

package header

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/internal/meta"
)

func fastParse(b []byte, layer meta.Layer) result {
	f, l3, l4 := Parse(unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b)), layer)
	return result{f, l3, l4}
}

var pad = make([]byte, 18)

// cases are the frames of ODP's parser tests, and the ends of each rule.
var cases = []struct {
	name  string
	frame []byte
	want  result
}{
	{"ipv4 udp", eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(pad))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP, 14, 34}},
	{"ipv4 udp DF", eth(uniMAC, 0x800, ip4(17, addr4, nil, 0x4000, udp(pad))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP, 14, 34}},
	{"ipv4 udp empty, padded", cat(eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(nil))), pad), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP, 14, 34}},
	{"ipv4 udp snap", eth(uniMAC, 54, cat([]byte{0xaa, 0xaa, 3, 0, 0, 0, 8, 0}, ip4(17, addr4, nil, 0, udp(pad)))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP, 22, 42}},
	{"ipv4 tcp", eth(uniMAC, 0x800, ip4(6, addr4, nil, 0, tcp(pad))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.TCP, 14, 34}},
	{"ipv4 sctp", eth(uniMAC, 0x800, ip4(132, addr4, nil, 0, pad)), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.SCTP, 14, 34}},
	{"ipv4 icmp", eth(uniMAC, 0x800, ip4(1, addr4, nil, 0, pad)), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.ICMP, 14, 34}},
	{"ipv4 ah", eth(uniMAC, 0x800, ip4(51, addr4, nil, 0, pad)), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.IPsec, 14, 34}},
	{"ipv4 esp", eth(uniMAC, 0x800, ip4(50, addr4, nil, 0, pad)), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.IPsec, 14, 34}},
	{"ipv4 ipip", eth(uniMAC, 0x800, ip4(4, addr4, nil, 0, ip4(17, addr4, nil, 0, udp(nil)))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4, 14, 34}},
	{"ipv4 unknown protocol", eth(uniMAC, 0x800, ip4(47, addr4, nil, 0, pad)), result{meta.L2 | meta.L3 | meta.IPv4, 14, noOff}},
	{"ipv4 options icmp", eth(uniMAC, 0x800, ip4(1, addr4, []byte{7, 7, 4, 1, 2, 3, 4, 1}, 0, pad)), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.ICMP | meta.IPOpt, 14, 42}},
	{"ipv4 first fragment", eth(uniMAC, 0x800, ip4(17, addr4, nil, 0x2000, udp(pad))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP | meta.IPFrag, 14, 34}},
	{"ipv4 first fragment, longer datagram", eth(uniMAC, 0x800, ip4(17, addr4, nil, 0x2000, set(udp(pad), 4, 9, 9))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP | meta.IPFrag, 14, 34}},
	{"ipv4 middle fragment", eth(uniMAC, 0x800, ip4(17, addr4, nil, 0x2001, pad)), result{meta.L2 | meta.L3 | meta.IPv4 | meta.UDP | meta.IPFrag, 14, noOff}},
	{"ipv4 last fragment", eth(uniMAC, 0x800, ip4(17, addr4, nil, 185, pad)), result{meta.L2 | meta.L3 | meta.IPv4 | meta.UDP | meta.IPFrag, 14, noOff}},
	{"mcast", eth(mcastMAC, 0x800, ip4(17, []byte{224, 0, 0, 1}, nil, 0, udp(pad))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP | meta.EthMcast | meta.IPMcast, 14, 34}},
	{"mcast top", eth(mcastMAC, 0x800, ip4(17, []byte{239, 255, 0, 1}, nil, 0, udp(pad))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP | meta.EthMcast | meta.IPMcast, 14, 34}},
	{"class e", eth(uniMAC, 0x800, ip4(17, []byte{240, 0, 0, 1}, nil, 0, udp(pad))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP, 14, 34}},
	{"bcast", eth(bcastMAC, 0x800, ip4(17, []byte{255, 255, 255, 255}, nil, 0, udp(pad))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP | meta.EthBcast | meta.EthMcast | meta.IPBcast, 14, 34}},
	{"arp", eth(bcastMAC, 0x806, cat(arp(), pad)), result{meta.L2 | meta.L3 | meta.ARP | meta.EthBcast | meta.EthMcast, 14, noOff}},
	{"arp without padding", eth(uniMAC, 0x806, arp()), result{meta.L2 | meta.L3 | meta.ARP, 14, noOff}},
	{"arp cut", eth(uniMAC, 0x806, arp()[:27]), result{meta.L2 | meta.ARP | meta.ErrL3, noOff, noOff}},
	{"vlan ipv4 udp", eth(uniMAC, 0x8100, tag(5, 0x800, ip4(17, addr4, nil, 0, udp(pad)))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP | meta.VLAN, 18, 38}},
	{"priority tag", eth(uniMAC, 0x8100, tag(0xe000, 0x800, ip4(6, addr4, nil, 0, tcp(pad)))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.TCP | meta.VLAN, 18, 38}},
	{"vlan ipv6 udp", eth(uniMAC, 0x8100, tag(5, 0x86dd, ip6(17, addr6, udp(pad)))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv6 | meta.UDP | meta.VLAN, 18, 58}},
	{"qinq", eth(uniMAC, 0x88a8, tag(5, 0x8100, tag(6, 0x800, ip4(17, addr4, nil, 0, udp(pad))))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP | meta.VLAN | meta.QinQ, 22, 42}},
	{"qinq 0x9100", eth(uniMAC, 0x9100, tag(0, 0x8100, tag(0, 0x800, ip4(17, addr4, nil, 0, udp(pad))))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP | meta.VLAN | meta.QinQ, 22, 42}},
	{"one service tag", eth(uniMAC, 0x88a8, tag(5, 0x800, ip4(17, addr4, nil, 0, udp(pad)))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP | meta.VLAN, 18, 38}},
	{"three tags", eth(uniMAC, 0x8100, tag(1, 0x8100, tag(2, 0x8100, tag(3, 0x800, ip4(17, addr4, nil, 0, udp(pad)))))), result{meta.L2 | meta.VLAN | meta.QinQ, noOff, noOff}},
	{"vlan cut", eth(uniMAC, 0x8100, []byte{0, 5, 8}), result{meta.L2 | meta.ErrL2, noOff, noOff}},
	{"vlan arp", eth(uniMAC, 0x8100, tag(5, 0x806, arp())), result{meta.L2 | meta.L3 | meta.VLAN | meta.ARP, 18, noOff}},
	{"ipv6 udp", eth(uniMAC, 0x86dd, ip6(17, addr6, udp(pad))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv6 | meta.UDP, 14, 54}},
	{"ipv6 tcp", eth(uniMAC, 0x86dd, ip6(6, addr6, tcp(pad))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv6 | meta.TCP, 14, 54}},
	{"ipv6 icmp", eth(uniMAC, 0x86dd, ip6(58, addr6, pad)), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv6 | meta.ICMP, 14, 54}},
	{"ipv6 sctp", eth(uniMAC, 0x86dd, ip6(132, addr6, pad)), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv6 | meta.SCTP, 14, 54}},
	{"ipv6 ah", eth(uniMAC, 0x86dd, ip6(51, addr6, pad)), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv6 | meta.IPsec, 14, 54}},
	{"ipv6 esp", eth(uniMAC, 0x86dd, ip6(50, addr6, pad)), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv6 | meta.IPsec, 14, 54}},
	{"ipv6 no next header", eth(uniMAC, 0x86dd, ip6(59, addr6, pad)), result{meta.L2 | meta.L3 | meta.IPv6, 14, noOff}},
	{"ipv6 mcast", eth(mcastMAC, 0x86dd, ip6(17, set(addr6, 0, 0xff, 2), udp(pad))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv6 | meta.UDP | meta.EthMcast | meta.IPMcast, 14, 54}},
	{"ipv6 hop-by-hop, routing, options", eth(uniMAC, 0x86dd, ip6(0, addr6, ext(43, 0, ext(60, 1, ext(17, 2, udp(pad)))))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv6 | meta.UDP | meta.IPOpt, 14, 102}},
	{"ipv6 extension over the end", eth(uniMAC, 0x86dd, ip6(0, addr6, set(ext(17, 1, nil), 1, 2))), result{meta.L2 | meta.L3 | meta.IPv6 | meta.IPOpt | meta.ErrL3, 14, noOff}},
	{"ipv6 extension cut", eth(uniMAC, 0x86dd, ip6(0, addr6, []byte{17, 0})), result{meta.L2 | meta.L3 | meta.IPv6 | meta.ErrL3, 14, noOff}},
	{"ipv6 first fragment", eth(uniMAC, 0x86dd, ip6(44, addr6, frag6(17, 1, set(udp(pad), 4, 9, 9)))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv6 | meta.UDP | meta.IPFrag | meta.IPOpt, 14, 62}},
	{"ipv6 last fragment", eth(uniMAC, 0x86dd, ip6(44, addr6, frag6(17, 8, pad))), result{meta.L2 | meta.L3 | meta.IPv6 | meta.UDP | meta.IPFrag | meta.IPOpt, 14, noOff}},
	{"ipv6 atomic fragment", eth(uniMAC, 0x86dd, ip6(44, addr6, frag6(17, 0, udp(pad)))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv6 | meta.UDP | meta.IPOpt, 14, 62}},
	{"unknown type", eth(uniMAC, 0x8847, make([]byte, 50)), result{meta.L2, noOff, noOff}},
	{"type between length and EtherType", eth(uniMAC, 1501, make([]byte, 50)), result{meta.L2, noOff, noOff}},
	{"802.3 stp", eth(mcastMAC, 39, cat([]byte{0x42, 0x42, 3}, make([]byte, 43))), result{meta.L2 | meta.EthMcast, noOff, noOff}},
	{"802.3 length over the end", eth(uniMAC, 51, make([]byte, 50)), result{meta.L2 | meta.ErrL2, noOff, noOff}},
	{"runt", make([]byte, 13), result{meta.ErrL2, noOff, noOff}},
	{"empty", nil, result{meta.ErrL2, noOff, noOff}},
	{"only ethernet", eth(uniMAC, 0x800, nil), result{meta.L2 | meta.IPv4 | meta.ErrL3, noOff, noOff}},
	{"jumbo", eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(make([]byte, 1477)))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP | meta.Jumbo, 14, 34}},
	{"not jumbo", eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(make([]byte, 1476)))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP, 14, 34}},
	{"ipv4 cut", eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(pad))[:19]), result{meta.L2 | meta.IPv4 | meta.ErrL3, noOff, noOff}},
	{"ipv4 version 5", set(eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(pad))), 14, 0x55), result{meta.L2 | meta.L3 | meta.IPv4 | meta.ErrL3, 14, noOff}},
	{"ipv4 header of 16", set(eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(pad))), 14, 0x44), result{meta.L2 | meta.L3 | meta.IPv4 | meta.ErrL3, 14, noOff}},
	{"ipv4 longer than the frame", set(eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(pad))), 17, 47), result{meta.L2 | meta.L3 | meta.IPv4 | meta.ErrL3, 14, noOff}},
	{"ipv4 length 19", set(eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(pad))), 17, 19), result{meta.L2 | meta.L3 | meta.IPv4 | meta.ErrL3, 14, noOff}},
	{"ipv4 options over the end", set(eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(nil))), 14, 0x48), result{meta.L2 | meta.L3 | meta.IPv4 | meta.ErrL3, 14, noOff}},
	{"ipv6 version", set(eth(uniMAC, 0x86dd, ip6(17, addr6, udp(pad))), 14, 0x50), result{meta.L2 | meta.L3 | meta.IPv6 | meta.ErrL3, 14, noOff}},
	{"ipv6 longer than the frame", set(eth(uniMAC, 0x86dd, ip6(17, addr6, udp(pad))), 19, 27), result{meta.L2 | meta.L3 | meta.IPv6 | meta.ErrL3, 14, noOff}},
	{"udp cut", cat(eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(nil)[:7])), pad), result{meta.L2 | meta.L3 | meta.IPv4 | meta.UDP | meta.ErrL4, 14, noOff}},
	{"udp length 7", eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, set(udp(pad), 5, 7))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP | meta.ErrL4, 14, 34}},
	{"udp length over ip", eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, set(udp(pad), 5, 27))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP | meta.ErrL4, 14, 34}},
	{"udp shorter than ip", eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, set(udp(pad), 5, 25))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP, 14, 34}},
	{"tcp cut", cat(eth(uniMAC, 0x800, ip4(6, addr4, nil, 0, tcp(nil)[:19])), pad), result{meta.L2 | meta.L3 | meta.IPv4 | meta.TCP | meta.ErrL4, 14, noOff}},
	{"tcp header of 16", eth(uniMAC, 0x800, ip4(6, addr4, nil, 0, set(tcp(pad), 12, 0x40))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.TCP | meta.ErrL4, 14, 34}},
	{"tcp options over ip", cat(eth(uniMAC, 0x800, ip4(6, addr4, nil, 0, set(tcp(nil), 12, 0x60))), pad), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.TCP | meta.ErrL4, 14, 34}},
	{"ipv6 tcp options over ip", eth(uniMAC, 0x86dd, ip6(6, addr6, set(tcp(nil), 12, 0xf0))), result{meta.L2 | meta.L3 | meta.L4 | meta.IPv6 | meta.TCP | meta.ErrL4, 14, 54}},
}

func TestParse(t *testing.T) {
	for _, c := range cases {
		if got := fastParse(c.frame, meta.LayerAll); got != c.want {
			t.Errorf("%s: Parse %b %d %d, want %b %d %d", c.name, got.flags, got.l3, got.l4, c.want.flags, c.want.l3, c.want.l4)
		}
		if got := slowParse(c.frame, len(c.frame), meta.LayerAll); got != c.want {
			t.Errorf("%s: twin %b %d %d, want %b %d %d", c.name, got.flags, got.l3, got.l4, c.want.flags, c.want.l3, c.want.l4)
		}
	}
}

func TestParseDepth(t *testing.T) {
	f := eth(uniMAC, 0x8100, tag(5, 0x800, ip4(17, addr4, nil, 0, udp(pad))))
	for _, c := range []struct {
		layer meta.Layer
		want  result
	}{
		{meta.LayerNone, result{0, noOff, noOff}},
		{meta.LayerL2, result{meta.L2 | meta.VLAN, 18, noOff}},
		{meta.LayerL3, result{meta.L2 | meta.L3 | meta.VLAN | meta.IPv4, 18, 38}},
		{meta.LayerL4, result{meta.L2 | meta.L3 | meta.L4 | meta.VLAN | meta.IPv4 | meta.UDP, 18, 38}},
	} {
		if got := fastParse(f, c.layer); got != c.want {
			t.Errorf("layer %d: %+v, want %+v", c.layer, got, c.want)
		}
	}
	// the headers in the first segment, the rest elsewhere
	b := eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(make([]byte, 2000))))
	fl, l3, l4 := ParseSegment(unsafe.Pointer(&b[0]), 100, uint32(len(b)), meta.LayerAll)
	if want := meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP | meta.Jumbo; fl != want || l3 != 14 || l4 != 34 {
		t.Errorf("segment: %b %d %d", fl, l3, l4)
	}
	if fl, _, _ = ParseSegment(unsafe.Pointer(&b[0]), 100, 100, meta.LayerAll); fl&meta.ErrL3 == 0 {
		t.Error("a datagram longer than the frame was taken")
	}
	if fl, _, l4 = ParseSegment(unsafe.Pointer(&b[0]), 40, uint32(len(b)), meta.LayerAll); fl&meta.ErrL4 == 0 || l4 != noOff {
		t.Error("a header behind the first segment was found")
	}
}

// TestParseL3 parses every untagged case again from its layer 3 header on.
func TestParseL3(t *testing.T) {
	n := 0
	for _, c := range cases {
		if len(c.frame) < 14 || isTag(be16(unsafe.Pointer(&c.frame[0]), 12)) || be16(unsafe.Pointer(&c.frame[0]), 12) <= maxLength8023 {
			continue
		}
		n++
		b := slices.Clip(slices.Clone(c.frame[14:]))
		want := c.want
		want.flags &^= meta.L2 | meta.EthBcast | meta.EthMcast | meta.Jumbo
		for _, o := range []*uint16{&want.l3, &want.l4} {
			if *o != noOff {
				*o -= 14
			}
		}
		f, l3, l4 := ParseL3(unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b)), uint32(len(b)), be16(unsafe.Pointer(&c.frame[0]), 12), meta.LayerAll)
		if got := (result{f, l3, l4}); got != want {
			t.Errorf("%s: %b %d %d, want %b %d %d", c.name, f, l3, l4, want.flags, want.l3, want.l4)
		}
		if f, l3, l4 = ParseL3(unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b)), 0, TypeIPv4, meta.LayerL2); f != 0 || l3 != noOff || l4 != noOff {
			t.Errorf("%s: layer 2 asked for: %b", c.name, f)
		}
	}
	if n < 30 {
		t.Errorf("only %d cases", n)
	}
}

// check compares Parse with its twin at every depth, in memory that ends at the
// frame's end, so that a read beyond it is seen by the race detector's checkptr.
func check(t *testing.T, frame []byte) {
	b := slices.Clip(slices.Clone(frame))
	for l := meta.LayerNone; l <= meta.LayerAll; l++ {
		want := slowParse(b, len(b), l)
		if got := fastParse(b, l); got != want {
			t.Fatalf("layer %d of %x:\nParse %b %d %d\ntwin  %b %d %d", l, b, got.flags, got.l3, got.l4, want.flags, want.l3, want.l4)
		}
		total := len(b) + int(u8(unsafe.Pointer(&append(b, 0)[0]), 0))*8
		want = slowParse(b, total, l)
		f, l3, l4 := ParseSegment(unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b)), uint32(total), l)
		if got := (result{f, l3, l4}); got != want {
			t.Fatalf("layer %d of %x, total %d:\nParse %b %d %d\ntwin  %b %d %d", l, b, total, got.flags, got.l3, got.l4, want.flags, want.l3, want.l4)
		}
	}
}

// TestParseMutated changes bytes, and cuts, in every frame of the table.
func TestParseMutated(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	for _, c := range cases {
		for n := range min(len(c.frame), 130) {
			check(t, c.frame[:n])
		}
		for range rounds {
			b := slices.Clone(c.frame)
			for range 1 + rnd.IntN(4) {
				if len(b) == 0 {
					break
				}
				i := rnd.IntN(min(len(b), 130))
				switch rnd.IntN(3) {
				case 0:
					b[i] = byte(rnd.Uint32())
				case 1:
					b[i] ^= 1 << rnd.IntN(8)
				case 2:
					b[i] = []byte{0, 4, 6, 17, 43, 44, 58, 60, 0x45, 0x46, 0x60, 0x81, 0x88, 0xdd, 0xff}[rnd.IntN(15)]
				}
			}
			if rnd.IntN(4) == 0 {
				b = b[:rnd.IntN(len(b)+1)]
			}
			check(t, b)
		}
	}
}

func TestParseNoAllocs(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() {
		for _, c := range cases {
			r := fastParse(c.frame, meta.LayerAll)
			sink += FlowHash(unsafe.Pointer(unsafe.SliceData(c.frame)), uint32(len(c.frame)), r.flags, r.l3, r.l4)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var sink uint32

func BenchmarkParse(b *testing.B) {
	for _, name := range []string{"ipv4 udp", "ipv4 tcp", "vlan ipv4 udp", "qinq", "ipv6 udp", "arp", "ipv4 options icmp"} {
		for _, c := range cases {
			if c.name != name {
				continue
			}
			b.Run(name, func(b *testing.B) {
				p, n := unsafe.Pointer(&c.frame[0]), uint32(len(c.frame))
				for b.Loop() {
					f, l3, l4 := Parse(p, n, meta.LayerAll)
					sink += uint32(f) + uint32(l3) + uint32(l4)
				}
			})
		}
	}
}
