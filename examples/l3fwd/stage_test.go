// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/internal/testkit"
)

// Runs: their lengths add up, ports are equal inside a run, neighbours differ; for all
// lengths of a burst and several patterns. Twin: a loop that looks at each pair.
func TestRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	patterns := map[string]func(i int) uint16{
		"all the same": func(int) uint16 { return 3 }, "all different": func(i int) uint16 { return uint16(i) },
		"8 in a row": func(i int) uint16 { return uint16(i / 8 % 4) }, "in turn": func(i int) uint16 { return uint16(i % 4) },
		"random": func(int) uint16 { return uint16(r.IntN(2)) }, "high bits": func(i int) uint16 { return uint16(i%2) << 15 },
		"long and short": func(i int) uint16 { return uint16(i * i / 200) },
	}
	for what, f := range patterns {
		for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256} {
			var b burst
			for i := range n {
				b.out[i] = f(i)
			}
			for i := n; i < len(b.out); i++ {
				b.out[i] = uint16(r.Uint32()) // decides nothing
			}
			for i := 0; i < n; i += 64 {
				mask := ends(b.out[:], i, n)
				for j := range 64 {
					last := i+j == n-1 || i+j < n-1 && b.out[i+j] != b.out[i+j+1]
					if got := mask>>j&1 != 0; got != last {
						t.Fatalf("%s, burst of %d: packet %d ends a run: %v, want %v", what, n, i+j, got, last)
					}
				}
			}
		}
	}
}

// The fast header sum and TTL against package header's.
func TestChecksum(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for i := range 200_000 {
		g := frame4([4]byte{byte(r.Uint32()), 2, 3, byte(i)}, r.IntN(4), i)
		ip := header.IPv4(g[14:])
		for k := range 20 {
			if k != 0 && k != 10 && k != 11 {
				ip[k] = byte(r.Uint32())
			}
		}
		if i%4 == 0 { // sums near the ends of the range, where the carry is
			clear(ip[1:20])
			ip[8], ip[19] = byte(r.IntN(256)), byte(r.IntN(3))
			ip[1] = byte(r.IntN(256))
		}
		ip.UpdateChecksum()
		p := unsafe.Pointer(&g[0])
		if !sum20(p) {
			t.Fatalf("a right checksum is called wrong: % x", ip[:20])
		}
		if ip[8] > 1 {
			before := ip[8]
			ttl4(p)
			if ip[8] != before-1 || !ip.ChecksumOK() || !sum20(p) {
				t.Fatalf("wrong after the TTL went from %d: % x", before, ip[:20])
			}
		}
		ip[r.IntN(20)] ^= 1 << r.IntN(8)
		if sum20(p) {
			t.Fatalf("a wrong checksum is called right: % x", ip[:20])
		}
	}
}

// What each check finds, by reason.
func TestChecks(t *testing.T) {
	v4, v6 := [4]byte{198, 18, 1, 1}, [16]byte{0x20, 1, 2, 0, 0, 0, 0, 1, 15: 1}
	change := func(g []byte, f func(ip []byte)) []byte {
		f(g[14:])
		if g[12] == 8 && len(g) >= 34 {
			header.IPv4(g[14:]).UpdateChecksum()
		}
		return g
	}
	options := func(ihl byte, length int) []byte {
		g := append(frame4(v4, 0, 0), make([]byte, 60)...)
		return change(g, func(ip []byte) { ip[0], ip[2], ip[3] = 0x40|ihl, byte(length>>8), byte(length) })
	}
	bad := func(g []byte) []byte { g[25] ^= 0x40; return g }
	for _, c := range []struct {
		what          string
		frame         []byte
		strict, loose int
	}{
		{"good", frame4(v4, 0, 0), 0, 0},
		{"good, IPv6", frame6(v6, 0, 0), 0, 0},
		{"options", options(8, 100), 0, 0},
		{"options up to the end", options(15, 100), 0, 0},
		{"TTL 2", change(frame4(v4, 0, 0), func(ip []byte) { ip[8] = 2 }), 0, 0},
		{"TTL 1", change(frame4(v4, 0, 0), func(ip []byte) { ip[8] = 1 }), dropTTL, 0},
		{"TTL 0", change(frame4(v4, 0, 0), func(ip []byte) { ip[8] = 0 }), dropTTL, 0},
		{"hop limit 1", change(frame6(v6, 0, 0), func(ip []byte) { ip[7] = 1 }), dropTTL, 0},
		{"hop limit 0", change(frame6(v6, 0, 0), func(ip []byte) { ip[7] = 0 }), dropTTL, 0},
		{"checksum", bad(frame4(v4, 0, 0)), dropChecksum, 0},
		{"checksum with options", bad(options(6, 60)), dropChecksum, 0},
		{"version 5", change(frame4(v4, 0, 0), func(ip []byte) { ip[0] = 0x55 }), dropVersion, dropVersion},
		{"version 4 in IPv6", change(frame6(v6, 0, 0), func(ip []byte) { ip[0] = 0x40 }), dropVersion, 0},
		{"IHL 4", options(4, 60), dropVersion, dropVersion},
		{"IHL above the length", options(15, 59), dropLength, 0},
		{"length of 19", options(5, 19), dropLength, dropLength},
		{"length beyond the frame", change(frame4(v4, 0, 0), func(ip []byte) { ip[3] = 47 }), dropLength, 0},
		{"length of the frame", change(frame4(v4, 0, 0), func(ip []byte) { ip[3] = 46 }), 0, 0},
		{"IPv6 length beyond the frame", change(frame6(v6, 0, 0), func(ip []byte) { ip[5] = 9 }), dropLength, 0},
		{"33 bytes", frame4(v4, 0, 0)[:33], dropShort, dropShort},
		{"header cut off", options(15, 100)[:73], dropShort, 0},
		{"53 bytes of IPv6", frame6(v6, 0, 0)[:53], dropShort, dropShort},
	} {
		p, n := unsafe.Pointer(&c.frame[0]), uint32(len(c.frame))
		strict, loose := 0, 0
		if c.frame[12] == 8 {
			strict, loose = check4(p, n, n), loose4(p, n)
		} else {
			if strict = check6(p, n, n); n < 54 {
				loose = dropShort
			}
		}
		if strict != c.strict || loose != c.loose {
			t.Errorf("%s: rfc1812 says %s, dpdk %s, want %s, %s", c.what, name(strict), name(loose), name(c.strict), name(c.loose))
		}
	}
}

func name(r int) string {
	if r == 0 {
		return "good"
	}
	return dropNames[r]
}

// The stages are loops: what they call for each packet is inlined.
func TestInlined(t *testing.T) {
	testkit.CompileFacts(t, ".").Inlined(t, "load16", "load32", "load64", "byteAt", "sum20", "setMACs", "ttl4")
}

func TestNoEscapes(t *testing.T) {
	testkit.CompileFacts(t, ".").NoEscapes(t, "(*burst).strict", "(*burst).loose", "(*burst).rewrite", "(*forwarder).send", "(*forwarder).sendRun", "(*forwarder).putAll", "ends")
}

func ExampleMain() {
	fmt.Println(exampleRoute(true), exampleRoute(false))
	// Output: 198.18.1.0/24 2001:200:0:1::/64
}
