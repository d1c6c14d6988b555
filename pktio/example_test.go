// SPDX-License-Identifier: Apache-2.0

package pktio_test

import (
	"context"
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/pktio"
	_ "github.com/odp-go/godp/platform/loop"
	"github.com/odp-go/godp/worker"
)

// A loop device that seeds itself with 32 frames; each burst is received,
// gets its MAC addresses swapped, and is sent again.
func Example() {
	set, err := worker.NewSet(1)
	if err != nil {
		panic(err)
	}
	p, err := pktio.Open(context.Background(), set, "loop:0?seed=32", pktio.Config{})
	if err != nil {
		panic(err)
	}
	defer p.Close()
	if err := p.Start(); err != nil {
		panic(err)
	}
	w, err := set.Join(worker.KindWorker)
	if err != nil {
		panic(err)
	}
	defer w.Leave()

	var pkts [32]*buffer.Packet
	forwarded := 0
	for w.Running() && forwarded < 1000 {
		n, err := p.In(0).Recv(w, pkts[:])
		if err != nil {
			panic(err)
		}
		for _, k := range pkts[:n] {
			header.SwapMACs(k.DataPtr())
		}
		m, err := p.Out(0).Send(w, pkts[:n])
		if err != nil {
			panic(err)
		}
		buffer.FreePackets(w, pkts[m:n])
		forwarded += m
	}
	s := p.Stats()
	fmt.Println("received", s.RxPackets(), "sent", s.TxPackets(), "mean burst", s.In[0].MeanBurst())
	// Output: received 1024 sent 1024 mean burst 32
}

// Two inputs for two workers from a device with one ring: flows are spread.
func ExampleOpenAll() {
	set, err := worker.NewSet(2)
	if err != nil {
		panic(err)
	}
	p, pairs, err := pktio.OpenAll(context.Background(), set, "loop:1?rx=1&tx=1&seed=64&flows=64", pktio.Config{}, 2)
	if err != nil {
		panic(err)
	}
	defer p.Close()
	if err := p.Start(); err != nil {
		panic(err)
	}
	var pkts [64]*buffer.Packet
	total := 0
	for total < 64 {
		for _, pair := range pairs { // each by its own worker, in a program
			n, err := pair.In.Recv(nil, pkts[:])
			if err != nil {
				panic(err)
			}
			total += n
			buffer.FreePackets(nil, pkts[:n])
		}
	}
	fmt.Println(total, "frames, spread:", p.Info().Spread)
	// Output: 64 frames, spread: true
}
