// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"context"
	"fmt"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/schedule"
)

// create runs f, which makes an object, unless the instance is being closed.
func (in *Instance) create(op string, f func() error) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.checkOpen(op); err != nil {
		return err
	}
	if err := f(); err != nil {
		return fmt.Errorf("odp: %s: %w", op, err)
	}
	return nil
}

// NewPool makes a pool of packets or buffers for this instance's workers. The
// instance closes it; closing it earlier is allowed. Config.Strict counts for it too.
func (in *Instance) NewPool(cfg PoolConfig) (*Pool, error) {
	return in.NewPoolContext(context.Background(), cfg)
}

// NewPoolContext is NewPool that gives up when ctx ends: a pool of gigabytes takes
// seconds to be populated. Closing the instance ends it too.
func (in *Instance) NewPoolContext(ctx context.Context, cfg PoolConfig) (*Pool, error) {
	if ctx == nil {
		return nil, errNilContext("NewPoolContext")
	}
	done, err := in.beginOpen("NewPool")
	if err != nil {
		return nil, err
	}
	defer done() // not under the lock: the instance can be looked at, and closed, meanwhile
	if n := in.made.Inc() - 1; cfg.Name == "" {
		cfg.Name = fmt.Sprintf("pool%d", n)
	}
	cfg.Strict = cfg.Strict || in.cfg.Strict
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-in.end.hard:
			cancel()
		case <-ctx.Done():
		}
	}()
	p, err := buffer.NewPoolContext(ctx, in.set, cfg)
	if err != nil {
		return nil, fmt.Errorf("odp: NewPool: %w", err)
	}
	in.mu.Lock()
	in.pools = append(in.pools, p)
	in.mu.Unlock()
	return p, nil
}

// NewQueue makes a plain queue. The instance closes it, and frees what is in it;
// closing it earlier is allowed.
func (in *Instance) NewQueue(cfg QueueConfig) (q *Queue, err error) {
	err = in.create("NewQueue", func() error {
		q, err = queue.New(in.set, cfg)
		if err == nil {
			in.queues = append(in.queues, q)
		}
		return err
	})
	return q, err
}

// NewSchedQueue makes a scheduled queue. The instance closes it, and frees what is
// in it; closing it earlier is allowed.
func (in *Instance) NewSchedQueue(cfg SchedQueueConfig) (q *SchedQueue, err error) {
	err = in.create("NewSchedQueue", func() error {
		q, err = in.sched.NewQueue(cfg)
		if err == nil {
			in.scheds = append(in.scheds, q)
		}
		return err
	})
	return q, err
}

// NewGroup makes a scheduler group; workers enter it with Join and leave it with Leave.
func (in *Instance) NewGroup(name string) (g *Group, err error) {
	err = in.create("NewGroup", func() error {
		g, err = in.sched.NewGroup(name)
		return err
	})
	return g, err
}

// Scheduler returns the instance's scheduler: groups, pause and resume, contexts,
// ordered locks.
func (in *Instance) Scheduler() *schedule.Scheduler { return in.sched }
