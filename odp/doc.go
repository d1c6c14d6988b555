// SPDX-License-Identifier: Apache-2.0

// Package odp is the SDK for applications: an instance with its workers, pools,
// queues, scheduler and ports. A first program imports this package and one platform:
//
//	import (
//		"github.com/odp-go/godp/odp"
//		_ "github.com/odp-go/godp/platform/netmap"
//	)
//
//	inst, err := odp.Open(ctx, odp.Config{})
//	port, err := inst.OpenPort(ctx, "netmap:eth1", odp.PortConfig{Mode: odp.ModeScheduled, Sync: odp.Atomic})
//	err = inst.Run(ctx, func(w *odp.Worker) error {
//		var ev [32]*odp.Event
//		for w.Running() {
//			n, _, err := inst.Schedule(w, ev[:], -1)
//			if err != nil {
//				return err // ErrStopped: an orderly end, Run makes nil of it
//			}
//			sent, err := port.Out(0).Enqueue(w, ev[:n])
//			if err != nil {
//				return err
//			}
//			odp.FreePackets(w, odp.PacketsOf(ev[sent:n])) // the device is full: drop
//		}
//		return nil
//	})
//	err = inst.Shutdown(ctx)
//
// # Workers
//
// Run calls the function on Config.Workers goroutines, each locked to a thread of
// its own, and pinned to a CPU of its own while there are enough. A *Worker is the first
// argument of every call of the dataplane; nil means the control plane, which may call
// from any goroutine and is slower. A worker never blocks in anything but Schedule,
// RecvWait, Barrier.Wait and the like: not in channels, not in locks of others. Each
// turn of its loop should pass Running or Schedule: closing a port, changing a group
// and the end of the program wait for that.
//
// Control threads (Go, Control) have an identity too, without a pinned thread.
//
// # Two ways to receive
//
//	burst mode (ModeDirect)          queue mode (ModeScheduled)
//
//	 device ──▶ worker ──▶ device     device ──▶ scheduled queue ──▶ any worker ──▶ device
//	 In.Recv / In.RecvWait            Schedule: parallel, atomic or ordered,
//	 cheapest; the worker polls       8 priorities, groups; load balances itself
//
// OpenAll gives each worker an input and an output of its own, for burst mode.
//
// # The end
//
// Shutdown drains and Close does not wait; both may come at any time from any
// goroutine. They return an error that names what was not given back: the pools whose
// packets are still out (with the invariants build tag: who allocated them, and where),
// threads that did not stop. The memory goes back to the system all the same; a late access
// reads zeroes, or panics with the address.
//
// # Panics
//
// A panic in a worker, a fault on mapped memory included, does not end the process:
// the worker lets go of locks, contexts and turns, then Config.OnPanic decides whether
// all stop (Run returns a *PanicError) or that worker starts again.
//
// # Sight
//
// Snapshot is all counters in one structure, with a balance: what was received was
// sent, dropped by a named reason, or is still in the program.
//
// Sources: the model is OpenDataPlane's (odp_init_global, odp_schedule, odp_pktio,
// odp_barrier_t, odp_cpumask_t), from its documented behaviour; the forms are Go's.
package odp
