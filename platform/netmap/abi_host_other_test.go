// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package netmap

import "testing"

func (w *abiWorld) host(t *testing.T) hostSide {
	if w.sim == nil {
		t.Skip("the host's side is tested on Linux, and on nmsim")
	}
	return hostSide{
		send: func(b []byte) { w.sim.HostSend(w.a, b) },
		recv: func() []byte { return w.sim.HostRecv(w.a) },
	}
}
