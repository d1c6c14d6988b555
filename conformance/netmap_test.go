// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap"
	"github.com/odp-go/godp/platform/netmap/nmsim"
)

// The devices that this repository has beside loop: a pair of simulated cards, a pipe and
// a switch, as on Linux and as on FreeBSD.

var worlds atomic.Int32

// simDevices makes a world of its own for a test and a Factory of two of its ports.
func simDevices(t testing.TB, who nmsim.Personality, nic nmsim.NICConfig, a, b string) Factory {
	t.Helper()
	// small regions: the race detector's arena has to hold them
	w := nmsim.NewWorld(nmsim.Config{Personality: who, Mem: nmsim.Geometry{BufNum: 12288}})
	t.Cleanup(func() {
		if left := simLeft(w); left != "" {
			t.Errorf("left behind: %s", left)
		}
		w.Close()
	})
	for _, n := range []string{"eth0", "eth1"} {
		if err := w.NIC(n, nic); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Cable("eth0", "eth1"); err != nil {
		t.Fatal(err)
	}
	kind := fmt.Sprintf("sim%d", worlds.Add(1))
	driver.Register(kind, netmap.NewSim(kind, w))
	f, err := Devices(kind+":"+a, kind+":"+b)
	if err != nil {
		t.Fatal(err)
	}
	port := func(device string) string { return strings.TrimPrefix(device, kind+":") }
	if a == "eth0" {
		f.SetLink = func(device string, up bool) error { return w.SetUp(port(device), up) }
		f.SetOffload = func(device string, on bool) error {
			if on {
				return w.SetOffloads(port(device), "tso")
			}
			return w.SetOffloads(port(device))
		}
	}
	f.Faults = &Faults{
		Fail:    func(k int, e syscall.Errno) { w.FailCall(uint64(k), e) },
		Pending: w.FailPending,
		Left:    func() string { return simLeft(w) },
	}
	return f
}

// simLeft is what clients have not given back to a world.
func simLeft(w *nmsim.World) string {
	if n, l := w.Open(), w.Leaks(); n != 0 || l != (nmsim.Leaks{}) {
		return fmt.Sprintf("%d descriptors, %+v", n, l)
	}
	return ""
}

var simNICs = nmsim.NICConfig{TxRings: 2, RxRings: 2, TxSlots: 512, RxSlots: 512}

func TestConformanceNmsim(t *testing.T) {
	chains := simNICs
	chains.MoreFrag = true
	for _, c := range []struct {
		name string
		who  nmsim.Personality
		nic  nmsim.NICConfig
		a, b string
	}{
		{"nic", nmsim.Linux, chains, "eth0", "eth1"},
		{"nic-freebsd", nmsim.FreeBSD, simNICs, "eth0", "eth1"},
		{"pipe", nmsim.Linux, simNICs, "p{1", "p}1"},
		{"pipe-freebsd", nmsim.FreeBSD, simNICs, "p{1", "p}1"},
		{"vale", nmsim.Linux, simNICs, "vale0:a", "vale0:b"},
		{"vale-freebsd", nmsim.FreeBSD, simNICs, "vale0:a", "vale0:b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := simDevices(t, c.who, c.nic, c.a, c.b)
			f.Name, f.Skips = "nmsim "+c.name, KnownSkips("nmsim "+c.name)
			Run(t, f, "PKTIO")
		})
	}
}
