// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/internal/relax"
)

// Type is the kind of an event.
type Type uint8

// The kinds of event.
const (
	TypeBuffer Type = 1 + iota
	TypePacket
	TypeVector
	TypeTimeout
)

// Event is the hot part of a header: one cache line in a dense array of its
// pool, all that receive, forward, send and free touch. An *Event (and the
// *Packet, *Buffer on the same line) is owned by one worker at a time. The header
// lives in the arena: it holds no Go pointer, and its id (ID) is what crosses cores.
//
//	 0 data    byte offset in the arena of the first data byte
//	 8 buf     start of the buffer, arena offset / 64
//	12 bufLen  bytes in the buffer
//	16 segLen  data bytes in this (the first) segment
//	20 len     data bytes in all segments
//	24 refs    references to this segment
//	28 flags   what the parser found (meta.Flags)
//	32 hash    flow hash
//	36 next    id of the next segment's header, 0 = last
//	40 input   index of the input port + 1, 0 = none
//	42 l2 44 l3 46 l4   layer offsets from data, 0xffff = not set
//	48 pool    index of the pool in the pool table
//	50 typ     Type
//	51 state   allocated, free, in kernel (checked under the invariants tag)
//	52 nsegs   number of segments (first segment only)
//	54 queue   index of the input queue
//	56 index   index of the header in its pool
//	60 ext     the platform's number of the buffer (netmap buffer index), 0 = none
type Event struct {
	data   uint64
	buf    uint32
	bufLen uint32
	segLen uint32
	len    uint32
	refs   relax.Uint32
	flags  uint32
	hash   uint32
	next   uint32
	input  uint16
	l2     uint16
	l3     uint16
	l4     uint16
	pool   uint16
	typ    Type
	state  uint8
	nsegs  uint16
	queue  uint16
	index  uint32
	ext    uint32
}

var _ [1]struct{} = [unsafe.Sizeof(Event{}) - 63]struct{}{}

// Packet is an event of type TypePacket: frame data with headroom and tailroom,
// possibly in several segments.
type Packet struct{ Event }

// Buffer is an event of type TypeBuffer: a fixed piece of memory.
type Buffer struct{ Event }

// ID returns the 32 bit name of the header, valid in this process: what rings carry.
func (e *Event) ID() uint32 { return arena.ID(unsafe.Pointer(e)) }

// FromID is the inverse of ID. The id must come from ID.
func FromID(id uint32) *Event { return (*Event)(arena.Ptr(id)) }

// Type returns the kind of the event.
func (e *Event) Type() Type { return e.typ }

// Packet views the event as a packet; the caller has checked Type.
func (e *Event) Packet() *Packet { return (*Packet)(unsafe.Pointer(e)) }

// Buffer views the event as a buffer; the caller has checked Type.
func (e *Event) Buffer() *Buffer { return (*Buffer)(unsafe.Pointer(e)) }

// PacketsOf views a burst of events as packets without a copy; all must be packets.
func PacketsOf(ev []*Event) []*Packet { return *(*[]*Packet)(unsafe.Pointer(&ev)) }

// BuffersOf views a burst of events as buffers without a copy; all must be buffers.
func BuffersOf(ev []*Event) []*Buffer { return *(*[]*Buffer)(unsafe.Pointer(&ev)) }

// EventsOf views a burst of packets as events without a copy.
func EventsOf(p []*Packet) []*Event { return *(*[]*Event)(unsafe.Pointer(&p)) }
