// SPDX-License-Identifier: Apache-2.0

package vnet

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/odp-go/godp/header"
)

// raw makes the bytes of a header.
func raw(flags, gso uint8, size, start, off uint16) []byte {
	b := make([]byte, Size)
	b[0], b[1] = flags, gso
	binary.NativeEndian.PutUint16(b[4:], size)
	binary.NativeEndian.PutUint16(b[6:], start)
	binary.NativeEndian.PutUint16(b[8:], off)
	return b
}

// frame makes a frame with n payload bytes; tags are TPIDs.
func frame(v6, tcp bool, n int, tags ...uint16) (b []byte, l4 int) {
	b = append(b, bytes.Repeat([]byte{2}, 12)...)
	for i, t := range tags {
		b = binary.BigEndian.AppendUint16(b, t)
		b = binary.BigEndian.AppendUint16(b, uint16(100+i))
	}
	proto, hdr := byte(17), 8
	if tcp {
		proto, hdr = 6, 32
	}
	if v6 {
		b = append(b, 0x86, 0xdd, 0x60, 0, 0, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(hdr+n))
		b = append(b, proto, 64)
		for i := range 32 {
			b = append(b, byte(i))
		}
	} else {
		b = append(b, 8, 0, 0x46, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(24+hdr+n))
		b = append(b, 0xff, 0xfe, 0x40, 0, 64, proto, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 1, 1, 0)
	}
	l4 = len(b)
	if tcp {
		b = append(b, 0, 80, 1, 0, 0xff, 0xff, 0xff, 0x00, 0, 0, 0, 1, 0x80, 0x99, 1, 0, 0, 0, 0, 0, 1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8)
	} else {
		b = append(b, 0, 80, 1, 0)
		b = binary.BigEndian.AppendUint16(b, uint16(8+n))
		b = append(b, 0, 0)
	}
	for i := range n {
		b = append(b, byte(i*31>>3))
	}
	return b, l4
}

// pseudo is the sum of the pseudo header.
func pseudo(b []byte, l4 int, v6, tcp bool) header.Partial {
	p := header.Partial(17)
	if tcp {
		p = 6
	}
	p = p.Plus(uint16(len(b) - l4))
	if v6 {
		return p.Add(b[l4-32 : l4])
	}
	return p.Add(b[l4-12 : l4-4]) // 4 bytes of options
}

func TestSegments(t *testing.T) {
	for _, c := range []struct {
		v6, tcp bool
		n, size int
		tags    []uint16
	}{
		{false, true, 1, 1448, nil}, {false, true, 1448, 1448, nil}, {false, true, 1449, 1448, nil}, {false, true, 65000, 1448, nil},
		{true, true, 64000, 1428, nil}, {true, true, 3000, 536, []uint16{0x8100}}, {false, true, 5000, 1000, []uint16{0x88a8, 0x8100}},
		{false, false, 9000, 1472, nil}, {true, false, 4001, 1000, nil},
	} {
		f, l4 := frame(c.v6, c.tcp, c.n, c.tags...)
		kind := uint8(gsoUDPL4)
		hdr := l4 + 8
		if c.tcp {
			hdr, kind = l4+32, gsoTCPv4|gsoECN
			if c.v6 {
				kind = gsoTCPv6
			}
		}
		whole := bytes.Clone(f)
		var s Segmenter
		if !s.Start(Parse(raw(needsCsum, kind, uint16(c.size), uint16(l4), 16)), f) {
			t.Fatalf("%+v: refused", c)
		}
		var payload []byte
		want := (c.n + c.size - 1) / c.size
		for i := 0; s.Active(); i++ {
			dst := make([]byte, s.Len()+7)
			n := s.Next(dst)
			g := dst[:n]
			last := i == want-1
			if n > hdr+c.size || i >= want || last == s.Active() {
				t.Fatalf("%+v: segment %d of %d has %d bytes, more to come: %v", c, i, want, n, s.Active())
			}
			if got := pseudo(g, l4, c.v6, c.tcp).Add(g[l4:]).Sum16(); got != 0xffff {
				t.Errorf("%+v: segment %d: checksum %#x", c, i, got)
			}
			l3 := 14 + 4*len(c.tags)
			if c.v6 {
				if int(binary.BigEndian.Uint16(g[l3+4:])) != n-l3-40 {
					t.Errorf("%+v: segment %d: IPv6 length", c, i)
				}
			} else {
				if int(binary.BigEndian.Uint16(g[l3+2:])) != n-l3 || header.Sum16(g[l3:l4]) != 0xffff || binary.BigEndian.Uint16(g[l3+4:]) != uint16(0xfffe+i) {
					t.Errorf("%+v: segment %d: IPv4 header % x", c, i, g[l3:l4])
				}
			}
			if c.tcp {
				flags := byte(0x10)
				if i == 0 {
					flags |= 0x80
				}
				if last {
					flags |= 0x09
				}
				if g[l4+13] != flags || binary.BigEndian.Uint32(g[l4+4:]) != 0xffffff00+uint32(i*c.size) {
					t.Errorf("%+v: segment %d: TCP header % x, want flags %#x", c, i, g[l4:hdr], flags)
				}
			} else if int(binary.BigEndian.Uint16(g[l4+4:])) != n-l4 {
				t.Errorf("%+v: segment %d: UDP length", c, i)
			}
			if !bytes.Equal(g[:14+4*len(c.tags)], whole[:14+4*len(c.tags)]) {
				t.Errorf("%+v: segment %d: Ethernet header", c, i)
			}
			payload = append(payload, g[hdr:]...)
		}
		if !bytes.Equal(payload, whole[hdr:]) || s.Next(nil) != 0 {
			t.Errorf("%+v: the payload differs", c)
		}
	}
}

func TestFinish(t *testing.T) {
	for _, tcp := range []bool{false, true} {
		for n := range 200 {
			f, l4 := frame(false, tcp, n)
			off := 6
			if tcp {
				off = 16
			}
			binary.BigEndian.PutUint16(f[l4+off:], pseudo(f, l4, false, tcp).Sum16())
			h := Parse(raw(needsCsum, 0, 0, uint16(l4), uint16(off)))
			if !h.Finish(f) {
				t.Fatal("refused")
			}
			if got := pseudo(f, l4, false, tcp).Add(f[l4:]).Sum16(); got != 0xffff {
				t.Fatalf("tcp %v, %d bytes: sum %#x", tcp, n, got)
			}
		}
	}
	f, _ := frame(false, true, 0)
	for _, h := range [][]byte{raw(1, 0, 0, uint16(len(f)), 16), raw(1, 0, 0, 34, uint16(len(f))), raw(1, 0, 0, 0xffff, 0xffff), raw(1, 0, 0, 0, 0)} {
		if Parse(h).Finish(f) {
			t.Errorf("% x: accepted for a frame of %d bytes", h, len(f))
		}
	}
}

// A header that does not fit its frame is refused, and never read outside of it.
func FuzzSegment(f *testing.F) {
	for _, v6 := range []bool{false, true} {
		b, l4 := frame(v6, true, 100, 0x8100)
		f.Add(raw(1, 1, 40, uint16(l4), 16), b)
		b, l4 = frame(v6, false, 100)
		f.Add(raw(1, 5, 40, uint16(l4), 6), b)
	}
	f.Fuzz(func(t *testing.T, h, b []byte) {
		if len(h) < Size || len(b) > 1<<16 {
			return
		}
		Parse(h).Finish(bytes.Clone(b))
		var s Segmenter
		if !s.Start(Parse(h), b) {
			return
		}
		total := 0
		for s.Active() {
			dst := make([]byte, s.Len())
			n := s.Next(dst)
			if n == 0 || n > len(b) {
				t.Fatalf("segment of %d bytes out of %d", n, len(b))
			}
			total += n - s.hdr
		}
		if total != len(b)-s.hdr {
			t.Fatalf("%d payload bytes out of %d", total, len(b)-s.hdr)
		}
	})
}
