// SPDX-License-Identifier: Apache-2.0

package buffer_test

import (
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

// A pool, a packet, and how its borders move. nil is the control plane.
func Example() {
	set, err := worker.NewSet(1)
	if err != nil {
		panic(err)
	}
	defer set.Close()
	pool, err := buffer.NewPool(set, buffer.PoolConfig{Name: "frames", Num: 64, Cache: -1})
	if err != nil {
		panic(err)
	}
	p := pool.AllocPacket(nil, 60)
	copy(p.Data(), "payload")
	head := p.PushHead(14) // room for an Ethernet header, taken from the headroom
	copy(head, "header")
	fmt.Println(p.Len(), p.Headroom(), string(p.Data()[:6]), string(p.Data()[14:21]))
	p.PullHead(14)
	p.PullTail(53)
	fmt.Println(p.Len(), string(p.Data()))
	fmt.Println("out of the pool:", pool.Out())
	buffer.FreePacket(nil, p)
	fmt.Println("out of the pool:", pool.Out(), pool.Close())
	// Output:
	// 74 114 header payload
	// 7 payload
	// out of the pool: 1
	// out of the pool: 0 <nil>
}

// A reference shares the bytes; each owner frees his own.
func ExamplePacket_RefStatic() {
	set, err := worker.NewSet(1)
	if err != nil {
		panic(err)
	}
	defer set.Close()
	pool, err := buffer.NewPool(set, buffer.PoolConfig{Name: "frames", Num: 64, Cache: -1})
	if err != nil {
		panic(err)
	}
	p := pool.AllocPacket(nil, 60)
	twin := p.RefStatic()
	buffer.FreePacket(nil, p)
	fmt.Println("one is left:", pool.Out())
	buffer.FreePacket(nil, twin)
	fmt.Println("none is left:", pool.Out(), pool.Close())
	// Output:
	// one is left: 1
	// none is left: 0 <nil>
}
