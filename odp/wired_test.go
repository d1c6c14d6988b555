// SPDX-License-Identifier: Apache-2.0

package odp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/odptest"
	"github.com/odp-go/godp/pktio"
)

// forward is the loop of a worker in queue mode.
func forward(in *odp.Instance, out *odp.Out) func(w *odp.Worker) error {
	return func(w *odp.Worker) error {
		var ev [32]*odp.Event
		for w.Running() {
			n, _, err := in.Schedule(w, ev[:], 10*time.Millisecond)
			if err != nil {
				return err
			}
			send(w, out, odp.PacketsOf(ev[:n]))
		}
		return nil
	}
}

// send sends all, and frees what is refused for good.
func send(w *odp.Worker, out *odp.Out, pkts []*odp.Packet) {
	for len(pkts) > 0 {
		n, err := out.Send(w, pkts)
		pkts = pkts[n:]
		if err != nil || w.Stopping() {
			odp.FreePackets(w, pkts)
			return
		}
		if n == 0 {
			runtime.Gosched()
		}
	}
}

// burst is the loop of a worker in burst mode.
func burst(in *odp.In, out *odp.Out) func(w *odp.Worker) error {
	return func(w *odp.Worker) error {
		var pk [32]*odp.Packet
		for w.Running() {
			n, err := in.RecvWait(w, pk[:], 10*time.Millisecond)
			if err != nil {
				return err
			}
			send(w, out, pk[:n])
		}
		return nil
	}
}

func openPort(t *testing.T, in *odp.Instance, name string, cfg odp.PortConfig) *odp.Port {
	t.Helper()
	p, err := in.OpenPort(t.Context(), name, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestForward(t *testing.T) {
	for _, workers := range []int{1, 2, 4, 8} {
		for _, c := range []struct {
			name    string
			cfg     odp.PortConfig
			ordered bool
		}{
			{"burst", odp.PortConfig{}, workers == 1},
			{"parallel", odp.PortConfig{Mode: odp.ModeScheduled}, workers == 1},
			{"atomic", odp.PortConfig{Mode: odp.ModeScheduled, Sync: odp.Atomic}, true},
			{"ordered", odp.PortConfig{Mode: odp.ModeScheduled, Sync: odp.Ordered}, true},
			{"spread", odp.PortConfig{Mode: odp.ModeScheduled, Sync: odp.Atomic, NumQueues: 8}, false},
		} {
			t.Run(fmt.Sprintf("%s/%d", c.name, workers), func(t *testing.T) {
				in := odptest.New(t, odp.Config{Workers: workers})
				dev := odptest.NewDevice(t, odptest.DeviceConfig{})
				p := openPort(t, in, dev.Name(), c.cfg)
				fn := forward(in, p.Out(0))
				if c.cfg.Mode == odp.ModeDirect {
					fn = burst(p.In(0), p.Out(0))
				}
				stop := odptest.Start(t, in, fn)
				var frames [][]byte
				for i := range 500 {
					frames = append(frames, odptest.Frame{Seq: uint32(i), Flow: i % 7, Len: 60 + i}.Bytes())
				}
				for i := 0; i < len(frames); i += 50 {
					dev.Inject(frames[i : i+50]...)
				}
				if c.ordered {
					dev.Expect(frames...)
				} else {
					dev.ExpectSet(frames...)
				}
				if err := stop(); err != nil {
					t.Fatal(err)
				}
				if err := in.Snapshot().Balance.Check(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// In every flow of a spread input the order is kept.
func TestSpreadKeepsFlowOrder(t *testing.T) {
	in := odptest.New(t, odp.Config{Workers: 4})
	dev := odptest.NewDevice(t, odptest.DeviceConfig{})
	p := openPort(t, in, dev.Name(), odp.PortConfig{Mode: odp.ModeScheduled, Sync: odp.Atomic, NumQueues: 4})
	if n := len(p.Queues()); n != 4 {
		t.Fatalf("%d queues", n)
	}
	odptest.Start(t, in, forward(in, p.Out(0)))
	for i := range 1000 {
		dev.Inject(odptest.Frame{Seq: uint32(i), Flow: i % 16}.Bytes())
	}
	next := map[int]uint32{}
	for _, b := range dev.Collect(1000) {
		f, err := odptest.ParseFrame(b)
		if err != nil {
			t.Fatal(err)
		}
		if want := next[f.Flow]; f.Seq < want {
			t.Fatalf("flow %d: sequence number %d after %d", f.Flow, f.Seq, want-1)
		}
		next[f.Flow] = f.Seq + 1
	}
}

// A pair for each worker: every flow comes in order, on one of them.
func TestOpenAll(t *testing.T) {
	in := odptest.New(t, odp.Config{Workers: 3})
	dev := odptest.NewDevice(t, odptest.DeviceConfig{})
	p, pairs, err := in.OpenAll(t.Context(), dev.Name()+"?rx=1", pktio.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if len(pairs) != 3 || !p.Info().Spread {
		t.Fatalf("%d pairs, spread %v", len(pairs), p.Info().Spread)
	}
	odptest.Start(t, in, func(w *odp.Worker) error { return burst(pairs[w.ID()].In, pairs[w.ID()].Out)(w) })
	var frames [][]byte
	for i := range 900 {
		frames = append(frames, odptest.Frame{Seq: uint32(i / 9), Flow: i % 9}.Bytes())
	}
	dev.Inject(frames...)
	next := map[int]uint32{}
	for _, b := range dev.Collect(900) {
		f, err := odptest.ParseFrame(b)
		if err != nil || f.Seq != next[f.Flow] {
			t.Fatalf("%s, want sequence number %d (%v)", f, next[f.Flow], err)
		}
		next[f.Flow]++
	}
}

func TestPortErrors(t *testing.T) {
	in := odptest.New(t, odp.Config{Workers: 1})
	dev := odptest.NewDevice(t, odptest.DeviceConfig{})
	for _, c := range []struct {
		name string
		cfg  odp.PortConfig
		want string
	}{
		{dev.Name(), odp.PortConfig{Mode: 9}, "Mode 9"},
		{dev.Name(), odp.PortConfig{NumQueues: 65, Mode: odp.ModeScheduled}, "NumQueues 65"},
		{dev.Name(), odp.PortConfig{NumQueues: 2}, "only ModeScheduled"},
		{"nothing:0", odp.PortConfig{}, "unknown kind"},
		{"odptest:none", odp.PortConfig{}, "no such test device"},
		{dev.Name(), odp.PortConfig{Mode: odp.ModeScheduled, Locks: 1}, "ordered locks"},
	} {
		p, err := in.OpenPort(t.Context(), c.name, c.cfg)
		if p != nil || err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "odp: OpenPort") {
			t.Errorf("%s %+v: %v, want an error with %q", c.name, c.cfg, err, c.want)
		}
	}
	// what failed left nothing behind: the device can be opened
	p := openPort(t, in, dev.Name(), odp.PortConfig{Mode: odp.ModeScheduled})
	if p.Mode() != odp.ModeScheduled || p.Source(0) != nil || p.Queues()[0].Context() != any(p) {
		t.Error("mode, source or context of the port")
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Out(0).Send(nil, nil); !errors.Is(err, odp.ErrClosed) {
		t.Errorf("Send after Close: %v", err)
	}
	openPort(t, in, dev.Name(), odp.PortConfig{Mode: odp.ModePlain})
}

// A worker panics while it holds a lock of the port, an atomic queue, or a turn in
// an ordered one: the others go on with the packets, and stop when they are asked.
func TestPanicWhileHolding(t *testing.T) {
	for _, policy := range []odp.PanicPolicy{odp.StopAll, odp.RestartWorker} {
		for _, c := range []struct {
			name   string
			sync   odp.Sync
			locks  int
			faults odptest.Faults
			bad    func(in *odp.Instance, w *odp.Worker)
			lock   odp.LockLevel
		}{
			{"atomic context", odp.Atomic, 0, odptest.Faults{}, func(*odp.Instance, *odp.Worker) { panic("here") }, odp.LockDefault},
			{"order turn", odp.Ordered, 0, odptest.Faults{}, func(*odp.Instance, *odp.Worker) { panic("here") }, odp.LockDefault},
			{"ordered lock", odp.Ordered, 1, odptest.Faults{}, func(in *odp.Instance, w *odp.Worker) {
				in.Scheduler().OrderLock(w, 0)
				panic("here")
			}, odp.LockDefault},
			{"in send", odp.Atomic, 0, odptest.Faults{PanicSend: 3}, nil, odp.LockQueue},
			{"in send, ordered", odp.Ordered, 0, odptest.Faults{PanicSend: 3}, nil, odp.LockDevice},
			{"in send, parallel", odp.Parallel, 0, odptest.Faults{PanicSend: 3}, nil, odp.LockPktio},
			{"in receive", odp.Parallel, 0, odptest.Faults{PanicRecv: 50}, nil, odp.LockQueue},
			{"in receive, ordered", odp.Ordered, 0, odptest.Faults{PanicRecv: 50}, nil, odp.LockDevice},
			{"in receive, atomic", odp.Atomic, 0, odptest.Faults{PanicRecv: 50}, nil, odp.LockPktio},
		} {
			t.Run(fmt.Sprintf("%s/%d", c.name, policy), func(t *testing.T) {
				in, err := odp.Open(t.Context(), odp.Config{Workers: 4, OnPanic: policy, Log: quiet})
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()
				dev := odptest.NewDevice(t, odptest.DeviceConfig{})
				cfg := odp.PortConfig{Mode: odp.ModeScheduled, Sync: c.sync, Locks: c.locks}
				cfg.LockLevel = c.lock
				p := openPort(t, in, dev.Name(), cfg)
				dev.SetFaults(c.faults)
				var bad atomic.Bool
				bad.Store(c.bad != nil)
				done := make(chan error, 1)
				var panicked atomic.Int64
				go func() {
					done <- in.Run(t.Context(), func(w *odp.Worker) error {
						var ev [4]*odp.Event
						for w.Running() {
							n, _, err := in.Schedule(w, ev[:], 10*time.Millisecond)
							if err != nil {
								return err
							}
							if n > 0 && bad.CompareAndSwap(true, false) {
								panicked.Store(int64(n))
								c.bad(in, w)
							}
							if c.locks > 0 && n > 0 {
								in.Scheduler().OrderLock(w, 0)
								in.Scheduler().OrderUnlock(w, 0)
							}
							send(w, p.Out(0), odp.PacketsOf(ev[:n]))
						}
						return nil
					})
				}()
				frames := odptest.Frames(400, odptest.Frame{})
				for i := 0; i < len(frames); i += 10 {
					dev.Inject(frames[i : i+10]...)
				}
				if policy == odp.StopAll {
					var pe *odp.PanicError
					select {
					case err := <-done:
						if !errors.As(err, &pe) || !strings.Contains(err.Error(), "panic: ") {
							t.Fatalf("Run: %v", err)
						}
					case <-time.After(odptest.Patience):
						t.Fatal("the other workers did not stop")
					}
				} else {
					// all but what the worker had in hand comes out
					odptest.Await(t, "end of the packets", func() bool { return dev.Pending() == 0 && len(dev.Collected()) >= 400-2*32 })
					odptest.Await(t, "restart", func() bool { return in.Snapshot().Restarts == 1 })
					in.Stop()
					if err := <-done; err != nil {
						t.Fatalf("Run: %v", err)
					}
					if s := in.Snapshot(); s.Restarts != 1 || s.Panics != 1 {
						t.Errorf("%d restarts, %d panics", s.Restarts, s.Panics)
					}
				}
				// what it had in hand is named, and its memory comes back all the same
				err = in.Close()
				leaked := in.Snapshot().LeakedByPanic
				if (leaked > 0) != errors.Is(err, odp.ErrLeak) || err != nil && !strings.Contains(err.Error(), "has panicked") {
					t.Errorf("Close: %v, %d leaked", err, leaked)
				}
				if n := uint64(panicked.Load()); c.bad != nil && leaked != n {
					t.Errorf("%d leaked, the worker had %d in hand", leaked, n)
				}
			})
		}
	}
}

// Two instances at once, each with its own workers, pools and devices.
func TestTwoInstances(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	a := odptest.New(t, odp.Config{Name: "a", Workers: 2})
	b := odptest.New(t, odp.Config{Name: "b", Workers: 3})
	if n := runtime.GOMAXPROCS(0); n < max(before, 2+3+2) {
		t.Errorf("GOMAXPROCS %d with 5 workers", n)
	}
	var devs []*odptest.Device
	for _, in := range []*odp.Instance{a, b} {
		dev := odptest.NewDevice(t, odptest.DeviceConfig{})
		devs = append(devs, dev)
		p := openPort(t, in, dev.Name(), odp.PortConfig{Mode: odp.ModeScheduled, Sync: odp.Atomic})
		odptest.Start(t, in, forward(in, p.Out(0)))
	}
	fa, fb := odptest.Frames(100, odptest.Frame{Flow: 1}), odptest.Frames(100, odptest.Frame{Flow: 2})
	devs[0].Inject(fa...)
	devs[1].Inject(fb...)
	devs[0].Expect(fa...)
	devs[1].Expect(fb...)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	devs[1].Inject(fa...) // the other one goes on
	devs[1].Expect(fa...)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("GOMAXPROCS %d at the end, %d before", n, before)
	}
}

// What a snapshot says agrees with what was done, and it is good JSON.
func TestSnapshot(t *testing.T) {
	in := odptest.New(t, odp.Config{Name: "snap", Workers: 1})
	dev := odptest.NewDevice(t, odptest.DeviceConfig{MTU: 100})
	p := openPort(t, in, dev.Name(), odp.PortConfig{Mode: odp.ModeScheduled, Sync: odp.Atomic, Priority: odp.PriorityLevel(5)})
	stop := odptest.Start(t, in, forward(in, p.Out(0)))
	dev.Inject(odptest.Frames(10, odptest.Frame{})...)
	dev.Inject(odptest.Frame{Len: 200}.Bytes()) // dropped: too long
	dev.Collect(10)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s := in.Snapshot()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back odp.Snapshot
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if back.Version != odp.SnapshotVersion || back.Instance != "snap" || back.State != "open" || len(back.Ports) != 1 || len(back.Queues) != 1 || len(back.Pools) != 1 {
		t.Fatalf("%s", b)
	}
	port, q := back.Ports[0], back.Queues[0]
	if port.RxPackets != 10 || port.TxPackets != 10 || port.RxBytes != 600 || port.Mode != "scheduled" || port.Drops["rx_too_long"] != 1 || !port.LinkUp {
		t.Errorf("port %+v", port)
	}
	if q.Kind != "atomic" || q.Priority != 5 || q.Len != 0 {
		t.Errorf("queue %+v", q)
	}
	want := odp.Balance{Received: 10, Sent: 10, RxDrops: 1}
	if back.Balance != want {
		t.Errorf("balance %+v, want %+v", back.Balance, want)
	}
	k := p.Pool().AllocPacket(nil, 60)
	if err := in.Snapshot().Balance.Check(); err == nil || !strings.Contains(err.Error(), "1 events allocated") {
		t.Errorf("a balance with a packet out: %v", err)
	}
	odp.FreePackets(nil, []*odp.Packet{k})
}

// A scheduled port that is stopped, or was opened stopped, gives packets again after
// Start, with one queue and with several.
func TestStartAgain(t *testing.T) {
	for _, queues := range []int{1, 3} {
		in := odptest.New(t, odp.Config{Workers: 1})
		dev := odptest.NewDevice(t, odptest.DeviceConfig{})
		p, err := in.OpenPort(t.Context(), dev.Name(), odp.PortConfig{Mode: odp.ModeScheduled, NumQueues: queues, Stopped: true})
		if err != nil {
			t.Fatal(err)
		}
		var got atomic.Int64
		odptest.Start(t, in, func(w *odp.Worker) error {
			var ev [8]*odp.Event
			for w.Running() {
				n, _, err := in.Schedule(w, ev[:], time.Millisecond)
				if err != nil {
					break
				}
				got.Add(int64(n))
				odp.FreePackets(w, odp.PacketsOf(ev[:n]))
			}
			return nil
		})
		for round := range 5 {
			time.Sleep(2 * time.Millisecond) // the worker meets the stopped port
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			dev.Inject(odptest.Frames(10, odptest.Frame{})...)
			odptest.Await(t, "packets after Start", func() bool { return got.Load() == int64(10*(round+1)) })
			if err := p.Stop(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
