// SPDX-License-Identifier: Apache-2.0

package conformance

import "fmt"

// Packet I/O: what ODP's list has and no port of godp can do yet. Each is a case of its
// own, so that a report counts it.

// What ports lack.
const (
	CapCastCounters Capability = "counters of unicast, multicast and broadcast frames"
	CapProtoStats   Capability = "counters of packets by protocol statistics"
	CapSendTime     Capability = "time stamps of sent packets"
	CapInChecksum   Capability = "checksums that are checked on input"
	CapOutChecksum  Capability = "checksums that are inserted on output"
	CapAging        Capability = "packets that age while they wait to be sent"
	CapCompletion   Capability = "completion events of sent packets"
	CapDontFree     Capability = "sending without giving the packet away"
	CapFlowControl  Capability = "flow control that can be configured"
	CapClassifier   Capability = "a classifier at the port"
	CapInVectors    Capability = "receive queues that give vectors"
	CapLSO          Capability = "segmentation of large packets on output"
)

func init() {
	lacks := func(first, last int, c Capability, what string, each ...string) {
		for i := first; i <= last; i++ {
			objective := what
			if len(each) > 0 {
				objective = fmt.Sprintf(what, each[i-first])
			}
			register("PKTIO", Case{fmt.Sprintf("PKTIO-%d", i), objective, []Capability{CapDevice, c}, func(e *Env) { e.Skip(c) }})
		}
	}
	lacks(37, 37, CapCastCounters, "Broadcast and multicast frames are counted apart from others in both directions.")
	lacks(41, 41, CapProtoStats, "Packets are counted by the protocol statistics that they name.")
	lacks(43, 43, CapSendTime, "The time at which a packet left can be read, and rises.")
	lacks(44, 46, CapInChecksum, "A right %s checksum is found right on input.", "IPv4", "UDP", "SCTP")
	var inserts []string
	for _, proto := range []string{"IPv4", "UDP", "SCTP"} {
		inserts = append(inserts, proto+" checksum is inserted by the port's default",
			proto+" checksum is left alone where the packet says so", proto+" checksum is inserted where only the packet asks for it")
	}
	lacks(47, 55, CapOutChecksum, "The %s.", inserts...)
	lacks(56, 56, CapAging, "A packet that waited longer than its limit is dropped, a fresh one passes.")
	lacks(57, 59, CapCompletion, "Completion is told once for each packet, %s.", "in a plain queue", "in a scheduled queue", "in a word that is polled")
	lacks(60, 60, CapDontFree, "A packet that is sent ten times without being freed stays whole and its sender's.")
	lacks(61, 66, CapFlowControl, "A port starts with flow control by %s.", "pause frames received", "pause frames sent", "pause frames both ways",
		"priority pause frames received", "priority pause frames sent", "priority pause frames both ways")
	lacks(67, 68, CapClassifier, "The class of service for %s is set, replaced and taken away.", "all packets", "packets with errors")
	lacks(69, 76, CapInVectors, "A receive queue gives %s, within the limits of size and time, every packet once.",
		"packet vectors in plain mode", "packet vectors from a parallel queue", "packet vectors from an ordered queue", "packet vectors from an atomic queue",
		"event vectors in plain mode", "event vectors from a parallel queue", "event vectors from an ordered queue", "event vectors from an atomic queue")
	lacks(89, 105, CapLSO, "A large packet leaves %s.", "with limits that the port names", "by an IPv4 profile that is made and closed", "by a profile of the program's",
		"as asked for in the packet, which can be taken back", "in one IPv4 packet when it is short, by its metadata", "in two IPv4 packets, by its metadata", "in three IPv4 packets, by its metadata",
		"in one IPv4 packet when it is short, by the call", "in two IPv4 packets, by the call", "in three IPv4 packets, by the call",
		"in one frame of an own protocol, by its metadata", "in two frames of an own protocol, by its metadata", "in three frames of an own protocol, by its metadata",
		"in one frame of an own protocol, by the call", "in two frames of an own protocol, by the call", "in three frames of an own protocol, by the call",
		"in frames with bits written by position")
}
