// SPDX-License-Identifier: Apache-2.0

package header

import (
	"errors"
	"testing"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/worker"
)

// A frame that starts anywhere, in one segment or across many, is found as Parse
// finds it at the start of flat bytes.
func TestParsePacketAnywhere(t *testing.T) {
	set, err := worker.NewSet(1)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	udp := make(UDP, UDPLen+30)
	udp.Encode(1, 2)
	ip := make(IPv4, IPv4MinLen+len(udp))
	ip.Encode(&IPv4Fields{Protocol: ProtoUDP, Src: [4]byte{1, 2, 3, 4}, Dst: [4]byte{5, 6, 7, 8}})
	copy(ip[IPv4MinLen:], udp)
	UDP(ip[IPv4MinLen:]).UpdateChecksum(ip.Pseudo(len(udp)))
	eth := make(Ethernet, EthernetLen)
	eth.SetType(TypeIPv4)
	frame := append(eth, ip...)
	const want = meta.L2 | meta.L3 | meta.L4 | meta.IPv4 | meta.UDP
	for _, size := range []int{8, 2000} {
		p, err := buffer.NewPool(set, buffer.PoolConfig{Num: 64, Size: size, Headroom: -1, MaxLen: 2000, Cache: -1})
		if err != nil {
			t.Fatal(err)
		}
		for off := range 300 {
			k := p.AllocPacket(nil, off+len(frame))
			if err := k.CopyFromMem(off, frame); err != nil {
				t.Fatal(err)
			}
			if err := ParsePacket(k, off, ParseConfig{}); err != nil {
				t.Fatal(err)
			}
			if k.Flags() != want || int(k.L2Offset()) != off || int(k.L3Offset()) != off+14 || int(k.L4Offset()) != off+34 {
				t.Fatalf("size %d, offset %d: flags %#x, offsets %d, %d, %d", size, off, k.Flags(), k.L2Offset(), k.L3Offset(), k.L4Offset())
			}
			if err := ParsePacket(k, off+14, ParseConfig{Start: TypeIPv4, Depth: 3, Checksums: true}); err != nil {
				t.Fatal(err)
			}
			if k.Flags() != meta.L3|meta.IPv4|meta.L3Checked|meta.L3OK || k.L2Offset() != buffer.NoOffset {
				t.Fatalf("size %d, offset %d: flags %#x of the datagram, layer 2 at %d", size, off, k.Flags(), k.L2Offset())
			}
			buffer.FreePacket(nil, k)
		}
		k := p.AllocPacket(nil, 20)
		for _, c := range []struct {
			off int
			cfg ParseConfig
		}{{20, ParseConfig{}}, {-1, ParseConfig{}}, {0, ParseConfig{Start: 1}}, {0, ParseConfig{Depth: 1}}, {0, ParseConfig{Depth: 5}}} {
			if err := ParsePacket(k, c.off, c.cfg); !errors.Is(err, buffer.ErrRange) || k.Flags() != 0 {
				t.Errorf("%+v: error %v, flags %#x", c, err, k.Flags())
			}
		}
		if n, err := ParsePackets([]*buffer.Packet{k, k}, []int{0, 20}, ParseConfig{}); n != 1 || err == nil {
			t.Errorf("a burst: %d, %v", n, err)
		}
		buffer.FreePacket(nil, k)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A packet may be longer than an offset of 16 bits can say: what lies beyond is not set.
func TestParsePacketFarOffset(t *testing.T) {
	if shift(14, 65520) != 65534 || shift(14, 65521) != meta.NoOffset || shift(14, 1<<20) != meta.NoOffset || shift(meta.NoOffset, 0) != meta.NoOffset {
		t.Error("an offset wraps")
	}
}
