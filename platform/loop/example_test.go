// SPDX-License-Identifier: Apache-2.0

package loop_test

import (
	"context"
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio"
	_ "github.com/odp-go/godp/platform/loop"
	"github.com/odp-go/godp/worker"
)

// Eight frames circulate: they are received, and come again when they are sent.
func Example() {
	set, err := worker.NewSet(1)
	if err != nil {
		panic(err)
	}
	defer set.Close()
	p, err := pktio.Open(context.Background(), set, "loop:example?seed=8", pktio.Config{})
	if err != nil {
		panic(err)
	}
	defer p.Close()
	if err := p.Start(); err != nil {
		panic(err)
	}
	var pkts [32]*buffer.Packet
	for range 3 {
		n, _ := p.In(0).Recv(nil, pkts[:])
		sent, err := p.Out(0).Send(nil, pkts[:n])
		fmt.Println(n, "received,", sent, "sent", err)
	}
	// Output:
	// 8 received, 8 sent <nil>
	// 8 received, 8 sent <nil>
	// 8 received, 8 sent <nil>
}
