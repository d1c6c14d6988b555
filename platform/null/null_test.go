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
