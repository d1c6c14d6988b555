// SPDX-License-Identifier: Apache-2.0

// Package pcap is the device whose wire is a file: it receives the packets of a capture
// and writes what is sent to another. It runs on every system, without rights.
//
//	pcap:in=a.pcap                  replay; what is sent is counted and thrown away
//	pcap:out=b.pcap                 capture; nothing is received
//	pcap:in=a.pcap,out=b.pcapng     both
//
// Read are pcap (micro- and nanoseconds) and pcapng, in both byte orders, also within
// gzip; written is pcap with nanoseconds, or pcapng when the name ends in .pcapng. Only
// Ethernet. A file that is cut short or wrong gives the packets before the fault; then the
// port is faulted, with the place in the file. At the end of the last loop nothing
// comes any more.
//
// # Options
//
//	timing=fast|file   as fast as they are taken (default), or as in the file
//	rate=N             N packets a second, instead
//	loops=N            play the file N times; 0 = for ever (default 1)
//	rotate=N           start another file after N bytes (out.pcap, out-1.pcap, …)
//	files=N            keep the N newest of them; 0 = all (default)
package pcap
