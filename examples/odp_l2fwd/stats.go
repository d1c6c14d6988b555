// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// counts is what one worker did. The worker counts in a struct of its own and
// publishes it now and then: an atomic store costs more than forwarding a packet.
type counts struct {
	packets    uint64 // handed to send, refused ones included, as odp_l2fwd counts
	rxDrops    uint64 // header errors with -e 1, and failed copies with -p 1
	txDrops    uint64 // not accepted by send
	bursts     uint64 // receive calls that gave something
	emptyPolls uint64 // receive calls that gave nothing
}

// published is a worker's counts as others may read them, on lines of its own.
type published struct {
	_ [128]byte
	v [5]atomic.Uint64
	_ [128]byte
}

func (p *published) set(c *counts) {
	p.v[0].Store(c.packets)
	p.v[1].Store(c.rxDrops)
	p.v[2].Store(c.txDrops)
	p.v[3].Store(c.bursts)
	p.v[4].Store(c.emptyPolls)
}

func sum(ps []published) (c counts) {
	for i := range ps {
		v := &ps[i].v
		c.packets += v[0].Load()
		c.rxDrops += v[1].Load()
		c.txDrops += v[2].Load()
		c.bursts += v[3].Load()
		c.emptyPolls += v[4].Load()
	}
	return c
}

func (c counts) meanBurst() float64 {
	if c.bursts == 0 {
		return 0
	}
	return float64(c.packets+c.rxDrops) / float64(c.bursts)
}

// speed prints one line an interval until ctx ends, and remembers the fastest.
// Its result is the largest packets per second seen in an interval. Without
// reports (interval 0) a second is the interval and nothing is printed.
func speed(ctx context.Context, out io.Writer, interval int, read func() counts) (ppsMax float64) {
	step, print := time.Duration(interval)*time.Second, true
	if interval == 0 {
		step, print = time.Second, false
	}
	tick := time.NewTicker(step)
	defer tick.Stop()
	last, at := read(), time.Now()
	measure := func(now time.Time) {
		c := read()
		d := now.Sub(at).Seconds()
		if d < step.Seconds()/2 && ppsMax > 0 {
			return // a rest too short to be a rate
		}
		pps := float64(c.packets-last.packets) / d
		ppsMax = max(ppsMax, pps)
		if print {
			fmt.Fprintf(out, "%.0f pps, %.0f max pps, %d rx drops, %d tx drops\n", pps, ppsMax, c.rxDrops, c.txDrops)
		}
		last, at = c, now
	}
	for {
		select {
		case now := <-tick.C:
			measure(now)
		case <-ctx.Done():
			measure(time.Now())
			return ppsMax
		}
	}
}
