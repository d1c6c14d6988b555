// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"errors"
	"fmt"
	"time"
)

// Sync says how the events of a queue may be handed to workers.
type Sync uint8

// The kinds of synchronisation.
const (
	Parallel Sync = iota // any worker, any time, no order
	Atomic               // one worker at a time, first in first out
	Ordered              // many workers at once; what they enqueue leaves in the order of this queue
)

func (y Sync) String() string {
	switch y {
	case Parallel:
		return "parallel"
	case Atomic:
		return "atomic"
	case Ordered:
		return "ordered"
	}
	return fmt.Sprintf("Sync(%d)", uint8(y))
}

// Priorities is the number of priority levels, 0 the lowest to 7 the highest.
const Priorities = 8

const defaultLevel = 3

// Priority is a priority level. It is not a number, so that no caller can get
// the direction wrong; the zero value is the default, level 3.
type Priority struct{ v uint8 } // level + 1, 0 = default

// The named priorities; Level makes the others.
var (
	Lowest  = Level(0)
	Default = Level(defaultLevel)
	Highest = Level(Priorities - 1)
)

// Level returns the priority of a level, 0 (lowest) to 7 (highest). Another
// number is refused when a queue is made with it.
func Level(n int) Priority {
	if n < 0 || n > 254 {
		n = 254
	}
	return Priority{uint8(n + 1)}
}

// Level returns the level, 0 (lowest) to 7 (highest).
func (p Priority) Level() int {
	if p.v == 0 {
		return defaultLevel
	}
	return int(p.v) - 1
}

func (p Priority) String() string { return fmt.Sprintf("priority %d", p.Level()) }

// Idle says what a worker does in Schedule when there is nothing to do.
type Idle uint8

// The idle policies.
const (
	// Adaptive spins for Config.Spin, yields, then sleeps until it is woken: an
	// idle worker takes next to no CPU, the first event after it sleeps waits about 25 us.
	Adaptive Idle = iota
	// Busy polls for ever. It yields the CPU to other threads, but never sleeps.
	Busy
)

// Limits.
const (
	MaxGroups = 64      // groups, the three predefined ones included
	MaxQueues = 1 << 17 // largest Config.MaxQueues
	MaxLocks  = 8       // ordered locks of a queue
	maxSize   = 1 << 24 // largest QueueConfig.Size
)

// Config describes a scheduler. The zero value of a field is its default.
type Config struct {
	Idle      Idle
	MaxQueues int           // queues and pollers together (default 1024)
	Spin      time.Duration // Adaptive: how long an idle worker polls before it sleeps (default 50 us)
	// Stash is how many events a worker takes from a queue at once and hands out
	// over several calls when the caller asks for fewer (default 32, -1 = none).
	// Levels 2, 1 and 0 take 1/2, 1/4 and 1/8 of it.
	Stash int
	// Hold is how often a worker may go on with the atomic queue it holds before
	// the others of its priority have their turn (default 16, -1 = never).
	Hold int
	// MinShare is the percentage of scheduling decisions that the priorities below the
	// highest one in use get in turn, however busy the highest is. 0 = strict.
	MinShare int
	// Threshold limits the events that wait in all queues together: from there on
	// inputs are not polled and EnqueueNew accepts nothing, while a forwarding
	// Enqueue is never refused by it. 0 = no limit.
	Threshold int
}

// QueueConfig describes a queue. The zero value of a field is its default.
type QueueConfig struct {
	Name     string
	Sync     Sync
	Priority Priority
	Group    *Group // nil = all workers
	Locks    int    // Ordered: number of ordered locks, at most MaxLocks
	// Size is how many events the queue holds (default 4096). A parallel queue holds up to
	// as many more, at most 256, for each worker, of events that the worker got from it.
	Size int
	// IgnoreOrder: events enqueued from an ordered context do not wait for their turn.
	IgnoreOrder bool
	Context     any // what Queue.Context returns
}

// ErrConfig is wrapped by every error of a wrong configuration or a wrong call of
// the control plane.
var ErrConfig = errors.New("schedule")

func (c *Config) fill() error {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.MaxQueues, 1024)
	def(&c.Stash, stashMax)
	def(&c.Hold, 16)
	if c.Spin == 0 {
		c.Spin = 50 * time.Microsecond
	}
	switch {
	case c.Idle > Busy:
		return fmt.Errorf("%w: Idle %d: allowed Adaptive and Busy", ErrConfig, c.Idle)
	case c.MaxQueues < 1 || c.MaxQueues > MaxQueues:
		return fmt.Errorf("%w: MaxQueues %d: allowed 1 to %d", ErrConfig, c.MaxQueues, MaxQueues)
	case c.Stash > stashMax:
		return fmt.Errorf("%w: Stash %d: allowed -1 to %d", ErrConfig, c.Stash, stashMax)
	case c.MinShare < 0 || c.MinShare > 90:
		return fmt.Errorf("%w: MinShare %d: allowed 0 to 90 percent", ErrConfig, c.MinShare)
	case c.Threshold < 0:
		return fmt.Errorf("%w: Threshold %d: allowed 0 (none) and above", ErrConfig, c.Threshold)
	case c.Spin < 0:
		return fmt.Errorf("%w: Spin %v: allowed 0 (default) and above", ErrConfig, c.Spin)
	}
	return nil
}

func (c *QueueConfig) fill(s *Scheduler) error {
	if c.Group == nil {
		c.Group = s.All()
	}
	if c.Size == 0 {
		c.Size = 4096
	}
	switch {
	case c.Sync > Ordered:
		return fmt.Errorf("%w: queue %q: %v: allowed Parallel, Atomic, Ordered", ErrConfig, c.Name, c.Sync)
	case c.Priority.Level() >= Priorities:
		return fmt.Errorf("%w: queue %q: %v: allowed levels 0 to %d", ErrConfig, c.Name, c.Priority, Priorities-1)
	case c.Group.s != s:
		return fmt.Errorf("%w: queue %q: group %q belongs to another scheduler", ErrConfig, c.Name, c.Group.name)
	case c.Group.closed:
		return fmt.Errorf("%w: queue %q: group %q was closed", ErrConfig, c.Name, c.Group.name)
	case c.Size < 1 || c.Size > maxSize:
		return fmt.Errorf("%w: queue %q: Size %d: allowed 1 to %d", ErrConfig, c.Name, c.Size, maxSize)
	case c.Locks < 0 || c.Locks > MaxLocks:
		return fmt.Errorf("%w: queue %q: Locks %d: allowed 0 to %d", ErrConfig, c.Name, c.Locks, MaxLocks)
	case c.Locks > 0 && c.Sync != Ordered:
		return fmt.Errorf("%w: queue %q: %d ordered locks on a queue that is %v: only Ordered queues have them", ErrConfig, c.Name, c.Locks, c.Sync)
	}
	return nil
}
