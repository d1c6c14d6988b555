// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"unsafe"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/odp"
)

// The kinds of pool, short.
const (
	buffers  = buffer.TypeBuffer
	packets  = buffer.TypePacket
	vectors  = buffer.TypeVector
	timeouts = buffer.TypeTimeout
)

// kind is a kind of event for the cases that are the same for all. ODP's packet
// vector and event vector are one kind here: the table holds events of any kind.
type kind struct {
	name string
	typ  buffer.Type
	size int // PoolConfig.Size
}

var (
	kindBuffer  = kind{"buffer", buffers, 128}
	kindPacket  = kind{"packet", packets, 400}
	kindVector  = kind{"vector", vectors, 32}
	kindTimeout = kind{"time-out", timeouts, 0}
	allKinds    = []kind{kindBuffer, kindPacket, kindVector, kindTimeout}
)

// config is a pool of this kind.
func (k kind) config(num int) odp.PoolConfig {
	return odp.PoolConfig{Type: k.typ, Num: num, Size: k.size}
}

// pool makes a pool through the calls under test.
func (e *Env) pool(cfg odp.PoolConfig) *odp.Pool {
	e.Helper()
	p, err := e.Ops.NewPool(e.Instance(), cfg)
	if err != nil {
		e.Fatalf("NewPool(%+v): %v", cfg, err)
	}
	return p
}

// closePool closes a pool through the calls under test.
func (e *Env) closePool(p *odp.Pool) {
	e.Helper()
	if err := e.Ops.Close(p); err != nil {
		e.Errorf("Close: %v", err)
	}
}

// alloc takes one event of the pool's kind, nil when there is none; packets
// have length bytes.
func (e *Env) alloc(p *odp.Pool, w *odp.Worker, length int) *odp.Event {
	var one [1]*odp.Event
	e.allocMulti(p, w, one[:], length)
	return one[0]
}

// allocMulti fills ev from the front; vectors come one by one.
func (e *Env) allocMulti(p *odp.Pool, w *odp.Worker, ev []*odp.Event, length int) int {
	switch p.Type() {
	case buffers:
		return e.Ops.AllocBuffers(p, w, buffer.BuffersOf(ev))
	case packets:
		return e.Ops.AllocPackets(p, w, odp.PacketsOf(ev), length)
	case timeouts:
		return e.Ops.AllocTimeouts(p, w, buffer.TimeoutsOf(ev))
	}
	for i := range ev {
		v := e.Ops.AllocVector(p, w)
		if v == nil {
			return i
		}
		ev[i] = &v.Event
	}
	return len(ev)
}

// allocAll takes events one by one until there is none, or one more than most.
func (e *Env) allocAll(p *odp.Pool, w *odp.Worker, length, most int) (ev []*odp.Event) {
	for len(ev) <= most {
		x := e.alloc(p, w, length)
		if x == nil {
			break
		}
		ev = append(ev, x)
	}
	return ev
}

// distinct is a failure when an event is there twice.
func (e *Env) distinct(ev []*odp.Event) {
	e.Helper()
	seen := make(map[*odp.Event]bool, len(ev))
	for i, x := range ev {
		if x == nil || seen[x] {
			e.Fatalf("event %d of %d is nil or was allocated twice", i, len(ev))
		}
		seen[x] = true
	}
}

func (e *Env) free(w *odp.Worker, ev ...*odp.Event) { e.Ops.FreeEvents(w, ev) }

// bytesOf views the memory of an event: data of a buffer or time-out, of the first
// segment of a packet, the table of a vector as bytes.
func bytesOf(x *odp.Event) []byte {
	switch x.Type() {
	case packets:
		return x.Packet().Data()
	case vectors:
		t := x.Vector().Table()
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(t))), len(t)*8)
	}
	return x.Buffer().Data()
}

// worker gives the case's goroutine the identity of a worker of its instance: with
// pool caches of its own.
func (e *Env) worker() *odp.Worker {
	e.Helper()
	return e.Control(e.Instance(), odp.KindWorker)
}
