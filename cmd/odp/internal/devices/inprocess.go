// SPDX-License-Identifier: Apache-2.0

package devices

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/odp-go/godp/conformance"
	"github.com/odp-go/godp/pktio/driver"
	"github.com/odp-go/godp/platform/netmap"
	"github.com/odp-go/godp/platform/netmap/nmsim"
)

// worlds numbers the kinds of device that NewSim registers.
var worlds atomic.Int32

// InProcess makes the platforms that need neither rights nor hardware: loop, which
// runs all areas, and the ports of simulated netmap kernels as Linux and FreeBSD have
// them, which run the areas with devices.
func InProcess() ([]Platform, error) {
	loop, err := Named("loop:0")
	if err != nil {
		return nil, err
	}
	loop.Name = "loop"
	list := []Platform{loop}
	chains := simCards
	chains.MoreFrag = true
	for _, c := range []struct {
		name string
		who  nmsim.Personality
		nic  nmsim.NICConfig
		a, b string
	}{
		{"nic", nmsim.Linux, chains, "eth0", "eth1"},
		{"nic-freebsd", nmsim.FreeBSD, simCards, "eth0", "eth1"},
		{"pipe", nmsim.Linux, simCards, "p{1", "p}1"},
		{"pipe-freebsd", nmsim.FreeBSD, simCards, "p{1", "p}1"},
		{"vale", nmsim.Linux, simCards, "vale0:a", "vale0:b"},
		{"vale-freebsd", nmsim.FreeBSD, simCards, "vale0:a", "vale0:b"},
	} {
		p, err := sim("nmsim "+c.name, c.who, c.nic, c.a, c.b)
		if err != nil {
			return nil, err
		}
		p.Areas = []string{"PKTIO"}
		list = append(list, p)
	}
	return list, nil
}

var simCards = nmsim.NICConfig{TxRings: 2, RxRings: 2, TxSlots: 512, RxSlots: 512}

// sim makes a simulated kernel with two cards on a cable, and a platform of two of its ports.
func sim(name string, who nmsim.Personality, nic nmsim.NICConfig, a, b string) (p Platform, err error) {
	w := nmsim.NewWorld(nmsim.Config{Personality: who, Mem: nmsim.Geometry{BufNum: 12288}})
	for _, card := range []string{"eth0", "eth1"} {
		if err := w.NIC(card, nic); err != nil {
			return p, err
		}
	}
	if err := w.Cable("eth0", "eth1"); err != nil {
		return p, err
	}
	kind := fmt.Sprintf("sim%d", worlds.Add(1))
	driver.Register(kind, netmap.NewSim(kind, w))
	f, err := conformance.Devices(kind+":"+a, kind+":"+b)
	if err != nil {
		return p, err
	}
	f.Name, f.Skips = name, conformance.KnownSkips(name)
	if a == "eth0" {
		f.SetLink = func(device string, up bool) error { return w.SetUp(strings.TrimPrefix(device, kind+":"), up) }
		f.SetOffload = func(device string, on bool) error {
			var offloads []string
			if on {
				offloads = []string{"tso"}
			}
			return w.SetOffloads(strings.TrimPrefix(device, kind+":"), offloads...)
		}
	}
	f.Faults = &conformance.Faults{
		Fail:    func(k int, e syscall.Errno) { w.FailCall(uint64(k), e) },
		Pending: w.FailPending,
		Left:    func() string { return left(w) },
	}
	return Platform{Factory: f, Close: func() error {
		defer w.Close()
		if l := left(w); l != "" {
			return fmt.Errorf("%s: left behind in the simulated kernel: %s", name, l)
		}
		return nil
	}}, nil
}

// left is what clients have not given back to a simulated kernel, "" = nothing.
func left(w *nmsim.World) string {
	if n, l := w.Open(), w.Leaks(); n != 0 || l != (nmsim.Leaks{}) {
		return fmt.Sprintf("%d descriptors, %+v", n, l)
	}
	return ""
}
