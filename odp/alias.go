// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// The types that a program needs, so that a first program imports odp and one
// platform. Their methods are documented in the packages they come from.
type (
	// Worker is the identity of a worker or control thread, first argument of
	// every call of the dataplane. nil is the control plane.
	Worker = worker.Worker
	// Event is what queues carry: a packet, a buffer, a vector or a timeout.
	Event = buffer.Event
	// Packet is an event with frame data.
	Packet = buffer.Packet
	// Buffer is an event with a fixed piece of memory.
	Buffer = buffer.Buffer
	// Pool is a set of packets or buffers.
	Pool = buffer.Pool
	// PoolConfig describes a Pool.
	PoolConfig = buffer.PoolConfig
	// Source gives events, Dest takes them.
	Source = queue.Source
	// Dest takes events.
	Dest = queue.Dest
)

// Sentinels of every burst call.
var (
	ErrClosed  = queue.ErrClosed
	ErrStopped = queue.ErrStopped
	ErrFaulted = queue.ErrFaulted
)

// PacketsOf views a burst of events as packets without a copy; all must be packets.
func PacketsOf(ev []*Event) []*Packet { return buffer.PacketsOf(ev) }

// EventsOf views a burst of packets as events without a copy.
func EventsOf(p []*Packet) []*Event { return buffer.EventsOf(p) }

// FreePackets gives packets of any pools back.
func FreePackets(w *Worker, pkts []*Packet) { buffer.FreePackets(w, pkts) }
