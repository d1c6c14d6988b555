// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"strings"

	"github.com/odp-go/godp/pktio"
)

// Devices is the platform that one device makes which receives what it sends, or two
// devices that are connected to each other: "loop:0", or "netmap:eth1", "netmap:eth2".
// The names are those of odp.Instance.OpenPort, options included; the first sends,
// the second receives, and both ways where a case says so. Devices opens nothing: what
// they can do the cases ask the open devices. Skips are not judged (Factory.Skips is
// nil), and the hooks of the Factory are unset: a caller that can take the link down
// sets SetLink.
func Devices(names ...string) (Factory, error) {
	f := Factory{Name: strings.Join(names, " + ")}
	for _, name := range names {
		if err := pktio.CheckName(name); err != nil {
			return f, err
		}
	}
	switch len(names) {
	case 1:
		f.Single = names[0]
	case 2:
		if names[0] == names[1] {
			return f, fmt.Errorf("device %q is named twice: name it once if it receives what it sends, or name the device that it is connected to", names[0])
		}
		f.Pair = [2]string{names[0], names[1]}
	default:
		return f, fmt.Errorf("%d devices (%s): allowed are one that receives what it sends, or two that are connected to each other", len(names), f.Name)
	}
	return f, nil
}
