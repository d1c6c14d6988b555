// SPDX-License-Identifier: Apache-2.0

package odptest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"net/netip"
	"strings"
)

// Frame describes a UDP frame for tests. The zero value of a field is its default,
// so that Frame{Seq: 7} is a good frame. Bytes builds it, ParseFrame reads it back, and String
// says it in a line.
//
//	| Ethernet 14 | 802.1Q 4 each | IPv4 20 or IPv6 40 | UDP 8 | payload               |
//	                                                          | crc 4 | seq 4 | flow 4 | fill |
//
// The payload starts with a CRC-32 of all that follows it in the payload (when there is
// room), so that damage is seen even where a checksum was rewritten.
type Frame struct {
	Dst, Src net.HardwareAddr // default 02:00:00:00:00:02 and :01
	VLAN     []uint16         // tags (PCP, DEI and id), outer first
	SrcIP    netip.Addr       // default 10.0.x.y, x.y = Flow; or fd00::x.y when DstIP is IPv6
	DstIP    netip.Addr       // default 10.1.x.y
	SrcPort  uint16           // default 1024 + Flow
	DstPort  uint16           // default 9
	TTL      uint8            // default 64
	Flow     int              // flow number, 0 to 60000: sets addresses and ports, and is in the payload
	Seq      uint32           // sequence number, in the payload
	Len      int              // bytes of the frame without FCS; default 60, or what the headers need
}

const payloadBytes = 12

// ErrFrame is wrapped by the errors of ParseFrame.
var ErrFrame = errors.New("frame")

func (f Frame) fill() Frame {
	def := func(m *net.HardwareAddr, last byte) {
		if *m == nil {
			*m = net.HardwareAddr{2, 0, 0, 0, 0, last}
		}
	}
	def(&f.Dst, 2)
	def(&f.Src, 1)
	hi, lo := byte(f.Flow>>8), byte(f.Flow)
	if !f.DstIP.IsValid() {
		f.DstIP = netip.AddrFrom4([4]byte{10, 1, hi, lo})
	}
	if !f.SrcIP.IsValid() {
		f.SrcIP = netip.AddrFrom4([4]byte{10, 0, hi, lo})
		if f.DstIP.Is6() {
			f.SrcIP = netip.AddrFrom16([16]byte{0: 0xfd, 14: hi, 15: lo})
		}
	}
	if f.SrcPort == 0 {
		f.SrcPort = uint16(1024 + f.Flow)
	}
	if f.DstPort == 0 {
		f.DstPort = 9
	}
	if f.TTL == 0 {
		f.TTL = 64
	}
	f.Len = max(f.Len, 60, f.udpAt()+8+payloadBytes)
	return f
}

func (f Frame) ipLen() int {
	if f.DstIP.Is6() {
		return 40
	}
	return 20
}

func (f Frame) udpAt() int { return 14 + 4*len(f.VLAN) + f.ipLen() }

// Bytes builds the frame, with right checksums.
func (f Frame) Bytes() []byte {
	f = f.fill()
	b := make([]byte, f.Len)
	copy(b, f.Dst)
	copy(b[6:], f.Src)
	at := 12
	for i, tag := range f.VLAN {
		tpid := uint16(0x8100)
		if i == 0 && len(f.VLAN) > 1 {
			tpid = 0x88a8
		}
		binary.BigEndian.PutUint16(b[at:], tpid)
		binary.BigEndian.PutUint16(b[at+2:], tag)
		at += 4
	}
	ip := b[at+2:]
	udp := b[f.udpAt():]
	if f.DstIP.Is6() {
		binary.BigEndian.PutUint16(b[at:], 0x86dd)
		ip[0] = 0x60
		binary.BigEndian.PutUint16(ip[4:], uint16(len(udp)))
		ip[6], ip[7] = 17, f.TTL
		copy(ip[8:], f.SrcIP.AsSlice())
		copy(ip[24:], f.DstIP.AsSlice())
	} else {
		binary.BigEndian.PutUint16(b[at:], 0x0800)
		ip[0] = 0x45
		binary.BigEndian.PutUint16(ip[2:], uint16(20+len(udp)))
		ip[8], ip[9] = f.TTL, 17
		copy(ip[12:], f.SrcIP.AsSlice())
		copy(ip[16:], f.DstIP.AsSlice())
		binary.BigEndian.PutUint16(ip[10:], ^fold(sum(0, ip[:20])))
	}
	binary.BigEndian.PutUint16(udp, f.SrcPort)
	binary.BigEndian.PutUint16(udp[2:], f.DstPort)
	binary.BigEndian.PutUint16(udp[4:], uint16(len(udp)))
	pay := udp[8:]
	binary.BigEndian.PutUint32(pay[4:], f.Seq)
	binary.BigEndian.PutUint32(pay[8:], uint32(f.Flow))
	for i := payloadBytes; i < len(pay); i++ {
		pay[i] = byte(i + int(f.Seq))
	}
	binary.BigEndian.PutUint32(pay, crc32.ChecksumIEEE(pay[4:]))
	c := ^fold(f.pseudo(udp))
	if c == 0 {
		c = 0xffff
	}
	binary.BigEndian.PutUint16(udp[6:], c)
	return b
}

// pseudo sums the datagram and its pseudo header.
func (f Frame) pseudo(udp []byte) uint32 {
	s := sum(uint32(17+len(udp)), f.SrcIP.AsSlice())
	return sum(sum(s, f.DstIP.AsSlice()), udp)
}

// Frames builds n frames like f, with sequence numbers from f.Seq on.
func Frames(n int, f Frame) [][]byte {
	var all [][]byte
	for range n {
		all = append(all, f.Bytes())
		f.Seq++
	}
	return all
}

// ParseFrame reads a frame that Bytes has built, perhaps forwarded since. The
// error, which wraps ErrFrame, says what is wrong with it: cut short, a wrong
// checksum, a damaged payload.
func ParseFrame(b []byte) (f Frame, err error) {
	bad := func(format string, args ...any) (Frame, error) {
		return f, fmt.Errorf("%w of %d bytes: %s", ErrFrame, len(b), fmt.Sprintf(format, args...))
	}
	if len(b) < 14 {
		return bad("shorter than an Ethernet header")
	}
	f.Len = len(b)
	f.Dst, f.Src = bytes.Clone(b[:6]), bytes.Clone(b[6:12])
	at := 12
	typ := binary.BigEndian.Uint16(b[at:])
	for typ == 0x8100 || typ == 0x88a8 {
		if len(b) < at+6 {
			return bad("cut in a VLAN tag")
		}
		f.VLAN = append(f.VLAN, binary.BigEndian.Uint16(b[at+2:]))
		at += 4
		typ = binary.BigEndian.Uint16(b[at:])
	}
	ip := b[at+2:]
	var udp []byte
	switch {
	case typ == 0x0800 && len(ip) >= 20 && ip[0] == 0x45:
		n := int(binary.BigEndian.Uint16(ip[2:]))
		if n < 28 || n > len(ip) {
			return bad("IPv4 total length %d in %d bytes", n, len(ip))
		}
		if fold(sum(0, ip[:20])) != 0xffff {
			return bad("wrong IPv4 checksum")
		}
		f.TTL = ip[8]
		f.SrcIP, f.DstIP = netip.AddrFrom4([4]byte(ip[12:])), netip.AddrFrom4([4]byte(ip[16:]))
		if ip[9] != 17 {
			return bad("IP protocol %d, not UDP", ip[9])
		}
		udp = ip[20:n]
	case typ == 0x86dd && len(ip) >= 40 && ip[0]>>4 == 6:
		n := int(binary.BigEndian.Uint16(ip[4:]))
		if n < 8 || n > len(ip)-40 {
			return bad("IPv6 payload length %d in %d bytes", n, len(ip)-40)
		}
		f.TTL = ip[7]
		f.SrcIP, f.DstIP = netip.AddrFrom16([16]byte(ip[8:])), netip.AddrFrom16([16]byte(ip[24:]))
		if ip[6] != 17 {
			return bad("IP protocol %d, not UDP", ip[6])
		}
		udp = ip[40 : 40+n]
	default:
		return bad("EtherType %#04x is not a plain IPv4 or IPv6 packet", typ)
	}
	f.SrcPort, f.DstPort = binary.BigEndian.Uint16(udp), binary.BigEndian.Uint16(udp[2:])
	if n := int(binary.BigEndian.Uint16(udp[4:])); n != len(udp) {
		return bad("UDP length %d, the IP packet has %d", n, len(udp))
	}
	if fold(f.pseudo(udp)) != 0xffff {
		return bad("wrong UDP checksum")
	}
	pay := udp[8:]
	if len(pay) < payloadBytes {
		return bad("%d bytes of payload, the kit's frames have %d at least", len(pay), payloadBytes)
	}
	f.Seq, f.Flow = binary.BigEndian.Uint32(pay[4:]), int(binary.BigEndian.Uint32(pay[8:]))
	if binary.BigEndian.Uint32(pay) != crc32.ChecksumIEEE(pay[4:]) {
		return bad("the payload of sequence number %d is damaged", f.Seq)
	}
	return f, nil
}

// String says the frame in a line, as a packet description:
//
//	02:00:00:00:00:01 > 02:00:00:00:00:02 vlan 5 10.0.0.1:1025 > 10.1.0.1:9 ttl 64 flow 1 seq 7 len 60
func (f Frame) String() string {
	f = f.fill()
	var s strings.Builder
	fmt.Fprintf(&s, "%s > %s", f.Src, f.Dst)
	for _, v := range f.VLAN {
		fmt.Fprintf(&s, " vlan %d", v&0xfff)
		if v>>12 != 0 {
			fmt.Fprintf(&s, "/%d", v>>12)
		}
	}
	fmt.Fprintf(&s, " %s > %s ttl %d flow %d seq %d len %d",
		netip.AddrPortFrom(f.SrcIP, f.SrcPort), netip.AddrPortFrom(f.DstIP, f.DstPort), f.TTL, f.Flow, f.Seq, f.Len)
	return s.String()
}

// Describe says what is in some bytes, in a line: a Frame, or why it is none.
func Describe(b []byte) string {
	f, err := ParseFrame(b)
	if err != nil {
		return err.Error()
	}
	return f.String()
}

func sum(s uint32, b []byte) uint32 {
	for ; len(b) >= 2; b = b[2:] {
		s += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) == 1 {
		s += uint32(b[0]) << 8
	}
	return s
}

func fold(s uint32) uint16 {
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}
