// SPDX-License-Identifier: Apache-2.0

package null_test

import (
	"io"
	"log/slog"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio"
	_ "github.com/odp-go/godp/platform/null"
	"github.com/odp-go/godp/worker"
)

func TestNull(t *testing.T) {
	set, err := worker.NewSet(2)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := buffer.NewPool(set, buffer.PoolConfig{Name: "null-test", Num: 64, Cache: -1})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	p, err := pktio.Open(t.Context(), set, "null:0?rx=2&tx=3", pktio.Config{Pool: pool, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	var b [16]*buffer.Packet
	for i := range p.NumOut() {
		pool.AllocPackets(nil, b[:], 60)
		if n, err := p.Out(i).Send(nil, b[:]); n != len(b) || err != nil {
			t.Fatal(n, err)
		}
	}
	for i := range p.NumIn() {
		if n, err := p.In(i).Recv(nil, b[:]); n != 0 || err != nil {
			t.Error(n, err)
		}
	}
	s := p.Stats()
	if s.TxPackets() != 48 || s.Device["swallowed"] != 48 || pool.Out() != 0 {
		t.Errorf("%+v, %d packets out", s, pool.Out())
	}
	if p.SetMTU(59) == nil || p.SetMTU(1500) != nil || p.MTU() != 1500 {
		t.Error("MTU", p.MTU())
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
	q, err := pktio.Open(t.Context(), set, "null:1", pktio.Config{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if q.Pool() == nil || q.Close() != nil {
		t.Error("without a pool")
	}
}

// A device that feeds gives full bursts of packets of its length, from any pool.
func TestFeed(t *testing.T) {
	set, err := worker.NewSet(2)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	if _, err := pktio.Open(t.Context(), set, "null:0?feed=59", pktio.Config{Log: log}); err == nil {
		t.Error("59 bytes were accepted")
	}
	p, err := pktio.Open(t.Context(), set, "null:0?feed=64", pktio.Config{Log: log, Parse: pktio.ParseNone})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	var b [32]*buffer.Packet
	for range 1000 { // more than the pool holds: what is sent comes back
		n, err := p.In(0).Recv(nil, b[:])
		if n != len(b) || err != nil {
			t.Fatal(n, err)
		}
		for _, k := range b {
			if k.Len() != 64 {
				t.Fatal(k.Len())
			}
		}
		if n, err := p.Out(0).Send(nil, b[:]); n != len(b) || err != nil {
			t.Fatal(n, err)
		}
	}
	if s := p.Stats(); s.RxPackets() != 32000 || s.Device["swallowed"] != 32000 {
		t.Errorf("%+v", s)
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// Two devices have two addresses, each locally administered and the same each time.
func TestAddresses(t *testing.T) {
	set, err := worker.NewSet(1)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, name := range []string{"null:0", "null:1", "null:a", "null:0"} {
		p, err := pktio.Open(t.Context(), set, name, pktio.Config{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		mac := p.MAC()
		if len(mac) != 6 || mac[0]&3 != 2 {
			t.Errorf("%s: %v is no unicast address that is locally administered", name, mac)
		}
		if was := seen[mac.String()]; was != "" && was != name {
			t.Errorf("%s and %s are both %v", was, name, mac)
		}
		seen[mac.String()] = name
		mac[5]++ // the caller's own
		if p.MAC()[5] == mac[5] {
			t.Error("the address is not a copy")
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d addresses of 3 devices", len(seen))
	}
}
