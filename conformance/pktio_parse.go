// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/pktio/driver"
)

// Packet I/O: frames that went through a device are parsed as they were.

// CapVLAN is what a device lacks whose system takes the tags off.
const CapVLAN Capability = "VLAN tags inside the frame"

// ioParsed are the kinds of frame of PKTIO-77 to PKTIO-88, by their names in parseCases.
var ioParsed = []string{"ARP to all", "IPv4 and ICMP", "IPv4 and TCP", "IPv4 and UDP", "IPv4 and SCTP", "IPv4 and UDP behind a VLAN tag", "IPv4 and UDP behind two tags",
	"IPv6 and ICMP", "IPv6 and TCP", "IPv6 and UDP", "IPv6 and SCTP", "IPv6 and UDP behind a VLAN tag"}

func init() {
	known := map[string]parseCase{}
	for _, c := range parseCases() {
		known[c.what] = c
	}
	known["IPv6 and SCTP"] = ipv6SCTP()
	for i, what := range ioParsed {
		c, ok := known[what]
		if !ok {
			panic("conformance: no frame of kind " + what)
		}
		register("PKTIO", Case{fmt.Sprintf("PKTIO-%d", 77+i), "A frame of " + what + " arrives with exactly the flags and offsets of its headers.", []Capability{CapDevice},
			func(e *Env) { ioParse(e, c) }})
	}
}

// ipv6SCTP is not among the frames of the PKT suite.
func ipv6SCTP() parseCase {
	return parseCase{"IPv6 and SCTP", 0, join(ether(header.MAC{2, 0, 0, 0, 0, 1}, header.TypeIPv6), ipv6Of(header.ProtoSCTP, [16]byte{0x20, 1, 15: 2}, make([]byte, 12+26))),
		v6 | buffer.FlagSCTP, 14, 54}
}

// ioParse sends a frame to its receiver's address; where it came through the device its
// bytes and what was found in it are as they should be. Short frames are padded.
func ioParse(e *Env, c parseCase) {
	x := e.wire(odp.PortConfig{})
	if strings.Contains(c.what, "tag") {
		x.wants(CapVLAN, func(c driver.Capability) bool { return c.VLANInFrame })
	}
	frame := append([]byte(nil), c.frame...)
	if frame[0]&1 == 0 {
		copy(frame, x.rx.MAC())
	}
	copy(frame[6:], x.tx.MAC())
	for len(frame) < least+8 {
		frame = append(frame, 0)
	}
	var frames [][]byte
	for range 3 {
		binary.BigEndian.PutUint32(frame[len(frame)-4:], runs.Add(1)) // behind the IP packet, or in its payload
		frames = append(frames, append([]byte(nil), frame...))
	}
	x.send(frames)
	read := x.reader()
	var found int
	x.expect(func(pkts []*odp.Packet) (int, error) {
		n, err := read(pkts)
		for _, k := range pkts[:n] {
			for _, f := range frames {
				if string(content(k)) == string(f) {
					c.found(e, k, 0)
					found++
				}
			}
		}
		return n, err
	}, 8, frames)
	e.Check(found == len(frames), "%d of %d frames were looked at", found, len(frames))
}
