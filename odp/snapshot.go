// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"errors"
	"fmt"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/schedule"
)

// SnapshotVersion is the Version of the Snapshots that this package makes. It
// grows when a field changes its meaning or goes; new fields don't change it.
const SnapshotVersion = 1

// Snapshot is all that an instance counts, at one time. Counters only grow;
// counters of queues in use are a moment apart. Every viewer reads this structure.
type Snapshot struct {
	Version  int           `json:"version"`
	Instance string        `json:"instance"`
	Time     time.Time     `json:"time"`
	Uptime   time.Duration `json:"uptime_ns"`
	State    string        `json:"state"` // open, closing, closed
	Notes    []string      `json:"notes,omitempty"`

	Workers       []WorkerSnapshot `json:"workers"`
	Panics        uint64           `json:"panics"`
	Restarts      uint64           `json:"restarts"`
	LeakedAtEnd   uint64           `json:"leaked_at_end"`   // events that did not come back to their pools
	LeakedByPanic uint64           `json:"leaked_by_panic"` // of these: after a panic
	FreedAtEnd    uint64           `json:"freed_at_end"`    // events that were left in queues
	LastError     string           `json:"last_error,omitempty"`

	Scheduler schedule.Stats  `json:"scheduler"`
	Queues    []QueueSnapshot `json:"queues"`
	Ports     []PortSnapshot  `json:"ports"`
	Pools     []PoolSnapshot  `json:"pools"`
	Balance   Balance         `json:"balance"`
	Leaks     string          `json:"leaks,omitempty"` // what Shutdown or Close reported
}

// WorkerSnapshot is one worker or control thread.
type WorkerSnapshot struct {
	ID   int    `json:"id"`
	Kind string `json:"kind"` // worker, control
	CPU  int    `json:"cpu"`  // -1 = not pinned
}

// QueueSnapshot is one plain or scheduled queue.
type QueueSnapshot struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"` // plain, parallel, atomic, ordered
	Priority int    `json:"priority"`
	Group    string `json:"group,omitempty"`
	Len      int    `json:"len"`
	Size     int    `json:"size"`
	Error    string `json:"error,omitempty"` // why its input is not polled any more
}

// PortSnapshot is one port.
type PortSnapshot struct {
	Name       string            `json:"name"`
	Driver     string            `json:"driver"`
	Mode       string            `json:"mode"`
	Lock       string            `json:"lock"`
	ZeroCopy   bool              `json:"zero_copy"`
	Why        string            `json:"why,omitempty"` // why not zero copy
	LinkUp     bool              `json:"link_up"`
	RxPackets  uint64            `json:"rx_packets"`
	RxBytes    uint64            `json:"rx_bytes"`
	TxPackets  uint64            `json:"tx_packets"` // accepted for sending
	TxBytes    uint64            `json:"tx_bytes"`
	Polls      uint64            `json:"polls"`
	EmptyPolls uint64            `json:"empty_polls"`
	MeanBurst  float64           `json:"mean_burst"`
	LockWait   time.Duration     `json:"lock_wait_ns"`
	LockHeld   time.Duration     `json:"lock_held_ns"`
	Drops      map[string]uint64 `json:"drops,omitempty"` // by reason, rx_… and tx_…
	Device     map[string]uint64 `json:"device,omitempty"`
	Notes      []string          `json:"notes,omitempty"`
}

// PoolSnapshot is one pool.
type PoolSnapshot struct {
	Name  string           `json:"name"`
	Num   int              `json:"num"`
	Out   int              `json:"out"` // allocated now
	Cache int              `json:"cache"`
	Stats buffer.PoolStats `json:"stats"`
}

// Balance sums the ports and pools. What was received was sent, or dropped by a
// named reason, or consumed by the application (freed, or kept: then it is in Out).
type Balance struct {
	Received  uint64 `json:"received"`  // by the ports, without drops
	Sent      uint64 `json:"sent"`      // accepted by the ports, without drops and what waits
	Waiting   uint64 `json:"waiting"`   // accepted, and held back by a full device
	RxDrops   uint64 `json:"rx_drops"`  // never reached the application
	TxDrops   uint64 `json:"tx_drops"`  // accepted, and not sent
	Lost      uint64 `json:"lost"`      // received, and lost before a worker got it: full queue of a spread input
	Remainder int64  `json:"remainder"` // Received - Sent - Waiting - TxDrops - Lost: consumed (+) or made (-) by the application
	Out       int    `json:"out"`       // events allocated now, of all pools
	Queued    int    `json:"queued"`    // events in queues now
}

// Check returns an error unless the balance is one of a forwarder at rest, which
// sends all that it receives: nothing allocated, queued, waiting or unaccounted for.
func (b Balance) Check() error {
	var errs []error
	if b.Remainder != 0 {
		errs = append(errs, fmt.Errorf("received %d, sent %d, waiting %d, dropped %d on send, lost %d: %d packets are not accounted for",
			b.Received, b.Sent, b.Waiting, b.TxDrops, b.Lost, b.Remainder))
	}
	if b.Out != 0 || b.Queued != 0 || b.Waiting != 0 {
		errs = append(errs, fmt.Errorf("not at rest: %d events allocated, %d in queues, %d waiting to be sent", b.Out, b.Queued, b.Waiting))
	}
	return errors.Join(errs...)
}

// Snapshot returns all counters. Any goroutine, also after the end: ports and
// pools are then those of the moment before they were closed.
func (in *Instance) Snapshot() *Snapshot {
	if s := in.last.Load(); s != nil {
		c := *s
		in.fillState(&c)
		return &c
	}
	return in.snapshot()
}

func (in *Instance) fillState(s *Snapshot) {
	s.Version, s.Instance, s.Time = SnapshotVersion, in.cfg.Name, time.Now()
	s.Uptime = s.Time.Sub(in.opened)
	s.State = [...]string{"open", "closing", "closed"}[in.state.Load()]
	s.Panics, s.Restarts = in.panics.Load(), in.restarted.Load()
	s.LeakedAtEnd, s.LeakedByPanic, s.FreedAtEnd = in.leakedAtEnd.Load(), in.leakedByPanic.Load(), in.freed.Load()
	if err := in.lastError.Load(); err != nil {
		s.LastError = err.Error()
	}
	select {
	case <-in.end.done:
		if in.end.err != nil {
			s.Leaks = in.end.err.Error()
		}
	default:
	}
}

func (in *Instance) snapshot() *Snapshot {
	s := &Snapshot{Scheduler: in.sched.Stats()}
	in.fillState(s)
	in.set.Workers(func(w *Worker) {
		kind := "worker"
		if w.Kind() == KindControl {
			kind = "control"
		}
		s.Workers = append(s.Workers, WorkerSnapshot{w.ID(), kind, w.CPU()})
	})
	in.mu.Lock()
	defer in.mu.Unlock()
	s.Notes = append(s.Notes, in.notes...)
	b := &s.Balance
	for _, q := range in.queues {
		s.Queues = append(s.Queues, QueueSnapshot{Name: q.Name(), Kind: "plain", Len: q.Len(), Size: q.Cap()})
	}
	for _, q := range in.allScheds() {
		e := QueueSnapshot{Name: q.Name(), Kind: q.Sync().String(), Priority: q.Priority().Level(), Group: q.Group().Name(),
			Len: q.Len(), Size: q.Size()}
		if err := q.SourceErr(); err != nil {
			e.Error = err.Error()
		}
		s.Queues = append(s.Queues, e)
	}
	for _, q := range s.Queues {
		b.Queued += q.Len
	}
	for _, p := range in.ports {
		s.Ports = append(s.Ports, p.snapshot(b))
	}
	for _, p := range in.allPools() {
		i := p.Info()
		s.Pools = append(s.Pools, PoolSnapshot{Name: p.Name(), Num: p.Num(), Out: p.Out(), Cache: i.CacheSize, Stats: p.Stats()})
		b.Out += p.Out()
	}
	b.Remainder = int64(b.Received) - int64(b.Sent) - int64(b.Waiting) - int64(b.TxDrops) - int64(b.Lost)
	return s
}

// snapshot reads the port's counters and adds them to the balance.
func (p *Port) snapshot(b *Balance) PortSnapshot {
	st, i := p.Stats(), p.Info()
	s := PortSnapshot{Name: p.Name(), Driver: i.Driver, Mode: p.mode.String(), Lock: p.LockLevel().String(),
		ZeroCopy: i.ZeroCopy, Why: i.Why, LinkUp: p.Link().Up, Drops: p.Drops(), Device: st.Device, Notes: i.Notes}
	for j := range st.In {
		q := &st.In[j]
		s.RxPackets += q.Packets
		s.RxBytes += q.Bytes
		s.Polls += q.Polls
		s.EmptyPolls += q.Empty
		s.LockWait += q.LockWait
		s.LockHeld += q.LockHeld
		b.RxDrops += sum(q.Drops)
	}
	if n := s.Polls - s.EmptyPolls; n > 0 {
		s.MeanBurst = float64(s.RxPackets) / float64(n)
	}
	for j := range st.Out {
		q := &st.Out[j]
		s.TxPackets += q.Packets
		s.TxBytes += q.Bytes
		s.LockWait += q.LockWait
		s.LockHeld += q.LockHeld
		drops := sum(q.Drops)
		b.Waiting += q.Waiting
		b.TxDrops += drops
		b.Sent += q.Packets - q.Waiting - min(drops, q.Packets-q.Waiting)
	}
	b.Lost += p.queueFull()
	b.Received += s.RxPackets
	return s
}

func sum(m map[string]uint64) (n uint64) {
	for _, v := range m {
		n += v
	}
	return n
}
