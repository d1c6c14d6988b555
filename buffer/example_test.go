// SPDX-License-Identifier: Apache-2.0

package buffer_test

import (
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/worker"
)

// A worker allocates a burst, writes, and frees.
func Example() {
	set, _ := worker.NewSet(2)
	pool, err := buffer.NewPool(set, buffer.PoolConfig{Name: "example", Num: 1024})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	w, _ := set.Join(worker.KindWorker)
	defer w.Leave()

	var pkts [32]*buffer.Packet
	n := pool.AllocPackets(w, pkts[:], 60)
	for _, k := range pkts[:n] {
		copy(k.Data(), "hello")
	}
	fmt.Println(n, "packets, out:", pool.Out())
	buffer.FreePackets(w, pkts[:n])
	fmt.Println("out:", pool.Out())
	// Output:
	// 32 packets, out: 32
	// out: 0
}

// A header goes in front: into the headroom if it fits, else into a new segment.
func ExamplePacket_ExtendHead() {
	set, _ := worker.NewSet(1)
	pool, _ := buffer.NewPool(set, buffer.PoolConfig{Num: 8, Headroom: -1, Cache: -1})
	defer pool.Close()

	k := pool.AllocPacket(nil, 4)
	copy(k.Data(), "data")
	if k.PushHead(5) == nil {
		fmt.Println("no headroom")
	}
	k, err := k.ExtendHead(nil, 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = k.CopyFromMem(0, []byte("head:"))
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		fmt.Printf("%q\n", s.Data())
	}
	buffer.FreePacket(nil, k)
	// Output:
	// no headroom
	// "head:"
	// "data"
}

// Two packets over the same bytes, each with a header of its own.
func ExamplePacket_Ref() {
	set, _ := worker.NewSet(1)
	pool, _ := buffer.NewPool(set, buffer.PoolConfig{Num: 8, Cache: -1})
	defer pool.Close()

	k := pool.AllocPacket(nil, 12)
	copy(k.Data(), "to A:payload")
	r, _ := k.Ref(nil, 5) // the payload
	r, _ = r.ExtendHead(nil, 5)
	_ = r.CopyFromMem(0, []byte("to B:"))

	buf := make([]byte, 12)
	_ = r.CopyToMem(0, buf)
	fmt.Printf("%s and %s\n", k.Data(), buf)
	fmt.Println(k.CopyFromMem(6, []byte("x")))
	buffer.FreePackets(nil, []*buffer.Packet{k, r})
	// Output:
	// to A:payload and to B:payload
	// buffer: CopyFromMem: the data is shared with another packet: copy it to write
}
