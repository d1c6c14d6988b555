// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"context"
	"strings"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/nmsim"
)

// Options that a port does not have are refused by name, also at software ports; ring sizes
// of a card that is joined already are a wish.
func TestSimOptions(t *testing.T) {
	w := smallWorld(t, nmsim.Config{})
	for _, n := range []string{"a", "b"} {
		if err := w.NIC(n, nmsim.NICConfig{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Cable("a", "b"); err != nil {
		t.Fatal(err)
	}
	set, _ := newSet(t)
	v := NewSim("sim", w)
	for _, name := range []string{"a", "vale0:x", "p{1"} {
		_, err := v.Open(context.Background(), name, quiet(driver.Config{Set: set, Options: map[string]string{"nonsense": "1"}}))
		if err == nil || !strings.Contains(err.Error(), "nonsense") || !strings.Contains(err.Error(), "sim:"+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d := openPort(t, v, "a", driver.Config{Set: set, RxSlots: 64, TxSlots: 64})
	if i := d.Info(); i.RxSlots != 1024 || !strings.Contains(strings.Join(i.Notes, ";"), "64 slots asked") {
		t.Errorf("%d slots, notes %q", i.RxSlots, i.Notes)
	}
	if !w.Fixed("a") || !w.Fixed("b") || w.Fixed("none") {
		t.Error("which ports are fixed")
	}
}

// A frame that is longer than what a port says it can send is dropped and counted, also
// where the slots would hold it.
func TestTooLongForPort(t *testing.T) {
	w := smallWorld(t, nmsim.Config{})
	set, wk := newSet(t)
	v := NewSim("sim", w)
	tx, rx := openPort(t, v, "vale0:x", driver.Config{Set: set}), openPort(t, v, "vale0:y", driver.Config{Set: set})
	p, err := buffer.NewPool(set, buffer.PoolConfig{Num: 32, Size: 32768, MaxLen: 100000})
	if err != nil {
		t.Fatal(err)
	}
	limit := tx.Capability().MaxMTU
	for i, n := range []int{limit, limit + 1, limit + 5000} {
		k := p.AllocPacket(wk, n)
		copy(k.Data(), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1})
		if m, err := tx.Tx(0).Send(wk, []*buffer.Packet{k}); m != 1 || err != nil {
			t.Fatalf("%d bytes: %d, %v", n, m, err)
		}
		if got := tx.Tx(0).Drops()["longer_than_buffer"]; got != uint64(i) {
			t.Errorf("%d bytes: %d are counted, want %d", n, got, i)
		}
	}
	pkts := make([]*buffer.Packet, 4)
	n, err := rx.Rx(0).Recv(wk, pkts)
	if n != 1 || err != nil || pkts[0].Len() != limit {
		t.Errorf("%d packets, %v", n, err)
	}
	buffer.FreePackets(wk, pkts[:n])
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
