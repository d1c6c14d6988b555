// SPDX-License-Identifier: Apache-2.0

// Package wrap holds devices that wrap another device, by name, so that any program can
// be run with loss, or recorded, without a change:
//
//	fault(loss=1%,dup=0.5%,reorder=2%,seed=7):afpacket:eth0
//	pcapdump(/tmp/a.pcapng):netmap:eth0
//	trace(max=100):loop:0
//	trace():pcapdump(a.pcap):fault(loss=10%):tap:tap0     one around the other
//
// Options after a '?' go to the innermost device. The arguments:
//
//	fault     loss=, dup=, corrupt= (one bit), reorder= (later than up to 4 others): share
//	          of the packets, as 1% or 0.01; delay= and jitter= hold received packets
//	          back, as 5ms; dir=rx|tx|both (default rx; reorder, delay and jitter are for
//	          rx only); seed=N: the same seed gives the same fate to the same packets
//	pcapdump  the file (or file=), pcapng when its name ends so; dir=rx|tx|both (default both)
//	trace     a line for each packet: file= (default standard error), max=N packets, dir=
//
// Recording a packet that was sent means: that the device below took it. A file that
// can't be written any more is said once in the log, and traffic goes on.
//
// The idea is smoltcp's (fault injector, tracer, pcap writer as devices).
package wrap
