// SPDX-License-Identifier: Apache-2.0

package header

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/odp-go/godp/internal/meta"
)

// slowSum is RFC 1071's sum, word by word.
func slowSum(b []byte) uint16 {
	var s uint32
	for i := 0; i < len(b); i += 2 {
		w := uint32(b[i]) << 8
		if i+1 < len(b) {
			w |= uint32(b[i+1])
		}
		if s += w; s > 0xffff {
			s -= 0xffff
		}
	}
	return uint16(s)
}

func random(rnd *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

func TestSum16(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	buf := random(rnd, 700)
	for start := range 9 {
		for n := 0; n <= 300; n++ {
			b := buf[start : start+n]
			if got, want := Sum16(b), slowSum(b); got != want {
				t.Fatalf("start %d, %d bytes: %#x, want %#x", start, n, got, want)
			}
			cut := n / 2 &^ 1
			if got, want := Partial(0).Add(b[:cut]).Add(b[cut:]).Plus(5).Sum16(), slowSum(cat([]byte{0, 5}, b)); got != want {
				t.Fatalf("in parts, %d bytes: %#x, want %#x", n, got, want)
			}
		}
	}
	for _, v := range []byte{0, 0xff} {
		for _, n := range []int{1, 2, 31, 32, 64, 65535, 3 << 20} {
			b := slices.Repeat([]byte{v}, n)
			if got, want := Sum16(b), slowSum(b); got != want {
				t.Fatalf("%d bytes of %#x: %#x, want %#x", n, v, got, want)
			}
		}
	}
	long := random(rnd, 1<<20+1)
	if got, want := Sum16(long), slowSum(long); got != want {
		t.Fatalf("long: %#x, want %#x", got, want)
	}
	// RFC 1071 section 3's example
	if s := Sum16([]byte{0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7}); s != 0xddf2 {
		t.Errorf("RFC 1071 example: %#x", s)
	}
	h := ip4(17, addr4, nil, 0, nil)
	if Sum16(h) != 0xffff || Checksum(h) != 0 {
		t.Error("a right header must sum to 0xffff")
	}
}

// TestUpdate compares with a new computation, for every value around the carries.
func TestUpdate(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 9))
	edge := []uint16{0, 1, 0x7fff, 0x8000, 0xfffe, 0xffff}
	word := func() uint16 {
		if rnd.IntN(2) == 0 {
			return edge[rnd.IntN(len(edge))]
		}
		return uint16(rnd.Uint32())
	}
	for range 50_000 {
		b := make([]byte, 12)
		for i := 0; i < 12; i += 2 {
			binary.BigEndian.PutUint16(b[i:], word())
		}
		b[11] |= 1 // data of zeroes only has two forms of its checksum
		c := Checksum(b)
		old := binary.BigEndian.Uint16(b[2:])
		now := word()
		binary.BigEndian.PutUint16(b[2:], now)
		if got, want := Update16(c, old, now), Checksum(b); got != want {
			t.Fatalf("%x: %#x to %#x: %#x, want %#x", b, old, now, got, want)
		}
		c = Checksum(b)
		old32, now32 := binary.BigEndian.Uint32(b[4:]), uint32(word())<<16|uint32(word())
		binary.BigEndian.PutUint32(b[4:], now32)
		if got, want := Update32(c, old32, now32), Checksum(b); got != want {
			t.Fatalf("%x: %#x to %#x: %#x, want %#x", b, old32, now32, got, want)
		}
	}
	// RFC 1624 section 4's example, where RFC 1141's formula fails
	if c := Update16(0xdd2f, 0x5555, 0x3285); c != 0x0000 {
		t.Errorf("RFC 1624 example: %#x", c)
	}
	if UpdateUDP(0, 1, 2) != 0 || UpdateUDP(0xdd2f, 0x5555, 0x3285) != 0xffff || UpdateUDP(5, 1, 1) != 5 {
		t.Error("UDP checksums of 0")
	}
}

// l4Frames are frames with an unset layer 4 checksum, and the offset of the field.
func l4Frames() map[string]struct {
	f    []byte
	off  int
	size int
} {
	type fr = struct {
		f    []byte
		off  int
		size int
	}
	data := []byte("some odd data")
	sctp := cat(word16(5), word16(6), make([]byte, 8), data)
	return map[string]fr{
		"udp4":       {eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(data))), 40, 2},
		"udp4 opt":   {eth(uniMAC, 0x800, ip4(17, addr4, []byte{1, 1, 1, 1}, 0, udp(data))), 44, 2},
		"udp4 short": {eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, cat(udp(data), pad))), 40, 2},
		"tcp4":       {eth(uniMAC, 0x800, ip4(6, addr4, nil, 0, tcp(data))), 50, 2},
		"icmp4":      {eth(uniMAC, 0x800, ip4(1, addr4, nil, 0, cat([]byte{8, 0, 0, 0, 1, 2, 3, 4}, data))), 36, 2},
		"sctp4":      {eth(uniMAC, 0x800, ip4(132, addr4, nil, 0, sctp)), 42, 4},
		"udp6":       {eth(uniMAC, 0x86dd, ip6(17, addr6, udp(data))), 60, 2},
		"tcp6":       {eth(uniMAC, 0x86dd, ip6(6, addr6, tcp(data))), 70, 2},
		"icmp6":      {eth(uniMAC, 0x86dd, ip6(58, addr6, cat([]byte{128, 0, 0, 0, 1, 2, 3, 4}, data))), 56, 2},
		"sctp6":      {eth(uniMAC, 0x86dd, ip6(132, addr6, sctp)), 62, 4},
		"tagged":     {eth(uniMAC, 0x8100, tag(5, 0x800, ip4(17, addr4, nil, 0, udp(data)))), 44, 2},
	}
}

func TestInsertVerify(t *testing.T) {
	for name, c := range l4Frames() {
		b := cat(c.f, []byte{1, 2, 3}) // padding that no checksum covers
		p, n := unsafe.Pointer(&b[0]), uint32(len(b))
		r := fastParse(b, meta.LayerAll)
		if r.flags&meta.Err != 0 {
			t.Fatalf("%s: %b", name, r.flags)
		}
		InsertL4(p, n, r.flags, r.l3, r.l4)
		if slices.Equal(b[c.off:c.off+c.size], make([]byte, c.size)) {
			t.Errorf("%s: nothing was written", name)
		}
		want := r.flags | meta.L4Checked | meta.L4OK
		if r.flags&meta.IPv4 != 0 {
			want |= meta.L3Checked | meta.L3OK
		}
		if got := Verify(p, n, r.flags, r.l3, r.l4); got != want {
			t.Errorf("%s: Verify %b, want %b", name, got, want)
		}
		// the plain definition
		if r.flags&(meta.TCP|meta.UDP|meta.ICMP) != 0 {
			l4 := b[r.l4:len(c.f)]
			if r.flags&meta.UDP != 0 {
				l4 = l4[:binary.BigEndian.Uint16(l4[4:])]
			}
			var pseudo []byte
			switch {
			case r.flags&meta.IPv4 == 0:
				proto := map[meta.Flags]byte{meta.TCP: 6, meta.UDP: 17, meta.ICMP: 58}[r.flags&(meta.TCP|meta.UDP|meta.ICMP)]
				pseudo = cat(b[r.l3+8:r.l3+40], word16(0), word16(len(l4)), []byte{0, 0, 0, proto})
			case r.flags&meta.ICMP == 0:
				pseudo = cat(b[r.l3+12:r.l3+20], []byte{0, b[r.l3+9]}, word16(len(l4)))
			}
			if s := slowSum(cat(pseudo, l4)); s != 0xffff {
				t.Errorf("%s: sums to %#x", name, s)
			}
		}
		// every bit that the checksum covers counts
		for i := int(r.l4); i < len(c.f); i++ {
			if name == "udp4 short" && i >= len(c.f)-len(pad) {
				break
			}
			if r.flags&meta.UDP != 0 && (i == int(r.l4)+4 || i == int(r.l4)+5) {
				continue // the UDP length is in the sum twice, and bounds it
			}
			b[i] ^= 0x10
			if got := Verify(p, n, r.flags, r.l3, r.l4); got&meta.L4OK != 0 || got&meta.ErrL4 == 0 {
				t.Errorf("%s: byte %d changed: %b", name, i, got)
			}
			b[i] ^= 0x10
		}
		if r.flags&meta.IPv4 != 0 {
			b[r.l3+1] ^= 1
			if got := Verify(p, n, r.flags, r.l3, r.l4); got&meta.L3OK != 0 || got&(meta.ErrL3|meta.L3Checked) != meta.ErrL3|meta.L3Checked {
				t.Errorf("%s: bad header checksum: %b", name, got)
			}
			InsertL3(p, r.flags, r.l3)
			if got := Verify(p, n, r.flags, r.l3, r.l4); got&meta.L3OK == 0 {
				t.Errorf("%s: InsertL3: %b", name, got)
			}
		}
		if n := testing.AllocsPerRun(10, func() {
			InsertL3(p, r.flags, r.l3)
			InsertL4(p, n, r.flags, r.l3, r.l4)
			Verify(p, n, r.flags, r.l3, r.l4)
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestVerifyRules(t *testing.T) {
	for name, c := range map[string]struct {
		f    []byte
		want meta.Flags
	}{
		"no udp checksum over ipv4": {eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(pad))), meta.L3Checked | meta.L3OK | meta.L4Checked | meta.L4OK},
		"no udp checksum over ipv6": {eth(uniMAC, 0x86dd, ip6(17, addr6, udp(pad))), meta.L4Checked | meta.ErrL4},
		"fragment":                  {eth(uniMAC, 0x800, ip4(17, addr4, nil, 0x2000, udp(pad))), meta.L3Checked | meta.L3OK},
		"later fragment":            {eth(uniMAC, 0x800, ip4(17, addr4, nil, 0x2007, udp(pad))), meta.L3Checked | meta.L3OK},
		"esp":                       {eth(uniMAC, 0x800, ip4(50, addr4, nil, 0, pad)), meta.L3Checked | meta.L3OK},
		"ipip":                      {eth(uniMAC, 0x800, ip4(4, addr4, nil, 0, ip4(17, addr4, nil, 0, nil))), meta.L3Checked | meta.L3OK},
		"options of ipv6":           {eth(uniMAC, 0x86dd, ip6(0, addr6, ext(17, 0, udp(pad)))), 0},
		"broken":                    {set(eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(pad))), 14, 0x55), 0},
		"arp":                       {eth(uniMAC, 0x806, arp()), 0},
		"nothing":                   {nil, 0},
	} {
		r := fastParse(c.f, meta.LayerAll)
		before := slices.Clone(c.f)
		got := Verify(unsafe.Pointer(unsafe.SliceData(c.f)), uint32(len(c.f)), r.flags, r.l3, r.l4)
		if got != r.flags|c.want {
			t.Errorf("%s: %b, want %b", name, got, r.flags|c.want)
		}
		if c.want&meta.L4Checked == 0 {
			InsertL4(unsafe.Pointer(unsafe.SliceData(c.f)), uint32(len(c.f)), r.flags, r.l3, r.l4)
			if !slices.Equal(before, c.f) {
				t.Errorf("%s: InsertL4 wrote", name)
			}
		}
	}
	// a checksum that comes out as 0 is written as 0xffff
	f := eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp([]byte{0, 0})))
	r := fastParse(f, meta.LayerAll)
	p, n := unsafe.Pointer(&f[0]), uint32(len(f))
	InsertL4(p, n, r.flags, r.l3, r.l4)
	copy(f[42:], f[40:42]) // data = its own checksum: the sum grows to 0xffff
	InsertL4(p, n, r.flags, r.l3, r.l4)
	if be16(p, 40) != 0xffff || Verify(p, n, r.flags, r.l3, r.l4)&meta.L4OK == 0 {
		t.Errorf("checksum %#x", be16(p, 40))
	}
}

func TestIPv4HeaderOK(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	for i := range 3000 {
		h := ip4(byte(rnd.Uint32()), random(rnd, 4), random(rnd, 4*rnd.IntN(11)), rnd.IntN(1<<16), nil)
		if i%3 == 0 {
			h = set(h, 12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
		}
		h = slices.Clip(h)
		if got, want := IPv4HeaderOK(unsafe.Pointer(&h[0])), slowSum(h) == 0xffff; got != want {
			t.Fatalf("%x: %v, want %v", h, got, want)
		}
		IPv4(h).UpdateChecksum()
		if !IPv4HeaderOK(unsafe.Pointer(&h[0])) {
			t.Fatalf("%x: wrong after UpdateChecksum", h)
		}
		h[rnd.IntN(len(h)-1)+1] ^= 1 << rnd.IntN(8)
		if IPv4HeaderOK(unsafe.Pointer(&h[0])) {
			t.Fatalf("%x: right with a bit changed", h)
		}
	}
}

func TestPseudo(t *testing.T) {
	src, dst := [4]byte{1, 2, 3, 4}, [4]byte{255, 255, 255, 254}
	if got, want := PseudoIPv4(src, dst, 17, 65535).Sum16(), slowSum(cat(src[:], dst[:], []byte{0, 17}, word16(65535))); got != want {
		t.Errorf("IPv4: %#x, want %#x", got, want)
	}
	a, b := [16]byte(addr6), [16]byte(set(addr6, 0, 0xff, 2))
	if got, want := PseudoIPv6(&a, &b, 6, 0x12345).Sum16(), slowSum(cat(a[:], b[:], []byte{0, 1, 0x23, 0x45, 0, 0, 0, 6})); got != want {
		t.Errorf("IPv6: %#x, want %#x", got, want)
	}
}

func TestCRC(t *testing.T) {
	digits := []byte("123456789")
	if c := ^CRC32(digits, 0xffffffff); c != 0xcbf43926 || FCS(digits) != c {
		t.Errorf("CRC32 %#x", c)
	}
	if c := ^CRC32C(digits, 0xffffffff); c != 0xe3069283 {
		t.Errorf("CRC32C %#x", c)
	}
	if CRC32C(digits[4:], CRC32C(digits[:4], 7)) != CRC32C(digits, 7) || CRC32(digits[4:], CRC32(digits[:4], 7)) != CRC32(digits, 7) {
		t.Error("a CRC in two parts differs")
	}
	// a frame with its FCS behind it leaves the residue of IEEE 802.3, wherever it starts
	for odd := range 3 {
		f := cat(make([]byte, odd), digits)
		f = binary.LittleEndian.AppendUint32(f, FCS(f[odd:]))
		if r := CRC32(f[odd:], 0xffffffff); r != 0xdebb20e3 {
			t.Errorf("residue %#x", r)
		}
	}
	// check values of the catalogue of parametrised CRC algorithms
	for _, c := range []struct {
		name  string
		p     CRCParams
		init  uint64
		check uint64
	}{
		{"CRC-3/GSM", CRCParams{Width: 3, Poly: 3, XorOut: 7}, 0, 4},
		{"CRC-5/USB", CRCParams{5, 5, true, true, 0x1f}, 0x1f, 0x19},
		{"CRC-8/SMBUS", CRCParams{Width: 8, Poly: 7}, 0, 0xf4},
		{"CRC-16/ARC", CRCParams{16, 0x8005, true, true, 0}, 0, 0xbb3d},
		{"CRC-16/IBM-3740", CRCParams{Width: 16, Poly: 0x1021}, 0xffff, 0x29b1},
		{"CRC-24/OPENPGP", CRCParams{Width: 24, Poly: 0x864cfb}, 0xb704ce, 0x21cf02},
		{"CRC-32/ISO-HDLC", CRCParams{32, 0x04c11db7, true, true, 0xffffffff}, 0xffffffff, 0xcbf43926},
		{"CRC-32/BZIP2", CRCParams{32, 0x04c11db7, false, false, 0xffffffff}, 0xffffffff, 0xfc891918},
		{"CRC-32/ISCSI", CRCParams{32, 0x1edc6f41, true, true, 0xffffffff}, 0xffffffff, 0xe3069283},
		{"CRC-64/XZ", CRCParams{64, 0x42f0e1eba9ea3693, true, true, ^uint64(0)}, ^uint64(0), 0x995dc9bbdf1939fa},
		{"CRC-64/ECMA-182", CRCParams{Width: 64, Poly: 0x42f0e1eba9ea3693}, 0, 0x6c40df5f0b497347},
	} {
		g, err := NewCRC(c.p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := g.Sum(digits, c.init); got != c.check {
			t.Errorf("%s: %#x, want %#x", c.name, got, c.check)
		}
	}
	for _, p := range []CRCParams{{Width: 0}, {Width: 65}, {Width: 8, Poly: 256}, {Width: 8, XorOut: 256}} {
		if _, err := NewCRC(p); err == nil {
			t.Errorf("%+v was taken", p)
		}
	}
}

func BenchmarkChecksum(b *testing.B) {
	for _, n := range []int{20, 64, 1500} {
		buf := make([]byte, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				sink += uint32(Sum16(buf))
			}
		})
	}
}

func BenchmarkIPv4HeaderOK(b *testing.B) {
	h := ip4(17, addr4, nil, 0, nil)
	for b.Loop() {
		if !IPv4HeaderOK(unsafe.Pointer(&h[0])) {
			b.Fatal("wrong")
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	f := eth(uniMAC, 0x800, ip4(17, addr4, nil, 0, udp(pad)))
	r := fastParse(f, meta.LayerAll)
	p, n := unsafe.Pointer(&f[0]), uint32(len(f))
	InsertL4(p, n, r.flags, r.l3, r.l4)
	for b.Loop() {
		sink += uint32(Verify(p, n, r.flags, r.l3, r.l4))
	}
}
