// SPDX-License-Identifier: Apache-2.0

package buffer

import "github.com/odp-go/godp/internal/meta"

// What lies in the cold part: one more cache line when it is used, none when not.

// UserWord returns the user's word. Allocation sets it to 0, but for a buffer, which
// keeps what its last owner left (see AllocBuffers).
func (e *Event) UserWord() uint64 {
	if c := e.coldForRead(); c != nil {
		return c.user
	}
	return 0
}

// SetUserWord sets the user's word: an index, an id, a number. A Go pointer
// does not belong here (the collector does not look into packet memory): see SetValue.
func (e *Event) SetUserWord(v uint64) { e.coldForWrite().user = v }

// Flow returns the flow id of the event, 0 by default; that of a buffer is as its
// last owner left it.
func (e *Event) Flow() uint32 {
	if c := e.coldForRead(); c != nil {
		return c.flow
	}
	return 0
}

// SetFlow sets the flow id.
func (e *Event) SetFlow(v uint32) { e.coldForWrite().flow = v }

// Time returns the time stamp in nanoseconds, and whether there is one.
func (k *Packet) Time() (ns uint64, ok bool) {
	if Flags(k.flags)&meta.HasTime == 0 {
		return 0, false
	}
	if c := k.coldForRead(); c != nil {
		return c.time, true
	}
	return 0, false
}

// SetTime sets the time stamp, in nanoseconds of the clock of who sets it.
func (k *Packet) SetTime(ns uint64) {
	k.coldForWrite().time = ns
	k.flags |= uint32(meta.HasTime)
}

// ClearTime unsets the time stamp.
func (k *Packet) ClearTime() { k.flags &^= uint32(meta.HasTime) }

// Mark returns the mark that a classifier's rule gave the packet, 0 by default.
func (k *Packet) Mark() uint32 {
	if c := k.coldForRead(); c != nil {
		return c.mark
	}
	return 0
}

// SetMark sets the mark.
func (k *Packet) SetMark(v uint32) { k.coldForWrite().mark = v }

// Trace returns the number of the trace that follows this packet, 0 = none.
func (k *Packet) Trace() uint32 {
	if c := k.coldForRead(); c != nil {
		return c.trace
	}
	return 0
}

// SetTrace sets the number of the trace.
func (k *Packet) SetTrace(v uint32) { k.coldForWrite().trace = v }

// PayloadOffset returns where the payload starts, in bytes from the data; -1 when it
// is not set.
func (k *Packet) PayloadOffset() int {
	if c := k.coldForRead(); c != nil && c.payload != noPayload {
		return int(c.payload)
	}
	return -1
}

// SetPayloadOffset sets where the payload starts; -1 unsets it. An offset that is
// not below Len is refused (false).
func (k *Packet) SetPayloadOffset(off int) bool {
	if off < -1 || off >= int(k.len) {
		return false
	}
	k.coldForWrite().payload = uint32(off)
	return true
}

// Color returns the colour that a meter gave the packet, Green by default.
func (k *Packet) Color() Color {
	if c := k.coldForRead(); c != nil {
		return c.color
	}
	return Green
}

// SetColor sets the colour.
func (k *Packet) SetColor(v Color) { k.coldForWrite().color = v }

// DropEligible reports whether a traffic manager may drop the packet under
// pressure; true by default.
func (k *Packet) DropEligible() bool {
	if c := k.coldForRead(); c != nil {
		return c.drop
	}
	return true
}

// SetDropEligible sets whether the packet may be dropped.
func (k *Packet) SetDropEligible(on bool) { k.coldForWrite().drop = on }

// ShaperAdjust returns the bytes that a shaper adds to the length, 0 by default.
func (k *Packet) ShaperAdjust() int {
	if c := k.coldForRead(); c != nil {
		return int(c.shaper)
	}
	return 0
}

// SetShaperAdjust sets the bytes that a shaper adds to the length, -128 to 127.
func (k *Packet) SetShaperAdjust(v int8) { k.coldForWrite().shaper = v }
