// SPDX-License-Identifier: Apache-2.0

package pktio

import (
	"context"
	"fmt"

	"github.com/odp-go/godp/worker"
)

// Pair is what one worker needs of a device: an input that is its alone, and an
// output.
type Pair struct {
	In  *In
	Out *Out
}

// OpenAll opens every queue of a device for a number of workers: pair i is for
// one worker, whichever uses it first. Where the device has a receive ring for each
// of them, pair i gets ring i; where it has fewer, several inputs share a ring and
// the flows are spread over them in software (Config.Hash; symmetric by default), in
// order per flow, with a ring of Config.SpreadSlots packets to each. Send rings are
// single-owner where there are enough of them, else they are shared with one lock a
// ring. A lock level other than the default is used as it is for sending, and is
// refused for receiving when the ring has to be spread at level pktio or device.
// The port is stopped; closing it closes all pairs.
func OpenAll(ctx context.Context, set *worker.Set, name string, cfg Config, workers int) (*Port, []Pair, error) {
	if workers < 1 || workers > maxQueues {
		return nil, nil, fmt.Errorf("device %q: open for %d workers: allowed are 1 to %d", name, workers, maxQueues)
	}
	dev, opts, err := splitName(name)
	if err == nil {
		err = cfg.merge(name, opts)
	}
	if err != nil {
		return nil, nil, err
	}
	switch {
	case cfg.NoInput || cfg.NoOutput:
		return nil, nil, fmt.Errorf("device %q: OpenAll with NoInput or NoOutput: a pair is both; use Open", name)
	case cfg.Shared:
		return nil, nil, fmt.Errorf("device %q: OpenAll with Shared: its inputs have one owner each; open the device without Shared", name)
	case cfg.LockLevel != LockDefault && cfg.LockLevel != LockNone && cfg.LockLevel != LockQueue:
		return nil, nil, fmt.Errorf("device %q: OpenAll with lock level %s: allowed are default, none and queue, since each input has one owner", name, cfg.LockLevel)
	}
	level := cfg.LockLevel
	if cfg.RxQueues == 0 {
		cfg.RxQueues = workers
	}
	if cfg.TxQueues == 0 {
		cfg.TxQueues = workers
	}
	// how many rings there are is only known once the device is open
	cfg.LockLevel = LockQueue
	p, err := Open(ctx, set, joinName(dev, opts), cfg)
	if err != nil {
		return nil, nil, err
	}
	if len(p.in) == 0 || len(p.out) == 0 {
		return nil, nil, fmt.Errorf("device %q: OpenAll: it has %d receive and %d send queues: one of each is needed (%w)", name, len(p.in), len(p.out), p.Close())
	}
	if level == LockNone && len(p.out) < workers {
		err := fmt.Errorf("device %q: OpenAll with lock level none: %d send queues for %d workers: use lock level queue, or fewer workers", name, len(p.out), workers)
		p.Close()
		return nil, nil, err
	}
	p.deal(workers)
	pairs := make([]Pair, workers)
	for i := range pairs {
		pairs[i] = Pair{p.in[i], p.out[i%len(p.out)]}
	}
	return p, pairs, nil
}

// deal gives each worker an input: a ring, or a lane of one.
func (p *Port) deal(workers int) {
	raw := p.in
	// nobody shares a send ring, nor what receive and send of a ring may share
	solo := len(p.out) >= workers && (p.dev.info.SplitDir || len(raw) >= workers)
	if len(raw) >= workers {
		p.in = raw[:workers:workers]
	} else {
		slots := p.cfg.SpreadSlots
		if slots == 0 {
			slots = 1024
		}
		if p.cfg.Hash == HashNone {
			p.cfg.Hash = HashSymmetric
		}
		p.in = make([]*In, workers)
		for r, in := range raw {
			in.ing.hash = p.cfg.Hash
			n := (workers - r + len(raw) - 1) / len(raw)
			sp := newLanes(in, n, slots, p.cfg.SpreadBlock)
			for j := range n {
				l := newIn(p, in.ring)
				l.sp, l.lane, l.own, l.index = sp, j, new(owner), j*len(raw)+r
				l.ing = in.ing
				p.in[l.index] = l
			}
		}
		p.spread = true
	}
	for _, in := range p.in {
		if solo || p.dev.info.SplitDir || in.sp != nil {
			in.level = LockNone
		}
		if in.sp != nil {
			in.sp.locked = !solo && !p.dev.info.SplitDir
		}
	}
	if solo {
		for _, o := range p.out {
			o.level = LockNone
		}
		p.level = LockNone
	}
	p.dev.mu.Lock()
	p.dev.level = LockNone // Close waits for owners, beside locks
	p.dev.mu.Unlock()
}
