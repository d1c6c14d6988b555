// SPDX-License-Identifier: Apache-2.0

package pktio_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/worker"
)

// BenchmarkForward is l2fwd between two loop devices that share a pool: 512
// packets of 60 bytes circulate, headers are parsed, MAC addresses rewritten. One
// operation is one packet.
func BenchmarkForward(b *testing.B) {
	for _, level := range []pktio.LockLevel{pktio.LockNone, pktio.LockQueue, pktio.LockDevice, pktio.LockPktio} {
		for _, parse := range []pktio.Parse{pktio.ParseAll, pktio.ParseNone} {
			b.Run(level.String()+"/parse="+parse.String(), func(b *testing.B) {
				set := newSet(b, 4)
				cfg := pktio.Config{LockLevel: level, Parse: parse}
				p0 := open(b, set, "loop:b0?seed=512", cfg)
				p1 := open(b, set, "loop:b1", cfg)
				start(b, p0)
				start(b, p1)
				w, err := set.Join(worker.KindWorker)
				if err != nil {
					b.Fatal(err)
				}
				defer w.Leave()
				ports := [2]*pktio.Port{p0, p1}
				macs := header.MACPattern(p1.MAC(), p0.MAC())
				pkts := make([]*buffer.Packet, 32)
				b.ResetTimer()
				for done := 0; done < b.N; {
					for i, p := range ports {
						n, err := p.In(0).Recv(w, pkts)
						if err != nil {
							b.Fatal(err)
						}
						for _, k := range pkts[:n] {
							header.SetMACs(k.DataPtr(), &macs)
						}
						m, err := ports[1-i].Out(0).Send(w, pkts[:n])
						if m != n || err != nil {
							b.Fatal(m, n, err)
						}
						done += n
						w.Running()
					}
				}
				b.StopTimer()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpps")
				b.ReportMetric(p0.In(0).Stats().MeanBurst(), "burst")
			})
		}
	}
}

// BenchmarkShared is the same work by several workers on the same two rings: what a
// lock level costs when it is contended, also with more workers than CPUs.
func BenchmarkShared(b *testing.B) {
	for _, level := range []pktio.LockLevel{pktio.LockQueue, pktio.LockDevice, pktio.LockPktio} {
		for _, workers := range []int{1, 2, 4} {
			b.Run(fmt.Sprintf("%s/workers=%d", level, workers), func(b *testing.B) { shared(b, level, workers) })
		}
	}
}

func shared(b *testing.B, level pktio.LockLevel, workers int) {
	set := newSet(b, workers)
	cfg := pktio.Config{LockLevel: level, LockStats: true}
	p0 := open(b, set, "loop:b0?seed=512&packets=4096", cfg)
	p1 := open(b, set, "loop:b1", cfg)
	start(b, p0)
	start(b, p1)
	ports := [2]*pktio.Port{p0, p1}
	var total atomic.Int64
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers + 2)) // as an instance does
	run(b, set, workers, func(id int, w *worker.Worker) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		pkts := make([]*buffer.Packet, 32)
		for done := 0; total.Load() < int64(b.N); w.Running() {
			for i, p := range ports {
				n, _ := p.In(0).Recv(w, pkts)
				for sent := 0; sent < n; {
					m, _ := ports[1-i].Out(0).Send(w, pkts[sent:n])
					sent += m
				}
				done += n
			}
			if done >= 1024 {
				total.Add(int64(done))
				done = 0
			}
		}
	})
	b.StopTimer()
	var wait, held float64
	for _, p := range ports {
		s := p.Stats()
		wait += (s.In[0].LockWait + s.Out[0].LockWait).Seconds()
		held += (s.In[0].LockHeld + s.Out[0].LockHeld).Seconds()
	}
	time := float64(workers) * b.Elapsed().Seconds()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpps")
	b.ReportMetric(100*wait/time, "%wait")
	b.ReportMetric(100*held/time, "%held")
}
