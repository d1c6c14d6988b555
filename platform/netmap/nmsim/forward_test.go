// SPDX-License-Identifier: Apache-2.0

package nmsim

import (
	"bytes"
	"testing"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// twoPorts makes eth0 and eth1, each with a source and a sink.
func twoPorts(t testing.TB, w *World, src SourceConfig, cfg NICConfig) {
	t.Helper()
	cfg.Source, cfg.Sink = &src, &SinkConfig{}
	must(t, w.NIC("eth0", cfg))
	must(t, w.NIC("eth1", cfg))
}

// forward moves frames both ways until n were moved or nothing comes any more.
func forward(a, b *conn, n int, noRx, noTx bool) int {
	moved, idle := 0, 0
	ar, at, br, bt := a.rxr(0), a.txr(0), b.rxr(0), b.txr(0)
	for moved < n && idle < 8 {
		a.rxsync()
		b.rxsync()
		k := swapForward(ar, bt, 32, noRx, noTx)
		k += swapForward(br, at, 32, noRx, noTx)
		a.txsync()
		b.txsync()
		if moved += k; k == 0 {
			idle++
		} else {
			idle = 0
		}
	}
	return moved
}

func TestForwardZeroCopyNothingLost(t *testing.T) {
	w := testWorld(t, Config{})
	twoPorts(t, w, SourceConfig{Count: 50000}, NICConfig{})
	a, b := open(t, w, "eth0"), open(t, w, "eth1")
	if n := forward(a, b, 1<<30, false, false); n != 100000 {
		t.Errorf("forwarded %d", n)
	}
	a.close()
	b.close()
	r := w.ReportAll()
	if r.Injected != 100000 || r.Delivered != 100000 || r.Lost(0) != 0 || r.Corrupt+r.Reordered+r.Duplicate+r.WrongMAC != 0 {
		t.Errorf("%+v", r)
	}
	noLeak(t, w)
}

func TestForgottenBufChangedShows(t *testing.T) {
	for _, side := range []string{"rx", "tx"} {
		w := testWorld(t, Config{})
		twoPorts(t, w, SourceConfig{Count: 5000}, NICConfig{})
		a, b := open(t, w, "eth0"), open(t, w, "eth1")
		forward(a, b, 1<<30, side == "rx", side == "tx")
		r := w.ReportAll()
		if r.Delivered == r.Injected || r.Corrupt+r.Duplicate == 0 {
			t.Errorf("BUF_CHANGED missing on %s went unseen: %+v", side, r)
		}
	}
}

func TestCableBothWays(t *testing.T) {
	w := testWorld(t, Config{})
	must(t, w.NIC("eth0", NICConfig{}))
	must(t, w.NIC("eth1", NICConfig{}))
	must(t, w.Cable("eth0", "eth1"))
	a, b := open(t, w, "eth0"), open(t, w, "eth1")
	for round := 0; round < 3000; round++ {
		f := frame(byte(round), 60+round%1400)
		g := frame(byte(round+7), 60+round%900)
		if a.send(a.txr(0), f, g) != 2 || b.send(b.txr(0), g) != 1 {
			t.Fatal("no room")
		}
		a.txsync()
		b.txsync()
		a.rxsync()
		b.rxsync()
		got, back := b.recv(b.rxr(0)), a.recv(a.rxr(0))
		if len(got) != 2 || !bytes.Equal(got[0], f) || !bytes.Equal(got[1], g) || len(back) != 1 || !bytes.Equal(back[0], g) {
			t.Fatalf("round %d: %d and %d frames", round, len(got), len(back))
		}
	}
	a.close()
	b.close()
	noLeak(t, w)
}
