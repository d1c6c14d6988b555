// SPDX-License-Identifier: Apache-2.0

package pktio_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/odp-go/godp/buffer"
	"github.com/odp-go/godp/pktio"
	"github.com/odp-go/godp/queue"
	"github.com/odp-go/godp/worker"
)

// Each call of the driver fails in turn: Open says so, closes what was open,
// and the device can be opened afterwards.
func TestOpenFaultsLeaveNothing(t *testing.T) {
	set := newSet(t, 2)
	for _, c := range []struct {
		call   string
		cfg    pktio.Config
		opened int64
	}{
		{"Open", pktio.Config{}, 0},
		{"SetMTU", pktio.Config{MaxLen: 1500}, 1},
		{"SetPromisc", pktio.Config{Promisc: true, Strict: true}, 1},
	} {
		g := &guard{}
		name := newGuard("faults-"+c.call, g)
		g.fail = func(call string) error {
			if call == c.call {
				return errInjected
			}
			return nil
		}
		c.cfg.Log = quiet
		p, err := pktio.Open(context.Background(), set, name, c.cfg)
		if !errors.Is(err, errInjected) || p != nil {
			t.Errorf("%s fails: Open gives %v, %v", c.call, p, err)
		}
		if g.opens.Load() != c.opened || g.closes.Load() != c.opened {
			t.Errorf("%s fails: opened %d times, closed %d times", c.call, g.opens.Load(), g.closes.Load())
		}
		if pktio.Lookup(name) != nil {
			t.Errorf("%s fails: the port is still known", c.call)
		}
		g.fail = nil
		open(t, set, name, c.cfg).Close()
	}
}

func TestOpenRefusals(t *testing.T) {
	set := newSet(t, 2)
	small, err := buffer.NewPool(set, buffer.PoolConfig{Name: "small", Num: 16})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		set  *worker.Set
		name string
		cfg  pktio.Config
		err  string
	}{
		{gone, set, "loop:0", pktio.Config{}, "canceled"},
		{nil, nil, "loop:0", pktio.Config{}, "no worker set"},
		{nil, set, "lop:0", pktio.Config{}, "unknown kind"},
		{nil, set, "loop", pktio.Config{}, "KIND:DEVICE"},
		{nil, set, "loop:", pktio.Config{}, "nothing after"},
		{nil, set, "", pktio.Config{}, "KIND:DEVICE"},
		{nil, set, "loop:0?sed=5", pktio.Config{}, `option "sed" is unknown`},
		{nil, set, "loop:0?seed=-5", pktio.Config{}, "from 0 to"},
		{nil, set, "null:0?seed=5", pktio.Config{}, "own options are feed"},
		{nil, set, "loop:0?rx=9999", pktio.Config{}, "from 1 to 64"},
		{nil, set, "loop:0?maxlen=20", pktio.Config{}, "allowed are 60 to 65535"},
		{nil, set, "loop:0", pktio.Config{Shared: true, LockLevel: pktio.LockNone}, "lock level none"},
		{nil, set, "guard:limited", pktio.Config{RxQueues: 4, Strict: true}, "4 receive queues were asked for, the device has 2"},
	} {
		newGuard("limited", &guard{maxRx: 2})
		if c.ctx == nil {
			c.ctx = context.Background()
		}
		c.cfg.Log = quiet
		p, err := pktio.Open(c.ctx, c.set, c.name, c.cfg)
		if err == nil {
			p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q %+v: %v, want an error with %q", c.name, c.cfg, err, c.err)
		}
	}
	p := open(t, set, "guard:limited", pktio.Config{RxQueues: 4})
	if i := p.Info(); i.RxQueues != 2 || len(i.Notes) == 0 || p.NumIn() != 2 {
		t.Errorf("what was not granted is not in Info: %+v", i)
	}
	p = open(t, set, "loop:seeds?seed=64", pktio.Config{Pool: small})
	if err := p.Start(); err == nil || !strings.Contains(err.Error(), "pool") || small.Out() != 0 {
		t.Errorf("a seed larger than the pool: %v, %d packets out", err, small.Out())
	}
}

func TestSharedHandlesMustAgree(t *testing.T) {
	set, other := newSet(t, 2), newSet(t, 2)
	own, err := buffer.NewPool(set, buffer.PoolConfig{Name: "own", Num: 16})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	open(t, set, "loop:agree", pktio.Config{Shared: true, LockLevel: pktio.LockDevice})
	for _, c := range []struct {
		set  *worker.Set
		name string
		cfg  pktio.Config
		err  string
	}{
		{set, "loop:agree", pktio.Config{LockLevel: pktio.LockDevice}, "Shared"},
		{set, "loop:agree", pktio.Config{Shared: true}, "same lock level"},
		{other, "loop:agree", pktio.Config{Shared: true, LockLevel: pktio.LockDevice}, "one worker set"},
		{set, "loop:agree?seed=4", pktio.Config{Shared: true, LockLevel: pktio.LockDevice}, "first Open only"},
		{set, "loop:agree", pktio.Config{Shared: true, LockLevel: pktio.LockDevice, Pool: own}, "another pool"},
		{set, "loop:agree", pktio.Config{Shared: true, LockLevel: pktio.LockDevice, RxQueues: 2, Strict: true}, "2 receive queues"},
	} {
		c.cfg.Log = quiet
		if p, err := pktio.Open(context.Background(), c.set, c.name, c.cfg); err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s %+v: %v, want an error with %q", c.name, c.cfg, err, c.err)
			if err == nil {
				p.Close()
			}
		}
	}
	if p := open(t, set, "loop:agree", pktio.Config{Shared: true, LockLevel: pktio.LockDevice}); p.Info().Handles != 2 {
		t.Errorf("handles: %d, want 2: a refused Open left one", p.Info().Handles)
	}
}

func TestLifeFaults(t *testing.T) {
	for _, call := range []string{"Start", "Stop", "Close", "Drain"} {
		g := &guard{}
		g.fail = func(c string) error {
			if c == call {
				return errInjected
			}
			return nil
		}
		p, err := pktio.Open(context.Background(), newSet(t, 1), newGuard("life-"+call, g), pktio.Config{Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		err = p.Start()
		if (err != nil) != (call == "Start") {
			t.Errorf("%s fails: Start: %v", call, err)
		}
		err = p.Shutdown(context.Background())
		if (err != nil) != (call != "Start") {
			t.Errorf("%s fails: Shutdown: %v", call, err)
		}
		if pktio.Lookup("guard:life-"+call) != nil || g.closes.Load() != 1 {
			t.Errorf("%s fails: closed %d times", call, g.closes.Load())
		}
	}
}

func TestDriverFaultIsPassedOn(t *testing.T) {
	g := &guard{}
	p := open(t, newSet(t, 1), newGuard("fault-pass", g), pktio.Config{})
	start(t, p)
	g.fail = func(string) error { return queue.ErrFaulted }
	k := packet(t, p, 0, 0)
	if n, err := p.Out(0).Send(nil, k); n != 0 || !errors.Is(err, queue.ErrFaulted) {
		t.Errorf("Send: %d, %v", n, err)
	}
	buffer.FreePackets(nil, k)
	if n, err := p.In(0).Recv(nil, k); n != 0 || !errors.Is(err, queue.ErrFaulted) {
		t.Errorf("Recv: %d, %v", n, err)
	}
	g.fail = nil
}

// A worker that panics inside a device keeps nothing: others go on.
func TestPanicInsideReleases(t *testing.T) {
	for _, level := range []pktio.LockLevel{pktio.LockPktio, pktio.LockDevice, pktio.LockQueue, pktio.LockNone} {
		t.Run(level.String(), func(t *testing.T) {
			g := &guard{}
			p := open(t, newSet(t, 2), newGuard(t.Name(), g), pktio.Config{LockLevel: level})
			start(t, p)
			run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
				defer func() {
					recover()
					p.ReleaseWorker(w)
				}()
				g.onRecv = func(int) { panic("in the driver") }
				var b [1]*buffer.Packet
				p.In(0).Recv(w, b[:])
			})
			g.onRecv = nil
			run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
				k := packet(t, p, 0, 0)
				if n, err := p.Out(0).Send(w, k); n != 1 || err != nil {
					t.Errorf("Send after a panic: %d, %v", n, err)
				}
				if n, err := p.In(0).Recv(w, k); n != 1 || err != nil {
					t.Errorf("Recv after a panic: %d, %v", n, err)
				} else {
					buffer.FreePackets(w, k)
				}
			})
		})
	}
}

// A sender that panics inside the device leaves what others staged behind it to
// be sent; a device that goes on panicking takes nothing down but its senders.
func TestPanicOfAHolder(t *testing.T) {
	for _, again := range []bool{false, true} {
		inside, release := make(chan struct{}), make(chan struct{})
		var sends atomic.Int64
		g := &guard{onSend: func(int) {
			switch n := sends.Add(1); {
			case n == 1:
				close(inside)
				<-release
				panic("in the driver")
			case again && n == 2:
				panic("in the driver again")
			}
		}}
		p := open(t, newSet(t, 2), newGuard("panic-holder", g), pktio.Config{})
		start(t, p)
		done := make(chan struct{})
		go func() {
			defer close(done)
			run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
				k := packet(t, p, 0, 0)
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
					p.ReleaseWorker(w)
					buffer.FreePackets(w, k)
				}()
				p.Out(0).Send(w, k)
			})
		}()
		<-inside
		run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
			if n, err := p.Out(0).Send(w, packet(t, p, 1, 0)); n != 1 || err != nil {
				t.Error(n, err)
			}
		})
		close(release)
		<-done
		want := 1
		if again { // the kicker met the second panic: the next sender takes both along
			eventually(t, "the kicker comes", func() bool { return sends.Load() == 2 })
			eventually(t, "the kicker leaves", func() bool { return g.inside.Load() == 0 })
			run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
				if n, err := p.Out(0).Send(w, packet(t, p, 1, 1)); n != 1 || err != nil {
					t.Error(n, err)
				}
			})
			want = 2
		}
		eventually(t, "the staged packets leave", func() bool { return p.Out(0).Stats().Waiting == 0 })
		var b [4]*buffer.Packet
		n, err := p.In(0).Recv(nil, b[:])
		if n != want || err != nil {
			t.Errorf("received %d, %v, want %d", n, err, want)
		}
		for i, k := range b[:n] {
			if who, seq := stampOf(k); who != 1 || seq != i {
				t.Errorf("place %d: packet %d of %d", i, seq, who)
			}
		}
		buffer.FreePackets(nil, b[:n])
		p.Close()
	}
}

// Of Opens that come at once, one gets the device.
func TestOpenRace(t *testing.T) {
	set := newSet(t, 4)
	for range 50 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		var got []*pktio.Port
		for range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				p, err := pktio.Open(context.Background(), set, "null:race", pktio.Config{Log: quiet})
				if err != nil {
					if !errors.Is(err, pktio.ErrBusy) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				got = append(got, p)
				mu.Unlock()
			}()
		}
		wg.Wait()
		if len(got) != 1 {
			t.Fatalf("%d Opens succeeded", len(got))
		}
		if err := got[0].Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBindNeedsALock(t *testing.T) {
	p := open(t, newSet(t, 1), newGuard("bind-joint", &guard{joint: true}), pktio.Config{LockLevel: pktio.LockNone})
	if err := p.In(0).Bind("queue q"); err == nil || !strings.Contains(err.Error(), "lock level queue") {
		t.Errorf("Bind at level none of a device that can't split: %v", err)
	}
}

// A worker that panics while it polls for all leaves a spread ring to the others.
func TestPanicOfAPoller(t *testing.T) {
	for _, joint := range []bool{false, true} {
		g := &guard{maxRx: 1, maxTx: 1, joint: joint}
		p, pairs := openAll(t, newSet(t, 2), newGuard("panic-poller", g), pktio.Config{}, 2)
		fan, err := pktio.NewSpread(pairs[0].In, []queue.Dest{&dest{}}, pktio.HashNone)
		if err != nil {
			t.Fatal(err)
		}
		g.onRecv = func(int) { panic("in the driver") }
		run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
				fan.ReleaseWorker(w)
				p.ReleaseWorker(w)
			}()
			fan.Poll(w)
		})
		g.onRecv = nil
		run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
			var b [8]*buffer.Packet
			n := p.Pool().AllocPackets(w, b[:], 60)
			for i, k := range b[:n] {
				frame(k, i, 0)
			}
			if m, err := pairs[0].Out.Send(w, b[:n]); m != n || err != nil {
				t.Errorf("Send after a panic: %d, %v", m, err)
			}
			got := 0
			for _, pair := range pairs {
				m, err := pair.In.Recv(w, b[:])
				if err != nil {
					t.Error(err)
				}
				got += m
				buffer.FreePackets(w, b[:m])
			}
			if got != n {
				t.Errorf("received %d of %d", got, n)
			}
		})
		if n, err := fan.Poll(nil); n != 0 || err != nil {
			t.Errorf("Poll after a panic: %d, %v", n, err)
		}
		p.Close()
	}
}

// A worker that sleeps inside of a call of the device keeps Shutdown no longer than it was
// told to wait, at every lock level. (Found by the chaos run: a kernel that sleeps in a sync
// while the interface is down.)
func TestShutdownAgainstASleeper(t *testing.T) {
	defer pktio.SetCloseWait(20 * time.Millisecond)()
	for _, level := range []pktio.LockLevel{pktio.LockPktio, pktio.LockDevice, pktio.LockQueue, pktio.LockNone} {
		inside, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		g := &guard{onSend: func(int) { once.Do(func() { close(inside); <-release }) }}
		// the device is closed under the sleeper, so its packet need not come back
		p, err := pktio.Open(context.Background(), newSet(t, 2), newGuard("sleeper-"+level.String(), g), pktio.Config{LockLevel: level})
		if err != nil {
			t.Fatal(err)
		}
		start(t, p)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			run(t, p.Set(), 1, func(_ int, w *worker.Worker) {
				k := packet(t, p, 0, 0)
				if n, _ := p.Out(0).Send(w, k); n == 0 {
					buffer.FreePackets(w, k)
				}
			})
		}()
		<-inside
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		done := make(chan error, 1)
		go func() { done <- p.Shutdown(ctx) }()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "sleeper-") {
				t.Errorf("level %v: %v", level, err)
			}
			close(release)
		case <-time.After(10 * time.Second):
			t.Errorf("level %v: Shutdown waits for the sleeper", level)
			close(release)
			<-done
		}
		cancel()
		<-ended
		p.Close()
	}
}
