// SPDX-License-Identifier: Apache-2.0

// Package nmsim is the kernel side of netmap, in Go and in process: the same requests,
// the same memory layout, the same rules of rings and syncs as /dev/netmap, so that
// the same client code runs against it without a module and without root.
//
// A [World] is one simulated kernel. Its ports are network cards ([World.NIC]) with a
// cable between two of them, or with a source and a sink at the far end; pipes; ports
// of VALE switches; and memory-only ports. [World.Kernel] are its system calls.
//
//	w := nmsim.NewWorld(nmsim.Config{})
//	defer w.Close()
//	w.NIC("eth0", nmsim.NICConfig{Source: &nmsim.SourceConfig{}, Sink: &nmsim.SinkConfig{}})
//	k := w.Kernel() // an abi.Kernel
//
// # What is as in the kernel
//
// A card keeps the address of a buffer per slot and refreshes it only where the client
// set BUF_CHANGED, so a client that forgets the flag sends and receives the wrong
// bytes. Tail moves only inside a sync of that ring. A ring that another thread syncs
// is skipped. Wrong indices set the ring back, and the sync answers 0. A full receive ring
// drops at the receiver; a pipe holds the sender back; a switch copies and drops.
//
// # What is not
//
// Monitors, CSB and the kernel loop, memory given by the client (EXTMEM), indirect slots,
// transparent forwarding to the host, the legacy requests, and frames through a card that
// is attached to a switch. A card is always a native one.
//
// # Locks
//
//	World.mu       requests, open, close, mapping; never taken by a sync
//	kring.busy     one sync of one ring; control operations wait for it
//	kring.prod     delivery into a receive ring from elsewhere; a leaf
package nmsim
