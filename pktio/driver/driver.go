// SPDX-License-Identifier: Apache-2.0

// Package driver is the contract between pktio and the platforms. A driver is
// single-threaded by contract: it never sees locks, modes or handles. pktio
// calls each queue under the lock that covers exactly it.
package driver

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/worker"
)

// Driver opens devices of one kind. It is registered under a prefix ("netmap",
// "nmsim", "loop") by a blank import of its package.
type Driver interface {
	// Open opens the device named after the prefix ("netmap:eth0-2" gives
	// "eth0-2"). The error names the device, what was found, what is allowed
	// and the cure. A failed Open leaves nothing behind.
	Open(ctx context.Context, name string, cfg Config) (Device, error)
}

// Config is what a port asks of a device. Zero values mean the default.
type Config struct {
	Set *worker.Set
	// Pool is where received packets go. nil = the device's own pool (the pool
	// of its memory region, for zero copy), made with PoolPackets packets.
	Pool        *buffer.Pool
	PoolPackets int // packets of the device's own pool; 0 = the driver's default
	// RxQueues is how many receive queues are wanted; 0 = 1. All that the device
	// receives must come out of the queues that it then has, however many rings the
	// hardware has.
	RxQueues int
	TxQueues int  // wanted; 0 = 1
	RxSlots  int  // wanted ring size; 0 = device default
	TxSlots  int  //
	Strict   bool // an error instead of a reported fallback
	Promisc  bool
	TakeOver bool          // open an interface though others depend on it (default route, SSH, bridge)
	LinkWait time.Duration // how long Open waits for the link; 0 = the driver's default, < 0 = not
	// Options are the key=value pairs after '?' in the name.
	Options map[string]string
	// Log receives what a user should know (fallbacks, link changes); never nil.
	Log Logger
}

// Logger is the part of *slog.Logger that drivers use.
type Logger interface {
	Info(msg string, args ...any)
	Warn(msg string, args ...any)
}

// Device is an open device: its queues, and its control operations. Control
// operations may be called from any goroutine; they do not touch the queues.
type Device interface {
	Info() Info
	Capability() Capability
	Rx(i int) RxQueue // 0 <= i < Info().RxQueues
	Tx(i int) TxQueue // 0 <= i < Info().TxQueues
	Pool() *buffer.Pool

	MTU() int // largest frame without FCS, bytes
	SetMTU(frame int) error
	MAC() net.HardwareAddr
	Promisc() (bool, error)
	SetPromisc(on bool) error
	Link() Link
	Start() error // frames flow from here on
	Stop() error  // no frame is taken in any more
	// Drain sends what is queued, until ctx ends; it is called under all send locks.
	Drain(ctx context.Context) error
	// Close gives everything back, at once. No queue call runs and none follows
	// except on a late reader, which must get ErrClosed or nothing.
	Close() error
	// Counters of the device that pktio can't know: by name, monotonic.
	Counters() map[string]uint64
}

// AddressSetter is implemented by a Device whose own address can be set. The
// address is one of six bytes, not a group's, not zero.
type AddressSetter interface {
	SetMAC(a net.HardwareAddr) error
}

// RxQueue receives. One caller at a time.
type RxQueue interface {
	// Recv fills pkts from the front with frames, in order, each a packet that
	// the caller then owns: data, length and buffer are set. Flags, hash, offsets and
	// input are written by pktio; what else a packet can carry (a Value) is as after
	// an allocation. It never blocks. 0, nil = nothing now. err is ErrFaulted
	// or ErrClosed of package queue.
	Recv(w *worker.Worker, pkts []*buffer.Packet) (int, error)
	// Drops counts frames lost on this queue since open, by reason (a copy).
	Drops() map[string]uint64
}

// TxQueue sends. One caller at a time.
type TxQueue interface {
	// Send takes packets from the front and frees each when it is sent or
	// copied. It never blocks; what left is on its way when it returns (nothing
	// waits for a later call to be pushed out). A packet that can never be sent
	// (too long, wrong segments) is freed, counted in Drops, and counts as
	// accepted. n short = full now.
	Send(w *worker.Worker, pkts []*buffer.Packet) (int, error)
	Drops() map[string]uint64
}

// Waiter is implemented by an RxQueue on which an idle worker can sleep. The
// caller holds the receive lock from Arm to Disarm.
type Waiter interface {
	// Arm prepares for sleep. ready = frames may be there already: do not
	// sleep. fd is a descriptor to watch for reading, or -1. due is when the
	// queue must be looked at again without any wake (a paced source), 0 = never.
	// wake is called at most once, from any goroutine, when a frame arrives
	// at a queue that has no descriptor.
	Arm(wake func()) (fd int, due time.Duration, ready bool)
	Disarm()
}

// Info says what was got.
type Info struct {
	Name     string // with the prefix
	Driver   string
	RxQueues int
	TxQueues int
	RxSlots  int
	TxSlots  int
	MemID    int    // region of memory; packets move without copy inside one
	ZeroCopy bool   // receive and send exchange buffers
	Why      string // why not, when ZeroCopy is false
	SplitDir bool   // receive and send of one queue may run at the same time
	HWHash   bool   // the device spreads flows over its receive queues
	Notes    []string
}

// Capability says what the device can do.
type Capability struct {
	MaxRxQueues, MaxTxQueues int
	MinMTU, MaxMTU           int
	SetMTU, SetPromisc       bool
	SetMAC                   bool // the Device is an AddressSetter, and its address can be set
	MultiSegment             bool // sends packets of several segments as one frame
	Link                     bool // link state is known
	Blocking                 bool // full receiver holds the sender back (a pipe), instead of dropping
	VLANInFrame              bool // tags are in the frame as on the wire
	ParseLayers              []meta.Layer
}

// ErrPacketsOut is wrapped by Device.Close when packets of the device's own pool
// are still with somebody. The device is closed but the pool's memory stays; Close
// may be called again, later, to give it back.
var ErrPacketsOut = errors.New("packets are still out")
