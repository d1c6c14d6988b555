// SPDX-License-Identifier: Apache-2.0

package conformance

// ops are the calls under test that a test of this package replaces by broken ones,
// to show that the suites bite. Cases call them through Env.Ops; hot paths stay free
// of hooks.
type ops struct {
	poolOps
	packetOps
	Queue queueOps
	Sched schedOps
	Sync  syncOps
}

var realOps = ops{realPoolOps, realPacketOps, realQueueOps, realSchedOps, realSyncOps}
