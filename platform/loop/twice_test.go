// SPDX-License-Identifier: Apache-2.0

//go:build invariants

package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio/driver"
)

// What is sent belongs to the receiver: sending or freeing it again is told with the
// places, whether it still waits in the ring or not.
func TestSentTwice(t *testing.T) {
	panics := func(f func()) (text string) {
		defer func() { text = fmt.Sprint(recover()) }()
		f()
		return ""
	}
	for _, c := range []struct {
		name string
		do   func(p driver.TxQueue, k *buffer.Packet) // the second call must panic
		want string
	}{
		{"in one burst", func(p driver.TxQueue, k *buffer.Packet) { p.Send(nil, []*buffer.Packet{k, k}) }, "is sent twice: by"},
		{"in two bursts", func(p driver.TxQueue, k *buffer.Packet) {
			p.Send(nil, []*buffer.Packet{k})
			p.Send(nil, []*buffer.Packet{k})
		}, "is sent twice: by"},
		{"freed after it was sent", func(p driver.TxQueue, k *buffer.Packet) {
			p.Send(nil, []*buffer.Packet{k})
			buffer.FreePacket(nil, k)
		}, "after it was sent by"},
		{"sent after it was freed", func(p driver.TxQueue, k *buffer.Packet) {
			buffer.FreePacket(nil, k)
			p.Send(nil, []*buffer.Packet{k})
		}, "sent by"},
		{"spread over queues", func(p driver.TxQueue, k *buffer.Packet) {
			p.Send(nil, []*buffer.Packet{k})
			p.Send(nil, []*buffer.Packet{k})
		}, "is sent twice: by"},
	} {
		set := newSet(t)
		pool := newPool(t, set, 4)
		cfg := driver.Config{Set: set, Pool: pool, Log: quiet}
		if strings.HasPrefix(c.name, "spread") {
			cfg.RxQueues = 2
		}
		drv, name, err := driver.Lookup("loop:twice")
		if err != nil {
			t.Fatal(err)
		}
		dev, err := drv.Open(t.Context(), name, cfg) // without a port, whose locks a panic would leave taken
		if err != nil {
			t.Fatal(err)
		}
		k := pool.AllocPacket(nil, 60)
		text := panics(func() { c.do(dev.Tx(0), k) })
		if !strings.Contains(text, c.want) || !strings.Contains(text, "twice_test.go:") {
			t.Errorf("%s: %q, want %q and the place", c.name, text, c.want)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
}
