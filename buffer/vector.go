// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/worker"
)

// Vector is an event of type TypeVector: a table of events that travels as one.
// The table belongs to who owns the vector.
type Vector struct{ Event }

// Vector views the event as a vector; the caller has checked Type.
func (e *Event) Vector() *Vector { return (*Vector)(unsafe.Pointer(e)) }

// AllocVector returns an empty vector, nil when the pool has none now. The user
// flag is off.
func (p *Pool) AllocVector(w *worker.Worker) *Vector {
	if p.typ != TypeVector {
		return nil
	}
	var ev [1]uintptr
	if p.get(w, ev[:]) == 0 {
		return nil
	}
	if checked {
		p.checkAlloc(w, ev[:])
	}
	v := (*Vector)(p.ptr(ev[0]))
	v.len, v.flags = 0, 0
	return v
}

// Cap returns the most events that the vector holds.
func (v *Vector) Cap() int {
	if p := v.PoolOf(); p != nil {
		return p.cfg.Size
	}
	return 0
}

// Len returns the number of events in it.
func (v *Vector) Len() int { return int(v.len) }

// SetLen sets the number of events; the first n of Table must be valid. It panics
// above Cap.
func (v *Vector) SetLen(n int) {
	if uint(n) > uint(v.Cap()) {
		panic("buffer: Vector.SetLen: more events than the vector holds")
	}
	v.len = uint32(n)
}

// Table views the whole table, Cap entries, of which the first Len are valid. It
// may be edited; SetLen follows.
func (v *Vector) Table() []*Event {
	return unsafe.Slice((**Event)(arena.At(uint64(v.buf)<<6)), v.Cap())
}

// Events views the valid entries.
func (v *Vector) Events() []*Event { return v.Table()[:v.len] }

// Append adds events and returns how many fitted.
func (v *Vector) Append(ev ...*Event) int {
	n := copy(v.Table()[v.len:], ev)
	v.len += uint32(n)
	return n
}

// Free frees the vector alone; the events in it are the caller's. FreeEvents
// frees them too.
func (v *Vector) Free(w *worker.Worker) {
	p := poolFor(&v.Event)
	if v.flags&flagValue != 0 {
		p.dropValue(&v.Event)
	}
	one := [1]uintptr{uintptr(unsafe.Pointer(v))}
	p.freeWords(w, one[:])
}
