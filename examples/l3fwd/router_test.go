// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/odp-go/godp/header"
	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/odptest"
	"github.com/odp-go/godp/platform/template"
)

func TestMain(m *testing.M) {
	workerNice = 0
	odptest.Main(m) // fails when goroutines, descriptors, mappings or packet memory are left
}

// randomRuns mixes long runs, which leave directly, with short ones, which are buffered.
func randomRuns(seed uint64) *trafficCase {
	r := rand.New(rand.NewPCG(seed, 1))
	var to, v6 []int
	for len(to) < numFrames*numPorts {
		run, out := 1+r.IntN(4), r.IntN(numPorts)
		if r.IntN(4) == 0 {
			run = 20 + r.IntN(60)
		}
		for range run {
			to, v6 = append(to, out), append(v6, r.IntN(3))
		}
	}
	return &trafficCase{name: "random runs", v6: func(i int) bool { return v6[i] == 0 }, to: func(p, i int) int { return to[p*numFrames+i] }}
}

// All cases, forms, checks and modes: every frame that leaves is compared with what a
// slow router makes of it, and the order of each input and output.
func TestOutput(t *testing.T) {
	cases := slices.Concat(allCases[:5], []trafficCase{*randomRuns(1), *randomRuns(2)})
	for i := range cases {
		c := &cases[i]
		for k, args := range []string{
			"", "-check=dpdk", "-staged=false", "-staged=false -check=dpdk", "-rx-burst 256 -tx-burst 16", "-rx-burst 64 -tx-burst 1", "-rx-burst 3 -tx-burst 7",
			"-mode event", "-mode event -eventq-sched ordered -c 2", "-mode event -c 2", "-c 2", "-c 2 -lock queue -miss back",
		} {
			if (testing.Short() || testkit.Race) && args != "" && (i+k)%4 != 0 {
				continue
			}
			o, _, err := parseOptions(append(strings.Fields(args), "-i", "null:none"), io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			workers, staged := max(o.workers, len(strings.Fields(strings.Repeat("x ", strings.Count(args, "-c 2")*2)))), o.staged
			o.setup(c)
			o.workers, o.staged, o.lock = workers, staged, "queue"
			for k := range o.config {
				o.config[k][2] = k % workers
			}
			if o.event {
				o.config = nil
			}
			if err := verify(context.Background(), o, c); err != nil {
				t.Errorf("%s %s: %v", c.name, args, err)
			}
		}
	}
}

// bench opens a router on devices whose far ends are the test.
type bench struct {
	dev  []*odptest.Device
	r    *router
	done chan error
	stop context.CancelFunc
}

func start(t *testing.T, args string, n int) *bench {
	t.Helper()
	b := &bench{done: make(chan error, 1)}
	var names []string
	for i := range n {
		d := odptest.NewDevice(t, odptest.DeviceConfig{Name: strings.ReplaceAll(t.Name(), "/", "-") + string(rune('a'+i))})
		b.dev = append(b.dev, d)
		names = append(names, d.Name())
	}
	o, _, err := parseOptions(append(strings.Fields(args), "-a", "0", "-i", strings.Join(names, ",")), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	if b.r, err = open(ctx, &o, io.Discard); err != nil {
		t.Fatal(err)
	}
	go func() { b.done <- b.r.run(ctx) }()
	t.Cleanup(func() { b.end(t) })
	return b
}

// end stops the router; what it did not give back is an error of its Shutdown.
func (b *bench) end(t *testing.T) counts {
	t.Helper()
	if b.stop != nil {
		b.stop()
		b.stop = nil
		if err := <-b.done; err != nil {
			t.Errorf("the end: %v", err)
		}
	}
	return b.r.sum()
}

func to4(port int, seq uint32) odptest.Frame {
	return odptest.Frame{DstIP: netip.AddrFrom4([4]byte{198, 18, byte(port), 1}), SrcIP: netip.MustParseAddr("198.19.0.1"), Seq: seq, TTL: 9}
}

// A single packet leaves by itself, in every mode: nothing waits for company.
func TestSinglePacket(t *testing.T) {
	for _, args := range []string{"", "-staged=false", "-mode event", "-mode event -eventq-sched ordered"} {
		t.Run(args, func(t *testing.T) {
			b := start(t, args, 2)
			for i := range uint32(20) {
				b.dev[0].Inject(to4(1, i).Bytes())
				f, err := odptest.ParseFrame(b.dev[1].Collect(1)[0])
				if err != nil || f.Seq != i || f.TTL != 8 || f.Dst.String() != "02:00:00:00:00:01" {
					t.Fatalf("%v: %v", err, f)
				}
			}
		})
	}
}

// Bad packets are dropped with their reason, once each, and hold nothing up, also in an
// ordered queue; what an output refuses is counted and freed.
func TestDropsAndRefusals(t *testing.T) {
	for _, args := range []string{"", "-staged=false", "-mode event -eventq-sched ordered -c 2", "-tx-burst 4"} {
		t.Run(args, func(t *testing.T) {
			b := start(t, args, 2)
			bad := func(f func(g []byte)) []byte {
				g := to4(1, 0).Bytes()
				f(g)
				return g
			}
			lost := map[int][]byte{
				dropNoRoute: odptest.Frame{DstIP: netip.MustParseAddr("10.0.0.1")}.Bytes(), dropShort: make([]byte, 13),
				dropVersion:  bad(func(g []byte) { g[14] = 0x65; header.IPv4(g[14:]).UpdateChecksum() }),
				dropLength:   bad(func(g []byte) { g[16] = 9; header.IPv4(g[14:]).UpdateChecksum() }),
				dropChecksum: bad(func(g []byte) { g[24] ^= 1 }), dropTTL: bad(func(g []byte) { g[22] = 1; header.IPv4(g[14:]).UpdateChecksum() }),
				dropType: bad(func(g []byte) { g[12], g[13] = 8, 6 }),
			}
			var seq uint32
			for range 50 {
				for r := range numDrops {
					b.dev[0].Inject(lost[r], to4(1, seq).Bytes())
					seq++
				}
			}
			for i, g := range b.dev[1].Collect(int(seq)) {
				if f, err := odptest.ParseFrame(g); err != nil || f.Seq != uint32(i) {
					t.Fatalf("frame %d: %v, %v", i, f, err)
				}
			}
			b.dev[1].SetRoom(10)
			for i := range uint32(100) {
				b.dev[0].Inject(to4(1, i).Bytes())
			}
			b.dev[1].Collect(10)
			odptest.Await(t, "refusal", func() bool { return b.r.sum().refused == 90 })
			b.dev[1].SetRoom(-1)
			c := b.end(t)
			for r, n := range c.drops {
				if n != 50 {
					t.Errorf("%d dropped for %s, want 50", n, dropNames[r])
				}
			}
			if c.packets != c.sent+c.refused+c.dropped() || c.sent != uint64(seq)+10 {
				t.Errorf("%+v", c)
			}
		})
	}
}

// -miss=back sends what has no route back through its port, with that port's addresses.
func TestMissBack(t *testing.T) {
	b := start(t, "-miss back", 2)
	f := odptest.Frame{DstIP: netip.MustParseAddr("10.0.0.1"), TTL: 5}
	b.dev[1].Inject(f.Bytes())
	got, err := odptest.ParseFrame(b.dev[1].Collect(1)[0])
	if err != nil || got.TTL != 4 || got.Dst.String() != "02:00:00:00:00:01" {
		t.Errorf("%v, %v", got, err)
	}
}

// The measurement: a line for each case, JSON with the promised keys.
func TestMeasure(t *testing.T) {
	var out, errs bytes.Buffer
	if rc := Main(context.Background(), strings.Fields("-t 0.02 -json -cases IPV4-CONT-BURST,IPV4-4STREAMSX1"), &out, &errs); rc != 0 {
		t.Fatalf("%d: %s", rc, errs.String())
	}
	var rep struct{ Cases []map[string]any }
	if err := json.Unmarshal(out.Bytes(), &rep); err != nil || len(rep.Cases) != 2 {
		t.Fatalf("%v: %s", err, out.String())
	}
	for _, c := range rep.Cases {
		for _, key := range strings.Fields("case mpps unstaged_mpps ratio share_of_iofwd ns_net_of_feed iofwd_mpps output_checked") {
			if _, ok := c[key]; !ok {
				t.Errorf("no %s in %v", key, c)
			}
		}
		if c["mpps"].(float64) <= 0 || c["output_checked"] != true {
			t.Errorf("%v", c)
		}
	}
}

// The check of the output finds what is wrong with it: a byte, an output, a loss.
func TestVerifySeesFaults(t *testing.T) {
	c := &allCases[2]
	o := defaults()
	o.setup(c)
	for what, f := range map[string]func(*options){
		"expected": func(o *options) { o.check = "dpdk" }, // the hop limit stays
		"too many": func(o *options) { o.routes4, o.routes6 = nil, nil },
		"missing":  func(o *options) { o.missBack, o.routes6 = true, o.routes6[:1] },
	} {
		expect, run := o, o
		f(&expect)
		if what == "missing" { // a router that drops what should come back
			run.routes6 = expect.routes6
		}
		if err := compare(context.Background(), run, &expect, c); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := compare(context.Background(), o, &o, c); err != nil {
		t.Error(err)
	}
}

// The clock decides how long a packet waits in a buffer while others keep the worker
// busy: with traffic that never fills the buffer of output 3, its packets leave all the same.
func TestBufferIsDrainedUnderLoad(t *testing.T) {
	// one frame of 256 goes to port 3, whose buffer would take 32 x 256 others to fill
	c := trafficCase{name: "rare", v6: always(false), to: func(_, i int) int {
		if i == 77 {
			return 3
		}
		return 1
	}}
	o := defaults()
	o.setup(&c)
	for p := range numPorts {
		f := template.Feed{Frames: c.frames(&o, p)}
		if p == 3 {
			f.Keep = 1
		}
		if err := template.Set(portName(p), f); err != nil {
			t.Fatal(err)
		}
		defer template.Forget(portName(p))
	}
	o.interval, o.txBurst = 0, 256
	r, err := open(context.Background(), &o, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.run(ctx) }()
	odptest.Await(t, "frame at port 3", func() bool { return len(template.Sent(portName(3))) > 0 })
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestFaults(t *testing.T) {
	for args, rc := range map[string]int{"-i nodev:0": 2, "-i loop:0?sed=1": 1, "-x": 2, "-i null:0,null:1 -t 0.05 -a 0": 1, "-h": 0} {
		var out, errs bytes.Buffer
		if got := Main(context.Background(), strings.Fields(args), &out, &errs); got != rc {
			t.Errorf("%s: exit status %d, want %d: %s", args, got, rc, errs.String())
		}
	}
	var out, errs bytes.Buffer
	if rc := Main(context.Background(), strings.Fields("-i template:x,template:y -t 0.1 -a 0 -miss back -json"), &out, &errs); rc != 0 || !strings.Contains(out.String(), `"no_route"`) {
		t.Errorf("%d: %s%s", rc, out.String(), errs.String())
	}
}

// cpuTime is what the process has used: on a busy machine it says more than the clock.
func cpuTime() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func BenchmarkCases(b *testing.B) {
	for i := range allCases[:5] {
		c := &allCases[i]
		for _, form := range []string{"staged", "single", "plain"} {
			b.Run(c.name+"/"+form, func(b *testing.B) {
				o := defaults()
				o.setup(c)
				o.check, o.staged, o.plain, o.interval = "dpdk", form != "single", form == "plain", 0
				for p := range numPorts {
					if err := template.Set(portName(p), template.Feed{Frames: c.frames(&o, p)}); err != nil {
						b.Fatal(err)
					}
				}
				r, err := open(context.Background(), &o, io.Discard)
				if err != nil {
					b.Fatal(err)
				}
				ctx, stop := context.WithCancel(context.Background())
				done := make(chan error, 1)
				b.ResetTimer()
				before := cpuTime()
				go func() { done <- r.run(ctx) }()
				for r.sum().sent < uint64(b.N) {
					time.Sleep(100 * time.Microsecond)
				}
				b.StopTimer()
				b.ReportMetric(float64(cpuTime()-before)/float64(r.sum().sent), "cpu-ns/packet")
				stop()
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
