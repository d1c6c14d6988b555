// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"context"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/nmsim"
)

// TestForward forwards from a source to a sink that checks every byte, for each way
// that packets can take.
func TestForward(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b nmsim.NICConfig
		cfg  driver.Config
		pool bool // a pool of the test's own: copies
	}{
		{name: "zero copy"},
		{name: "copy", pool: true},
		{name: "two regions", b: nmsim.NICConfig{MemID: 2}},
		{name: "odd rings", a: nmsim.NICConfig{RxSlots: 37, TxSlots: 5}, b: nmsim.NICConfig{RxSlots: 3, TxSlots: 11}},
		{name: "late completion", b: nmsim.NICConfig{TxDelaySyncs: 3}},
		{name: "zero length slots", a: nmsim.NICConfig{Source: &nmsim.SourceConfig{ZeroEvery: 5}}},
		{name: "fragments", a: nmsim.NICConfig{MoreFrag: true, Source: &nmsim.SourceConfig{Frags: 3, Len: 900}}, b: nmsim.NICConfig{MoreFrag: true}},
		{name: "fragments cut at tail", a: nmsim.NICConfig{MoreFrag: true, Source: &nmsim.SourceConfig{Frags: 5, Len: 900, CutChains: true}}, b: nmsim.NICConfig{MoreFrag: true}},
		{name: "fragments joined", a: nmsim.NICConfig{MoreFrag: true, Source: &nmsim.SourceConfig{Frags: 4, Len: 900}}},
		{name: "fragments copied", pool: true, a: nmsim.NICConfig{MoreFrag: true, Source: &nmsim.SourceConfig{Frags: 4, Len: 900}}},
		{name: "jumbo copied", pool: true, a: nmsim.NICConfig{MoreFrag: true, MTU: 9000, Source: &nmsim.SourceConfig{Len: 9000}}, b: nmsim.NICConfig{MTU: 9000, MoreFrag: true}},
		{name: "jumbo", a: nmsim.NICConfig{MoreFrag: true, MTU: 9000, Source: &nmsim.SourceConfig{Len: 9000}}, b: nmsim.NICConfig{MTU: 9000, MoreFrag: true}},
		{name: "many rings one queue", a: nmsim.NICConfig{RxRings: 3, TxRings: 1}},
		{name: "headroom", cfg: driver.Config{Options: map[string]string{"headroom": "128"}}},
		{name: "joint descriptor", cfg: driver.Config{Options: map[string]string{"split": "0"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sim := smallWorld(t, nmsim.Config{})
			set, w := newSet(t)
			if c.a.Source == nil {
				c.a.Source = &nmsim.SourceConfig{}
			}
			const frames = 4000
			rings := max(1, c.a.RxRings)
			c.a.Source.Count, c.a.Source.Window = frames, 2
			if c.a.RxSlots == 0 {
				c.a.Source.Window = 500
			}
			if c.a.Source.Frags > 0 || c.a.Source.Len > 0 {
				c.a.Source.Window = 100
			}
			c.b.Sink = &nmsim.SinkConfig{}
			for n, cfg := range map[string]nmsim.NICConfig{"a": c.a, "b": c.b} {
				if err := sim.NIC(n, cfg); err != nil {
					t.Fatal(err)
				}
			}
			cfg := c.cfg
			cfg.Set = set
			if c.pool {
				p, err := buffer.NewPool(set, buffer.PoolConfig{Name: "own", Num: 1024, MaxLen: 10000})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := p.Close(); err != nil {
						t.Error(err)
					}
				})
				cfg.Pool = p
			}
			v := NewSim("sim", sim)
			a := openPort(t, v, "a", cfg)
			b := openPort(t, v, "b", cfg)
			if z := a.Info().ZeroCopy; z == c.pool || z == (a.Info().Why != "") {
				t.Errorf("zero copy %v, why %q", z, a.Info().Why)
			}
			forward(t, w, a.Rx(0), b.Tx(0), func() bool {
				b.tx[0].sync() // a simulated card completes late frames inside syncs only
				return sim.Report("b").TxFrames >= frames*uint64(rings)
			})
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			if err := b.Drain(ctx); err != nil {
				t.Error(err)
			}
			r, s := sim.Report("a"), sim.Report("b")
			if s.Delivered != frames*uint64(rings) || s.Corrupt+s.Duplicate+s.Reordered != 0 || r.RxMissed != 0 {
				t.Errorf("source %+v\nsink %+v", r, s)
			}
			w.Quiesce()
			set.RequestFlush()
			w.Quiesce()
			if p := a.Pool(); p.Available() != p.Num() {
				t.Errorf("pool: %d of %d", p.Available(), p.Num())
			}
			for n, x := range a.Counters() {
				if (n == "faults" || n == "rx_bad_slots" || n == "buffers_lost") && x != 0 {
					t.Errorf("%s = %d", n, x)
				}
			}
		})
	}
}
