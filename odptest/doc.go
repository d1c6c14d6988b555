// SPDX-License-Identifier: Apache-2.0

// Package odptest is the kit for testing applications: frames in, frames out, on a
// laptop, without a network card and without root.
//
//	func TestMain(m *testing.M) { odptest.Main(m) } // fails when something is left behind
//
//	func TestForwards(t *testing.T) {
//		in := odptest.New(t, odp.Config{Workers: 2}) // shut down, and checked for leaks, at the end
//		dev := odptest.NewDevice(t, odptest.DeviceConfig{})
//		port, err := in.OpenPort(t.Context(), dev.Name(), odp.PortConfig{})
//		...
//		odptest.Start(t, in, func(w *odp.Worker) error { return app(w, port) })
//		dev.Inject(odptest.Frames(100, odptest.Frame{VLAN: []uint16{5}})...)
//		dev.Expect(odptest.Frames(100, odptest.Frame{})...) // the tag is taken off
//	}
//
// # Frames
//
// A Frame describes a UDP frame of a flow, with a sequence number and a check sum of
// its own in the payload; its zero value is a good frame. Describe says in a line what is in
// some bytes. Golden compares with a pcap file that any analyser opens.
//
// # The device
//
// A Device's far end is the test: Inject, Collect, Expect. It can be full
// (SetRoom), lose its link (SetLink), drop, double, reorder and damage frames by a
// seed, fail a call or panic in it (SetFaults).
//
// # Interleaving
//
// Interleave runs one loop iteration of one worker at a time, in an order that a
// seed decides: a failure that depends on the order can be repeated. The real
// concurrency is tested by Start, and by -race, which sees what happens to packets.
package odptest
