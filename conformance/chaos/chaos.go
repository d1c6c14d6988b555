// SPDX-License-Identifier: Apache-2.0

// Package chaos runs forwarders on simulated netmap cards while everything that can
// go wrong does, and then asks for the account. A run is a sequence of rounds. Each
// draws a forwarder (mode, kinds of queue, priorities, groups, lock level, workers, pool
// sizes, stages) and a script of disturbances from the seed and its number: link flaps,
// system calls that fail, broken slots, rings that are set back, ports that are closed
// and opened, empty pools, panics in workers, workers that stop, start, pause and change
// groups.
//
// At the end of a round the disturbances end too, and must have left nothing behind:
//
//	injected = delivered + drops by reason            (nothing else is lost)
//	duplicates, damaged frames                = 0
//	order per flow, where the forwarder promises it
//	numbered events through atomic, ordered and parallel queues: all, and in order
//	pools full, and the kernel's buffers, descriptors, mappings and goroutines back
//
// A round is drawn from (seed, number) alone, so it can be run again by itself. Which
// thread runs when is the system's choice: a failure that needs a rare interleaving
// may take several runs of its round.
package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/pktio/driver"
)

// Config says what to run. The zero value runs one round of seed 0.
type Config struct {
	Seed uint64
	// Duration: rounds begin until it is over. Rounds, when not 0, is how many rounds
	// there are at most.
	Duration time.Duration
	Rounds   int
	// First is the number of the first round.
	First int
	// Each is called after each round.
	Each func(r Round)
	// Patience is how long a round may stand still before it is given up; default 20 s.
	Patience time.Duration

	wrap   func(driver.Driver) driver.Driver // tests: a broken device
	broken func(r *round)                    // tests: something that a round leaves behind
}

// Round is what came of one round.
type Round struct {
	Number   int      `json:"round"`
	Plan     string   `json:"plan"`   // what was drawn
	Script   []string `json:"script"` // what was done to which card
	Problems []string `json:"problems,omitempty"`
	Seconds  float64  `json:"seconds"`
	Counts
}

// Counts are what happened, of a round or of all.
type Counts struct {
	Injected  uint64            `json:"injected"`  // frames that the far ends sent
	Delivered uint64            `json:"delivered"` // and got back, intact
	Drops     map[string]uint64 `json:"drops"`     // by reason: wire_, rx_, tx_, app_
	Ordered   uint64            `json:"ordered"`   // of the delivered: under a promise of order
	Events    uint64            `json:"events"`    // numbered events through queues
	Panics    uint64            `json:"panics"`
	Actions   map[string]uint64 `json:"actions"` // disturbances by kind
}

func (c *Counts) add(o *Counts) {
	c.Injected, c.Delivered, c.Ordered = c.Injected+o.Injected, c.Delivered+o.Delivered, c.Ordered+o.Ordered
	c.Events, c.Panics = c.Events+o.Events, c.Panics+o.Panics
	for k, v := range o.Drops {
		c.Drops[k] += v
	}
	for k, v := range o.Actions {
		c.Actions[k] += v
	}
}

// Report is what came of a run.
type Report struct {
	Seed   uint64  `json:"seed"`
	Rounds int     `json:"rounds"`
	Failed []Round `json:"failed"`
	Counts
}

// OK reports whether at least one round ran and none failed.
func (r *Report) OK() bool { return r.Rounds > 0 && len(r.Failed) == 0 }

// String is the report for people.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d rounds, %d failed\n", r.Seed, r.Rounds, len(r.Failed))
	fmt.Fprintf(&b, "frames: %d injected = %d delivered + %d dropped by reason; %d of them under a promise of order\n",
		r.Injected, r.Delivered, int64(r.Injected)-int64(r.Delivered), r.Ordered)
	list := func(what string, m map[string]uint64) {
		fmt.Fprintf(&b, "%s:", what)
		for _, k := range slices.Sorted(maps.Keys(m)) {
			fmt.Fprintf(&b, " %s %d", k, m[k])
		}
		b.WriteByte('\n')
	}
	list("drops", r.Drops)
	fmt.Fprintf(&b, "numbered events through queues: %d; panics of workers: %d\n", r.Events, r.Panics)
	list("disturbances", r.Actions)
	for _, f := range r.Failed {
		fmt.Fprintf(&b, "\nround %d failed: %s\n", f.Number, f.Plan)
		for _, p := range f.Problems {
			fmt.Fprintf(&b, "    %s\n", p)
		}
		fmt.Fprintf(&b, "    script: %s\n", strings.Join(f.Script, ", "))
	}
	return b.String()
}

// Run runs rounds until the time is over or ctx ends; a round that has begun is run to
// its end. The error is for what kept it from running at all.
func Run(ctx context.Context, cfg Config) (Report, error) {
	if cfg.Duration < 0 || cfg.Rounds < 0 || cfg.First < 0 || cfg.Patience < 0 {
		return Report{}, fmt.Errorf("chaos: a negative value in %+v", cfg)
	}
	if cfg.Patience == 0 {
		cfg.Patience = 20 * time.Second
	}
	if cfg.Duration == 0 && cfg.Rounds == 0 {
		cfg.Rounds = 1
	}
	rep := Report{Seed: cfg.Seed, Failed: []Round{}, Counts: newCounts()}
	for end := time.Now().Add(cfg.Duration); ctx.Err() == nil; {
		if cfg.Rounds > 0 && rep.Rounds == cfg.Rounds || cfg.Duration > 0 && rep.Rounds > 0 && !time.Now().Before(end) {
			break
		}
		res := runRound(&cfg, cfg.First+rep.Rounds)
		rep.Rounds++
		rep.add(&res.Counts)
		if len(res.Problems) > 0 {
			rep.Failed = append(rep.Failed, res)
		}
		if cfg.Each != nil {
			cfg.Each(res)
		}
	}
	return rep, nil
}

func newCounts() Counts { return Counts{Drops: map[string]uint64{}, Actions: map[string]uint64{}} }

// runRound runs one round, and looks for what it left in the process.
func runRound(cfg *Config, number int) Round {
	began := time.Now()
	find := testkit.Leaks()
	r := newRound(cfg, number)
	r.run()
	if cfg.broken != nil {
		cfg.broken(r)
	}
	if !r.lost { // else its goroutines still run
		for _, l := range find() {
			r.problem("left behind: %s", l)
		}
	}
	r.Seconds = time.Since(began).Seconds()
	return r.Round
}
