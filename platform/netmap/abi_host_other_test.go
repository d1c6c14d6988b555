// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package netmap

import (
	"testing"

	"github.com/odp-go/godp/platform/netmap/nmsim"
)

func (w *abiWorld) setUp(t *testing.T, name string, up bool) {
	if w.sim == nil {
		t.Skip("interfaces are changed on Linux, and on nmsim")
	}
	if err := w.sim.SetUp(name, up); err != nil {
		t.Fatal(err)
	}
}

func (w *abiWorld) victim(t *testing.T) string {
	if w.sim == nil {
		t.Skip("interfaces are made on Linux, and on nmsim")
	}
	if err := w.sim.NIC("gone0", nmsim.NICConfig{}); err != nil {
		t.Fatal(err)
	}
	return "gone0"
}

func (w *abiWorld) remove(t *testing.T, name string) {
	if err := w.sim.Remove(name); err != nil {
		t.Fatal(err)
	}
}

func (w *abiWorld) host(t *testing.T) hostSide {
	if w.sim == nil {
		t.Skip("the host's side is tested on Linux, and on nmsim")
	}
	return hostSide{
		send: func(b []byte) { w.sim.HostSend(w.a, b) },
		recv: func() []byte { return w.sim.HostRecv(w.a) },
	}
}
