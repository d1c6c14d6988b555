// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/meta"
	"github.com/odp-go/godp/worker"
)

// LockLevel says what keeps the users of a device apart.
type LockLevel uint8

// The lock levels, cheapest last.
const (
	// LockDefault is LockQueue; OpenAll takes LockNone where every worker gets
	// rings of its own.
	LockDefault LockLevel = iota
	// LockPktio is one first-come-first-served ticket lock per handle around
	// receive and send, and inside it the device's locks when the device is
	// Shared: the way of ODP's netmap series of 2015. A descheduled holder delays
	// everybody in the line.
	LockPktio
	// LockDevice is one receive lock and one send lock per device.
	LockDevice
	// LockQueue is one lock per ring.
	LockQueue
	// LockNone has no lock: each ring has one user, and a second one is refused.
	LockNone
)

var lockNames = [...]string{"default", "pktio", "device", "queue", "none"}

// String returns the word that the option lock= takes.
func (l LockLevel) String() string {
	if int(l) < len(lockNames) {
		return lockNames[l]
	}
	return fmt.Sprintf("LockLevel(%d)", uint8(l))
}

// ParseLockLevel reads pktio, device, queue, none or default.
func ParseLockLevel(s string) (LockLevel, error) { return word[LockLevel](s, lockNames[:]) }

// Hash says which flow hash a received packet gets.
type Hash uint8

// The hashes. Fragments, and frames that are not IP, hash by addresses or to 0.
const (
	// HashNone computes no hash on input.
	HashNone Hash = iota
	// HashToeplitz is the hash of receive side scaling over addresses and ports.
	HashToeplitz
	// HashSymmetric gives both directions of a connection the same value.
	HashSymmetric
)

var hashNames = [...]string{"none", "toeplitz", "symmetric"}

// String returns the word that the option hash= takes.
func (h Hash) String() string {
	if int(h) < len(hashNames) {
		return hashNames[h]
	}
	return fmt.Sprintf("Hash(%d)", uint8(h))
}

// ParseHash reads none, toeplitz or symmetric.
func ParseHash(s string) (Hash, error) { return word[Hash](s, hashNames[:]) }

// Parse says how deep received frames are parsed.
type Parse uint8

// Parse depths; a deeper one contains the others.
const (
	ParseDefault Parse = iota // ParseAll
	ParseNone                 // flags and offsets stay empty
	ParseL2
	ParseL3
	ParseL4
	ParseAll = ParseL4
)

var parseNames = [...]string{"default", "none", "l2", "l3", "l4"}

// String returns the word that the option parse= takes.
func (p Parse) String() string {
	if int(p) < len(parseNames) {
		return parseNames[p]
	}
	return fmt.Sprintf("Parse(%d)", uint8(p))
}

// ParseDepth reads none, l2, l3, l4, all or default.
func ParseDepth(s string) (Parse, error) {
	if s == "all" {
		return ParseAll, nil
	}
	return word[Parse](s, parseNames[:])
}

func (p Parse) layer() meta.Layer {
	if p == ParseDefault {
		return meta.LayerAll
	}
	return meta.Layer(p - ParseNone)
}

func word[T ~uint8](s string, names []string) (T, error) {
	for i, n := range names {
		if s == n {
			return T(i), nil
		}
	}
	return 0, fmt.Errorf("%q: allowed are %v", s, names)
}

// Config says how a device is opened. The zero value of a field is its default.
// The options of the name (see Open) fill in what is zero here; a value given
// in both places must be the same.
type Config struct {
	// Pool is where received packets are allocated. nil is the device's own pool:
	// that of its memory region, which is what zero copy needs.
	Pool *buffer.Pool
	// PoolPackets is the size of the device's own pool; 0 is the driver's default.
	PoolPackets int

	RxQueues, TxQueues int  // rings wanted; 0 = 1. Info says how many there are
	NoInput, NoOutput  bool // the port has no receive queues, or no send queues, for the program
	RxSlots, TxSlots   int  // ring sizes wanted; 0 = the device's
	LockLevel          LockLevel
	Parse              Parse
	Hash               Hash
	Timestamps         bool // received packets carry the time of their burst
	MaxLen             int  // largest frame without FCS, bytes; 0 = as the device is set
	Promisc            bool
	// TakeOver opens an interface though it carries the default route, the SSH
	// connection of this session, or is a member of a bridge or bond. Without it the
	// platforms for real interfaces refuse those.
	TakeOver bool
	Strict   bool          // what can't be granted is an error and not a note in Info
	LinkWait time.Duration // how long Open waits for the link; 0 = the driver's default, < 0 = not
	// Shared lets several handles open one device. All of them must say so, with
	// the same lock level; they share its rings and locks.
	Shared bool
	// LockStats measures the time waiting for locks and holding them (two clock
	// reads a burst).
	LockStats bool
	// StageSlots is the size of each send ring's staging ring: packets that a
	// sender left because another was sending. 0 = 1024; a power of two, at least 64.
	StageSlots int
	// SpreadSlots is the size of each worker's ring where OpenAll spreads the flows
	// of a ring over several workers. 0 = 1024; a power of two, at least 64.
	SpreadSlots int
	// SpreadBlock stops receiving when a worker's ring is full, instead of
	// dropping (and counting) that worker's packets: then one slow worker holds
	// up the others of its ring.
	SpreadBlock bool
	// Log receives what the user should know; nil = slog.Default.
	Log *slog.Logger
}

const (
	maxQueues  = 64
	maxSlots   = 1 << 16
	maxPackets = 1 << 24
	maxFrame   = 65535
)

func (c *Config) check(name string) error {
	ranges := []struct {
		field  string
		v, max int
		pow2   bool
	}{
		{"PoolPackets (option packets)", c.PoolPackets, maxPackets, false},
		{"RxQueues (option rx)", c.RxQueues, maxQueues, false},
		{"TxQueues (option tx)", c.TxQueues, maxQueues, false},
		{"RxSlots (option rxslots)", c.RxSlots, maxSlots, false},
		{"TxSlots (option txslots)", c.TxSlots, maxSlots, false},
		{"MaxLen (option maxlen)", c.MaxLen, maxFrame, false},
		{"StageSlots", c.StageSlots, maxSlots, true},
		{"SpreadSlots", c.SpreadSlots, maxSlots, true},
	}
	for _, r := range ranges {
		if r.v < 0 || r.v > r.max {
			return fmt.Errorf("device %q: Config.%s is %d: allowed are 0 (default) to %d", name, r.field, r.v, r.max)
		}
		if r.pow2 && r.v != 0 && (r.v&(r.v-1) != 0 || r.v < maxBurst) {
			return fmt.Errorf("device %q: Config.%s is %d: allowed are powers of two from %d to %d", name, r.field, r.v, maxBurst, r.max)
		}
	}
	if int(c.LockLevel) >= len(lockNames) {
		return fmt.Errorf("device %q: Config.LockLevel is %d: allowed are %v", name, c.LockLevel, lockNames)
	}
	if int(c.Parse) >= len(parseNames) {
		return fmt.Errorf("device %q: Config.Parse is %d: allowed are %v", name, c.Parse, parseNames)
	}
	if int(c.Hash) >= len(hashNames) {
		return fmt.Errorf("device %q: Config.Hash is %d: allowed are %v", name, c.Hash, hashNames)
	}
	if c.NoInput && c.NoOutput {
		return fmt.Errorf("device %q: NoInput and NoOutput: nothing is left of the port; set one of them at most", name)
	}
	if c.Shared && c.LockLevel == LockNone {
		return fmt.Errorf("device %q: Shared with lock level none: several handles would use one ring without a lock; use lock level queue, device or pktio", name)
	}
	return nil
}

// checkPool says what is wrong with the pool that a port is to receive into: its
// caches are found by the ids of its own set's workers.
func checkPool(name string, set *worker.Set, p *buffer.Pool) error {
	bad := func(what, cure string) error {
		return fmt.Errorf("device %q: open: pool %q %s: %s", name, p.Name(), what, cure)
	}
	switch {
	case p == nil:
		return nil
	case p.Closed():
		return bad("is closed", "make a pool that lives as long as the port")
	case p.Type() != buffer.TypePacket:
		return bad(fmt.Sprintf("holds events of type %v", p.Type()), "allowed are packet pools")
	case p.Set() != set:
		return bad("belongs to the workers of another instance", "make one with this instance's NewPool, or give none and the device brings its own")
	}
	return nil
}
