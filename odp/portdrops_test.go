// SPDX-License-Identifier: Apache-2.0

package odp_test

import (
	"context"
	"testing"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/odptest"
)

// What finds no room in a port's scheduled queues is in Port.Drops and in the snapshot, also
// after the port was closed. (Found missing by the chaos run.)
func TestPortDrops(t *testing.T) {
	in := odptest.New(t, odp.Config{Workers: 1})
	dev := odptest.NewDevice(t, odptest.DeviceConfig{})
	port, err := in.OpenPort(context.Background(), dev.Name(), odp.PortConfig{Mode: odp.ModeScheduled, NumQueues: 2, QueueSize: 8})
	if err != nil {
		t.Fatal(err)
	}
	w, err := in.Control(odp.KindWorker)
	if err != nil {
		t.Fatal(err)
	}
	const frames = 256
	dev.Inject(odptest.Frames(frames, odptest.Frame{})...)
	got := uint64(0)
	var ev [32]*odp.Event
	odptest.Await(t, "the frames", func() bool {
		n, _, err := in.Schedule(w, ev[:], 0)
		odp.FreePackets(w, odp.PacketsOf(ev[:n]))
		got += uint64(n)
		return err != nil || got+port.Drops()["rx_queue_full"] >= frames
	})
	full := port.Drops()["rx_queue_full"]
	if full == 0 || got+full != frames {
		t.Errorf("%d frames came, %d found no room, %d were sent", got, full, frames)
	}
	if s := in.Snapshot(); s.Ports[0].Drops["rx_queue_full"] != full || s.Balance.Lost != full {
		t.Errorf("the snapshot has %v, %d lost", s.Ports[0].Drops, s.Balance.Lost)
	}
	if err := in.Leave(w); err != nil {
		t.Error(err)
	}
	if err := port.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if n := port.Drops()["rx_queue_full"]; n != full {
		t.Errorf("%d after Close, %d before", n, full)
	}
}
