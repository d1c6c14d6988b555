// SPDX-License-Identifier: Apache-2.0

package odp_test

import (
	"context"
	"fmt"

	"github.com/odp-go/godp/odp"
	_ "github.com/odp-go/godp/platform/loop"
)

// A first program: three packets go out of a loopback device and come in again
// by its scheduled queue.
func Example() {
	ctx := context.Background()
	inst, err := odp.Open(ctx, odp.Config{Workers: 1, Log: quiet})
	if err != nil {
		fmt.Println(err)
		return
	}
	port, err := inst.OpenPort(ctx, "loop:example", odp.PortConfig{Mode: odp.ModeScheduled, Sync: odp.Atomic})
	if err != nil {
		fmt.Println(err)
		return
	}
	// The control plane sends: no worker, so nil.
	var pkts [3]*odp.Packet
	n := port.Pool().AllocPackets(nil, pkts[:], 60)
	for i, p := range pkts[:n] {
		copy(p.Data()[14:], fmt.Sprint("packet ", i))
	}
	if n, err = port.Out(0).Send(nil, pkts[:n]); err != nil {
		fmt.Println(err)
	}
	received := 0
	err = inst.Run(ctx, func(w *odp.Worker) error {
		var ev [32]*odp.Event
		for received < n && w.Running() {
			m, q, err := inst.Schedule(w, ev[:], -1)
			if err != nil {
				return err
			}
			for _, p := range odp.PacketsOf(ev[:m]) {
				fmt.Printf("%s: %s\n", q.Name(), p.Data()[14:22])
			}
			odp.FreePackets(w, odp.PacketsOf(ev[:m]))
			received += m
		}
		return nil
	})
	fmt.Println(received, err, inst.Shutdown(ctx))
	// Output:
	// loop:example/0: packet 0
	// loop:example/0: packet 1
	// loop:example/0: packet 2
	// 3 <nil> <nil>
}

// A panic in a worker becomes an error that says where.
func ExampleInstance_Run_panic() {
	inst, err := odp.Open(context.Background(), odp.Config{Workers: 2, Log: quiet})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer inst.Close()
	err = inst.Run(context.Background(), func(w *odp.Worker) error {
		if w.ID() == 1 {
			panic("a bug")
		}
		for w.Running() {
			if err := odp.Wait(w, 1000); err != nil {
				return err
			}
		}
		return nil
	})
	if pe, ok := odp.AsPanic(err); ok {
		fmt.Println("worker", pe.Worker, "panicked:", pe.Value)
	}
	// Output: worker 1 panicked: a bug
}

// Workers that wait for each other, twice.
func ExampleBarrier() {
	inst, err := odp.Open(context.Background(), odp.Config{Workers: 3, Log: quiet})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer inst.Close()
	b := odp.NewBarrier(3)
	parts := make([]int, 3)
	err = inst.Run(context.Background(), func(w *odp.Worker) error {
		parts[w.ID()] = w.ID() + 1
		if err := b.Wait(w); err != nil {
			return err
		}
		if w.ID() == 0 {
			fmt.Println("sum", parts[0]+parts[1]+parts[2])
		}
		return b.Wait(w)
	})
	fmt.Println(err)
	// Output:
	// sum 6
	// <nil>
}

func ExampleParseMask() {
	m, err := odp.ParseMask("0xf0")
	fmt.Println(m, m.List(), m.Count(), err)
	fmt.Println(m.And(odp.MaskRange(6, 20)))
	// Output:
	// 0xf0 4-7 4 <nil>
	// 0xc0
}
