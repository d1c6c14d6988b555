// SPDX-License-Identifier: Apache-2.0

package header

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/internal/meta"
)

// TestWriteRead writes every field with distinct values, and reads the bytes and the fields.
func TestWriteRead(t *testing.T) {
	eq := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	dirty := func(n int) []byte { return bytes.Repeat([]byte{0xa5}, n) }
	same := func(what string, got, want []byte) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%x, want\n%x", what, got, want)
		}
	}

	e := Ethernet(dirty(16))
	e.SetDst(Broadcast)
	e.SetSrc(MAC(srcMAC))
	e.SetType(TypeIPv6)
	same("ethernet", e, cat(bcastMAC, srcMAC, word16(0x86dd), dirty(2)))
	eq("dst", e.Dst(), Broadcast)
	eq("src", e.Src(), MAC(srcMAC))
	eq("type", e.Type(), uint16(TypeIPv6))
	eq("payload", len(e.Payload()), 2)
	eq("mac", e.Src().String(), "02:00:00:00:00:02")
	eq("group", e.Src().IsGroup() || !e.Dst().IsGroup() || !MAC(mcastMAC).IsGroup(), false)

	v := VLAN(dirty(5))
	v.SetTCI(0)
	v.SetID(0xfabc)
	v.SetPriority(6)
	v.SetType(TypeARP)
	same("vlan", v, []byte{0xca, 0xbc, 8, 6, 0xa5})
	eq("tci", v.TCI(), uint16(0xcabc))
	eq("id", v.ID(), uint16(0xabc))
	eq("priority", v.Priority(), uint8(6))
	eq("dei", v.DropEligible(), false)
	v.SetTCI(0xf001)
	eq("dei", v.DropEligible(), true)
	eq("type", v.Type(), uint16(TypeARP))
	eq("payload", len(v.Payload()), 1)
	eq("tags", IsTag(0x8100) && IsTag(0x88a8) && IsTag(0x9100) && !IsTag(0x800), true)

	a := ARP(dirty(28))
	a.Init(ARPReply)
	a.SetSenderMAC(MAC(srcMAC))
	a.SetSenderIP([4]byte{1, 2, 3, 4})
	a.SetTargetMAC(MAC(uniMAC))
	a.SetTargetIP([4]byte{5, 6, 7, 8})
	same("arp", a, cat([]byte{0, 1, 8, 0, 6, 4, 0, 2}, srcMAC, []byte{1, 2, 3, 4}, uniMAC, []byte{5, 6, 7, 8}))
	eq("op", a.Op(), uint16(ARPReply))
	eq("sender", a.SenderMAC(), MAC(srcMAC))
	eq("sender", a.SenderIP(), [4]byte{1, 2, 3, 4})
	eq("target", a.TargetMAC(), MAC(uniMAC))
	eq("target", a.TargetIP(), [4]byte{5, 6, 7, 8})
	eq("valid", a.IsValid() && ARP(arp()).IsValid(), true)

	ip := IPv4(dirty(25))
	ip.Encode(&IPv4Fields{Src: [4]byte{192, 168, 0, 1}, Dst: [4]byte(addr4), Protocol: 17, ID: 7})
	same("ipv4", ip, ip4(17, addr4, nil, 0, dirty(5)))
	ip.Encode(&IPv4Fields{Src: [4]byte{1, 2, 3, 4}, Dst: [4]byte{5, 6, 7, 8}, Protocol: 6, TTL: 3, TOS: 0xb8, ID: 0x1234, Flags: IPv4MoreFragments, FragmentOffset: 1480, TotalLen: 24})
	eq("valid", ip.IsValid() && ip.ChecksumOK(), true)
	eq("header", ip.HeaderLen(), 20)
	eq("tos", ip.TOS(), uint8(0xb8))
	eq("length", ip.TotalLen(), 24)
	eq("id", ip.ID(), uint16(0x1234))
	eq("flags", ip.Flags(), uint8(IPv4MoreFragments))
	eq("fragment", ip.FragmentOffset(), 1480)
	eq("fragment", ip.IsFragment(), true)
	eq("ttl", ip.TTL(), uint8(3))
	eq("protocol", ip.Protocol(), uint8(6))
	eq("src", ip.Src(), [4]byte{1, 2, 3, 4})
	eq("dst", ip.Dst(), [4]byte{5, 6, 7, 8})
	eq("payload", len(ip.Payload()), 4)
	eq("options", len(ip.Options()), 0)
	eq("pseudo", ip.Pseudo(4).Sum16(), slowSum([]byte{1, 2, 3, 4, 5, 6, 7, 8, 0, 6, 0, 4}))
	ip.SetTTL(9)
	ip.SetTotalLen(25)
	eq("checksum", ip.ChecksumOK(), false)
	ip.UpdateChecksum()
	eq("checksum", ip.ChecksumOK() && ip.TTL() == 9 && ip.TotalLen() == 25, true)
	opt := IPv4(ip4(1, addr4, []byte{7, 3, 4, 0}, 0x4000, pad))
	eq("options", len(opt.Options()), 4)
	eq("payload", len(opt.Payload()), len(pad))
	eq("flags", opt.Flags() == IPv4DontFragment && !opt.IsFragment(), true)

	six := IPv6(dirty(43))
	six.Encode(&IPv6Fields{Src: [16]byte(addr6), Dst: [16]byte(addr6), NextHeader: 58})
	same("ipv6", six, ip6(58, addr6, dirty(3)))
	six.Encode(&IPv6Fields{Src: [16]byte(set(addr6, 15, 7)), Dst: [16]byte(addr6), NextHeader: 17, HopLimit: 2, TrafficClass: 0xb9, FlowLabel: 0x12345, PayloadLen: 2})
	eq("valid", six.IsValid(), true)
	eq("class", six.TrafficClass(), uint8(0xb9))
	eq("label", six.FlowLabel(), uint32(0x12345))
	eq("length", six.PayloadLen(), 2)
	eq("next", six.NextHeader(), uint8(17))
	eq("hops", six.HopLimit(), uint8(2))
	six.SetHopLimit(1)
	eq("hops", six.HopLimit(), uint8(1))
	eq("src", six.Src(), [16]byte(set(addr6, 15, 7)))
	eq("dst", six.Dst(), [16]byte(addr6))
	eq("payload", len(six.Payload()), 2)
	eq("pseudo", six.Pseudo(17, 2).Sum16(), slowSum(cat(six[8:40], []byte{0, 0, 0, 2, 0, 0, 0, 17})))

	u := UDP(dirty(11))
	u.Encode(1024, 53)
	same("udp", u, udp(dirty(3)))
	u.UpdateChecksum(ip.Pseudo(11))
	eq("udp", u.ChecksumOK(ip.Pseudo(11)) && !u.ChecksumOK(ip.Pseudo(12)) && u.IsValid(), true)
	eq("ports", [2]uint16{u.SrcPort(), u.DstPort()}, [2]uint16{1024, 53})
	eq("payload", len(u.Payload()), 3)
	u.SetChecksum(0)
	eq("no checksum", u.ChecksumOK(99) && u.Checksum() == 0, true)

	s := TCP(make([]byte, 26))
	s.SetSrcPort(1)
	s.SetDstPort(2)
	s.SetSeq(0x03040506)
	s.SetAck(0x0708090a)
	s.SetHeaderLen(24)
	s.SetFlags(TCPSyn | TCPAck)
	s.SetWindow(0x0b0c)
	same("tcp", s, cat([]byte{0, 1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0x60, 0x12, 11, 12}, make([]byte, 10)))
	eq("ports", [2]uint16{s.SrcPort(), s.DstPort()}, [2]uint16{1, 2})
	eq("numbers", [2]uint32{s.Seq(), s.Ack()}, [2]uint32{0x03040506, 0x0708090a})
	eq("flags", s.Flags(), uint8(TCPSyn|TCPAck))
	eq("window", s.Window(), uint16(0x0b0c))
	eq("lengths", [3]int{s.HeaderLen(), len(s.Options()), len(s.Payload())}, [3]int{24, 4, 2})
	s.UpdateChecksum(six.Pseudo(6, 26))
	eq("tcp", s.ChecksumOK(six.Pseudo(6, 26)) && !s.ChecksumOK(0) && s.IsValid() && s.Checksum() != 0, true)

	m := ICMP(make([]byte, 11))
	m.SetType(ICMPEchoRequest)
	m.SetCode(3)
	m.SetID(0x0405)
	m.SetSeq(0x0607)
	same("icmp", m, []byte{8, 3, 0, 0, 4, 5, 6, 7, 0, 0, 0})
	eq("icmp", [4]int{int(m.Type()), int(m.Code()), int(m.ID()), int(m.Seq())}, [4]int{8, 3, 0x405, 0x607})
	m.UpdateChecksum(0)
	eq("icmp", m.ChecksumOK(0) && m.Checksum() == Checksum([]byte{8, 3, 0, 0, 4, 5, 6, 7}) && len(m.Payload()) == 3 && m.IsValid(), true)

	c := SCTP(make([]byte, 20))
	c.SetSrcPort(7)
	c.SetDstPort(8)
	c.SetTag(0x01020304)
	same("sctp", c, cat([]byte{0, 7, 0, 8, 1, 2, 3, 4}, make([]byte, 12)))
	c.UpdateChecksum()
	zero := cat(c[:8], make([]byte, 12))
	eq("sctp", c.ChecksumOK() && c.IsValid() && c.Checksum() == ^CRC32C(zero, 0xffffffff), true)
	eq("sctp", [2]uint16{c.SrcPort(), c.DstPort()}, [2]uint16{7, 8})
	eq("tag", c.Tag(), uint32(0x01020304))
	eq("payload", len(c.Payload()), 8)
	c[13]++
	eq("sctp", c.ChecksumOK(), false)
}

func TestParseMAC(t *testing.T) {
	if m, err := ParseMAC("02-00-00-00-00-01"); err != nil || m != MAC(uniMAC) {
		t.Error(m, err)
	}
	for _, s := range []string{"", "02:00", "02:00:00:00:00:00:00:01"} {
		if _, err := ParseMAC(s); err == nil {
			t.Errorf("%q was taken", s)
		}
	}
}

// TestDecTTL counts both forms down from every TTL, with every kind of checksum.
func TestDecTTL(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		ip := IPv4(ip4(17, random(rnd, 4), nil, int(rnd.Uint32()&0x4000), random(rnd, rnd.IntN(9))))
		ip.SetTTL(uint8(2 + rnd.IntN(254)))
		ip.UpdateChecksum()
		raw := slices.Clone(ip)
		for ip.TTL() > 1 {
			was := ip.TTL()
			ip.DecTTL()
			DecTTL(unsafe.Pointer(&raw[0]))
			if ip.TTL() != was-1 || !ip.ChecksumOK() || !slices.Equal(ip, raw) {
				t.Fatalf("%x, %x: ttl %d", ip, raw, ip.TTL())
			}
		}
	}
}

// useAll calls every accessor of the view that kind chooses, if it says that it is valid.
func useAll(kind int, b []byte) (valid bool) {
	switch kind {
	case 0:
		v := Ethernet(b)
		if valid = v.IsValid(); valid {
			_, _, _, _ = v.Dst(), v.Src(), v.Type(), v.Payload()
		}
	case 1:
		v := VLAN(b)
		if valid = v.IsValid(); valid {
			_, _, _, _ = v.TCI(), v.Priority(), v.Type(), v.Payload()
		}
	case 2:
		v := ARP(b)
		if valid = v.IsValid(); valid {
			_, _, _, _, _ = v.Op(), v.SenderMAC(), v.SenderIP(), v.TargetMAC(), v.TargetIP()
		}
	case 3:
		v := IPv4(b)
		if valid = v.IsValid(); valid {
			_, _, _, _, _ = v.Options(), v.Payload(), v.ChecksumOK(), v.Pseudo(len(v.Payload())), v.FragmentOffset()
			v.UpdateChecksum()
		}
	case 4:
		v := IPv6(b)
		if valid = v.IsValid(); valid {
			_, _, _, _ = v.Src(), v.Dst(), v.Payload(), v.Pseudo(6, len(v.Payload()))
		}
	case 5:
		v := UDP(b)
		if valid = v.IsValid(); valid {
			_, _ = v.Payload(), v.ChecksumOK(0)
			v.UpdateChecksum(0)
		}
	case 6:
		v := TCP(b)
		if valid = v.IsValid(); valid {
			_, _, _ = v.Options(), v.Payload(), v.ChecksumOK(0)
			v.UpdateChecksum(0)
		}
	case 7:
		v := ICMP(b)
		if valid = v.IsValid(); valid {
			_, _, _ = v.ID(), v.Seq(), v.Payload()
			v.UpdateChecksum(0)
		}
	case 8:
		v := SCTP(b)
		if valid = v.IsValid(); valid {
			_, _, _ = v.Tag(), v.ChecksumOK(), v.Payload()
			v.UpdateChecksum()
		}
	}
	return valid
}

const views = 9

// TestViewsValid: after IsValid no accessor panics, whatever the bytes; each kind has
// valid and invalid ones among them.
func TestViewsValid(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	seeds := [][]byte{arp(), ip4(17, addr4, []byte{1, 1, 1, 1}, 0, pad), ip6(17, addr6, pad), udp(pad), tcp(pad)}
	var yes, no [views]int
	for range 30_000 {
		b := slices.Clone(seeds[rnd.IntN(len(seeds))])
		if rnd.IntN(3) != 0 {
			b[rnd.IntN(min(len(b), 14))] = byte(rnd.Uint32())
		}
		b = slices.Clip(b[:rnd.IntN(len(b)+1)])
		for k := range views {
			if useAll(k, slices.Clone(b)) {
				yes[k]++
			} else {
				no[k]++
			}
		}
	}
	for k := range views {
		if yes[k] == 0 || no[k] == 0 {
			t.Errorf("view %d: %d valid, %d invalid", k, yes[k], no[k])
		}
	}
}

// FuzzHeader gives any bytes to the parser and its slow twin, to all views, and to what
// checks and writes at the parser's offsets: nobody reads or writes outside, twins agree,
// a written checksum verifies.
func FuzzHeader(f *testing.F) {
	for _, c := range cases {
		f.Add(c.frame)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for k := range views {
			useAll(k, slices.Clone(b))
		}
		if len(b) < 1<<16 {
			check(t, b)
			c := slices.Clip(slices.Clone(b))
			r := fastParse(c, meta.LayerAll)
			p, n := unsafe.Pointer(unsafe.SliceData(c)), uint32(len(c))
			FlowHash(p, n, r.flags, r.l3, r.l4)
			Verify(p, n, r.flags, r.l3, r.l4)
			InsertL3(p, r.flags, r.l3)
			InsertL4(p, n, r.flags, r.l3, r.l4)
			v := Verify(p, n, r.flags, r.l3, r.l4)
			if v&meta.L4Checked != 0 && v&meta.L4OK == 0 && !(v&meta.UDP != 0 && v&meta.IPv6 != 0) {
				t.Fatalf("a written checksum is wrong: %b of %x", v, c)
			}
		}
	})
}

func TestViewsNoAllocs(t *testing.T) {
	b := ip4(17, addr4, nil, 0, udp(pad))
	if n := testing.AllocsPerRun(100, func() {
		ip := IPv4(b)
		if ip.IsValid() {
			ip.DecTTL()
			u := UDP(ip.Payload())
			u.UpdateChecksum(ip.Pseudo(len(u)))
			ip.Encode(&IPv4Fields{Src: ip.Src(), Dst: ip.Dst(), Protocol: ip.Protocol()})
			sink += uint32(binary.BigEndian.Uint16(b))
		}
		for k := range views {
			useAll(k, b)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
