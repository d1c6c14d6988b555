// SPDX-License-Identifier: Apache-2.0

// Package pktio is packet I/O: ports on devices, their receive queues (In) and
// their send queues (Out).
//
// # Opening
//
//	p, err := pktio.Open(ctx, set, "netmap:eth0?rx=2&lock=queue", pktio.Config{})
//	err = p.Start()
//
// The kind before the colon chooses a platform among the packages that the program
// imports (_ "github.com/odp-go/godp/platform/loop"). The options after the question
// mark are strict: what is unknown or out of range is an error that says what is
// allowed. What was asked for and not granted is in Info, and an error under
// Config.Strict.
//
// A device can be open once in a process. With Config.Shared several handles may
// open it; they share its rings and its locks.
//
// # Receiving and sending
//
//	for w.Running() {
//		n, err := in.Recv(w, pkts[:])   // burst mode
//		…                               // err: queue.ErrClosed, ErrStopped, ErrFaulted
//		m, err := out.Send(w, pkts[:n])
//		buffer.FreePackets(w, pkts[m:n]) // what a full device did not take
//	}
//
// In is a queue.Source and Out a queue.Dest: that is plain queue mode, and what a
// scheduler polls and applications enqueue to. NewSpread deals an input out to
// several queues by flow hash. RecvWait and RecvAny wait for packets, without
// holding any lock.
//
// A received packet is parsed (Config.Parse), knows its port and queue, and on
// request its flow hash (Config.Hash) and its time (Config.Timestamps).
//
// # Lock levels
//
//	level    receive            send                          who may use a ring
//	none     –                  –                             one worker; a second is refused
//	queue    try the ring's     try the ring's, else stage    anybody
//	device   try the device's   try the device's, else stage  anybody
//	pktio    wait for the handle's ticket, then as device     anybody
//	         if the device is shared
//
// Receiving where somebody else receives gives 0 packets: he has them. Sending
// where somebody else sends leaves the burst in the ring's staging ring:
//
//	worker a ──lock──▶ device.Send ──────────▶ drain staging ──unlock──▶ staging empty? ─yes─▶ done
//	                                             ▲                            │ no: try the lock again
//	worker b ──taken──▶ staging ring ────────────┘
//
// so a descheduled worker delays its own ring, and nobody else. Packets that
// follow each other through one worker, or through an atomic or ordered context,
// leave in that order.
//
// OpenAll gives each worker a pair of queues of its own; where the device has
// fewer rings than workers, it spreads the flows in software.
//
// # The end
//
// Stop, Shutdown and Close may come from any goroutine while workers use the port.
// Close takes every lock for ever (level none: waits until its user has left the
// call), so no call is inside a device that is being closed.
package pktio
