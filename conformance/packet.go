// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// What the packet suites share: the suite's pool, layouts, contents, defaults.

// The suite's pool: a plain packet fits into one segment, a long one needs many.
const (
	plainLen = 512
	longLen  = 5000
	areaLen  = 16
)

func (e *Env) packetPool() *odp.Pool {
	e.Helper()
	return e.pool(odp.PoolConfig{Name: "packets", Num: 300, Size: plainLen, MaxLen: 32 * 1024, UserArea: areaLen})
}

// newPacket takes a packet whose bytes count from 0.
func (e *Env) newPacket(p *odp.Pool, length int) *odp.Packet {
	e.Helper()
	x := e.alloc(p, nil, length)
	if x == nil {
		e.Fatalf("no packet of %d bytes", length)
	}
	k := x.Packet()
	write(k, 0, count(0, length))
	return k
}

// count returns n bytes that count from first; 251 is prime, so that no stride of
// a copy repeats them.
func count(first, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte((first + i) % 251)
	}
	return b
}

// write puts b into the packet, segment by segment.
func write(k *odp.Packet, off int, b []byte) {
	for len(b) > 0 {
		n := copy(k.Offset(off), b)
		off, b = off+n, b[n:]
	}
}

// content returns a copy of all bytes, read segment by segment.
func content(k *odp.Packet) []byte {
	b := make([]byte, 0, k.Len())
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		b = append(b, s.Data()...)
	}
	return b
}

// sane checks the layout of a packet: its segments add up, and none is empty.
func (e *Env) sane(k *odp.Packet) {
	e.Helper()
	n, sum := 0, 0
	for s := k.FirstSeg(); s != nil; s = s.Next() {
		if s.Len() == 0 || len(s.Data()) != s.Len() {
			e.Fatalf("segment %d has %d bytes, and %d bytes of data", n, s.Len(), len(s.Data()))
		}
		n++
		sum += s.Len()
	}
	if n != k.NumSegs() || sum != k.Len() || k.Segmented() != (n > 1) {
		e.Fatalf("%d segments with %d bytes; the packet says %d, %d, segmented %v", n, sum, k.NumSegs(), k.Len(), k.Segmented())
	}
}

// holds checks layout and contents.
func (e *Env) holds(k *odp.Packet, want []byte, format string, args ...any) {
	e.Helper()
	e.sane(k)
	got := content(k)
	if bytes.Equal(got, want) {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	e.Fatalf("%d bytes that differ at %d from the %d that there should be: "+format, append([]any{len(got), at, len(want)}, args...)...)
}

// defaults checks that all metadata is what allocation gives.
func (e *Env) defaults(k *odp.Packet) {
	e.Helper()
	e.Check(k.Flags() == 0, "flags %#x, want none", k.Flags())
	e.Check(!k.UserFlag(), "the user flag is set")
	e.Check(k.Type() == packets, "type %v", k.Type())
	port, queue := k.Input()
	e.Check(port == -1 && queue == 0, "input port %d, queue %d; want none", port, queue)
	e.Check(k.UserWord() == 0 && k.Value() == nil, "user word %d, value %v", k.UserWord(), k.Value())
	e.Check(k.L2Offset() == buffer.NoOffset && k.L3Offset() == buffer.NoOffset && k.L4Offset() == buffer.NoOffset, "layer offsets %d, %d, %d", k.L2Offset(), k.L3Offset(), k.L4Offset())
	e.Check(k.L2() == nil && k.L3() == nil && k.L4() == nil, "there are views of layers")
	e.Check(k.L3Type() == 0xffff, "layer 3 type %#x", k.L3Type())
	e.Check(k.L3Checksum() == buffer.ChecksumUnknown && k.L4Checksum() == buffer.ChecksumUnknown, "checksum states %d, %d", k.L3Checksum(), k.L4Checksum())
	_, hash := k.FlowHash()
	_, stamp := k.Time()
	e.Check(!hash && !stamp, "flow hash %v, time stamp %v", hash, stamp)
	e.Check(k.Mark() == 0 && k.Flow() == 0 && k.Trace() == 0, "mark %d, flow %d, trace %d", k.Mark(), k.Flow(), k.Trace())
	e.Check(k.PayloadOffset() == -1, "payload offset %d", k.PayloadOffset())
	e.Check(k.Color() == buffer.Green && k.DropEligible() && k.ShaperAdjust() == 0, "colour %d, drop eligible %v, shaper %d", k.Color(), k.DropEligible(), k.ShaperAdjust())
}

// metadata is everything that copies and edits must keep.
type metadata struct {
	flags           buffer.Flags
	port, queue     int
	word            uint64
	l2, l3, l4      uint16
	payload         int
	hash            uint32
	ns              uint64
	mark, flow      uint32
	color           buffer.Color
	drop            bool
	shaper          int
	area            string
	hasHash, hasNow bool
}

// mark sets all metadata to values that are no defaults. The packet has at
// least 4 bytes.
func mark(k *odp.Packet) {
	k.SetFlag(everyFlag&^(flagVLAN|flagIPv6|flagARP|flagTCP|flagSCTP|flagICMP), true)
	k.SetUserFlag(true)
	k.SetInput(3, 2)
	k.SetUserWord(0xdeadbeefcafe)
	k.SetL2Offset(1)
	k.SetL3Offset(2)
	k.SetL4Offset(3)
	k.SetPayloadOffset(3)
	k.SetFlowHash(77)
	k.SetTime(1e9)
	k.SetMark(5)
	k.SetFlow(6)
	k.SetColor(buffer.Red)
	k.SetDropEligible(false)
	k.SetShaperAdjust(-4)
	copy(k.UserArea(), "user area bytes!")
}

func metaOf(k *odp.Packet) (m metadata) {
	m.flags = k.Flags()
	m.port, m.queue = k.Input()
	m.word = k.UserWord()
	m.l2, m.l3, m.l4, m.payload = k.L2Offset(), k.L3Offset(), k.L4Offset(), k.PayloadOffset()
	m.hash, m.hasHash = k.FlowHash()
	m.ns, m.hasNow = k.Time()
	m.mark, m.flow, m.color, m.drop, m.shaper = k.Mark(), k.Flow(), k.Color(), k.DropEligible(), k.ShaperAdjust()
	m.area = string(k.UserArea())
	return m
}

// addr is the address of the first byte of b.
func addr(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// head is the address of the first byte of the buffer of the first segment.
func head(k *odp.Packet) uintptr { return uintptr(k.DataPtr()) - uintptr(k.Headroom()) }

// layout is what must not change when a call fails or touches metadata only.
type layout struct {
	data                     uintptr
	length, seg, segs        int
	headroom, tailroom, room int
}

func layoutOf(k *odp.Packet) layout {
	return layout{uintptr(k.DataPtr()), k.Len(), k.SegLen(), k.NumSegs(), k.Headroom(), k.Tailroom(), k.BufLen()}
}
