// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/odp-go/godp/internal/testkit"
	"github.com/odp-go/godp/odptest"
)

// An output that is full costs frames that are counted, and no memory: the pool is
// smaller than what is refused, and it goes on when there is room again.
func TestBackPressure(t *testing.T) {
	for _, args := range []string{"-m burst", "-m queue", "-m ordered -c 2", "-m burst -lock pktio", "-m burst -p 1"} {
		t.Run(args, func(t *testing.T) {
			p := start(t, args+" -d 0 -s 0 -idle adaptive")
			p.b.SetRoom(10)
			frames := odptest.Frames(2000, odptest.Frame{})
			p.a.Inject(frames...)
			odptest.Await(t, "end of the frames", func() bool { return p.a.Pending() == 0 })
			p.a.Inject(odptest.Frames(64, odptest.Frame{Seq: 2000})...) // all before are through when these are taken
			odptest.Await(t, "end of the frames", func() bool { return p.a.Pending() == 0 })
			p.b.Expect(frames[:10]...)
			p.b.SetRoom(-1)
			rc, res := p.end()
			rest := len(p.b.Frames()) // some were still on their way
			if rc != 0 || res.PoolLeaked != 0 {
				t.Fatalf("exit status %d, %d packets leaked: %s", rc, res.PoolLeaked, p.errs.String())
			}
			if uint64(10+rest)+res.TxDrops != 2064 || res.TxDrops < 1900 || res.DropsByReason["app_tx_full"] != res.TxDrops {
				t.Errorf("%d frames left, %d dropped: %v", 10+rest, res.TxDrops, res.DropsByReason)
			}
		})
	}
}

// A link that goes down and comes again: what it did not take is counted, the other
// direction and the time after are not affected.
func TestLinkFault(t *testing.T) {
	for _, mode := range []string{"burst", "queue"} {
		p := start(t, "-d 0 -s 0 -m "+mode)
		f := odptest.Frames(90, odptest.Frame{})
		p.a.Inject(f[:30]...)
		p.b.Expect(f[:30]...)
		p.b.SetLink(false)
		p.a.Inject(f[30:60]...)
		odptest.Await(t, "end of the frames", func() bool { return p.a.Pending() == 0 })
		p.b.Inject(f[60:]...) // dropped by the device: no link
		p.b.SetLink(true)
		p.b.Inject(f[:20]...)
		p.a.Expect(f[:20]...) // the forwarder is done with what came before
		p.a.Inject(f[60:]...)
		last := p.b.Collect(30)
		for len(last) < 60 && string(last[len(last)-1]) != string(f[89]) {
			last = append(last, p.b.Collect(1)...) // a burst in hand when the link came back
		}
		odptest.Equal(t, last[len(last)-30:], f[60:])
		res := p.good()
		if got := uint64(30 + len(last)); got+res.TxDrops != 90 {
			t.Errorf("%s: %d frames left, %d dropped, 90 injected", mode, got, res.TxDrops)
		}
		if res.DropsByReason["rx_link_down"] != 30 {
			t.Errorf("%s: %v, want 30 dropped by the link that was down", mode, res.DropsByReason)
		}
	}
}

// A panic in a worker, here inside the device's receive call: exit status 1, the panic
// is named, and what was forwarded before is still told.
func TestPanicKeepsTheRest(t *testing.T) {
	for _, args := range []string{"-m burst", "-m queue -c 2", "-m ordered -c 4"} {
		t.Run(args, func(t *testing.T) {
			p := start(t, args+" -d 0 -s 0")
			frames := odptest.Frames(100, odptest.Frame{})
			p.a.Inject(frames...)
			p.b.Expect(frames...)
			p.a.SetFaults(odptest.Faults{PanicRecv: 3})
			rc, res := p.wait() // it ends by itself
			if rc != 1 || !strings.Contains(p.errs.String(), "call 3 panics") {
				t.Errorf("exit status %d: %s", rc, p.errs.String())
			}
			if res.Packets != 100 || res.PoolLeaked != 0 {
				t.Errorf("%+v", res)
			}
		})
	}
}

// A device that fails is named, and what was forwarded before is told.
func TestFaultKeepsTheRest(t *testing.T) {
	p := start(t, "-d 0 -s 0")
	p.a.Inject(odptest.Frame{}.Bytes())
	p.b.Expect(odptest.Frame{}.Bytes())
	p.b.SetFaults(odptest.Faults{FailRecv: 2})
	rc, res := p.wait()
	if rc != 1 || res.Packets != 1 || !strings.Contains(p.errs.String(), p.b.Name()) || strings.Contains(p.errs.String(), "goroutine ") {
		t.Errorf("exit status %d: %+v: %s", rc, res, p.errs.String())
	}
}

// A running forwarder allocates nothing, neither in the Go heap by packet or by
// burst nor where it sleeps between packets.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if testkit.Race {
		t.Skip("allocations are not the product's under the race detector")
	}
	const far = "?far=source&sink=1"
	for _, c := range []struct {
		args    string
		packets uint64 // between the two looks
	}{
		{"-i loop:al0?seed=64,loop:al1?seed=64 -m burst", 200_000},
		{"-i loop:al0?seed=64,loop:al1?seed=64 -m queue -c 2", 200_000},
		{"-i loop:al0?seed=64,loop:al1?seed=64 -m ordered -c 2", 200_000},
		{"-i loop:al0?seed=64,loop:al1?seed=64 -m plain -o 1", 200_000},
		{"-i nmsim:al0" + far + "&window=400,nmsim:al1" + far + "&window=400 -m burst -c 2 -p 1", 100_000}, // nothing is dropped: far ends take notes of gaps
		{"-i nmsim:al0" + far + "&pps=3000,nmsim:al1" + far + "&pps=3000 -m burst -idle adaptive", 2000},
		{"-i nmsim:al0" + far + "&pps=3000,nmsim:al1" + far + "&pps=3000 -m queue -idle adaptive", 2000},
	} {
		o, _, err := parseOptions(strings.Fields(c.args+" -a 0"), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		var r *run
		o.started = func(x *run) { r = x }
		var m runtime.MemStats
		looks, first, mallocs, bursts := 0, uint64(0), uint64(0), uint64(0)
		o.until = func() bool { // each 5 ms
			now := sum(r.pubs)
			if looks == 0 && now.packets > c.packets/2 && allWorked(r.pubs) { // warm
				looks++
				runtime.ReadMemStats(&m)
				first, mallocs, bursts = now.packets, m.Mallocs, now.bursts
			}
			if looks == 0 || now.packets < first+c.packets {
				return false
			}
			runtime.ReadMemStats(&m)
			mallocs, bursts = m.Mallocs-mallocs, now.bursts-bursts
			return true
		}
		if _, err := forward(context.Background(), &o, io.Discard); err != nil {
			t.Fatalf("%s: %v", c.args, err)
		}
		// The runtime itself allocates now and then: a few objects, however long it runs.
		if mallocs > 100 {
			t.Errorf("%s: %d allocations for %d bursts of %d packets, want none", c.args, mallocs, bursts, c.packets)
		}
		t.Logf("%s: %d allocations for %d bursts", c.args, mallocs, bursts)
	}
}

// allWorked tells whether every worker has started: a worker reads its CPUs' limits from
// files when it does, and one forwards many packets before the next is there.
func allWorked(ps []published) bool {
	for i := range ps {
		if c := sum(ps[i : i+1]); c.bursts+c.emptyPolls == 0 {
			return false
		}
	}
	return true
}
