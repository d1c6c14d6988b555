// SPDX-License-Identifier: Apache-2.0

package header

import (
	"fmt"
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
)

// ParseConfig says what ParsePacket looks at.
type ParseConfig struct {
	// Start is the EtherType of what is at the offset: TypeIPv4, TypeIPv6 or TypeARP;
	// 0 = an Ethernet header.
	Start uint16
	// Depth is the last layer that is looked at, 2 to 4; 0 = 4.
	Depth int
	// Checksums asks for the checksums of layers 3 and 4 to be checked too (Verify).
	// That of layer 4 is checked only if the frame lies in one segment.
	Checksums bool
}

// MaxHeaders is how many bytes ParsePacket looks at when they lie in several
// segments: Ethernet with two tags, IPv4 with all options or IPv6 with some extension
// headers, TCP with all options.
const MaxHeaders = 256

// ParsePacket finds the headers that start at byte off of a packet and records
// them in it (ODP's odp_packet_parse): its flags and layer offsets are then what
// Parse finds, offsets counted from the start of the packet's data. Headers may lie
// across segments. The owner only. The error, buffer.ErrRange, says that off is not
// in the packet, or that Start or Depth is none of the above; then nothing changes.
// A malformed frame is no error: HasError tells.
func ParsePacket(k *buffer.Packet, off int, cfg ParseConfig) error {
	if cfg.Start != 0 && cfg.Start != TypeIPv4 && cfg.Start != TypeIPv6 && cfg.Start != TypeARP || cfg.Depth != 0 && (cfg.Depth < 2 || cfg.Depth > 4) {
		return fmt.Errorf("header: ParsePacket: Start %#x, Depth %d: allowed are 0, TypeIPv4, TypeIPv6, TypeARP, and 0, 2, 3, 4: %w", cfg.Start, cfg.Depth, buffer.ErrRange)
	}
	b := k.Offset(off)
	if b == nil {
		return fmt.Errorf("header: ParsePacket: offset %d in a packet of %d bytes: %w", off, k.Len(), buffer.ErrRange)
	}
	total := k.Len() - off
	var flat [MaxHeaders]byte
	whole := len(b) == total
	if !whole && len(b) < MaxHeaders {
		b = flat[:min(MaxHeaders, total)]
		if err := k.CopyToMem(off, b); err != nil {
			return err
		}
	}
	layer := meta.LayerAll
	switch cfg.Depth {
	case 2:
		layer = meta.LayerL2
	case 3:
		layer = meta.LayerL3
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	var flags meta.Flags
	var l3, l4 uint16
	l2 := buffer.NoOffset
	if cfg.Start == 0 {
		flags, l3, l4 = ParseSegment(p, uint32(len(b)), uint32(total), layer)
		l2 = off
	} else {
		flags, l3, l4 = ParseL3(p, uint32(len(b)), uint32(total), cfg.Start, layer)
	}
	if cfg.Checksums && flags&meta.Err == 0 {
		if whole {
			flags = Verify(p, uint32(len(b)), flags, l3, l4)
		} else if flags&meta.L3 != 0 {
			// without layer 4 nothing of what is not here is looked at
			flags = flags&meta.L4 | Verify(p, uint32(len(b)), flags&^meta.L4, l3, l4)
		}
	}
	k.SetParse(flags, shift(l3, off), shift(l4, off))
	k.SetL2Offset(l2)
	return nil
}

// ParsePackets is ParsePacket for a burst, with an offset for each packet. It
// returns how many were parsed: all, unless the error says what the next one lacks.
func ParsePackets(pkts []*buffer.Packet, off []int, cfg ParseConfig) (int, error) {
	for i, k := range pkts {
		if err := ParsePacket(k, off[i], cfg); err != nil {
			return i, err
		}
	}
	return len(pkts), nil
}

// shift adds off to a layer offset; what can't be expressed is not set.
func shift(at uint16, off int) uint16 {
	if at == meta.NoOffset || int(at)+off >= meta.NoOffset {
		return meta.NoOffset
	}
	return at + uint16(off)
}
