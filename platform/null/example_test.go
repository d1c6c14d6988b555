// SPDX-License-Identifier: Apache-2.0

package null_test

import (
	"context"
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio"
	_ "github.com/odp-go/godp/platform/null"
	"github.com/odp-go/godp/worker"
)

// What is sent is counted and freed, and nothing is ever received.
func Example() {
	set, err := worker.NewSet(1)
	if err != nil {
		panic(err)
	}
	defer set.Close()
	p, err := pktio.Open(context.Background(), set, "null:example", pktio.Config{})
	if err != nil {
		panic(err)
	}
	defer p.Close()
	if err := p.Start(); err != nil {
		panic(err)
	}
	pkts := []*buffer.Packet{p.Pool().AllocPacket(nil, 60)}
	sent, err := p.Out(0).Send(nil, pkts)
	fmt.Println("sent", sent, err)
	n, err := p.In(0).Recv(nil, pkts)
	fmt.Println("received", n, err)
	fmt.Println("swallowed", p.Stats().Device["swallowed"])
	// Output:
	// sent 1 <nil>
	// received 0 <nil>
	// swallowed 1
}
