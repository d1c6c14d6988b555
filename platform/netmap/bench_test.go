// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"context"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/nmsim"
)

// BenchmarkForward forwards 60 byte frames from a saturating source to a sink in
// bursts of 32, one worker. The simulator's part (making and checking frames) is in
// the figure. One operation is one frame.
func BenchmarkForward(b *testing.B) {
	for _, c := range []struct {
		name string
		own  bool
	}{{"exchange", false}, {"copy", true}} {
		b.Run(c.name, func(b *testing.B) {
			sim := nmsim.NewWorld(nmsim.Config{})
			defer sim.Close()
			sim.NIC("a", nmsim.NICConfig{Source: &nmsim.SourceConfig{}})
			sim.NIC("b", nmsim.NICConfig{Sink: &nmsim.SinkConfig{}})
			set, w := newSet(b)
			cfg := driver.Config{Set: set, PoolPackets: 2048}
			if c.own {
				p, err := buffer.NewPool(set, buffer.PoolConfig{Name: "own", Num: 2048})
				if err != nil {
					b.Fatal(err)
				}
				defer p.Close()
				cfg.Pool = p
			}
			v := NewSim("sim", sim)
			x, err := v.Open(context.Background(), "a", quiet(cfg))
			if err != nil {
				b.Fatal(err)
			}
			defer x.Close()
			y, err := v.Open(context.Background(), "b", quiet(cfg))
			if err != nil {
				b.Fatal(err)
			}
			defer y.Close()
			x.Start()
			y.Start()
			rx, tx := x.Rx(0), y.Tx(0)
			pkts := make([]*buffer.Packet, 32)
			b.ResetTimer()
			for done := 0; done < b.N; {
				n, _ := rx.Recv(w, pkts)
				m, _ := tx.Send(w, pkts[:n])
				buffer.FreePackets(w, pkts[m:n])
				done += n
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpps")
		})
	}
}
