// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"context"
	"flag"
	"testing"

	"github.com/odp-go/godp/internal/testkit"
)

var (
	seed     = flag.Uint64("chaos.seed", 1, "seed of TestChaos")
	first    = flag.Int("chaos.first", 0, "first round of TestChaos")
	rounds   = flag.Int("chaos.rounds", 8, "rounds of TestChaos")
	duration = flag.Duration("chaos.time", 0, "instead of rounds")
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestChaos(t *testing.T) {
	cfg := Config{Seed: *seed, First: *first, Rounds: *rounds, Duration: *duration}
	if cfg.Duration > 0 {
		cfg.Rounds = 0
	}
	cfg.Each = func(r Round) {
		t.Logf("round %d, %.2f s, %d frames, %d delivered: %s", r.Number, r.Seconds, r.Injected, r.Delivered, r.Plan)
		for _, p := range r.Problems {
			t.Errorf("round %d of seed %d: %s", r.Number, *seed, p)
		}
	}
	rep, err := Run(context.Background(), cfg)
	if err != nil || !rep.OK() {
		t.Errorf("%v", err)
	}
	t.Logf("%v", &rep)
}
