// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/nmsim"
	"github.com/odp-go/godp/worker"
)

// smallWorld is a world whose regions are small enough for the race detector's arena.
func smallWorld(t testing.TB, cfg nmsim.Config) *nmsim.World {
	if cfg.Mem.BufNum == 0 {
		cfg.Mem.BufNum = 12288
	}
	w := nmsim.NewWorld(cfg)
	t.Cleanup(func() {
		if l := w.Leaks(); l != (nmsim.Leaks{}) || w.Open() != 0 {
			t.Errorf("left behind: %+v, %d descriptors", l, w.Open())
		}
		w.Close()
	})
	return w
}

func newSet(t testing.TB) (*worker.Set, *worker.Worker) {
	s, err := worker.NewSet(4)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Join(worker.KindWorker)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Leave()
		s.Close()
	})
	return s, w
}

// port is an open device of a test, closed at its end without anything left.
func openPort(t testing.TB, v *Driver, name string, cfg driver.Config) *device {
	t.Helper()
	d, err := v.Open(context.Background(), name, quiet(cfg))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close %s: %v", name, err)
		}
	})
	return d.(*device)
}

func quiet(cfg driver.Config) driver.Config {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.PoolPackets == 0 && cfg.Pool == nil {
		cfg.PoolPackets = 512
	}
	return cfg
}

// forward moves frames until done, or for at most two minutes.
func forward(t testing.TB, w *worker.Worker, in driver.RxQueue, out driver.TxQueue, done func() bool) {
	t.Helper()
	pkts := make([]*buffer.Packet, 32)
	end := time.Now().Add(2 * time.Minute)
	for !done() {
		n, err := in.Recv(w, pkts)
		if err != nil {
			t.Fatal(err)
		}
		for sent := 0; sent < n; {
			m, err := out.Send(w, pkts[sent:n])
			if err != nil {
				t.Fatal(err)
			}
			sent += m
		}
		if time.Now().After(end) {
			t.Fatal("time is up")
		}
	}
}
