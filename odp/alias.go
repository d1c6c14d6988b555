// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/schedule"
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
	// Source gives events: a plain queue, a port's input.
	Source = queue.Source
	// Dest takes events: a plain or scheduled queue, a port's output.
	Dest = queue.Dest
	// Queue is a plain queue.
	Queue = queue.Queue
	// QueueConfig describes a Queue.
	QueueConfig = queue.Config
	// SchedQueue is a scheduled queue.
	SchedQueue = schedule.Queue
	// SchedQueueConfig describes a SchedQueue.
	SchedQueueConfig = schedule.QueueConfig
	// Group is a set of workers that share scheduled queues.
	Group = schedule.Group
	// SchedulerConfig describes an instance's scheduler.
	SchedulerConfig = schedule.Config
	// Sync says how the events of a scheduled queue may be handed to workers.
	Sync = schedule.Sync
	// Priority is the priority of a scheduled queue.
	Priority = schedule.Priority
	// In is a receive queue of a port.
	In = pktio.In
	// Out is a send queue of a port.
	Out = pktio.Out
	// LockLevel says what keeps the users of a port apart.
	LockLevel = pktio.LockLevel
)

// The kinds of scheduled queue.
const (
	Parallel = schedule.Parallel
	Atomic   = schedule.Atomic
	Ordered  = schedule.Ordered
)

// The idle policies of the scheduler.
const (
	IdleAdaptive = schedule.Adaptive
	IdleBusy     = schedule.Busy
)

// The lock levels of a port.
const (
	LockDefault = pktio.LockDefault
	LockPktio   = pktio.LockPktio
	LockDevice  = pktio.LockDevice
	LockQueue   = pktio.LockQueue
	LockNone    = pktio.LockNone
)

// PriorityLevel returns the priority of a level, 0 (lowest) to 7 (highest); the
// zero Priority is level 3.
func PriorityLevel(n int) Priority { return schedule.Level(n) }

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
