// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"fmt"
	"unsafe"

	"github.com/odp-go/godp/internal/arena"
	"github.com/odp-go/godp/worker"
)

// FreePackets gives back packets of this pool, each with one segment that nobody
// else refers to and no Value: it reads no header. Use the package's FreePackets
// for all others.
func (p *Pool) FreePackets(w *worker.Worker, pkts []*Packet) { p.freeWords(w, words(pkts)) }

// FreeBuffers gives back buffers of this pool: it reads no header.
func (p *Pool) FreeBuffers(w *worker.Worker, bufs []*Buffer) { p.freeWords(w, words(bufs)) }

// FreePacket is FreePackets of one.
func (p *Pool) FreePacket(w *worker.Worker, k *Packet) {
	if checked {
		p.checkFree(w, []uintptr{uintptr(unsafe.Pointer(k))})
	}
	p.putOne(w, unsafe.Pointer(k))
}

// FreeBuffer is FreeBuffers of one.
func (p *Pool) FreeBuffer(w *worker.Worker, b *Buffer) {
	if checked {
		p.checkFree(w, []uintptr{uintptr(unsafe.Pointer(b))})
	}
	p.putOne(w, unsafe.Pointer(b))
}

func (p *Pool) freeWords(w *worker.Worker, ev []uintptr) {
	if checked {
		p.checkFree(w, ev)
	}
	p.put(w, ev)
}

// FreePackets gives packets of any pools back: all segments, and each segment only
// when nobody else refers to it. Runs of the same pool cost least.
func FreePackets(w *worker.Worker, pkts []*Packet) { FreeEvents(w, EventsOf(pkts)) }

// FreeBuffers gives buffers of any pools back.
func FreeBuffers(w *worker.Worker, bufs []*Buffer) {
	FreeEvents(w, *(*[]*Event)(unsafe.Pointer(&bufs)))
}

// FreePacket gives one packet back, with all its segments. See FreePackets.
func FreePacket(w *worker.Worker, k *Packet) {
	one := [1]*Event{&k.Event}
	FreeEvents(w, one[:])
}

// FreeEvent gives one event of any kind back. See FreeEvents.
func FreeEvent(w *worker.Worker, e *Event) {
	one := [1]*Event{e}
	FreeEvents(w, one[:])
}

// FreeEvents gives events of any kinds and pools back. A vector is freed with the
// events in it.
func FreeEvents(w *worker.Worker, ev []*Event) {
	for i := 0; i < len(ev); {
		p := poolFor(ev[i])
		n := p.plain(ev[i:])
		if n == 0 {
			freeChain(w, ev[i])
			n = 1
		} else {
			p.freeWords(w, words(ev[i:i+n]))
		}
		i += n
	}
}

// plain returns how many events at the front are of this pool and can go to it as
// they are: one segment, one reference, no value, no events in it. Most of that is
// in one word of the header.
func (p *Pool) plain(ev []*Event) int {
	mask := p.plainMask
	want, base, num := p.tmpl[6]&mask, p.store.base, p.store.num
	for i, e := range ev {
		if (*[8]uint64)(unsafe.Pointer(e))[6]&mask != want || e.refs.LoadAcq() != 1 || int32(e.flags) < 0 || uint64(uintptr(unsafe.Pointer(e))-base)>>6 >= num {
			return i
		}
	}
	return len(ev)
}

// poolFor resolves the pool of an event that is about to be freed.
func poolFor(e *Event) *Pool {
	p := e.PoolOf()
	if p == nil {
		panic(fmt.Sprintf("buffer: event at arena offset %#x is freed, but its pool is closed: close pools after the last event came back", arena.Off(unsafe.Pointer(e))))
	}
	return p
}

// freeChain frees one event of any kind.
func freeChain(w *worker.Worker, e *Event) {
	if e.typ == TypeVector {
		v := e.Vector()
		FreeEvents(w, v.Events())
		v.Free(w)
		return
	}
	for {
		next := e.next
		freeSeg(w, e)
		if next == 0 {
			return
		}
		e = FromID(next)
	}
}

// freeSeg drops one reference to a segment; the last one frees it.
func freeSeg(w *worker.Worker, e *Event) {
	p := poolFor(e)
	if e.flags&flagValue != 0 && e.refs.LoadAcq() == 1 {
		p.dropValue(e)
	}
	if e.refs.LoadAcq() != 1 && e.refs.Add(^uint32(0)) != 0 {
		return
	}
	if e.state == stateIndirect {
		target := FromID(p.cold(e).target)
		e.state = stateAlloc
		freeSeg(w, target)
	}
	one := [1]uintptr{uintptr(unsafe.Pointer(e))}
	p.freeWords(w, one[:])
}
