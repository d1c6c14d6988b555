// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// String names the kind of event.
func (t Type) String() string {
	switch t {
	case TypeBuffer:
		return "buffer"
	case TypePacket:
		return "packet"
	case TypeVector:
		return "vector"
	case TypeTimeout:
		return "time-out"
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// Index returns the number of the header in its pool.
func (e *Event) Index() int { return int(e.index) }

// String says in one line what the pool is and how it stands.
func (p *Pool) String() string {
	i := p.Info()
	s := fmt.Sprintf("pool %q: %d events of type %v, %d bytes, cache %d, %s memory, %d out", p.cfg.Name, p.num, p.typ, p.stride, i.CacheSize, i.Backing, p.Out())
	for _, n := range i.Notes {
		s += "; " + n
	}
	return s
}

// Dump describes the packet in several lines, with up to max bytes of its data.
// For debugging.
func (k *Packet) Dump(max int) string {
	var b strings.Builder
	name := "a closed pool"
	if p := k.PoolOf(); p != nil {
		name = fmt.Sprintf("pool %q", p.cfg.Name)
	}
	port, queue := k.Input()
	fmt.Fprintf(&b, "packet %d of %s: %d bytes in %d segments, headroom %d, tailroom %d, input %d queue %d\n", k.index, name, k.len, k.nsegs, k.Headroom(), k.Tailroom(), port, queue)
	fmt.Fprintf(&b, "flags %#x, l2 %d, l3 %d, l4 %d, user word %#x, shared %v, referring %v\n", uint32(k.Flags()), k.l2, k.l3, k.l4, k.UserWord(), k.HasRef(), k.IsReferencing())
	for s := k.FirstSeg(); s != nil && max > 0; s = s.Next() {
		d := s.Data()[:min(s.Len(), max)]
		max -= len(d)
		b.WriteString(hex.Dump(d))
	}
	return b.String()
}

// Capability is what a pool can be asked for.
type Capability struct {
	MaxPools, MaxNum, MaxSize, MaxLen, MaxHeadroom, MaxAlign, MaxUserArea, MaxCache, MaxSegs, MaxName int
}

// Capabilities returns the limits of PoolConfig. What memory allows may be less.
func Capabilities() Capability {
	return Capability{MaxPools: MaxPools, MaxNum: maxNum, MaxSize: maxSize, MaxLen: maxSize, MaxHeadroom: maxSize, MaxAlign: MaxAlign, MaxUserArea: MaxUserArea, MaxCache: MaxCache, MaxSegs: maxSegs, MaxName: MaxName}
}
