// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"github.com/odp-go/godp/internal/netlab"
	"github.com/odp-go/godp/pktio/driver"
	_ "github.com/odp-go/godp/platform/afpacket"
	_ "github.com/odp-go/godp/platform/afxdp"
)

// The PKTIO suite on the platforms for real interfaces, in a network namespace:
//
//	[c0]────veth────[c1]
func TestConformanceRealInterfaces(t *testing.T) {
	if testing.Short() {
		t.Skip("opening and closing sockets takes the kernel a while: 20 s a platform")
	}
	for _, kind := range []string{"afpacket", "afxdp"} {
		t.Run(kind, func(t *testing.T) {
			h := netlab.NewHost(t, "host")
			h.Quiet()
			netlab.Cable(h, "c0", h, "c1", 1500, 1)
			d, _, err := driver.Lookup(kind + ":c0")
			if err != nil {
				t.Fatal(err)
			}
			alias := "in-namespace-" + kind
			driver.Register(alias, netlab.Driver{Host: h, Kind: alias, Driver: d})
			f := Factory{Name: kind, Pair: [2]string{alias + ":c0", alias + ":c1"}, Skips: KnownSkips(kind)}
			delete(f.Skips, "PKTIO-203") // links are switched here
			f.SetLink = func(device string, up bool) error {
				name := device[len(alias)+1:]
				if up {
					h.Up(name)
				} else {
					h.Down(name)
				}
				return nil
			}
			Run(t, f, "PKTIO")
		})
	}
}
