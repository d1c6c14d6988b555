// SPDX-License-Identifier: Apache-2.0

package netmap_test

import (
	"context"
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio"
	_ "github.com/odp-go/godp/platform/netmap"
	"github.com/odp-go/godp/worker"
)

// Two ports joined by a cable, in process: what is sent on one is received on the
// other. With "netmap:" in place of "nmsim:" these are two interfaces of the system.
func Example() {
	set, err := worker.NewSet(1)
	if err != nil {
		panic(err)
	}
	defer set.Close()
	var ports [2]*pktio.Port
	for i, name := range []string{"nmsim:example0?cable=example1", "nmsim:example1"} {
		if ports[i], err = pktio.Open(context.Background(), set, name, pktio.Config{}); err != nil {
			panic(err)
		}
		defer ports[i].Close()
		if err := ports[i].Start(); err != nil {
			panic(err)
		}
	}
	p := ports[0].Pool().AllocPacket(nil, 60)
	clear(p.Data())
	copy(p.Data()[14:], "hello")
	if n, err := ports[0].Out(0).Send(nil, []*buffer.Packet{p}); n != 1 {
		panic(err)
	}
	var pkts [32]*buffer.Packet
	n, err := ports[1].In(0).RecvWait(nil, pkts[:], -1)
	fmt.Println(n, err, string(pkts[0].Data()[14:19]), "zero copy:", ports[1].Info().ZeroCopy)
	buffer.FreePackets(nil, pkts[:n])
	// Output: 1 <nil> hello zero copy: true
}
