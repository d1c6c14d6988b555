// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/examples/internal/opt"
	"github.com/odp-go/godp/platform/netmap/nmsim"
)

var (
	matrixFrames = flag.Int("matrix.frames", 100_000, "frames that each combination of the matrix forwards")
	matrixAll    = flag.Bool("matrix.all", false, "all combinations, not a sample")
)

// combination is one point of mode x lock x workers x share x copying.
type combination struct {
	mode     opt.Mode
	lock     string
	workers  int
	share    string
	zeroCopy bool
}

func (c combination) String() string {
	z := "copy"
	if c.zeroCopy {
		z = "zerocopy"
	}
	return fmt.Sprintf("%s/%s/%d/%s/%s", c.mode, c.lock, c.workers, c.share, z)
}

// rings is how many rings each of the two interfaces has.
func (c combination) rings() int {
	if c.share == "handles" {
		return 1
	}
	if c.mode.Scheduled() {
		return c.workers
	}
	return (c.workers + 1) / 2
}

// legal says what must be granted: no lock is refused where a ring has two users.
func (c combination) legal() bool {
	if c.lock != "none" {
		return true
	}
	if c.mode == opt.Atomic || c.mode == opt.Ordered { // a queue's packets leave through one ring
		return c.workers == 1
	}
	if c.share == "queues" {
		return true
	}
	if c.mode.Scheduled() {
		return c.workers == 1
	}
	return c.workers <= 2
}

// ordered says where the order of a flow is promised.
func (c combination) ordered() bool {
	switch c.mode {
	case opt.Atomic, opt.Ordered:
		return true
	case opt.Parallel:
		return c.workers == 1
	}
	return c.share == "queues" || c.workers <= 2 // one worker per ring
}

func matrix() (all []combination) {
	for m := opt.Burst; m <= opt.Plain; m++ {
		for _, lock := range []string{"pktio", "device", "queue", "none"} {
			for _, workers := range []int{1, 2, 4, 8} {
				for _, share := range []string{"queues", "handles"} {
					for _, zc := range []bool{true, false} {
						all = append(all, combination{m, lock, workers, share, zc})
					}
				}
			}
		}
	}
	return all
}

// options are those of a run that forwards so many frames and ends. extra are more
// options of the far ends.
func (c combination) options(frames int, extra string) *options {
	o, _, err := parseOptions(nil, io.Discard)
	if err != nil {
		panic(err)
	}
	rings := c.rings()
	far := fmt.Sprintf("?rings=%d&slots=512&far=source&sink=1&sinkorder=port&count=%d%s", rings, frames/(2*rings), extra)
	o.ifs = []string{"nmsim:m0" + far, "nmsim:m1" + far}
	o.out, o.demo = defaultMap(2), false
	o.mode, o.lock, o.workers, o.share, o.zeroCopy = c.mode, c.lock, c.workers, c.share, c.zeroCopy
	o.interval, o.packets, o.drain = 0, 2048*max(2, c.workers/2), 5*time.Second
	total := uint64(frames / (2 * rings) * 2 * rings)
	last, since := uint64(0), time.Now()
	o.until = func() bool { // everything went through, or nothing moves any more
		r := nmsim.Default().Report("m0").Add(nmsim.Default().Report("m1"))
		if moved := r.Injected + r.Delivered; moved != last {
			last, since = moved, time.Now()
		}
		still := time.Since(since)
		return r.Injected >= total && (r.Lost(0) <= 0 || still > 200*time.Millisecond) || still > 10*time.Second
	}
	return &o
}

// check holds the promises of every run against its result.
func (c combination) check(t *testing.T, res result, frames int, dropless bool) {
	t.Helper()
	if res.Lost == nil || res.far == nil {
		t.Fatal("the far ends were not asked")
	}
	if *res.Lost != 0 || *res.Corrupt != 0 || res.far.Lost(0) < 0 {
		t.Errorf("lost %d, corrupt %d: %+v, drops %v", *res.Lost, *res.Corrupt, *res.far, res.DropsByReason)
	}
	if c.ordered() && *res.Reordered != 0 {
		t.Errorf("%d frames reordered where order is promised", *res.Reordered)
	}
	if res.PoolLeaked != 0 {
		t.Errorf("%d packets did not come back to their pools", res.PoolLeaked)
	}
	if dropless && (len(res.DropsByReason) != 0 || res.far.Delivered != res.far.Injected) {
		t.Errorf("a window smaller than the rings, and yet drops: %v, injected %d, delivered %d", res.DropsByReason, res.far.Injected, res.far.Delivered)
	}
	if want := uint64(frames / (2 * c.rings()) * 2 * c.rings()); res.far.Injected < want {
		t.Errorf("injected %d frames of %d", res.far.Injected, want)
	}
	if res.ZeroCopy != c.zeroCopy {
		t.Errorf("zero copy %v, want %v", res.ZeroCopy, c.zeroCopy)
	}
}

// chosen says whether combination i is in the sample: every nth, n without a common
// factor with the numbers of locks, workers, shares, so that all values are met.
func chosen(i, n int) bool {
	if testing.Short() {
		n *= 3
	}
	return *matrixAll || i%n == 3
}

// TestMatrix forwards in every legal combination: every frame injected is delivered,
// unchanged, with the promised order, and nothing is left in a pool. At most 500
// frames of an interface are in flight, which fits in any one ring: nothing is dropped.
func TestMatrix(t *testing.T) {
	for i, c := range matrix() {
		if !chosen(i, 7) {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			res, err := forward(context.Background(), c.options(*matrixFrames, fmt.Sprintf("&window=%d", 500/c.rings())), io.Discard)
			if !c.legal() {
				if err == nil || !strings.Contains(err.Error(), "none") {
					t.Fatalf("a ring with two users and no lock: %v, want a refusal that names the lock level", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, res, *matrixFrames, true)
		})
	}
}

// TestMatrixFaults is the matrix on bad hardware: empty slots in between,
// transmissions that complete late, a transmitter that stands still, a link that goes.
func TestMatrixFaults(t *testing.T) {
	for i, c := range matrix() {
		if !c.legal() || !chosen(i, 17) {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			o := c.options(*matrixFrames, "&zero=97&txdelaysyncs=2")
			o.drain = time.Second // what a link that was down lost is known when the ports are closed
			done, k, w := o.until, 0, nmsim.Default()
			o.until = func() bool { // each 5 ms
				end := done()
				k++
				w.SetStuck("m0", !end && k%16 == 4)
				w.SetStuck("m1", !end && k%16 == 9)
				w.SetLink("m1", end || k%32 != 13)
				return end
			}
			res, err := forward(context.Background(), o, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, res, *matrixFrames, false)
		})
	}
}

// TestShuffleIsSeen: the counter of reordered frames sees a source that shuffles.
func TestShuffleIsSeen(t *testing.T) {
	c := combination{opt.Burst, "queue", 1, "queues", true}
	res, err := forward(context.Background(), c.options(20_000, "&shuffle=16&seed=7&flows=2"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if res.Reordered == nil || *res.Reordered < 1000 || *res.Lost != 0 {
		t.Fatalf("a shuffled source: %+v", res.far)
	}
}
