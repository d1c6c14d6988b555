// SPDX-License-Identifier: Apache-2.0

package odp_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/odp-go/godp/odp"
	"github.com/odp-go/godp/odptest"
)

// Packets that the application keeps are waited for, then their pool and number
// are named.
func TestShutdownNamesOwners(t *testing.T) {
	in, err := odp.Open(t.Context(), odp.Config{Workers: 1, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := in.NewPool(odp.PoolConfig{Name: "mine", Num: 64})
	if err != nil {
		t.Fatal(err)
	}
	held := []*odp.Packet{pool.AllocPacket(nil, 60), pool.AllocPacket(nil, 60)}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	err = in.Shutdown(ctx)
	if !errors.Is(err, odp.ErrLeak) || !strings.Contains(err.Error(), "mine") || !strings.Contains(err.Error(), "2 of 64") {
		t.Errorf("Shutdown: %v", err)
	}
	if d := time.Since(start); d < 50*time.Millisecond {
		t.Errorf("it waited %v only", d)
	}
	if again := in.Close(); again != err {
		t.Errorf("Close: %v, want the same result", again)
	}
	if s := in.Snapshot(); s.State != "closed" || !strings.Contains(s.Leaks, "mine") {
		t.Errorf("snapshot: %s %q", s.State, s.Leaks)
	}
	_ = held
}

// Packets that come back in time are no leak.
func TestShutdownWaits(t *testing.T) {
	in, err := odp.Open(t.Context(), odp.Config{Workers: 1, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	dev := odptest.NewDevice(t, odptest.DeviceConfig{})
	p := openPort(t, in, dev.Name(), odp.PortConfig{})
	pool, err := in.NewPool(odp.PoolConfig{Num: 64})
	if err != nil {
		t.Fatal(err)
	}
	held := []*odp.Packet{pool.AllocPacket(nil, 60), p.Pool().AllocPacket(nil, 60)}
	done := make(chan error, 1)
	go func() { done <- in.Shutdown(t.Context()) }()
	time.Sleep(30 * time.Millisecond)
	odp.FreePackets(nil, held)
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(odptest.Patience):
		t.Fatal("Shutdown does not end")
	}
}

// Shutdown under load loses nothing: what was received is sent.
func TestShutdownDrains(t *testing.T) {
	for _, mode := range []odp.Mode{odp.ModeDirect, odp.ModeScheduled} {
		t.Run(mode.String(), func(t *testing.T) {
			in := odptest.New(t, odp.Config{Workers: 4})
			dev := odptest.NewDevice(t, odptest.DeviceConfig{PoolPackets: 512})
			p := openPort(t, in, dev.Name(), odp.PortConfig{Mode: mode, Sync: odp.Ordered})
			second, err := in.NewSchedQueue(odp.SchedQueueConfig{Name: "second", Sync: odp.Atomic})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				done <- in.Run(t.Context(), func(w *odp.Worker) error {
					var ev [32]*odp.Event
					for w.Running() {
						if mode == odp.ModeDirect {
							n, err := p.In(0).Recv(w, odp.PacketsOf(ev[:]))
							if err != nil && !errors.Is(err, odp.ErrStopped) {
								return err
							}
							for k, err := 0, error(nil); k < n && err == nil; {
								var m int
								m, err = second.Enqueue(w, ev[k:n])
								k += m
							}
						}
						n, q, err := in.Schedule(w, ev[:], time.Millisecond)
						if err != nil {
							return err
						}
						switch {
						case n == 0:
						case q == second:
							send(w, p.Out(0), odp.PacketsOf(ev[:n]))
						default:
							if m, _ := second.Enqueue(w, ev[:n]); m < n {
								t.Error("the second queue is full")
							}
						}
					}
					return nil
				})
			}()
			frames := odptest.Frames(20000, odptest.Frame{})
			for i := 0; i < len(frames); i += 100 {
				dev.Inject(frames[i : i+100]...)
			}
			dev.Collect(100)
			if err := in.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Errorf("Run: %v", err)
			}
			s := in.Snapshot()
			if s.FreedAtEnd != 0 {
				t.Errorf("%d events were freed instead of being sent", s.FreedAtEnd)
			}
			if got, want := len(dev.Frames())+100, 20000-dev.Pending(); got != want || got == 20000 && dev.Pending() != 0 {
				t.Errorf("%d sent, %d received", got, want)
			}
		})
	}
}

// Shutdown, Close and Stop may come from anywhere, at the same time.
func TestCloseFromEverywhere(t *testing.T) {
	for round := range 20 {
		in, err := odp.Open(t.Context(), odp.Config{Workers: 4, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		dev := odptest.NewDevice(t, odptest.DeviceConfig{})
		p := openPort(t, in, dev.Name(), odp.PortConfig{Mode: odp.ModeScheduled})
		if err := in.Go("closer", func(w *odp.Worker) error {
			if round%4 == 1 {
				return in.Close()
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		dev.Inject(odptest.Frames(200, odptest.Frame{})...)
		results := make(chan error, 3)
		go func() {
			results <- in.Run(t.Context(), func(w *odp.Worker) error {
				if round%4 == 0 && w.ID() == 0 {
					return in.Close() // from a worker: nil at once
				}
				return forward(in, p.Out(0))(w)
			})
		}()
		go func() { results <- in.Close() }()
		go func() { results <- in.Shutdown(t.Context()) }()
		for range 3 {
			select {
			case err := <-results:
				if err != nil && !errors.Is(err, odp.ErrClosed) { // Run may have come too late
					t.Fatalf("round %d: %v", round, err)
				}
			case <-time.After(odptest.Patience):
				t.Fatalf("round %d: hangs", round)
			}
		}
		<-in.Done()
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := in.NewPool(odp.PoolConfig{Num: 1}); !errors.Is(err, odp.ErrClosed) {
			t.Errorf("NewPool after the end: %v", err)
		}
		if _, err := in.OpenPort(t.Context(), dev.Name(), odp.PortConfig{}); !errors.Is(err, odp.ErrClosed) {
			t.Errorf("OpenPort after the end: %v", err)
		}
		if err := in.Run(t.Context(), func(*odp.Worker) error { return nil }); !errors.Is(err, odp.ErrClosed) {
			t.Errorf("Run after the end: %v", err)
		}
	}
}

// A worker that ignores the stop is named, and left behind.
func TestStuckWorker(t *testing.T) {
	in, err := odp.Open(t.Context(), odp.Config{Workers: 2, StopTimeout: 50 * time.Millisecond, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	let := make(chan struct{})
	ran := make(chan error, 1)
	go func() {
		ran <- in.Run(t.Context(), func(w *odp.Worker) error {
			if w.ID() == 1 {
				<-let
			}
			for w.Running() {
				runtime.Gosched()
			}
			return nil
		})
	}()
	odptest.Await(t, "two workers", func() bool { return in.Workers().Count() == 2 })
	err = in.Close()
	if !errors.Is(err, odp.ErrLeak) || !strings.Contains(err.Error(), "worker 1") || strings.Contains(err.Error(), "worker 0") {
		t.Errorf("Close: %v", err)
	}
	close(let)
	if err := <-ran; err != nil {
		t.Error(err)
	}
}
