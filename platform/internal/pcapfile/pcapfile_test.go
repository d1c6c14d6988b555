// SPDX-License-Identifier: Apache-2.0

package pcapfile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

func readAll(b []byte) (recs []Record, err error) {
	r, err := NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	for {
		p, err := r.Next()
		if err == io.EOF {
			return recs, nil
		}
		if err != nil {
			return recs, err
		}
		p.Data = bytes.Clone(p.Data)
		recs = append(recs, p)
	}
}

func payload(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + n)
	}
	return b
}

const t0 = 1_700_000_000_123_456_789

// classic makes a pcap file.
func classic(bo binary.AppendByteOrder, nano bool, link uint32, lens ...int) []byte {
	magic, unit := uint32(magicMicro), int64(1000)
	if nano {
		magic, unit = magicNano, 1
	}
	b := bo.AppendUint32(nil, magic)
	b = bo.AppendUint16(b, 2)
	b = bo.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = bo.AppendUint32(b, 0) // snaplen 0: must not matter
	b = bo.AppendUint32(b, link)
	for i, n := range lens {
		t := int64(t0) + int64(i)*1_500_000_000
		b = bo.AppendUint32(b, uint32(t/1e9))
		b = bo.AppendUint32(b, uint32(t%1e9/unit))
		b = bo.AppendUint32(b, uint32(n))
		b = bo.AppendUint32(b, uint32(n+i)) // cut short, but for the first
		b = append(b, payload(n)...)
	}
	return b
}

func block(bo binary.AppendByteOrder, kind uint32, body []byte) []byte {
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	b := bo.AppendUint32(nil, kind)
	b = bo.AppendUint32(b, uint32(len(body)+12))
	b = append(b, body...)
	return bo.AppendUint32(b, uint32(len(body)+12))
}

func section(bo binary.AppendByteOrder) []byte {
	b := bo.AppendUint32(nil, magicOrder)
	b = bo.AppendUint16(b, 1)
	b = bo.AppendUint16(b, 0)
	b = bo.AppendUint64(b, ^uint64(0))
	b = append(b, bo.AppendUint16(bo.AppendUint16(nil, 4), 3)...) // an option that nobody asks for
	return block(bo, blockSection, append(b, "app\x00\x00\x00\x00\x00"...))
}

func ifaceBlock(bo binary.AppendByteOrder, link uint16, resol int, offset int64) []byte {
	b := bo.AppendUint16(nil, link)
	b = bo.AppendUint16(b, 0)
	b = bo.AppendUint32(b, 65535)
	if resol >= 0 {
		b = bo.AppendUint16(bo.AppendUint16(b, optResol), 1)
		b = append(b, byte(resol), 0, 0, 0)
	}
	if offset != 0 {
		b = bo.AppendUint16(bo.AppendUint16(b, optOffset), 8)
		b = bo.AppendUint64(b, uint64(offset))
	}
	return block(bo, blockIface, bo.AppendUint32(b, 0))
}

func enhanced(bo binary.AppendByteOrder, id uint32, t uint64, orig int, data []byte) []byte {
	b := bo.AppendUint32(nil, id)
	b = bo.AppendUint32(b, uint32(t>>32))
	b = bo.AppendUint32(b, uint32(t))
	b = bo.AppendUint32(b, uint32(len(data)))
	b = bo.AppendUint32(b, uint32(orig))
	return block(bo, blockEnhanced, append(b, data...))
}

var orders = map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian}

// Both byte orders, both resolutions, with and without gzip: the same as gopacket reads.
func TestClassic(t *testing.T) {
	for name, bo := range orders {
		for _, nano := range []bool{false, true} {
			lens := []int{60, 1, 0, 1514, 65535, MaxLen}
			b := classic(bo, nano, Ethernet, lens...)
			recs, err := readAll(b)
			if err != nil || len(recs) != len(lens) {
				t.Fatalf("%s %v: %d packets, %v", name, nano, len(recs), err)
			}
			oracle, err := pcapgo.NewReader(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			oracle.SetSnaplen(MaxLen + 100)
			for i, r := range recs {
				data, ci, err := oracle.ReadPacketData()
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(r.Data, data) || r.Time != ci.Timestamp.UnixNano() || r.Orig != ci.Length || r.Link != Ethernet {
					t.Errorf("%s %v: packet %d: %d bytes of %d at %d, gopacket says %d of %d at %d", name, nano, i, len(r.Data), r.Orig, r.Time, len(data), ci.Length, ci.Timestamp.UnixNano())
				}
			}
			var z bytes.Buffer
			g := gzip.NewWriter(&z)
			g.Write(b)
			g.Close()
			if zr, err := readAll(z.Bytes()); err != nil || len(zr) != len(recs) {
				t.Errorf("within gzip: %d packets, %v", len(zr), err)
			}
			if _, err := readAll(z.Bytes()[:z.Len()/2]); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("gzip cut short: %v", err)
			}
		}
	}
}

// Times of pcapng in every resolution, sections that follow each other in both orders,
// blocks of all kinds.
func TestNG(t *testing.T) {
	for name, bo := range orders {
		for _, c := range []struct {
			resol  int
			offset int64
			ticks  uint64
			want   int64
		}{
			{-1, 0, t0 / 1000, t0 / 1000 * 1000}, {6, 0, t0 / 1000, t0 / 1000 * 1000}, {3, 0, t0 / 1_000_000, t0 / 1_000_000 * 1_000_000},
			{9, 0, t0, t0}, {9, 1000, 5, 1000e9 + 5}, {9, -3, 5, -3e9 + 5}, {0, 0, 77, 77e9}, {12, 0, 1_234_567_000, 1_234_567},
			{0x80, 0, 9, 9e9}, {0x80 | 10, 0, 1024*7 + 512, 7.5e9}, {0x80 | 32, 0, 1<<32 + 1<<31, 1.5e9}, {0x80 | 63, 0, 1 << 62, 5e8},
			{127, 0, 5, 0}, {255, 0, 5, 0},
		} {
			b := append(section(bo), ifaceBlock(bo, Ethernet, c.resol, c.offset)...)
			b = append(b, block(bo, 0x777, []byte("whatever"))...)
			b = append(b, enhanced(bo, 0, c.ticks, 100, payload(61))...)
			recs, err := readAll(b)
			if err != nil || len(recs) != 1 || recs[0].Time != c.want || !bytes.Equal(recs[0].Data, payload(61)) || recs[0].Orig != 100 {
				t.Errorf("%s: %+v: %+v %v", name, c, recs, err)
			}
		}
	}
	var b []byte
	for _, bo := range orders {
		b = append(b, section(bo)...)
		b = append(b, ifaceBlock(bo, 113, -1, 0)...)
		b = append(b, ifaceBlock(bo, Ethernet, -1, 0)...)
		b = append(b, enhanced(bo, 1, 5, 3, payload(3))...)
		b = append(b, block(bo, blockSimple, append(bo.AppendUint32(nil, 5), payload(5)...))...)
		old := bo.AppendUint16(bo.AppendUint16(nil, 1), 9)
		old = bo.AppendUint64(old, 0)
		old = bo.AppendUint32(bo.AppendUint32(old, 4), 44)
		b = append(b, block(bo, blockOld, append(old, payload(4)...))...)
	}
	recs, err := readAll(b)
	if err != nil || len(recs) != 6 {
		t.Fatal(len(recs), err)
	}
	for i, want := range []Record{{Data: payload(3), Orig: 3, Link: 1}, {Data: payload(5), Orig: 5, Link: 113}, {Data: payload(4), Orig: 44, Link: 1}} {
		for _, r := range []Record{recs[i], recs[i+3]} {
			if !bytes.Equal(r.Data, want.Data) || r.Orig != want.Orig || r.Link != want.Link {
				t.Errorf("packet %d: %+v", i, r)
			}
		}
	}
}

// What we write gopacket reads, and so do we.
func TestWriter(t *testing.T) {
	for _, ng := range []bool{false, true} {
		var b bytes.Buffer
		w, err := NewWriter(&b, ng)
		if err != nil {
			t.Fatal(err)
		}
		lens := []int{60, 61, 62, 63, 9000, 1}
		for i, n := range lens {
			p := payload(n)
			err := errors.Join(w.Begin(t0+int64(i), n), w.Data(p[:n/2]), w.Data(p[n/2:]), w.End())
			if err != nil {
				t.Fatal(err)
			}
		}
		if w.Len() != int64(b.Len()) {
			t.Errorf("Len %d of %d", w.Len(), b.Len())
		}
		recs, err := readAll(b.Bytes())
		if err != nil || len(recs) != len(lens) {
			t.Fatal(len(recs), err)
		}
		var src gopacket.PacketDataSource
		if ng {
			src, err = pcapgo.NewNgReader(bytes.NewReader(b.Bytes()), pcapgo.DefaultNgReaderOptions)
		} else {
			src, err = pcapgo.NewReader(bytes.NewReader(b.Bytes()))
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range lens {
			data, ci, err := src.ReadPacketData()
			if err != nil || !bytes.Equal(data, payload(n)) || ci.Timestamp.UnixNano() != t0+int64(i) || ci.Length != n {
				t.Errorf("ng %v: packet %d: gopacket reads %d bytes at %v: %v", ng, i, len(data), ci.Timestamp, err)
			}
			if r := recs[i]; !bytes.Equal(r.Data, payload(n)) || r.Time != t0+int64(i) || r.Orig != n || r.Link != Ethernet {
				t.Errorf("ng %v: packet %d: %+v", ng, i, r)
			}
		}
	}
}

// What gopacket writes we read.
func TestReadsGopacket(t *testing.T) {
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriter(&b, layers.LinkTypeEthernet)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		n := 60 + i
		ci := gopacket.CaptureInfo{Timestamp: time.Unix(0, t0+int64(i)), CaptureLength: n, Length: n + 10}
		if err := w.WritePacket(ci, payload(n)); err != nil {
			t.Fatal(err)
		}
	}
	w.Flush()
	recs, err := readAll(b.Bytes())
	if err != nil || len(recs) != 5 {
		t.Fatal(len(recs), err)
	}
	for i, r := range recs {
		if !bytes.Equal(r.Data, payload(60+i)) || r.Time != t0+int64(i) || r.Orig != 70+i {
			t.Errorf("packet %d: %+v", i, r)
		}
	}
}

// A file that is cut anywhere gives the whole packets before, and then says that it
// was cut; only between packets is it a clean end.
func TestCutAnywhere(t *testing.T) {
	bo := binary.LittleEndian
	ng := append(section(bo), ifaceBlock(bo, 1, 9, 0)...)
	ends := map[int]int{len(section(bo)): 0, len(ng): 0}
	for i := range 3 {
		ng = append(ng, enhanced(bo, 0, 1, 20+i, payload(20+i))...)
		ends[len(ng)] = i + 1
	}
	old := classic(bo, false, 1, 20, 21, 22)
	for _, c := range []struct {
		name string
		b    []byte
		ends map[int]int
	}{{"pcapng", ng, ends}, {"pcap", old, map[int]int{24: 0, 60: 1, 97: 2, 135: 3}}} {
		last := 0
		for n := 0; n <= len(c.b); n++ {
			recs, err := readAll(c.b[:n])
			if want, ok := c.ends[n]; ok {
				last = want
				if err != nil || len(recs) != want {
					t.Errorf("%s, %d bytes: %d packets, %v; want a clean end after %d", c.name, n, len(recs), err, want)
				}
			} else if !errors.Is(err, io.ErrUnexpectedEOF) || len(recs) != last {
				t.Errorf("%s, %d bytes: %d packets, %v; want %d and an unexpected end", c.name, n, len(recs), err, last)
			}
		}
	}
}

// Hostile lengths are refused before memory is taken.
func TestHostile(t *testing.T) {
	bo := binary.LittleEndian
	head := append(section(bo), ifaceBlock(bo, 1, 6, 0)...)
	huge := func(kind, n uint32) []byte {
		return append(bytes.Clone(head), bo.AppendUint32(bo.AppendUint32(nil, kind), n)...)
	}
	long := classic(bo, false, 1, 20)
	bo.PutUint32(long[32:], MaxLen+1)
	lie := append(bytes.Clone(head), enhanced(bo, 0, 0, 8, payload(8))...)
	bo.PutUint32(lie[len(head)+20:], 9)
	trailer := append(bytes.Clone(head), enhanced(bo, 0, 0, 8, payload(8))...)
	trailer[len(trailer)-4]++
	for name, b := range map[string][]byte{
		"empty": {}, "text": []byte("hello, world, this is no capture"), "version": append(bo.AppendUint32(nil, magicMicro), make([]byte, 20)...),
		"4 GiB block": huge(blockEnhanced, 0xfffffffc), "block of 8": huge(blockEnhanced, 8), "odd block": huge(9, 13), "long packet": long,
		"packet longer than its block": lie, "trailer": trailer, "no interface": append(section(bo), enhanced(bo, 0, 0, 4, payload(4))...),
		"interface 7": append(bytes.Clone(head), enhanced(bo, 7, 0, 4, payload(4))...), "short section": section(bo)[:20],
	} {
		allocs := testing.AllocsPerRun(1, func() {
			recs, err := readAll(b)
			var f *FormatError
			if !errors.As(err, &f) || len(recs) != 0 {
				t.Errorf("%s: %d packets, %v", name, len(recs), err)
			}
		})
		if allocs > 200 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}

// The frame check sequence is taken off.
func TestFCS(t *testing.T) {
	b := classic(binary.BigEndian, false, 1|1<<26|2<<28, 64)
	recs, err := readAll(b)
	if err != nil || len(recs) != 1 || len(recs[0].Data) != 60 || recs[0].Orig != 60 {
		t.Errorf("%+v %v", recs, err)
	}
}

func FuzzReader(f *testing.F) {
	for _, bo := range orders {
		f.Add(classic(bo, false, 1, 60, 3))
		f.Add(classic(bo, true, 1, 1))
		b := append(section(bo), ifaceBlock(bo, 1, 6, 1)...)
		f.Add(append(b, enhanced(bo, 0, t0, 9, payload(9))...))
		f.Add(append(b, block(bo, blockSimple, append(bo.AppendUint32(nil, 5), payload(5)...))...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		recs, err := readAll(b)
		total := 0
		for _, r := range recs {
			total += len(r.Data)
		}
		compressed := len(b) > 1 && b[0] == 0x1f && b[1] == 0x8b
		if total > len(b) && !compressed {
			t.Fatalf("%d bytes of packets out of %d", total, len(b))
		}
		if err != nil && fmt.Sprint(err) == "" {
			t.Fatal("an error without a text")
		}
	})
}
