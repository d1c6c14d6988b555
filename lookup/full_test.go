// SPDX-License-Identifier: Apache-2.0

package lookup

import (
	"context"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gaissmai/bart"

	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/lookup/sample"
	"github.com/odp-go/godp/worker"
)

// full is a table of the internet's size: 900 000 IPv4 and 200 000 IPv6 routes, seed 1,
// lengths as sample.Internet4 and Internet6.
func full(t testing.TB, n4, n6 int, grace func(context.Context) error) (v4, v6 table, r4, r6 []netip.Prefix, load func()) {
	r4, r6 = sample.IPv4(1, n4), sample.IPv6(1, n6)
	t4 := made4[uint16](t, Config{Name: "full4", Routes: n4, Groups: 1024 + n4/30, MaxHop: 255, Grace: grace})
	t6 := made6(t, Config{Name: "full6", Routes: n6, Groups: 2048 + n6, Grace: grace})
	return t4, t6, r4, r6, func() {
		for i, p := range r4 {
			if err := t4.Add(p, hopOf(i)); err != nil {
				t.Fatal(err)
			}
		}
		for i, p := range r6 {
			if err := t6.Add(p, hopOf(i)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func hopOf(i int) uint32 { return uint32(1 + i%200) }

// One operation loads both tables.
func BenchmarkLoadFullTable(b *testing.B) {
	for range b.N {
		b.StopTimer()
		v4, v6, _, _, load := full(b, 900_000, 200_000, nil)
		b.StartTimer()
		before := cpuTime()
		load()
		b.ReportMetric(float64(cpuTime()-before)/1e9, "cpu-s/load")
		b.StopTimer()
		b.Logf("IPv4 %+v\nIPv6 %+v", v4.Info(), v6.Info())
		v4.Close()
		v6.Close()
	}
}

// changeFull changes routes of full tables while a worker looks up in both without a
// pause; every answer is that of one of the routes that hold the address.
func changeFull(t testing.TB, n4, n6, changes int, begin func(), end func()) {
	set, err := worker.NewSet(2)
	if err != nil {
		t.Fatal(err)
	}
	v4, v6, r4, r6, load := full(t, n4, n6, set.Grace)
	load()
	var o bart.Table[[]uint32] // all that an address may be led to: the hops of its routes
	note := func(list []netip.Prefix) {
		for i, p := range list {
			o.Insert(p, []uint32{hopOf(i)})
		}
	}
	note(r4)
	note(r6)
	r := rand.New(rand.NewPCG(5, 5))
	allowed := func(a netip.Addr) map[uint32]bool {
		m := map[uint32]bool{0: true}
		for p := range o.Supernets(netip.PrefixFrom(a, a.BitLen())) {
			v, _ := o.Get(p)
			m[v[0]], m[v[0]^128] = true, true
		}
		return m
	}
	type probe struct {
		a  netip.Addr
		ok map[uint32]bool
	}
	var probes [2][]probe
	var addrs [2][]netip.Addr
	for range 2000 {
		for f, list := range [][]netip.Prefix{r4, r6} {
			a := sample.Inside(r, list[r.IntN(len(list))])
			probes[f] = append(probes[f], probe{a, allowed(a)})
			addrs[f] = append(addrs[f], a)
		}
	}
	w, err := set.Join(worker.KindWorker)
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var wg sync.WaitGroup
	var looked atomic.Int64
	var wrong atomic.Pointer[probe]
	wg.Go(func() {
		defer w.Leave()
		for !stop.Load() && w.Running() {
			for f, tb := range []table{v4, v6} {
				for i, h := range tb.Bulk(addrs[f]) {
					if !probes[f][i].ok[h] {
						wrong.Store(&probes[f][i])
					}
				}
				looked.Add(int64(len(addrs[f])))
			}
		}
	})
	begin()
	for i := range changes {
		tb, list := v4, r4
		if i%8 == 7 {
			tb, list = v6, r6
		}
		k := r.IntN(len(list))
		p := list[k]
		if _, there := tb.Get(p); there && i%3 != 0 {
			err = tb.Delete(p)
		} else {
			err = tb.Add(p, hopOf(k)^uint32(i&1)<<7) // the route's hop, or another of its own
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	end()
	stop.Store(true)
	wg.Wait()
	t.Logf("%d changes, %d look-ups meanwhile", changes, looked.Load())
	if x := wrong.Load(); x != nil {
		t.Errorf("%v was led somewhere else than its routes say", x.a)
	}
	if err := set.Close(); err != nil {
		t.Error(err)
	}
}

func TestChangeFullTable(t *testing.T) {
	n4, n6, changes := 20_000, 5_000, 20_000
	switch {
	case *heavy:
		n4, n6, changes = 900_000, 200_000, 1_000_000
	case testkit.Race:
		n4, n6, changes = 2000, 500, 1000
	}
	changeFull(t, n4, n6, changes, func() {}, func() {})
}

// One operation is one change, beside a worker that looks up all the time.
func BenchmarkChangeFullTable(b *testing.B) {
	changeFull(b, 900_000, 200_000, b.N, b.ResetTimer, b.StopTimer)
}
