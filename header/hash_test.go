// SPDX-License-Identifier: Apache-2.0

package header

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/internal/meta"
)

// bitToeplitz is the hash as the RSS specification defines it, bit by bit.
func bitToeplitz(key, in []byte) (h uint32) {
	for i := range len(in) * 8 {
		if in[i/8]&(0x80>>(i%8)) == 0 {
			continue
		}
		var window uint32
		for j := i; j < i+32; j++ {
			window = window<<1 | uint32(key[j/8%len(key)]>>(7-j%8)&1)
		}
		h ^= window
	}
	return h
}

// The verification suite of the Microsoft RSS specification.
var rssVectors = []struct {
	src, dst     string
	sport, dport uint16
	addrs, ports uint32
}{
	{"66.9.149.187", "161.142.100.80", 2794, 1766, 0x323e8fc2, 0x51ccc178},
	{"199.92.111.2", "65.69.140.83", 14230, 4739, 0xd718262a, 0xc626b0ea},
	{"24.19.198.95", "12.22.207.184", 12898, 38024, 0xd2d0a5de, 0x5c2b394a},
	{"38.27.205.30", "209.142.163.6", 48228, 2217, 0x82989176, 0xafc7327f},
	{"153.39.163.191", "202.188.127.2", 44251, 1303, 0x5d1809c5, 0x10e828a2},
	{"3ffe:2501:200:1fff::7", "3ffe:2501:200:3::1", 2794, 1766, 0x2cc18cd5, 0x40207d3d},
	{"3ffe:501:8::260:97ff:fe40:efab", "ff02::1", 14230, 4739, 0x0f0c461c, 0xdde51bbf},
	{"3ffe:1900:4545:3:200:f8ff:fe21:67cf", "fe80::200:f8ff:fe21:67cf", 44251, 38024, 0x4b61e985, 0x02d1feef},
}

func flowFrame(src, dst netip.Addr, proto byte, sport, dport uint16) []byte {
	l4 := tcp(pad)
	if proto == ProtoUDP {
		l4 = udp(pad)
	} else if proto == ProtoSCTP {
		l4 = make([]byte, 20)
	}
	binary.BigEndian.PutUint16(l4, sport)
	binary.BigEndian.PutUint16(l4[2:], dport)
	if src.Is4() {
		f := eth(uniMAC, TypeIPv4, ip4(proto, dst.AsSlice(), nil, 0, l4))
		copy(f[26:], src.AsSlice())
		return f
	}
	f := eth(uniMAC, TypeIPv6, ip6(proto, dst.AsSlice(), l4))
	copy(f[22:], src.AsSlice())
	return f
}

func TestToeplitzVectors(t *testing.T) {
	ms := NewToeplitz(&MicrosoftKey)
	for _, v := range rssVectors {
		src, dst := netip.MustParseAddr(v.src), netip.MustParseAddr(v.dst)
		in := cat(src.AsSlice(), dst.AsSlice())
		if h := ms.Sum(in); h != v.addrs || bitToeplitz(MicrosoftKey[:], in) != h {
			t.Errorf("%s -> %s: %#x, want %#x", v.src, v.dst, h, v.addrs)
		}
		in = cat(in, word16(int(v.sport)), word16(int(v.dport)))
		if h := ms.Sum(in); h != v.ports || bitToeplitz(MicrosoftKey[:], in) != h {
			t.Errorf("%s:%d -> %s:%d: %#x, want %#x", v.src, v.sport, v.dst, v.dport, h, v.ports)
		}
		f := flowFrame(src, dst, ProtoTCP, v.sport, v.dport)
		r := fastParse(f, meta.LayerAll)
		if h := ms.Flow(unsafe.Pointer(&f[0]), uint32(len(f)), r.flags, r.l3, r.l4); h != v.ports {
			t.Errorf("frame %s -> %s: %#x, want %#x", v.src, v.dst, h, v.ports)
		}
	}
	if ms.Sum(nil) != 0 || ms.Sum(make([]byte, 100)) != 0 {
		t.Error("zeroes have hash 0, and bytes after 36 are not looked at")
	}
}

func flowHash(f []byte) uint32 {
	r := fastParse(f, meta.LayerAll)
	return FlowHash(unsafe.Pointer(unsafe.SliceData(f)), uint32(len(f)), r.flags, r.l3, r.l4)
}

// TestFlowHash compares FlowHash with the bitwise hash under SymmetricKey, both ways.
func TestFlowHash(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	table := NewToeplitz(&SymmetricKey)
	for range 2000 {
		size := []int{4, 16}[rnd.IntN(2)]
		raw := make([]byte, 2*size)
		for i := range raw {
			raw[i] = byte(rnd.Uint32())
		}
		src, _ := netip.AddrFromSlice(raw[:size])
		dst, _ := netip.AddrFromSlice(raw[size:])
		sport, dport := uint16(rnd.Uint32()), uint16(rnd.Uint32())
		proto := []byte{ProtoTCP, ProtoUDP, ProtoSCTP}[rnd.IntN(3)]
		f := flowFrame(src, dst, proto, sport, dport)
		want := bitToeplitz(SymmetricKey[:], cat(raw, word16(int(sport)), word16(int(dport))))
		if got := flowHash(f); got != want {
			t.Fatalf("%v:%d -> %v:%d: %#x, want %#x", src, sport, dst, dport, got, want)
		}
		if back := flowHash(flowFrame(dst, src, proto, dport, sport)); back != want {
			t.Fatalf("the way back has another hash: %#x, %#x", back, want)
		}
		r := fastParse(f, meta.LayerAll)
		if got := table.Flow(unsafe.Pointer(&f[0]), uint32(len(f)), r.flags, r.l3, r.l4); got != want {
			t.Fatalf("Toeplitz.Flow %#x, want %#x", got, want)
		}
	}
}

func TestFlowHashRules(t *testing.T) {
	whole := eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(pad)))
	addrs := bitToeplitz(SymmetricKey[:], []byte{192, 168, 0, 1, 10, 0, 0, 1})
	for name, c := range map[string]struct {
		f    []byte
		want uint32
	}{
		"first fragment": {eth(uniMAC, 0x800, ip4(17, addr4, nil, 0x2000, udp(pad))), addrs},
		"last fragment":  {eth(uniMAC, 0x800, ip4(17, addr4, nil, 100, pad)), addrs},
		"icmp":           {eth(uniMAC, 0x800, ip4(1, addr4, nil, 0, pad)), addrs},
		"broken udp":     {eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, pad[:5])), addrs},
		"tagged":         {eth(uniMAC, 0x8100, tag(3, 0x800, ip4(17, addr4, nil, 0, udp(pad)))), flowHash(whole)},
		"options":        {eth(uniMAC, 0x800, ip4(17, addr4, []byte{1, 1, 1, 0}, 0, udp(pad))), flowHash(whole)},
		"arp":            {eth(bcastMAC, 0x806, arp()), 0},
		"nothing":        {nil, 0},
	} {
		if got := flowHash(c.f); got != c.want {
			t.Errorf("%s: %#x, want %#x", name, got, c.want)
		}
	}
	if flowHash(whole) == addrs {
		t.Error("the ports are not in the hash")
	}
	// flags and offsets that contradict the length read nothing
	b := slices.Clip(make([]byte, 20))
	for _, f := range []meta.Flags{meta.IPv4 | meta.L3 | meta.L4 | meta.UDP, meta.IPv6 | meta.L3 | meta.L4 | meta.TCP} {
		if FlowHash(unsafe.Pointer(&b[0]), 20, f, 14, 34) != 0 || NewToeplitz(&MicrosoftKey).Flow(unsafe.Pointer(&b[0]), 20, f, 0xffff, 0xffff) != 0 {
			t.Error("read outside the frame")
		}
	}
}

func TestMACs(t *testing.T) {
	b := cat(bcastMAC, srcMAC, []byte{8, 0, 9})
	pat := MACPattern(uniMAC, mcastMAC)
	SetMACs(unsafe.Pointer(&b[0]), &pat)
	if !slices.Equal(b, cat(uniMAC, mcastMAC, []byte{8, 0, 9})) {
		t.Errorf("SetMACs: %x", b)
	}
	SwapMACs(unsafe.Pointer(&b[0]))
	if !slices.Equal(b, cat(mcastMAC, uniMAC, []byte{8, 0, 9})) {
		t.Errorf("SwapMACs: %x", b)
	}
}

func BenchmarkFlowHash(b *testing.B) {
	ms := NewToeplitz(&MicrosoftKey)
	for name, f := range map[string][]byte{
		"ipv4": eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(pad))), "ipv6": eth(uniMAC, 0x86dd, ip6(17, addr6, udp(pad))),
	} {
		r := fastParse(f, meta.LayerAll)
		p, n := unsafe.Pointer(&f[0]), uint32(len(f))
		b.Run(name+"/symmetric", func(b *testing.B) {
			for b.Loop() {
				sink += FlowHash(p, n, r.flags, r.l3, r.l4)
			}
		})
		b.Run(name+"/table", func(b *testing.B) {
			for b.Loop() {
				sink += ms.Flow(p, n, r.flags, r.l3, r.l4)
			}
		})
	}
}
