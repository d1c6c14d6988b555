// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/panjf2000/ants/v2"
	"go.uber.org/atomic"

	"github.com/odp-go/godp/internal/sys"
	"github.com/odp-go/godp/schedule"
	"github.com/odp-go/godp/worker"
)

// Instance is one dataplane: its workers, pools, queues, scheduler and ports.
// Several may exist in one process; their objects do not mix. All methods may
// be called from any goroutine.
type Instance struct {
	cfg       Config
	set       *worker.Set
	log       *slog.Logger
	sched     *schedule.Scheduler
	ants      *ants.Pool
	releasers []releaser // in the order in which a worker lets go

	state     atomic.Uint32 // stateOpen ...
	made      atomic.Uint64 // pools that were asked for, ever
	panics    atomic.Uint64 // panics of workers and control threads, ever
	restarted atomic.Uint64 // workers started again after a panic, ever
	lastError atomic.Error  // of a worker or control thread; for Snapshot
	opened    time.Time
	last      atomic.Pointer[Snapshot] // of the moment before the objects were closed

	mu       sync.Mutex
	active   *run
	controls map[*Worker]*control
	notes    []string // what was not granted
	controlE []error  // errors of control threads started by Go
	pools    []*Pool
	queues   []*Queue
	scheds   []*SchedQueue // but those of ports
	ports    []*Port
	retired  []*Port // closed; packets of their pools were out, or workers still polled them

	opening       sync.WaitGroup // calls that make or close an object; added to under mu, before closing
	freed         atomic.Uint64  // events that were left in queues and freed at the end
	leakedAtEnd   atomic.Uint64  // events that were out at the end
	leakedByPanic atomic.Uint64  // of these: after a panic
	end           ending
}

// The states of an instance.
const (
	stateOpen uint32 = iota
	stateClosing
	stateClosed
)

// Open makes an instance. ctx bounds the opening only: it does not stop the
// instance later. A failed Open leaves nothing behind. Close or Shutdown ends it.
func Open(ctx context.Context, cfg Config) (*Instance, error) {
	if ctx == nil {
		return nil, errNilContext("Open")
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("odp: Open: %w", err)
	}
	eff := sys.EffectiveCPUs(sys.Root())
	cpus := maskOf(eff.Set)
	if err := cfg.fill(cpus, usableCPUs(cpus, eff.Quota)); err != nil {
		return nil, err
	}
	set, err := worker.NewSet(cfg.MaxWorkers)
	if err != nil {
		return nil, fmt.Errorf("odp: Open: %w", err)
	}
	in := &Instance{cfg: cfg, set: set, log: cfg.Log.With("instance", cfg.Name), controls: map[*Worker]*control{}, opened: time.Now()}
	in.end.done, in.end.hard = make(chan struct{}), make(chan struct{})
	if in.sched, err = schedule.New(set, cfg.Scheduler); err != nil {
		return nil, errors.Join(fmt.Errorf("odp: Open: Config.Scheduler: %w", err), set.Close())
	}
	in.releasers = []releaser{{"port locks", in.releasePorts}, {"event contexts", in.sched.Leave}}
	if in.ants, err = newSpawner(cfg.Workers); err != nil {
		return nil, errors.Join(fmt.Errorf("odp: Open: worker pool: %w", err), set.Close())
	}
	before, after := procsAcquire(cfg.Workers)
	if before != after {
		in.log.Info("GOMAXPROCS raised for the workers", "from", before, "to", after)
	}
	if cfg.Workers > cfg.CPUs.Count() {
		in.note(fmt.Sprintf("%d workers share %d CPUs (%s)", cfg.Workers, cfg.CPUs.Count(), cfg.CPUs.List()))
	}
	return in, nil
}

// Config returns the configuration with the defaults filled in.
func (in *Instance) Config() Config { return in.cfg }

// Set returns the workers' set, which objects of other packages are made for.
func (in *Instance) Set() *worker.Set { return in.set }

// note records and logs something that was not granted as asked.
func (in *Instance) note(s string) {
	in.mu.Lock()
	dup := slices.Contains(in.notes, s)
	if !dup {
		in.notes = append(in.notes, s)
	}
	in.mu.Unlock()
	if !dup {
		in.log.Warn(s)
	}
}

// Workers returns the ids of the running workers.
func (in *Instance) Workers() ThreadMask { return in.threads(KindWorker) }

// Controls returns the ids of the control threads.
func (in *Instance) Controls() ThreadMask { return in.threads(KindControl) }

func (in *Instance) threads(kind Kind) ThreadMask {
	var m ThreadMask
	in.set.Workers(func(w *Worker) {
		if w.Kind() == kind {
			m.Set(w.ID())
		}
	})
	return m
}

// Stop asks all workers and control threads to stop and returns at once: their
// Running answers false, waits end with ErrStopped, and Run returns when the last
// one has ended. The instance stays open: Run may be called again.
func (in *Instance) Stop() {
	in.mu.Lock()
	r := in.active
	in.mu.Unlock()
	if r != nil {
		r.stop()
	}
	in.set.Workers((*Worker).RequestStop)
}

// checkOpen returns an error once the instance is being closed.
func (in *Instance) checkOpen(op string) error {
	if in.state.Load() != stateOpen {
		return fmt.Errorf("odp: %s: instance %q: %w", op, in.cfg.Name, ErrClosed)
	}
	return nil
}

func errNilContext(op string) error {
	return fmt.Errorf("odp: %s: the context is nil: pass context.Background() for one without end", op)
}
