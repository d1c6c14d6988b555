// SPDX-License-Identifier: Apache-2.0

package netmap

import (
	"errors"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap/nmsim"
)

// A port that is closed while packets of its region are with somebody gives its rings back
// at once, and the region when they are back; nothing is lost.
func TestClosePacketsOut(t *testing.T) {
	w := smallWorld(t, nmsim.Config{})
	if err := w.NIC("a", nmsim.NICConfig{}); err != nil {
		t.Fatal(err)
	}
	set, _ := newSet(t)
	v := NewSim("sim", w)
	d := openPort(t, v, "a", driver.Config{Set: set})
	pkts := make([]*buffer.Packet, 5)
	if n := d.Pool().AllocPackets(nil, pkts, 60); n != 5 {
		t.Fatal(n)
	}
	for range 2 {
		if err := d.Close(); !errors.Is(err, driver.ErrPacketsOut) {
			t.Fatalf("Close with 5 packets out: %v", err)
		}
	}
	if n := d.Pool().AllocPackets(nil, make([]*buffer.Packet, 1), 60); n != 0 {
		t.Error("the pool of a closed port gives packets")
	}
	again := openPort(t, v, "a", driver.Config{Set: set}) // the port is free, and its new pool is another
	copy(pkts[0].Data(), "still there")
	if string(pkts[0].Data()[:11]) != "still there" {
		t.Error("the memory of the packets is gone")
	}
	if again.Pool() == d.Pool() || again.Pool().Num() == 0 {
		t.Error("the new port has the old pool")
	}
	buffer.FreePackets(nil, pkts)
	if err := d.Close(); err != nil {
		t.Errorf("Close with all packets back: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Errorf("Close once more: %v", err)
	}

	// packets that never come back: the end of the program gives up on them
	other := nmsim.NewWorld(nmsim.Config{})
	defer other.Close()
	lost := openPort(t, NewSim("sim", other), "vale0:x", driver.Config{Set: set})
	if n := lost.Pool().AllocPackets(nil, pkts, 60); n != 5 {
		t.Fatal(n)
	}
	if err := lost.Close(); !errors.Is(err, driver.ErrPacketsOut) {
		t.Fatal(err)
	}
	if err := lost.Pool().Abandon(); err != nil {
		t.Error(err)
	}
	if err := lost.Close(); err != nil {
		t.Errorf("Close of an abandoned pool: %v", err)
	}
	if other.Open() != 0 || other.Leaks().Leaked != 5 {
		t.Errorf("%d descriptors, %+v; 5 buffers were lost", other.Open(), other.Leaks())
	}
}
