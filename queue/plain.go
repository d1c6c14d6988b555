// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/internal/invariants"
	"github.com/odp-go/godp/internal/relax"
	"github.com/odp-go/godp/queue/ring"
	"github.com/odp-go/godp/worker"
)

// Mode says how many may use one side of a queue at a time.
type Mode uint8

// The modes (ODP's odp_queue_op_mode_t).
const (
	MT       Mode = iota // any number of workers and goroutines
	MTUnsafe             // one at a time; the application sees to it, the control plane included
	Disabled             // nobody: the call answers ErrDisabled
)

func (m Mode) String() string {
	if m > Disabled {
		return fmt.Sprintf("Mode(%d)", uint8(m))
	}
	return [...]string{"MT", "MTUnsafe", "Disabled"}[m]
}

// Progress says what a suspended user of a queue may do to the others (ODP's
// non-blocking levels).
type Progress uint8

// The levels, weakest first.
const (
	Blocking Progress = iota // may delay events that were enqueued behind its own; never an enqueue
	LockFree                 // some other user always makes progress
	WaitFree                 // every other user always makes progress
)

func (p Progress) String() string {
	if p > WaitFree {
		return fmt.Sprintf("Progress(%d)", uint8(p))
	}
	return [...]string{"Blocking", "LockFree", "WaitFree"}[p]
}

// DefaultSize is the size of a queue whose Config names none, MaxSize the largest.
const (
	DefaultSize = 4096
	MaxSize     = ring.MaxSize
)

// Config describes a plain queue. The zero value is an unnamed queue of
// DefaultSize events for any number of producers and consumers.
type Config struct {
	// Name finds the queue again (Lookup) and stands in errors. Names need not be
	// unique; "" can't be looked up.
	Name string
	// Size is how many events the queue must hold; it is rounded up to a power
	// of two. 0 = DefaultSize.
	Size int
	// EnqMode and DeqMode choose the kind of ring: fewer users, fewer locked
	// instructions. Not both may be Disabled.
	EnqMode, DeqMode Mode
	// NonBlocking asks for a progress guarantee. Where the modes don't give it at no
	// cost (MaxProgress) it is paid for with a slower ring, see the package's text.
	NonBlocking Progress
	// IgnoreOrder lets events in at once, whatever ordered context the worker holds.
	IgnoreOrder bool
	// Threshold is the length from which EnqueueNew refuses; 0 = never.
	Threshold int
	// Context is the application's own value.
	Context any
}

type kind uint8

const (
	spsc kind = iota
	spmc
	mpsc
	mpmc
	lockFree
	waitFree
)

// The words that gate the two directions.
const (
	open uint32 = iota
	disabled
	closed
)

// Queue is a plain first-in first-out queue of events: a Dest and a Source.
// Events belong to the queue from a successful enqueue to their dequeue.
type Queue struct {
	// read by every call, written by New and Close
	enq, deq    relax.Uint32
	kind        kind
	ignoreOrder bool
	threshold   int
	spsc        *ring.SPSC
	spmc        *ring.SPMC
	mpsc        *ring.MPSC
	mpmc        *ring.MPMC
	lockFree    *ring.LockFree
	waitFree    *ring.WaitFree
	stats       []counters // by worker id; the last entry is the control plane's, under mu
	set         *worker.Set
	cfg         Config
	context     atomic.Pointer[any]
	_           relax.Pad
	mu          sync.Mutex // calls of the control plane, Close

	enqOne, deqOne invariants.Exclusive // of sides that are MTUnsafe
}

var (
	_ Dest   = (*Queue)(nil)
	_ Source = (*Queue)(nil)
)

// New makes a queue for the workers of set. Any goroutine may call it. The error
// names the field, the value found and the values allowed.
func New(set *worker.Set, cfg Config) (*Queue, error) {
	bad := func(format string, args ...any) (*Queue, error) {
		return nil, fmt.Errorf("queue %q: %w", cfg.Name, fmt.Errorf(format, args...))
	}
	switch {
	case set == nil:
		return bad("no worker set: pass the instance's")
	case cfg.EnqMode > Disabled:
		return bad("EnqMode %d: allowed MT, MTUnsafe, Disabled", cfg.EnqMode)
	case cfg.DeqMode > Disabled:
		return bad("DeqMode %d: allowed MT, MTUnsafe, Disabled", cfg.DeqMode)
	case cfg.EnqMode == Disabled && cfg.DeqMode == Disabled:
		return bad("EnqMode and DeqMode are both Disabled: nobody could use the queue")
	case cfg.NonBlocking > WaitFree:
		return bad("NonBlocking %d: allowed Blocking, LockFree, WaitFree", cfg.NonBlocking)
	case cfg.Size < 0 || cfg.Size > MaxSize:
		return bad("Size %d: allowed 1 to %d, or 0 for %d", cfg.Size, MaxSize, DefaultSize)
	}
	if cfg.Size == 0 {
		cfg.Size = DefaultSize
	}
	size, err := ring.Size(cfg.Size)
	if err != nil {
		return bad("%w", err)
	}
	cfg.Size = size
	if cfg.Threshold < 0 || cfg.Threshold > size {
		return bad("Threshold %d: allowed 0 (off) to the size, %d", cfg.Threshold, size)
	}
	q := &Queue{ignoreOrder: cfg.IgnoreOrder, threshold: cfg.Threshold, set: set, stats: make([]counters, set.Max()+1)}
	switch mp, mc := cfg.EnqMode == MT, cfg.DeqMode == MT; {
	case cfg.NonBlocking > MaxProgress(cfg.EnqMode, cfg.DeqMode) && cfg.NonBlocking == LockFree:
		q.kind, q.lockFree = lockFree, ring.NewLockFree(size)
	case cfg.NonBlocking > MaxProgress(cfg.EnqMode, cfg.DeqMode):
		q.kind, q.waitFree = waitFree, ring.NewWaitFree(size, set.Max()+1)
	case mp && mc:
		q.kind, q.mpmc = mpmc, ring.NewMPMC(size)
	case mp:
		q.kind, q.mpsc = mpsc, ring.NewMPSC(size)
	case mc:
		q.kind, q.spmc = spmc, ring.NewSPMC(size)
	default:
		q.kind, q.spsc = spsc, ring.NewSPSC(size)
	}
	if cfg.EnqMode == Disabled {
		q.enq.StoreRel(disabled)
	}
	if cfg.DeqMode == Disabled {
		q.deq.StoreRel(disabled)
	}
	q.SetContext(cfg.Context)
	cfg.Context = nil
	q.cfg = cfg
	register(q)
	return q, nil
}

// MaxProgress returns the strongest guarantee that the ring of these modes gives
// at no cost: a writer suspended in the middle of its burst delays the events behind it
// where several may write. More is asked for with Config.NonBlocking.
func MaxProgress(enq, deq Mode) Progress {
	switch {
	case enq == MT:
		return Blocking
	case deq == MT:
		return LockFree
	}
	return WaitFree
}

// put is the ring's enqueue, take its dequeue; w nil is the control plane, under mu.
func (q *Queue) put(w *worker.Worker, ev []*buffer.Event) int {
	switch q.kind {
	case spsc:
		return q.spsc.EnqueueEvents(ev)
	case spmc:
		return q.spmc.EnqueueEvents(ev)
	case mpsc:
		return q.mpsc.EnqueueEvents(ev)
	case mpmc:
		return q.mpmc.EnqueueEvents(ev)
	case lockFree:
		return q.lockFree.EnqueueEvents(ev)
	}
	return q.waitFree.EnqueueEvents(q.user(w), ev)
}

func (q *Queue) take(w *worker.Worker, ev []*buffer.Event) int {
	switch q.kind {
	case spsc:
		return q.spsc.DequeueEvents(ev)
	case spmc:
		return q.spmc.DequeueEvents(ev)
	case mpsc:
		return q.mpsc.DequeueEvents(ev)
	case mpmc:
		return q.mpmc.DequeueEvents(ev)
	case lockFree:
		return q.lockFree.DequeueEvents(ev)
	}
	return q.waitFree.DequeueEvents(q.user(w), ev)
}

// user is the number of a wait-free ring's user.
func (q *Queue) user(w *worker.Worker) int {
	if w == nil {
		return q.set.Max()
	}
	return w.ID()
}

// Enqueue appends events from the front and returns how many fitted; they are
// the queue's, the rest stays with the caller. It awaits the worker's turn unless
// the queue ignores order, and never waits for room. A nil worker takes a lock.
// Errors: ErrClosed, ErrDisabled.
func (q *Queue) Enqueue(w *worker.Worker, ev []*buffer.Event) (int, error) {
	if w == nil || q.enq.LoadAcq() != open {
		return q.enqueueControl(w, ev)
	}
	if !q.ignoreOrder {
		w.AwaitTurn()
	}
	if invariants.Enabled {
		return q.checkedPut(w, ev), nil
	}
	if len(ev) == 1 {
		switch q.kind {
		case spsc:
			if q.spsc.TryEnqueue(ev[0]) {
				return 1, nil
			}
		case mpmc:
			if q.mpmc.EnqueueEvent(ev[0]) {
				return 1, nil
			}
		}
	}
	var n int
	switch q.kind { // put, without its call
	case spsc:
		n = q.spsc.EnqueueEvents(ev)
	case spmc:
		n = q.spmc.EnqueueEvents(ev)
	case mpsc:
		n = q.mpsc.EnqueueEvents(ev)
	case mpmc:
		n = q.mpmc.EnqueueEvents(ev)
	default:
		n = q.put(w, ev)
	}
	if n < len(ev) {
		q.stats[w.ID()].full.bump()
	}
	return n, nil
}

// enqueueControl is Enqueue without a worker, and when the gate is shut.
func (q *Queue) enqueueControl(w *worker.Worker, ev []*buffer.Event) (int, error) {
	if err := gate(&q.enq); err != nil {
		return 0, err
	}
	if w != nil { // reopened meanwhile: a Close found the queue not empty
		return q.Enqueue(w, ev)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := gate(&q.enq); err != nil {
		return 0, err
	}
	if invariants.Enabled {
		return q.checkedPut(nil, ev), nil
	}
	n := q.put(nil, ev)
	if n < len(ev) {
		q.stats[q.set.Max()].full.bump()
	}
	return n, nil
}

func gate(word *relax.Uint32) error {
	switch word.LoadAcq() {
	case closed:
		return ErrClosed
	case disabled:
		return ErrDisabled
	}
	return nil
}

// EnqueueNew is Enqueue for events that enter the system here (an input, a timer):
// it takes only as many as keep the length below Config.Threshold, so that new work
// is refused before forwarded work finds no room. Without a threshold it is Enqueue.
func (q *Queue) EnqueueNew(w *worker.Worker, ev []*buffer.Event) (int, error) {
	all := len(ev)
	if q.threshold > 0 {
		ev = ev[:max(0, min(all, q.threshold-q.Len()))]
		if len(ev) < all {
			q.refuse(w)
			if len(ev) == 0 {
				return 0, gate(&q.enq)
			}
		}
	}
	return q.Enqueue(w, ev)
}

func (q *Queue) refuse(w *worker.Worker) {
	if w != nil {
		q.stats[w.ID()].refused.bump()
		return
	}
	q.mu.Lock()
	q.stats[q.set.Max()].refused.bump()
	q.mu.Unlock()
}

// Dequeue fills ev from the front and returns how many events were there; they
// are the caller's. What lies in ev beyond them is undefined. It never waits.
// A nil worker takes a lock. Errors: ErrClosed, ErrDisabled.
func (q *Queue) Dequeue(w *worker.Worker, ev []*buffer.Event) (int, error) {
	if w == nil || q.deq.LoadAcq() != open {
		return q.dequeueControl(w, ev)
	}
	if invariants.Enabled {
		return q.checkedTake(w, ev), nil
	}
	if len(ev) == 1 {
		switch q.kind {
		case spsc:
			if q.spsc.TryDequeue(&ev[0]) {
				return 1, nil
			}
		case mpmc:
			if q.mpmc.DequeueEvent(&ev[0]) {
				return 1, nil
			}
			return 0, nil
		}
	}
	switch q.kind { // take, without its call
	case spsc:
		return q.spsc.DequeueEvents(ev), nil
	case spmc:
		return q.spmc.DequeueEvents(ev), nil
	case mpsc:
		return q.mpsc.DequeueEvents(ev), nil
	case mpmc:
		return q.mpmc.DequeueEvents(ev), nil
	}
	return q.take(w, ev), nil
}

func (q *Queue) dequeueControl(w *worker.Worker, ev []*buffer.Event) (int, error) {
	if err := gate(&q.deq); err != nil {
		return 0, err
	}
	if w != nil {
		return q.Dequeue(w, ev)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := gate(&q.deq); err != nil {
		return 0, err
	}
	if invariants.Enabled {
		return q.checkedTake(nil, ev), nil
	}
	return q.take(nil, ev), nil
}

// total returns the ring's two positions.
func (q *Queue) total() (in, out uint64) {
	switch q.kind {
	case spsc:
		return q.spsc.Total()
	case spmc:
		return q.spmc.Total()
	case mpsc:
		return q.mpsc.Total()
	case mpmc:
		return q.mpmc.Total()
	case lockFree:
		return q.lockFree.Total()
	}
	return q.waitFree.Total()
}

// Len returns how many events are in the queue. Any goroutine may call it; the
// answer is of the past.
func (q *Queue) Len() int {
	in, out := q.total()
	return int(min(max(int64(in-out), 0), int64(q.cfg.Size)))
}
