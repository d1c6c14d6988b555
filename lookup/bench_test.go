// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/lookup/sample"
)

// The tables and addresses of the comparison in docs/results/l3fwd.md: call with
// -bench 'Bulk' -benchtime 20000000x; an operation is one address, in bursts of 32.

func bench4[H Hop](b *testing.B, routes []netip.Prefix, cfg Config, fromRoutes bool) {
	cfg.Name, cfg.Routes = "bench", len(routes)
	t := made4[H](b, cfg)
	for i, p := range routes {
		if err := t.V4.Add(p, H(1+i%200)); err != nil {
			b.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	addrs := make([]uint32, 1<<18)
	for i := range addrs {
		addrs[i] = r.Uint32()
		if fromRoutes {
			addrs[i] = word4(sample.Inside(r, routes[r.IntN(len(routes))]))
		}
	}
	hops := make([]H, 32)
	b.ResetTimer()
	defer perAddress(b, cpuTime())
	at := 0
	for i := 0; i < b.N; i += 32 {
		t.V4.LookupBulk(addrs[at:at+32], hops)
		at = (at + 32) & (len(addrs) - 1)
	}
}

// perAddress reports the processor time, which says more than the clock on a busy machine.
func perAddress(b *testing.B, before int64) {
	b.StopTimer()
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/address")
}

func cpuTime() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func BenchmarkBulk4(b *testing.B) {
	small, large := sample.Router(1, 16), sample.Router(1, 1)
	b.Run("67k/2B/random", func(b *testing.B) { bench4[uint16](b, small, Config{Groups: 4096}, false) })
	b.Run("67k/4B/random", func(b *testing.B) { bench4[uint32](b, small, Config{Groups: 4096}, false) })
	b.Run("67k/2B/routes", func(b *testing.B) { bench4[uint16](b, small, Config{Groups: 4096}, true) })
	b.Run("1.08M/2B/random", func(b *testing.B) { bench4[uint16](b, large, Config{Groups: 65000, MaxHop: 500}, false) })
	b.Run("1.08M/4B/random", func(b *testing.B) { bench4[uint32](b, large, Config{Groups: 65000}, false) })
	b.Run("1.08M/2B/routes", func(b *testing.B) { bench4[uint16](b, large, Config{Groups: 65000, MaxHop: 500}, true) })
	b.Run("1.08M/4B/routes", func(b *testing.B) { bench4[uint32](b, large, Config{Groups: 65000}, true) })
}

func bench6(b *testing.B, routes []netip.Prefix, groups int, shuffled bool) {
	t := made6(b, Config{Name: "bench", Groups: groups, Routes: len(routes)})
	for i, p := range routes {
		if err := t.Add(p, uint32(1+i%200)); err != nil {
			b.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	addrs := make([]Addr6, 100_000/32*32)
	for i := range addrs {
		k := i * len(routes) / len(addrs)
		if shuffled {
			k = r.IntN(len(routes))
		}
		addrs[i] = word6(sample.Inside(r, routes[k]))
	}
	hops := make([]uint32, 32)
	b.ResetTimer()
	defer perAddress(b, cpuTime())
	at := 0
	for i := 0; i < b.N; i += 32 {
		t.V6.LookupBulk(addrs[at:at+32], hops)
		if at += 32; at == len(addrs) {
			at = 0
		}
	}
}

func BenchmarkBulk6(b *testing.B) {
	even, full := sample.Even6(1), sample.IPv6(1, 200_000)
	b.Run("1000/ordered", func(b *testing.B) { bench6(b, even, 4096, false) })
	b.Run("1000/shuffled", func(b *testing.B) { bench6(b, even, 4096, true) })
	slices.SortFunc(full, func(a, b netip.Prefix) int { return a.Addr().Compare(b.Addr()) })
	b.Run("200k/ordered", func(b *testing.B) { bench6(b, full, 200_000, false) })
	b.Run("200k/shuffled", func(b *testing.B) { bench6(b, full, 200_000, true) })
}
