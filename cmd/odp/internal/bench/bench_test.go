// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/odptest"
	_ "github.com/odp-go/godp/platform/loop"
)

func TestMain(m *testing.M) { odptest.Main(m) }

// bench runs a benchmark in this process and returns its result.
func bench(t *testing.T, args string) (res Result) {
	t.Helper()
	var out bytes.Buffer
	if err := Run(context.Background(), append(strings.Fields(args), "-short", "-json"), "test", &out); err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	// Params is written as an object and is not read back.
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal(out.Bytes(), &raw); err != nil {
		t.Fatalf("%s: %v in %s", args, err, out.String())
	}
	delete(raw, "params")
	b, _ := json.Marshal(raw)
	if err := json.Unmarshal(b, &res); err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	return res
}

// The loops do the work that their options name.
func TestWork(t *testing.T) {
	for _, args := range []string{
		"sched -q 4 -b 32 -t 0", "sched -q 4 -b 1 -t atomic -c 2", "sched -q 4 -b 8 -t ordered -c 2", "sched -s 20000 -c 2",
		"sched -q 4 -f 1 -e 10", "sched -q 4 -f 2 -F -e 10", "sched -q 2 -L 2 -H 2 -d 3 -g 2 -j 1 -c 2", "sched -q 2 -g -1",
		"sched -n 2 -m 2 -S 15 -k 1 -l 1 -u 1 -U 1 -w 1us", "sched -p packet -n 1", "sched -p vector",
		"queue -e 64 -b 32", "queue -e 64 -b 0 -s -w", "queue -e 64 -c 2 -q 4", "queue -m 1 -c 2 -q 2 -e 64 -p -s -r 2000", "queue -m pair -c 2 -q 2 -e 64", "queue -M 64 -W 1us -s -l",
		"pool -b 0", "pool -b 32 -n 4", "pool -b 32 -C 0", "pool -t packet", "pool -t 1 -b 0 -c 2", "pool -C 64",
		"l2fwd", "l2fwd -c 2 -O 0,1 -m 1", "l2fwd -m 2 -c 2", "l2fwd -m ordered -lock device", "l2fwd -p 1 -e 1 -d 0", "l2fwd -parse none -s 0 -b 8", "l2fwd -i loop:1?seed=64,loop:2?seed=64,loop:3?seed=64 -c 2",
		"sched-pktio", "sched-pktio -m 1 -c 2 -pipe-stages 2 -pipe-queues 4", "sched-pktio -m ordered -c 2 -pipe-stages 1", "sched-pktio -i loop:1?seed=64 -q 0 -c 2",
		"lookup -table even6 -addrs routes", "lookup -table even6 -addrs ordered -b 0 -c 2",
		"latency", "latency -c 2 -s 1 -r -g 2 -i", "latency -s 2 -f 2 -n 1 -W 1us", "latency -l 0 -f 1",
	} {
		if testkit.Race && strings.HasPrefix(args, "lookup") {
			continue // filling the 2^24 entries takes a minute then
		}
		res := bench(t, args)
		if res.EventsPerSec <= 0 || res.CyclesPerEvent <= 0 || res.Min <= 0 || res.Max < res.Min || res.MeanBurst <= 0 {
			t.Errorf("%s: %+v", args, res)
		}
		var events uint64
		for _, w := range res.Workers {
			events += w.Events
		}
		if events == 0 {
			t.Errorf("%s: no events", args)
		}
	}
}

// A count ends a loop of its own worker, after at least so many events and at most a
// burst more.
func TestCounted(t *testing.T) {
	res := bench(t, "sched -s 5000 -b 32 -c 2 -q 4")
	for _, w := range res.Workers {
		if w.Events < 5000 || w.Events >= 5000+32 {
			t.Errorf("worker %d: %d events", w.Worker, w.Events)
		}
	}
	res = bench(t, "queue -r 3000 -b 8 -e 64")
	if n := res.Workers[0].Calls; n != 3000 {
		t.Errorf("%d rounds, want 3000", n)
	}
	res = bench(t, "pool -r 1000 -b 8 -n 3")
	if n := res.Workers[0].Events; n != 24000 {
		t.Errorf("%d events, want 24000", n)
	}
}

// Events forwarded around all queues are counted evenly when a single worker takes them
// in turn.
func TestFairness(t *testing.T) {
	res := bench(t, "sched -q 4 -f 1 -F -e 32 -b 32")
	if x := res.Extra["fairness of the queues (Jain)"].Median; x < 0.9 {
		t.Errorf("fairness %v", x)
	}
}

// Packets of two interfaces go through the pipeline, and none is lost on the way: those
// that are sent went through each stage.
func TestPipeline(t *testing.T) {
	res := bench(t, "sched-pktio -pipe-stages 3 -pipe-queues 2 -pipe-queue-size 2048")
	var sent, dropped uint64
	for _, w := range res.Workers {
		sent += w.Events
		dropped += w.Dropped
	}
	if n := uint64(res.Extra["packets forwarded between stages"].Median); n < 3*sent-1024 || sent == 0 || dropped != 0 {
		t.Errorf("%d sent, %d forwarded, %d dropped", sent, n, dropped)
	}
}

// Each function of the call benchmarks makes its calls and gives its packets back.
func TestCalls(t *testing.T) {
	for _, args := range []string{"packet", "packet -b 1 -l 1024 -i packet", "packet -c -1 -i alloc"} {
		res := bench(t, args)
		for _, f := range res.Functions {
			if f.Cycles.Median <= 0 || f.Ns.Min <= 0 {
				t.Errorf("%s: %+v", args, f)
			}
		}
		if len(res.Functions) == 0 || args == "packet" && len(res.Functions) < 90 {
			t.Errorf("%s: %d functions", args, len(res.Functions))
		}
	}
}

// What an object costs is more than what it holds, and less than a thousand times that.
func TestMemory(t *testing.T) {
	res := bench(t, "memory")
	for name, lo := range map[string]float64{"bytes of a packet of the default size": 1856, "bytes of a buffer of 64 bytes": 64,
		"bytes of a plain queue of 128 events, instance of 2 ids": 512, "bytes of a scheduled queue, atomic of 128 events, instance of 34 ids": 512} {
		if v := res.Memory[name]; v < lo || v > 1000*lo {
			t.Errorf("%s: %v", name, v)
		}
	}
	if s := res.Extra["start: open, pool, first worker runs, ms"]; s.Median <= 0 {
		t.Errorf("start: %v", s)
	}
}

// The sample of the high priority is seen and its latency lies within the run.
func TestLatency(t *testing.T) {
	res := bench(t, "latency -w 1 -l 1 -m 1 -t 1")
	seen := false
	for _, l := range res.Latency {
		if l.Min <= 0 || l.Avg < l.Min || l.Max < l.Avg || l.Samples == 0 || l.Events < l.Samples {
			t.Errorf("%+v", l)
		}
		seen = seen || l.Priority == "high" && l.Thread == "all"
	}
	if !seen {
		t.Errorf("no latency of high priority: %+v", res.Latency)
	}
}

func TestText(t *testing.T) {
	var out bytes.Buffer
	if err := Run(context.Background(), strings.Fields("sched -q 4 -c 2 -short"), "v1", &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sched: queues 4", "godp v1", "worker", "median of 1", "sharing"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want Spread
	}{
		{nil, Spread{}}, {[]float64{3}, Spread{3, 3, 3}}, {[]float64{4, 1, 3}, Spread{3, 1, 4}}, {[]float64{4, 1, 3, 2}, Spread{2.5, 1, 4}},
	} {
		if got := SpreadOf(c.v); got != c.want {
			t.Errorf("%v: %v, want %v", c.v, got, c.want)
		}
	}
	if j := Jain([]float64{2, 2, 2}); j != 1 {
		t.Errorf("even: %v", j)
	}
	if j := Jain([]float64{5, 0}); j != 0.5 {
		t.Errorf("one has all: %v", j)
	}
	if j := Jain(nil); j != 0 {
		t.Errorf("nobody: %v", j)
	}
}

// meter makes a meter that noted the given values, one for each window.
func meter(start, end uint64, bins ...uint64) *Meter {
	m := &Meter{base: 1000, bin: 100, bins: make([]uint64, maxBins), Start: start, End: end}
	copy(m.bins, bins)
	m.Count.Events = bins[len(bins)-1]
	return m
}

func TestShares(t *testing.T) {
	// Windows 1 to 3 are full for both: 10 and 30, 20 and 20, 5 and 35.
	a := meter(1050, 1450, 5, 15, 35, 40, 60)
	b := meter(1040, 1460, 10, 40, 60, 95, 99)
	s := shares([]*Meter{a, b})
	if s.Windows != 3 || s.Uneven != 1 || s.LeastIn10ms != 0.125 || s.Counts {
		t.Errorf("%+v", s)
	}
	if want := 35.0 / 120; math.Abs(s.Least-want) > 1e-9 {
		t.Errorf("least %v, want %v", s.Least, want)
	}
	// A window in which a worker noted nothing new.
	a = meter(1000, 1400, 10, 20, 0, 30)
	b = meter(1000, 1400, 10, 20, 30, 40)
	if s := shares([]*Meter{a, b}); s.Windows != 3 || s.LeastIn10ms != 0 || s.Uneven != 1 {
		t.Errorf("%+v", s)
	}
	// Even.
	a, b = meter(1000, 1400, 10, 20, 30, 40), meter(1000, 1400, 10, 20, 30, 40)
	if s := shares([]*Meter{a, b}); !s.Counts || s.Fairness != 1 || s.Least != 0.5 {
		t.Errorf("%+v", s)
	}
	// Too short for a window: all events.
	a, b = meter(1010, 1020, 10), meter(1010, 1020, 30)
	if s := shares([]*Meter{a, b}); s.Windows != 0 || s.Least != 0.25 || s.Counts {
		t.Errorf("%+v", s)
	}
}

// The rates are the originals': events of all by the mean of the times.
func TestRates(t *testing.T) {
	a, b := meter(0, 1000, 400), meter(0, 3000, 400)
	a.Count.Calls, b.Count.Calls = 100, 300
	perSec, cyc, burst := (&Rep{Workers: []*Meter{a, b}}).rates()
	if want := 800 / (2000 / cyclesPerNs() / 1e9); math.Abs(perSec/want-1) > 0.01 || cyc != 5 || burst != 2 {
		t.Errorf("%v events/s (want %v), %v cycles, burst %v", perSec, want, cyc, burst)
	}
}

func TestSquareRoot(t *testing.T) {
	for _, v := range []uint32{0, 1, 2, 3, 4, 15, 16, 17, 1 << 20, math.MaxUint32} {
		if r := uint64(isqrt(v)); r*r > uint64(v) || (r+1)*(r+1) <= uint64(v) {
			t.Errorf("isqrt(%d) = %d", v, r)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Run(ctx, strings.Fields("sched -q 2"), "", &bytes.Buffer{}); err == nil {
		t.Error("ran")
	}
	ctx, cancel = context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- Run(ctx, strings.Fields("sched -q 2 -time 1h"), "", &bytes.Buffer{}) }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(20 * time.Second):
		t.Error("goes on after the end")
	}
}
