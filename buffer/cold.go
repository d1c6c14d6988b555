// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/internal/relax"
)

// coldPart is what forwarding does not touch of a header: it lies in an array
// parallel to that of the hot lines. For a packet it is valid only if flagCold is
// set in the hot part, which allocation clears; a getter answers the default
// otherwise. So allocation never touches this line.
//
//	 0 time     time stamp, ns
//	 8 user     the user's word
//	16 target   id of the segment that an indirect segment refers to
//	20 mark     classification mark
//	24 trace    number of the trace that the packet is part of, 0 = none
//	28 payload  payload offset
//	32 flow     flow id
//	36 color    1 byte, then drop eligible, shaper length adjust
//	40 site     invariants: where it was allocated (program counter)
//	48 freed    invariants: where it was freed
//	56 owner    invariants: id + 2 of the worker, 1 = control plane, 0 = in the pool;
//	            the high bit: a driver gave the buffer to the kernel; bit 30: it is in a queue
type coldPart struct {
	time    uint64
	user    uint64
	target  uint32
	mark    uint32
	trace   uint32
	payload uint32
	flow    uint32
	color   Color
	drop    bool
	shaper  int8
	_       uint8
	site    relax.Uint64 // written by the owner, read by the leak report
	freed   uint64
	owner   relax.Uint32 // written by the owner, read by the leak report
	_       uint32
}

const coldSize = 64

var _ [1]struct{} = [unsafe.Sizeof(coldPart{}) - coldSize + 1]struct{}{}

// Bits of Event.flags above those of meta.Flags.
const (
	flagCold  = 1 << 30 // the cold part holds something
	flagValue = 1 << 31 // the pool's side table holds a Go value
)

// cold returns the cold part of a header of this pool.
func (p *Pool) cold(e *Event) *coldPart {
	return (*coldPart)(arena.At(p.coldOff + uint64(e.index)<<6))
}

// coldForWrite returns the cold part, with defaults if nothing was in it.
func (e *Event) coldForWrite() *coldPart {
	c := poolFor(e).cold(e)
	if e.flags&flagCold == 0 {
		e.flags |= flagCold
		c.time, c.user, c.mark, c.trace, c.flow = 0, 0, 0, 0, 0
		c.payload = noPayload
		c.color, c.drop, c.shaper = 0, true, 0
	}
	return c
}

// coldForRead returns the cold part, nil if nothing is in it.
func (e *Event) coldForRead() *coldPart {
	if e.flags&flagCold == 0 {
		return nil
	}
	if p := e.PoolOf(); p != nil {
		return p.cold(e)
	}
	return nil
}

const noPayload = ^uint32(0)

// Color is the colour that a meter gave a packet.
type Color uint8

// The colours.
const (
	Green Color = iota
	Yellow
	Red
)
