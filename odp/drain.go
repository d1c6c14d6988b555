// SPDX-License-Identifier: Apache-2.0

package odp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/queue"
)

// settle is the orderly part of Shutdown, while the workers run: inputs take no
// more frames, and the workers finish what is in the queues.
func (in *Instance) settle(ctx context.Context) error {
	in.mu.Lock()
	ports := in.ports
	in.mu.Unlock()
	var errs []error
	for _, p := range ports {
		if p.mode != ModeScheduled {
			p.StopInput()
			continue
		}
		if err := p.unbind(ctx, nil); err != nil && ctx.Err() == nil {
			errs = append(errs, err)
		}
	}
	// Empty queues are not the end: workers have the last events in hand, and pass
	// them on. They are done when nothing was allocated or freed for some looks.
	const looks = 4
	still, out := 0, -1
	for still < looks && in.Workers().Or(in.Controls()) != (ThreadMask{}) {
		now := in.out()
		if in.waiting() == 0 && now == out {
			still++
		} else {
			still, out = 0, now
		}
		if now == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return errors.Join(errs...)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return errors.Join(errs...)
}

// waiting returns the events in all queues.
func (in *Instance) waiting() (n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, q := range in.queues {
		n += q.Len()
	}
	for _, q := range in.allScheds() {
		n += q.Len()
	}
	return n
}

// allScheds returns the scheduled queues, those of ports too. in.mu is held.
func (in *Instance) allScheds() []*SchedQueue {
	qs := in.scheds[:len(in.scheds):len(in.scheds)]
	for _, p := range in.ports {
		qs = append(qs, p.queues...)
	}
	return qs
}

// allPools returns the pools, those that devices brought along too, each once. in.mu is held.
func (in *Instance) allPools() []*Pool {
	seen := map[*Pool]bool{}
	var pools []*Pool
	for _, p := range in.pools {
		seen[p] = true
		pools = append(pools, p)
	}
	for _, p := range in.ports {
		if pool := p.Pool(); pool != nil && !seen[pool] {
			seen[pool] = true
			pools = append(pools, pool)
		}
	}
	for _, p := range in.retired {
		if pool := p.Pool(); pool != nil && !seen[pool] && !pool.Closed() {
			seen[pool] = true
			pools = append(pools, pool)
		}
	}
	return pools
}

// out returns the events that are allocated, of all pools.
func (in *Instance) out() (n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, p := range in.allPools() {
		n += p.Out()
	}
	return n
}

// closeObjects closes ports, queues and pools. No worker runs any more, unless
// one was left behind. ctx bounds the sending of what was accepted and the wait for
// packets that are still out.
func (in *Instance) closeObjects(ctx context.Context) error {
	in.mu.Lock()
	ports, queues, pools := slices.Concat(in.ports, in.retired), in.queues, in.pools
	scheds := in.allScheds()
	in.mu.Unlock()
	grace, cancel := context.WithTimeout(context.Background(), in.cfg.StopTimeout)
	defer cancel()

	var errs []error
	add := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	for _, p := range ports {
		add(p.unbind(grace, nil))
	}
	add(in.freeScheduled(scheds))
	in.last.Store(in.snapshot())
	for _, q := range queues {
		n, err := q.Drain(grace, nil)
		in.freed.Add(uint64(n))
		add(err)
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, in.cfg.StopTimeout)
		defer cancel()
	}
	// Buffers of the platform go with its ports: what is out of such pools must be
	// back before.
	in.mu.Lock()
	all := in.allPools()
	in.mu.Unlock()
	var external []*Pool
	for _, p := range all {
		if p.Info().External {
			external = append(external, p)
		}
	}
	in.awaitPackets(ctx, external)
	for _, p := range external {
		add(in.leaked(p))
	}
	// All at once: packets of one device's pool may wait in another's rings.
	shut := make(chan error)
	for _, p := range ports {
		go func() { shut <- p.shut(ctx) }()
	}
	for range ports {
		if err := <-shut; !errors.Is(err, pktio.ErrPacketsOut) { // those are named below
			add(err)
		}
	}
	in.awaitPackets(ctx, pools)
	for _, p := range all {
		if p.Closed() {
			continue
		}
		if !p.Info().External { // those were named above
			add(in.leaked(p))
		}
		add(p.Abandon())
	}
	for _, p := range ports {
		add(p.Port.Close()) // devices that waited for their packets
	}
	add(in.closeSched(scheds))
	if n := in.freed.Load(); n > 0 {
		in.log.Info("events that were left in queues were freed", "events", n)
	}
	return errors.Join(errs...)
}

// shut closes the port: what was accepted is sent until ctx ends, and packets of
// the device's own pool that are out are waited for until then.
func (p *Port) shut(ctx context.Context) error {
	var err error
	if ctx.Err() == nil {
		err = p.Shutdown(ctx)
	}
	if ctx.Err() != nil { // there was no time, or it is over
		if errors.Is(err, ctx.Err()) && !errors.Is(err, pktio.ErrPacketsOut) {
			err = nil // what could not be sent is counted as lost
		}
		err = errors.Join(err, p.Port.Close())
	}
	return err
}

// awaitPackets waits until all events are back in their pools, or ctx ends.
func (in *Instance) awaitPackets(ctx context.Context, pools []*Pool) {
	for said := false; ; said = true {
		out := 0
		for _, p := range pools {
			out += p.Out()
		}
		if out == 0 || ctx.Err() != nil {
			return
		}
		if !said {
			in.log.Info("waiting for packets that are still out", "packets", out)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
	}
}

// freeScheduled frees the events that are left in scheduled queues.
func (in *Instance) freeScheduled(qs []*SchedQueue) error {
	var errs []error
	for _, kind := range []Kind{KindWorker, KindControl} { // the predefined groups follow from it
		if err := in.freeAs(kind, qs); err != nil {
			errs = append(errs, fmt.Errorf("free what is left in the queues: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (in *Instance) freeAs(kind Kind, qs []*SchedQueue) error {
	left := 0
	for _, q := range qs {
		left += q.Len()
	}
	if left == 0 {
		return nil
	}
	w, err := in.set.Join(kind)
	if err != nil {
		return err
	}
	defer w.Leave()
	defer in.sched.Leave(w)
	for _, q := range qs {
		if g := q.Group(); q.Len() > 0 && g != in.sched.All() && g != in.sched.Worker() && g != in.sched.Control() {
			if err := g.Join(w); err != nil {
				return fmt.Errorf("queue %q: %w", q.Name(), err)
			}
		}
	}
	var ev [64]*Event
	for {
		n, _, err := in.sched.Schedule(w, ev[:], 0)
		if n == 0 {
			if errors.Is(err, queue.ErrStopped) {
				err = nil
			}
			return err
		}
		buffer.FreeEvents(w, ev[:n])
		in.freed.Add(uint64(n))
	}
}

// closeSched closes scheduled queues. Those that were closed before are passed over.
func (in *Instance) closeSched(qs []*SchedQueue) error {
	var errs []error
	for _, q := range qs {
		if err := q.Close(); err != nil && !errors.Is(err, queue.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// leaked names who has the events that are out of the pool at the end.
func (in *Instance) leaked(p *Pool) error {
	leaks := p.Leaks()
	if leaks == "" {
		return nil
	}
	in.leakedAtEnd.Add(uint64(p.Out()))
	why := ""
	if in.panics.Load() > 0 {
		why = "; a worker has panicked, and what it had in hand is among them"
		in.leakedByPanic.Add(uint64(p.Out()))
	}
	return fmt.Errorf("%w: %s%s", ErrLeak, leaks, why)
}
